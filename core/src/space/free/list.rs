//! The interface of a free list: the policy of a [`FreeSpace`](super::FreeSpace).

use super::memory::{FreeBlock, FreeMemory};
use crate::words::{Addr, Words};
use std::fmt;

/// The free blocks of a space in some order, and the choice among them: an allocation policy. It
/// keeps its lists in the links of the blocks.
pub trait FreeList: fmt::Debug + Send + 'static {
    /// Takes `words` words, or returns `None` if no block has that many.
    fn take(&mut self, memory: &mut FreeMemory, words: Words) -> Option<Addr>;

    /// Takes at least `words` words for one small closure after the other: a block as a whole, if
    /// the list would take them of it in any case. The last of these words may be returned
    /// ([`FreeList::add`]). By default takes `words` words.
    fn take_several(&mut self, memory: &mut FreeMemory, words: Words) -> Option<(Addr, Words)> {
        self.take(memory, words).map(|at| (at, words))
    }

    /// The block that the next closure of `words` words is likely to get, if the list knows: its
    /// memory comes into the cache.
    fn upcoming(&self, words: Words) -> Option<FreeBlock> {
        let _ = words;
        None
    }

    /// Adds a block that no sweep has found: a new chunk, or the rest of a block.
    fn add(&mut self, memory: &mut FreeMemory, block: FreeBlock);

    /// Whether a sweep continues to the end of the free memory that it has found, for the work of
    /// the first closure there. Otherwise each dead closure is work, and the free block after it is
    /// not.
    fn sweeps_to_the_end(&self) -> bool {
        false
    }

    /// A sweep begins. It calls [`FreeList::absorbed`] and [`FreeList::swept`] for one chunk after
    /// the other, from the highest to the lowest, and in each by address. Allocations may come
    /// between them.
    fn begin_sweep(&mut self);

    /// Removes a block: it is about to be a part of a larger one.
    fn absorbed(&mut self, memory: &mut FreeMemory, block: FreeBlock);

    /// Adds a block that the sweep has made.
    fn swept(&mut self, memory: &mut FreeMemory, block: FreeBlock);
}
