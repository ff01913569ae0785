//! The major heap: a free space for all but large objects, and these beside it.

use super::pace::{Compaction, LEAST_CHUNK, chunk_words};
use super::policy::Policy;
use super::settings::Settings;
use gclab_core::block::{FIRST_OLD_STEP, OutOfMemory, Region};
use gclab_core::collector::{Bump, Pause};
use gclab_core::events::Phase;
use gclab_core::heap::Heap;
use gclab_core::space::{FreeSpace, LargeObjects, MarkBits};
use gclab_core::trace::{self, Marked, Marker};
use gclab_core::words::{Addr, Bytes, Words};

/// Old closures, and large objects of any age.
#[derive(Debug)]
pub(super) struct MajorHeap {
    space: FreeSpace<Policy>,
    large: LargeObjects,
    /// A bit for each closure. A minor collection marks here, so that old closures count as known.
    starts: MarkBits,
    /// A bit for each black closure.
    marks: MarkBits,
    /// Bytes of live large objects.
    large_live: Bytes,
    /// The most words of a chunk. Under a limit chunks are small, so that more of them are free.
    most_chunk: Words,
}

/// The chunks that a heap with a limit has room for, at least.
const CHUNKS: usize = 64;

/// The least bound of a chunk under a limit: 32 KiB.
const LEAST_UNDER_A_LIMIT: Bytes = Bytes::kib(32);

impl MajorHeap {
    /// A heap of the size that `settings` say at first, or without memory if there is too little.
    pub(super) fn new(heap: &mut Heap, settings: &Settings) -> Result<Self, OutOfMemory> {
        let most_chunk = Bytes(heap.room().0 / CHUNKS).max(LEAST_UNDER_A_LIMIT).to_words_up();
        let mut major = MajorHeap {
            space: FreeSpace::new(Policy::of_number(settings.policy), FIRST_OLD_STEP),
            large: LargeObjects::new(FIRST_OLD_STEP),
            starts: MarkBits::new(heap)?,
            marks: MarkBits::new(heap)?,
            large_live: Bytes::ZERO,
            most_chunk,
        };
        if settings.initial_heap > Words::ZERO {
            let words = settings.increment.clip(Words::ZERO, settings.initial_heap);
            // A heap that is too small for it grows by smaller chunks.
            let words = words.min(most_chunk);
            let _ = major.space.grow(heap, &mut major.starts, &mut major.marks, words);
        }
        Ok(major)
    }

    /// Words of all chunks and large objects: OCaml's `heap_words`.
    pub(super) fn words(&self) -> Words {
        self.space.memory().held() + self.large.held().to_words_up()
    }

    /// Bytes of all blocks, those that are set aside too.
    pub(super) fn held(&self) -> Bytes {
        (self.space.memory().held() + self.space.spare()).to_bytes() + self.large.held()
    }

    /// Bytes of closures: live ones, and dead ones that no sweep has found.
    pub(super) fn live(&self) -> Bytes {
        self.space.memory().in_use().to_bytes() + self.large_live
    }

    /// Bytes of large objects among them.
    pub(super) fn large_live(&self) -> Bytes {
        self.large_live
    }

    /// Bytes of large objects that were allocated since the last collection.
    pub(super) fn taken(&self) -> Bytes {
        self.large.taken()
    }

    /// Sets memory aside for the promotion of `words` words, in the least chunks. So promotion
    /// makes the heap no larger than it has to.
    ///
    /// # Errors
    /// If there is too little.
    pub(super) fn prepare(&mut self, heap: &mut Heap, words: Words) -> Result<(), OutOfMemory> {
        self.space.prepare(
            heap,
            &mut self.starts,
            &mut self.marks,
            words,
            LEAST_CHUNK.min(self.most_chunk),
        )
    }

    /// After a promotion, before which the chunks had `before` words: if it needed more, they grow
    /// on to the size that the increment asks for. Where there is no memory for that, they do not.
    pub(super) fn grow_on(&mut self, heap: &mut Heap, settings: &Settings, before: Words) {
        let needed = self.chunk_words();
        let mut wanted = before;
        while wanted < needed {
            wanted += chunk_words(Words(1), wanted, settings.increment, settings.space_overhead);
        }
        if wanted > needed {
            let words = (wanted - needed).min(self.most_chunk);
            let _ = self.space.grow(heap, &mut self.starts, &mut self.marks, words);
        }
    }

    /// Words of all chunks.
    pub(super) fn chunk_words(&self) -> Words {
        self.space.memory().held()
    }

    /// As [`gclab_core::collector::Collect::allocate_large`], when no collection is due.
    pub(super) fn allocate_large(&mut self, heap: &mut Heap, words: Words) -> Result<Addr, OutOfMemory> {
        let at = self.large.allocate(heap, words)?;
        self.starts.clear(at, at + Words(1));
        Ok(at)
    }

    /// Promotes everything that lives in the nursery and among young large objects.
    pub(super) fn promote(&mut self, pause: &mut Pause<'_, Bump>) -> Marked {
        let promotion = self.space.promotion(&self.marks);
        let mut marker = Marker::moving(pause.heap, &self.starts, &promotion);
        trace::live_and_remembered(&mut marker, pause.capabilities, pause.roots, |phase| {
            pause.events.phase(phase);
        });
        let promoted = marker.finish();
        assert_eq!(promoted.moved, promoted.words - promoted.large, "room was set aside");
        self.large.sweep_young(pause.heap, &self.starts);
        self.large_live += promoted.large.to_bytes();
        promoted
    }

    /// Marks everything that lives, when all of it is old, and frees the rest.
    pub(super) fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> Marked {
        self.large.condemn(&mut self.marks);
        let mut marker = Marker::new(pause.heap, &self.marks);
        trace::live(&mut marker, pause.roots, |_| ());
        let marked = marker.finish();
        pause.events.phase(Phase::Marked);

        self.space.begin_sweep();
        while !self.sweep(Words(usize::MAX)) {}
        self.large.for_each_region(&mut |region| {
            if !self.marks.get(region.start) {
                self.starts.clear(region.start, region.start + Words(1));
            }
        });
        self.large.sweep(pause.heap, &self.marks);
        self.large_live = marked.large.to_bytes();
        marked
    }

    /// Returns all chunks that are wholly free: memory is short.
    pub(super) fn shrink_to_the_least(&mut self, heap: &mut Heap) {
        self.space.shrink(heap, Words::ZERO);
    }

    /// Returns chunks that are wholly free, after `cycles` cycles, where the overhead calls for a
    /// compaction. As many words stay free as the space overhead of live data is, and a word for
    /// each percent of it.
    pub(super) fn shrink(&mut self, heap: &mut Heap, settings: &Settings, cycles: u64) {
        let memory = self.space.memory();
        let overhead = Compaction::overhead(memory.held(), memory.free());
        let rule = settings.compaction;
        if rule.is_possible(cycles, memory.held(), settings.increment) && rule.is_due(overhead) {
            let keep = settings.space_overhead as usize * (memory.in_use().0 / 100 + 1);
            self.space.shrink(heap, Words(keep));
        }
    }

    /// Sweeps `budget` words. Returns whether the sweep is over.
    fn sweep(&mut self, budget: Words) -> bool {
        self.space.sweep(&mut self.starts, &mut self.marks, budget).is_over
    }

    /// As [`gclab_core::collector::Collect::for_each_region`].
    pub(super) fn for_each_region(&self, visit: &mut dyn FnMut(Region)) {
        self.space.for_each_region(&self.starts, &self.marks, visit);
        self.large.for_each_region(visit);
    }
}
