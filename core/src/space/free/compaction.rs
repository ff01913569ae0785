//! A free space while its closures slide together ([`Compactor`](crate::trace::Compactor)).

use super::{FreeBlock, FreeList, FreeMemory, FreeSpace};
use crate::block::{BlockRun, poison};
use crate::closure::ClosureRef;
use crate::space::MarkBits;
use crate::words::{Addr, Words};

impl<L: FreeList> FreeSpace<L> {
    /// Takes the chunks out of the space. All of their memory may be written from now on.
    ///
    /// # Panics
    /// If a marking or a sweep is under way.
    pub(crate) fn take_chunks(&mut self) -> Vec<BlockRun> {
        assert!(!self.is_sweeping() && !self.black, "a cycle knows its chunks");
        let chunks = std::mem::take(&mut self.memory).chunks;
        for chunk in &chunks {
            // SAFETY: the chunk is the space's, and committed.
            unsafe { poison::lend(chunk.start(), chunk.bytes()) };
        }
        chunks
    }

    /// Puts chunks back, each with the end of its last closure. The memory after it becomes a free
    /// block of `list`, which is empty. `starts` gets a bit for each of the closures.
    ///
    /// # Safety
    /// The chunks are from [`FreeSpace::take_chunks`]. Closures lie in them back to back from their
    /// start to that end, and nothing reads the memory after it.
    pub(crate) unsafe fn put_chunks(
        &mut self,
        list: L,
        starts: &mut MarkBits,
        chunks: impl Iterator<Item = (BlockRun, Addr)>,
    ) {
        debug_assert!(self.memory.chunks().is_empty(), "the chunks were taken");
        self.memory = FreeMemory::default();
        let before = std::mem::replace(&mut self.list, list);
        if mutant!("free/list-kept-by-compaction") {
            self.list = before;
        }
        for (run, end) in chunks {
            // SAFETY: passed on.
            unsafe {
                set_starts(starts, run, end);
                if let Some(block) = self.memory.add_behind(run, end) {
                    self.list.add(&mut self.memory, block);
                }
            }
        }
    }
}

/// Sets the bits of the closures of a chunk.
///
/// # Safety
/// Closures lie back to back from its start to `end`.
unsafe fn set_starts(starts: &mut MarkBits, run: BlockRun, end: Addr) {
    if !mutant!("free/starts-kept-by-compaction") {
        starts.clear(run.start(), run.end());
    }
    let mut at = run.start();
    while at < end {
        starts.set(at);
        // SAFETY: the caller's promise.
        at = at + unsafe { ClosureRef(at.as_mut_ptr()).words() };
    }
    debug_assert_eq!(at, end, "closures are whole");
}

impl FreeMemory {
    /// Adds a chunk with closures up to `end`. The rest of it becomes a free block, if it has two
    /// words or more.
    ///
    /// # Safety
    /// As for [`FreeSpace::put_chunks`].
    unsafe fn add_behind(&mut self, run: BlockRun, end: Addr) -> Option<FreeBlock> {
        self.insert(run);
        let words = (run.end() - end).to_words_up();
        if words == Words::ZERO {
            return None;
        }
        // SAFETY: passed on.
        unsafe { self.release(end, words) }
    }
}
