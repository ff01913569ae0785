//! Held-back blocks (`-DP`): memory that a collection frees has no access, and is not used again
//! before much more was freed after it. So a stale access is a fault, whose message [`super::fault`]
//! has.
//!
//! A held-back run is described as no run and no free group (see [`super::descriptor`]). Its blocks
//! do not count as in use. When a collection begins, the oldest runs beyond [`MOST`] are freed.
//! When memory is short, all are: a heap near its limit protects less.
//!
//! Where the system refuses to protect a run (a process has a bounded number of mappings), the run
//! is free at once.

use super::descriptor;
use super::fault::{Freed, FreedMemory, Watched};
use super::held::Held;
use super::{BlockAllocator, BlockRun, BlockState};
use crate::memory::MemoryError;
use crate::words::Bytes;
use std::collections::VecDeque;

/// Bytes that are held back when a collection begins, at most: what some collections free.
const MOST: Bytes = Bytes::mib(256);

impl BlockAllocator {
    /// From now on, memory that collections free is held back without access.
    ///
    /// # Errors
    /// If the system has no addresses for notes about it.
    pub(crate) fn protect_freed(&mut self) -> Result<(), MemoryError> {
        self.held = Some(Box::new(Held {
            runs: VecDeque::new(),
            bytes: Bytes::ZERO,
            memory: FreedMemory::new(self.space.base(), self.space.size())?,
            collections: 0,
            is_collecting: false,
        }));
        Ok(())
    }

    /// A segmentation fault in this heap has a message from now on, which names the collector.
    pub(crate) fn watch(&mut self, collector: &'static str) {
        let place = (self.space.base(), self.space.size());
        let freed = self.held.as_ref().map(|held| &held.memory);
        // SAFETY: both tables are dropped after `watched`, and nothing replaces them.
        self.watched = unsafe { Watched::new(place, self.states.as_ptr(), freed, collector) };
    }

    /// Whether memory that collections free is held back.
    pub(crate) fn protects_freed(&self) -> bool {
        self.held.is_some()
    }

    /// A collection begins. Memory that was freed long ago may be used again from now on.
    pub(crate) fn collection_begins(&mut self) {
        self.release_down_to(MOST);
        if let Some(held) = &mut self.held {
            held.is_collecting = true;
        }
    }

    /// The collection is over; it `began`, unless there was no memory for it.
    pub(crate) fn collection_ended(&mut self, began: bool) {
        if let Some(held) = &mut self.held {
            held.is_collecting = false;
            held.collections += u64::from(began);
        }
    }

    /// Holds a run back that is about to be freed, if a collection frees it and the heap protects
    /// such memory. Returns whether it did.
    pub(super) fn hold_back(&mut self, run: BlockRun) -> bool {
        let Some(held) = self.held.as_mut().filter(|held| held.is_collecting) else {
            return false;
        };
        // SAFETY: the run was allocated until now, and its owner gave it up.
        if unsafe { self.space.protect(run.start - self.space.base(), run.bytes()) }.is_err() {
            return false;
        }
        let freed = Freed {
            collection: held.collections + 1,
            state: self.states.of(run.start),
        };
        held.memory.note(run.start, run.end(), Some(freed));
        held.runs.push_back(run);
        held.bytes += run.bytes();
        self.counts.blocks_in_use -= run.blocks;
        self.states.fill(run.first, run.blocks, BlockState::OUTSIDE);
        descriptor::hold_head(&mut self.descriptors, run.first.0);
        true
    }

    /// Frees all runs that are held back. Returns whether there were any.
    pub(crate) fn release_held(&mut self) -> bool {
        self.release_down_to(Bytes::ZERO)
    }

    /// Frees the oldest runs that are held back, until no more than `most` bytes are. Returns
    /// whether it freed any.
    fn release_down_to(&mut self, most: Bytes) -> bool {
        let mut released = false;
        while let Some(held) = self.held.as_mut().filter(|held| held.bytes > most) {
            let Some(run) = held.runs.pop_front() else { break };
            held.bytes -= run.bytes();
            held.memory.note(run.start, run.end(), None);
            self.space.unprotect(run.start - self.space.base(), run.bytes());
            descriptor::describe_run(&mut self.descriptors, run.first.0, run.blocks);
            self.counts.blocks_in_use += run.blocks;
            self.free_now(run);
            released = true;
        }
        released
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BLOCKS_PER_MEGABLOCK;
    use crate::memory::MemoryConfig;

    /// Of 6 MiB at most, with runs of 3, 300 and 4 blocks.
    fn allocator() -> (BlockAllocator, [BlockRun; 3]) {
        let config = MemoryConfig {
            reserve: Bytes::mib(16),
            limit: Some(Bytes::mib(6)),
            ..MemoryConfig::default()
        };
        let mut allocator = BlockAllocator::new(&config).unwrap();
        allocator.protect_freed().unwrap();
        let runs = [3, 300, 4].map(|blocks| allocator.allocate(blocks).unwrap());
        (allocator, runs)
    }

    fn in_use(allocator: &BlockAllocator) -> u32 {
        assert_eq!(allocator.check(), Ok(()));
        let mut blocks = 0;
        allocator.for_each_allocated(|run| blocks += run.blocks());
        assert_eq!(allocator.accounting().blocks_in_use, blocks);
        blocks
    }

    #[test]
    fn a_run_that_a_collection_freed_is_not_used_again_soon() {
        let (mut allocator, [first, second, third]) = allocator();
        allocator.collection_begins();
        allocator.free(first);
        allocator.free(second);
        allocator.collection_ended(true);
        assert_eq!(in_use(&allocator), 4);
        assert_eq!(allocator.run_of(second.start), None);
        // The rest of its megablock is free, but not all.
        let whole = allocator.allocate(BLOCKS_PER_MEGABLOCK).unwrap();
        assert_ne!(whole.start, first.start);
        // A mutator's memory is free at once.
        allocator.free(third);
        assert_eq!(allocator.allocate(4).unwrap(), third);
        allocator.collection_begins();
        assert_eq!(in_use(&allocator), 4 + BLOCKS_PER_MEGABLOCK);
        // The oldest run is freed first.
        assert!(allocator.release_down_to(second.bytes()));
        assert_eq!(in_use(&allocator), 4 + BLOCKS_PER_MEGABLOCK);
        let whole = allocator.allocate(BLOCKS_PER_MEGABLOCK).unwrap();
        assert_eq!(whole.start, first.start);
        assert!(!allocator.release_down_to(second.bytes()));
    }

    #[test]
    fn held_memory_is_released_when_memory_is_short() {
        let (mut allocator, [_, second, _]) = allocator();
        allocator.collection_begins();
        allocator.free(second);
        allocator.collection_ended(true);
        let large = 4 * BLOCKS_PER_MEGABLOCK;
        assert_eq!(allocator.allocate(large).unwrap().blocks(), large);
        assert_eq!(in_use(&allocator), 7 + large);
        assert!(!allocator.release_held(), "nothing is held back any more");
    }
}
