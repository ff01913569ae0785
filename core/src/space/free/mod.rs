//! A space whose closures stay where they are, with free blocks of any size between them.
//!
//! * *heap chunk*, or chunk: a block run. The space grows by chunks, whose sizes its collector
//!   chooses.
//! * *free block*: free memory of two words or more. Its header and its links are in it
//!   ([`FreeMemory`]). A [`FreeList`] has all of them, and chooses one for each closure.
//! * *fragment*: a free word between others that are in use. It is in no list.
//!
//! So each chunk is closures, free blocks and fragments without a gap, and can be walked. Words are
//! conserved: of live closures, of dead ones that no sweep has come to, of free blocks and of
//! fragments are the words of all chunks.
//!
//! Two tables belong to the space: `starts` has a bit for each closure, and `marks` one for each
//! that is *black*. A closure is black if it was marked, or allocated while the marking or the
//! sweep still have it ahead of them; all others are *white*. A marker sets the bit of a start when
//! a closure is promoted ([`FreeSpace::promotion`]). The sweep frees the white closures. It joins
//! neighbours, and makes black closures white, so that all are white when it ends.
//!
//! A sweep has a budget and may stop anywhere, in the middle of a chunk or of a run of dead
//! closures. It reads bits of live closures, and the headers of dead ones.
//!
//! While mutators run, the heap keeps memory for the chunks that the next promotion may need
//! ([`FreeSpace::keep_room`]). The promotion takes a chunk when no free block fits.
//!
//! When neither a marking nor a sweep is under way, all closures may slide to the front of the
//! chunks ([`Compactor::slide_free`](crate::trace::Compactor::slide_free)).
//!
//! Memory: a 64th of the chunks for each of the tables, and 16 bytes a chunk.

mod ahead;
mod compaction;
mod list;
mod memory;
mod promotion;
mod regions;
mod sweep;
mod tables;
#[cfg(test)]
mod tests;
mod unwritten;

pub use list::FreeList;
pub use memory::{FreeBlock, FreeMemory, Link, Rest};
pub use promotion::Promotion;
pub use regions::Piece;
pub use sweep::Swept;
pub use tables::KnownClosures;

use crate::block::{BlockRun, BlockState, OutOfMemory, blocks_for};
use crate::heap::Heap;
use crate::words::{Addr, Words};
use ahead::Ahead;

/// Chunks with closures and free blocks of any size, in the lists of `L`.
#[derive(Debug)]
pub struct FreeSpace<L> {
    memory: FreeMemory,
    list: L,
    step: u8,
    /// The part that a sweep has ahead of it, if one is under way.
    ahead: Option<Ahead>,
    /// The starts of chunks that came while that sweep went on.
    young_chunks: Vec<Addr>,
    /// Whether new closures are black, while no sweep is under way.
    black: bool,
}

impl<L: FreeList> FreeSpace<L> {
    /// A space without memory. All of it belongs to `step`.
    pub fn new(list: L, step: u8) -> Self {
        FreeSpace {
            memory: FreeMemory::default(),
            list,
            step,
            ahead: None,
            young_chunks: Vec::new(),
            black: false,
        }
    }

    /// The free memory, for its figures.
    pub fn memory(&self) -> &FreeMemory {
        &self.memory
    }

    /// The free list.
    pub fn list(&self) -> &L {
        &self.list
    }

    /// Adds a chunk of `words` words, rounded up to whole blocks, and returns it. No bit of it is
    /// set in the tables of the space.
    ///
    /// # Errors
    /// If the heap has no memory for it.
    pub fn grow(&mut self, heap: &mut Heap, words: Words) -> Result<BlockRun, OutOfMemory> {
        let blocks = blocks_for(words.to_bytes());
        let run = heap.allocate(blocks, blocks, BlockState::of_step(self.step))?;
        self.add(run);
        Ok(run)
    }

    /// Adds chunks of `words` words in total, rounded up to whole blocks: one of whole megablocks,
    /// and free groups of blocks for the rest.
    ///
    /// # Errors
    /// If the heap has no memory for all of them. None is added then.
    pub fn grow_in_parts(&mut self, heap: &mut Heap, words: Words) -> Result<(), OutOfMemory> {
        let blocks = blocks_for(words.to_bytes());
        let runs = heap.allocate_parts(blocks, BlockState::of_step(self.step))?;
        runs.into_iter().for_each(|run| self.add(run));
        Ok(())
    }

    /// Returns chunks that are free as a whole to the heap. The first of them by address stay, but
    /// `first` before all, until `keep` words are free with them and with the free blocks of the
    /// other chunks.
    ///
    /// # Panics
    /// If a sweep is under way.
    pub fn shrink(&mut self, heap: &mut Heap, keep: Words, first: Option<BlockRun>) {
        assert!(!self.is_sweeping(), "a sweep knows its chunks");
        let filling = |run: &BlockRun| {
            self.memory
                .filling(*run)
                .map(|block| (first != Some(*run), block, run.bytes().to_words_up()))
        };
        let mut chunks: Vec<_> = self.memory.chunks().iter().filter_map(filling).collect();
        chunks.sort_by_key(|(is_later, ..)| *is_later);
        let mut stays = self.memory.free() - chunks.iter().map(|(_, _, words)| *words).sum();
        for (_, block, words) in chunks {
            if stays < keep {
                stays += words;
            } else {
                self.list.absorbed(&mut self.memory, block);
                heap.free(self.memory.remove(block));
            }
        }
    }

    fn add(&mut self, run: BlockRun) {
        if self.is_sweeping() {
            self.young_chunks.push(run.start());
        }
        let block = self.memory.add(run);
        self.list.add(&mut self.memory, block);
    }

    /// Takes room for a closure of `words` words, or returns `None`: the space has to grow. The
    /// caller makes the closure black where [`FreeSpace::is_black`] says so.
    pub fn take(&mut self, words: Words) -> Option<Addr> {
        self.list.take(&mut self.memory, words)
    }

    /// New closures are black from now on: a marking begins.
    pub fn begin_marking(&mut self) {
        self.black = true;
    }

    /// Barriers note the values that stores to the closures of the space overwrite, from now on or
    /// no more. (Closures of chunks that come later are new, so they are not part of a snapshot.)
    pub fn set_in_snapshot(&self, heap: &mut Heap, yes: bool) {
        let state = BlockState::of_step(self.step).in_snapshot(yes);
        self.memory.chunks().iter().for_each(|run| heap.set_state(*run, state));
    }

    /// Whether a closure that is allocated at `at` now has to be black: the marking or the sweep
    /// still have it ahead of them.
    #[inline(always)]
    pub fn is_black(&self, at: Addr) -> bool {
        self.black().contains(at)
    }

    /// The part in which new closures are black.
    fn black(&self) -> Ahead {
        match self.ahead {
            Some(ahead) if !mutant!("free/white-ahead-of-the-sweep") => ahead,
            None if self.black && !mutant!("free/white-while-marking") => Ahead::ALL,
            _ => Ahead::NOTHING,
        }
    }
}
