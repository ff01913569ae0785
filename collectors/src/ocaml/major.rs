//! The major heap: a free space for everything but large objects, which are separate.

mod census;
mod compaction;

pub(super) use compaction::Compactions;

use super::pace::{LEAST_CHUNK, chunk_words};
use super::policy::Policy;
use super::settings::Settings;
use super::stage::{CycleWords, Stage};
use gclab_core::block::{BLOCK, FIRST_OLD_STEP, OutOfMemory, Region};
use gclab_core::collector::{Bump, Pause};
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::space::{FreeSpace, LargeObjects, MarkBits};
use gclab_core::trace::{self, Amount, Marked, Marker};
use gclab_core::words::{Addr, Bytes, Words};

/// Old closures, and large objects of any age.
#[derive(Debug)]
pub(super) struct MajorHeap {
    pub(super) space: FreeSpace<Policy>,
    pub(super) large: LargeObjects,
    /// A bit for each closure. A minor collection marks here, so old closures count as marked.
    pub(super) starts: MarkBits,
    /// A bit for each black closure.
    pub(super) marks: MarkBits,
    /// Old closures, except those known to be garbage.
    pub(super) live: Amount,
    /// The black ones among them, while a cycle marks.
    pub(super) marked: Amount,
    /// The words of the heap when the last cycle started, and the words that it marked.
    pub(super) cycle: CycleWords,
    pub(super) stage: Stage,
    /// The peak size of the heap, in words.
    top: Words,
    /// Words of young large objects allocated since this was last read.
    direct: Words,
    /// Limit on the words of a chunk. Under a heap limit chunks are small, so that more of them are
    /// free.
    most_chunk: Words,
}

/// The number of chunks that a limited heap has room for, at least.
const CHUNKS: usize = 64;

/// The smallest such limit: 32 KiB.
const LEAST_UNDER_A_LIMIT: Bytes = Bytes::kib(32);

impl MajorHeap {
    /// A heap of the initial size in `settings`. The default size is cut to one chunk in a limited
    /// heap.
    ///
    /// # Errors
    /// If the heap has no memory for the tables, or for an explicitly given size.
    pub(super) fn new(heap: &mut Heap, settings: &Settings) -> Result<Self, OutOfMemory> {
        let most_chunk = Bytes(heap.room().0 / CHUNKS).max(LEAST_UNDER_A_LIMIT).to_words_up();
        let mut major = MajorHeap {
            space: FreeSpace::new(Policy::of_number(settings.policy), FIRST_OLD_STEP),
            large: LargeObjects::beside_nursery(FIRST_OLD_STEP),
            starts: MarkBits::new(heap)?,
            marks: MarkBits::beside_another(heap)?,
            live: Amount::default(),
            marked: Amount::default(),
            cycle: CycleWords::default(),
            stage: Stage::Idle,
            top: Words::ZERO,
            direct: Words::ZERO,
            most_chunk,
        };
        if settings.initial_heap > Words::ZERO {
            let words = settings.increment.clip(Words::ZERO, settings.initial_heap);
            if settings.initial_heap_is_given {
                major.grow_to(heap, words)?;
            } else {
                // If memory is short, the heap grows by smaller chunks.
                let _ = major.grow_to(heap, words.min(most_chunk));
            }
        }
        Ok(major)
    }

    /// Adds chunks until the heap has `words` words.
    ///
    /// # Errors
    /// If there is too little memory.
    fn grow_to(&mut self, heap: &mut Heap, words: Words) -> Result<(), OutOfMemory> {
        while self.chunk_words() < words {
            let chunk = (words - self.chunk_words()).min(self.most_chunk);
            self.space.grow_in_parts(heap, chunk)?;
            self.has_grown();
        }
        Ok(())
    }

    /// Words of all chunks and large objects: OCaml's `heap_words`.
    pub(super) fn words(&self) -> Words {
        self.space.memory().held() + self.large.held().to_words_up()
    }

    /// The peak size of the heap: OCaml's `top_heap_words`.
    pub(super) fn top(&self) -> Words {
        self.top
    }

    /// The heap has a new chunk, or a new large object.
    fn has_grown(&mut self) {
        self.top = self.top.max(self.words());
    }

