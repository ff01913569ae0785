//! A space whose closures stay where they are, with free blocks of any size between them.
//!
//! * *heap chunk*, or chunk: a block run. The space grows by chunks, whose sizes its collector
//!   chooses.
//! * *free block*: free memory of two words or more. Its header and its links are in it
//!   ([`FreeMemory`]). A [`FreeList`] has all of them, and chooses one for each closure.
//! * *fragment*: a free word between others that are in use. It is in no list.
//!
//! So each chunk is closures, free blocks and fragments without a gap, and can be walked. Words are
//! conserved: those of live closures, of dead ones that no sweep has come to, of free blocks and of
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
pub use tables::{KnownClosures, OldMarks};

use super::MarkBits;
use crate::block::{BlockRun, BlockState, LARGE_OBJECT, OutOfMemory, blocks_for};
use crate::heap::Heap;
use crate::words::{Addr, Words};
use ahead::Ahead;

/// Chunks with closures and free blocks of any size, in the lists of `L`.
#[derive(Debug)]
pub struct FreeSpace<L> {
    memory: FreeMemory,
    list: L,
    /// Chunks to be, for the promotion of closures that find no free block.
    spare: Vec<BlockRun>,
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
            spare: Vec::new(),
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

    /// Adds a chunk of `words` words, rounded up to whole blocks, and returns it. `starts` and
    /// `marks` are those of the space: no closure starts in the chunk yet.
    ///
    /// # Errors
    /// If the heap has no memory for it.
    pub fn grow(
        &mut self,
        heap: &mut Heap,
        starts: &mut MarkBits,
        marks: &mut MarkBits,
        words: Words,
    ) -> Result<BlockRun, OutOfMemory> {
        let run = self.chunk(heap, starts, marks, words)?;
        self.add(run);
        Ok(run)
    }

    /// Ensures that small closures of `words` words in total can be promoted, whichever free blocks
    /// the list chooses: if there may be too little room, sets chunks aside. `chunk` returns the
    /// words of the next one from those of all before it. They become chunks of the
    /// space when no free block fits. Where the heap has no memory for one, it is as small as it
    /// may be. Chunks that are not needed go back to the heap.
    ///
    /// # Errors
    /// If the heap has no memory for them.
    pub fn prepare(
        &mut self,
        heap: &mut Heap,
        starts: &mut MarkBits,
        marks: &mut MarkBits,
        words: Words,
        chunk: &dyn Fn(Words) -> Words,
    ) -> Result<(), OutOfMemory> {
        let spare = |run: &BlockRun| run.bytes().to_words_up().saturating_sub(LARGE_OBJECT);
        let room = self.memory.room();
        let mut have = room + self.spare.iter().map(spare).sum();
        while let Some(last) = self.spare.pop_if(|last| have - spare(last) >= words) {
            have -= spare(&last);
            heap.free(last);
        }
        while have < words {
            let wanted = chunk(self.memory.held() + self.spare()).max(LARGE_OBJECT + Words(1));
            let least = LARGE_OBJECT + (words - have);
            let run = self.chunk(heap, starts, marks, wanted).or_else(|error| {
                if wanted <= least {
                    return Err(error);
                }
                self.chunk(heap, starts, marks, least)
            })?;
            have += spare(&run);
            self.spare.push(run);
        }
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

    /// A new run, without bits.
    fn chunk(
        &self,
        heap: &mut Heap,
        starts: &mut MarkBits,
        marks: &mut MarkBits,
        words: Words,
    ) -> Result<BlockRun, OutOfMemory> {
        let blocks = blocks_for(words.to_bytes());
        let run = heap.allocate(blocks, blocks, BlockState::of_step(self.step))?;
        starts.clear(run.start(), run.end());
        marks.clear(run.start(), run.end());
        Ok(run)
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

    /// Takes room for small closures of `words` words or more, as [`FreeList::take_several`] has
    /// it; a spare chunk makes room if there is one.
    fn take_or_grow(&mut self, words: Words) -> Option<(Addr, Words)> {
        loop {
            if let Some(taken) = self.list.take_several(&mut self.memory, words) {
                return Some(taken);
            }
            if self.spare.is_empty() {
                return None;
            }
            let run = self.spare.remove(0);
            self.add(run);
        }
    }

    /// New closures are black from now on: a marking begins.
    pub fn begin_marking(&mut self) {
        self.black = true;
    }

    /// Barriers note the values that stores to the closures of the space overwrite, from now on or
    /// no more. (Closures of chunks that come later are new, so they are no part of a snapshot.)
    pub fn set_in_snapshot(&self, heap: &mut Heap, yes: bool) {
        let state = BlockState::of_step(self.step).in_snapshot(yes);
        self.memory.chunks().iter().for_each(|run| heap.set_state(*run, state));
    }

    /// Words of the chunks that are set aside.
    pub fn spare(&self) -> Words {
        self.spare.iter().map(|run| run.bytes().to_words_up()).sum()
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
