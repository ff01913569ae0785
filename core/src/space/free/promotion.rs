//! A free space as the destination of closures that move.

use super::{FreeList, FreeSpace, KnownClosures};
use crate::block::{BlockState, OutOfMemory, blocks_for};
use crate::heap::Heap;
use crate::prefetch::prefetch_line;
use crate::space::{BumpRoom, Destination};
use crate::sync::Mutex;
use crate::words::{Addr, Words};

/// A [`FreeSpace`] to which closures of a nursery move, each into a free block for itself, or
/// several into one.
#[derive(Debug)]
pub struct Promotion<'s, L> {
    space: Mutex<Growing<'s, L>>,
    known: &'s KnownClosures<'s>,
}

/// A space that grows by a chunk where no free block fits.
struct Growing<'s, L> {
    space: &'s mut FreeSpace<L>,
    heap: &'s mut Heap,
    /// The words of the next chunk, given the words of all chunks.
    chunk: &'s (dyn Fn(Words) -> Words + Sync),
}

impl<L: FreeList> FreeSpace<L> {
    /// Keeps memory for the promotion of small closures of `words` words in total, whichever free
    /// blocks the list chooses. It lasts until the next promotion, as long as the free blocks of
    /// the space stay free. Memory kept before is given up.
    ///
    /// # Errors
    /// If there is too little.
    pub fn keep_room(&self, heap: &mut Heap, words: Words) -> Result<(), OutOfMemory> {
        if mutant!("free/no-room-kept") {
            return Ok(());
        }
        let kept = heap.keep_room_to_promote(self.words_of_chunks(words));
        if kept.is_err() {
            heap.keep_no_room_to_promote();
        }
        kept
    }

    /// Guarantees that the promotion that begins has room for small closures of `words` words in
    /// total, until [`Heap::end_promotion`].
    ///
    /// # Errors
    /// If there is too little: the collector returns that as
    /// [`crate::collector::NotBegun`]. Never, if as much was kept.
    pub fn prepare(&self, heap: &mut Heap, words: Words) -> Result<(), OutOfMemory> {
        heap.prepare_to_promote(self.words_of_chunks(words))
    }

    /// Of `words` words that are promoted, those that may need chunks. A chunk takes more only if
    /// none of the free blocks that were there before has room for a closure.
    fn words_of_chunks(&self, words: Words) -> Words {
        words.saturating_sub(self.memory.room())
    }

    /// The space as a destination. The marker that moves closures here marks them as `known`: they
    /// have starts, and are black where they have to be. Where no free block fits, the space grows
    /// by a chunk. `chunk` returns its words, given the words of all chunks.
    pub fn promotion<'s>(
        &'s mut self,
        heap: &'s mut Heap,
        known: &'s KnownClosures<'s>,
        chunk: &'s (dyn Fn(Words) -> Words + Sync),
    ) -> Promotion<'s, L> {
        let space = Mutex::new(Growing {
            space: self,
            heap,
            chunk,
        });
        Promotion { space, known }
    }
}

impl<L: FreeList> Promotion<'_, L> {
    /// Calls `call` with the heap.
    pub fn with_heap<R>(&self, call: impl FnOnce(&Heap) -> R) -> R {
        call(self.space.lock().heap)
    }
}

impl<L: FreeList> Growing<'_, L> {
    /// Takes room for small closures of `words` words or more, as [`FreeList::take_several`] has
    /// it.
    fn take(&mut self, words: Words, known: &KnownClosures<'_>) -> Option<(Addr, Words)> {
        let space = &mut *self.space;
        if let Some(taken) = space.list.take_several(&mut space.memory, words) {
            return Some(taken);
        }
        let wanted = (self.chunk)(space.memory.held());
        let state = BlockState::of_step(space.step);
        let run = self
            .heap
            .allocate_chunk_to_promote(blocks_for(wanted.to_bytes()), state)
            .ok()?;
        debug_assert!(known.are_clear(run.start(), run.end()), "bits without closures");
        space.add(run);
        space.list.take_several(&mut space.memory, words)
    }

    /// Takes the rest of a room back.
    fn release(&mut self, BumpRoom { free, limit }: BumpRoom) {
        if free == limit {
            return;
        }
        let space = &mut *self.space;
        // SAFETY: words of a chunk that a thread got and has no more use of.
        let block = unsafe { space.memory.release(free, (limit - free).to_words_up()) };
        if let Some(block) = block.filter(|_| !mutant!("free/rest-not-listed")) {
            space.list.add(&mut space.memory, block);
        }
    }
}

// SAFETY: the free list hands out free memory of chunks, once. These have the state of an old step.
unsafe impl<L: FreeList> Destination for Promotion<'_, L> {
    type Room = BumpRoom;

    fn refill(&self, room: &mut BumpRoom, words: Words) -> bool {
        let mut growing = self.space.lock();
        let Some((free, taken)) = growing.take(words, self.known) else {
            return false;
        };
        if let Some(next) = growing.space.list.upcoming(words) {
            prefetch_line(next.at());
            self.known.prefetch(next.at());
        }
        let limit = free + taken;
        growing.release(std::mem::replace(room, BumpRoom { free, limit }));
        true
    }

    fn leave(&self, room: BumpRoom) {
        self.space.lock().release(room);
    }
}

impl<L> std::fmt::Debug for Growing<'_, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Growing").finish_non_exhaustive()
    }
}