    /// Bytes of all blocks of old closures.
    pub(super) fn held(&self) -> Bytes {
        self.chunk_words().to_bytes() + self.large.held() - self.large.taken()
    }

    /// Old closures: live ones, and dead ones that no cycle has found yet.
    pub(super) fn live(&self) -> Amount {
        self.live
    }

    /// Words of large objects that were allocated since the last slice.
    pub(super) fn direct(&self) -> Words {
        self.direct
    }

    /// Like [`MajorHeap::direct`], and resets it: a slice starts.
    pub(super) fn take_direct(&mut self) -> Words {
        std::mem::take(&mut self.direct)
    }

    /// After a promotion, before which the chunks had `before` words: if it needed more, they grow
    /// further to the size that the increment asks for, if there is memory.
    fn grow_on(&mut self, heap: &mut Heap, settings: &Settings, before: Words) {
        let needed = self.chunk_words();
        if needed == before {
            return;
        }
        let missing = grown(before, needed - Words(1), settings) - needed;
        if missing > Words::ZERO {
            let _ = self.space.grow_in_parts(heap, missing.min(self.most_chunk));
            self.has_grown();
        }
    }

    /// Words of all chunks.
    pub(super) fn chunk_words(&self) -> Words {
        self.space.memory().held()
    }

    /// As [`gclab_core::collector::Collect::allocate_large`], when no collection is due.
    pub(super) fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Addr, OutOfMemory> {
        let at = self.large.allocate(heap, request)?;
        self.starts.clear(at, at + Words(1));
        self.marks.clear(at, at + Words(1));
        self.direct += request.words;
        self.has_grown();
        Ok(at)
    }

    /// Promotes everything live in the nursery and among young large objects, for which there is
    /// room. While a cycle has not passed them, they are black. If no free block fits, the heap
    /// grows by the smallest chunk, so that it grows no more than needed until the promotion is
    /// over.
    pub(super) fn promote(&mut self, pause: &mut Pause<'_, Bump>, settings: &Settings) -> Marked {
        let (before, most) = (self.chunk_words(), self.most_chunk);
        let chunk = |held| (grown(before, held, settings) - held).min(LEAST_CHUNK).min(most);
        let known = self.space.known_closures(&self.starts, &self.marks);
        let promotion = self.space.promotion(pause.heap, &known, &chunk);
        let mut marker = promotion.with_heap(|heap| Marker::moving(heap, &known, &promotion));
        // Finalisers that get their closures run at the end of a cycle.
        let roots = pause.roots.keeping_finalised();
        trace::live_and_remembered(&mut marker, pause.capabilities, roots, pause.events.phases());
        let promoted = marker.finish();
        assert_eq!(promoted.moved, promoted.words - promoted.large, "room was kept");
        pause.heap.end_promotion();
        self.has_grown();
        self.large.sweep_young(pause.heap, &self.starts);
        self.live += &promoted;
        self.marked += &promoted;
        self.grow_on(pause.heap, settings, before);
        promoted
    }

    /// Memory is short: returns all chunks that are entirely free.
    pub(super) fn shrink_to_the_least(&mut self, heap: &mut Heap) {
        self.space.shrink(heap, Words::ZERO, None);
    }

    /// Switches to another allocation policy, while no cycle is in progress.
    pub(super) fn set_policy(&mut self, policy: Policy) {
        self.space.set_list(policy);
    }

    /// As [`gclab_core::collector::Collect::for_each_region`].
    pub(super) fn for_each_region(&self, visit: &mut dyn FnMut(Region)) {
        self.space.for_each_region(&self.starts, &self.marks, visit);
        self.large.for_each_region(visit);
    }
}

/// The size of a heap that started with `heap` words and grew chunk by chunk until it had more than
/// `words`. Chunks are whole blocks.
fn grown(heap: Words, words: Words, settings: &Settings) -> Words {
    let mut grown = heap;
    while grown <= words {
        let chunk = chunk_words(Words(1), grown, settings.increment, settings.space_overhead);
        grown += Bytes(chunk.to_bytes().0.next_multiple_of(BLOCK.0)).to_words_up();
    }
    grown
}
