//! The memory of one heap: blocks, their states, and the limit on them.
//!
//! A heap that has a world is given, to write, to its collector alone: what is done to it there is part of what an implementation of
//! [`crate::collector::Collector`] promises, which is why these methods are safe.

use std::io::Write;

pub use crate::block::OutOfMemory;
use crate::block::{BlockAllocator, BlockRun, BlockState, StateView};
use crate::flags::Flags;
use crate::memory::{MemoryConfig, MemoryError, physical_memory};
use crate::words::{Bytes, Words};

/// The memory of one heap. A value: a process may have many.
#[derive(Debug)]
pub struct Heap {
    pub(crate) blocks: BlockAllocator,
    states: StateView,
    /// Most memory that mutators may take: `-M`, or else what the machine has; no more than the reservation holds.
    limit: Bytes,
}

impl Heap {
    /// Reserve the address space of a heap. The core's own: a heap that no world has could be dropped under the spaces and mark
    /// bits made for it, which read it.
    ///
    /// # Errors
    /// If the system refuses even a small one.
    pub(crate) fn new(flags: &Flags) -> Result<Heap, MemoryError> {
        let limit = flags.max_heap.unwrap_or_else(default_limit);
        let config = MemoryConfig {
            reserve: flags.reserve,
            huge_pages: flags.huge_pages,
            limit: Some(limit),
        };
        let blocks = BlockAllocator::new(&config)?;
        // A collector that thought it had more would find out in the middle of a collection.
        let limit = Bytes(limit.0.min(blocks.accounting().reserved.0));
        // SAFETY: only the core gets the view, for this heap, its collections and its stays, which end before the
        // allocator does.
        let states = unsafe { blocks.states().view() };
        Ok(Heap { blocks, states, limit })
    }

    /// Most memory that mutators may take.
    pub fn limit(&self) -> Bytes {
        self.limit
    }

    /// The states of blocks, to read.
    pub(crate) fn states(&self) -> StateView {
        self.states
    }

    /// The blocks: accounting, checks, walks.
    pub fn blocks(&self) -> &BlockAllocator {
        &self.blocks
    }

    /// Sets the state of the blocks of a run.
    pub fn set_state(&mut self, run: BlockRun, state: BlockState) {
        self.blocks.set_state(run, state);
    }

    /// Takes `least` to `most` neighbouring blocks, in `state`: as many as the best place has
    /// ([`BlockAllocator::allocate_up_to`]).
    ///
    /// # Errors
    /// If even `least` would exceed the limit, or the system refuses.
    pub fn allocate(&mut self, least: u32, most: u32, state: BlockState) -> Result<BlockRun, OutOfMemory> {
        let run = self.blocks.allocate_up_to(least, most)?;
        self.blocks.set_state(run, state);
        Ok(run)
    }

    /// Frees a run. No closure that can be reached lies in it.
    ///
    /// # Panics
    /// If it is not an allocated run of this heap.
    pub fn free(&mut self, run: BlockRun) {
        self.blocks.free(run);
    }

    /// Blocks for one closure of `words` words. Their state is for the caller to set.
    ///
    /// # Errors
    /// If they would exceed the limit, or the system refuses.
    pub fn allocate_words(&mut self, words: Words) -> Result<BlockRun, OutOfMemory> {
        // Saturated, it is more than any heap has: the allocator says no to it, with the figures.
        self.blocks
            .allocate(crate::block::blocks_for(Bytes(words.0.saturating_mul(8))))
    }

    /// Blocks to copy survivors into: from `least` to `most`. The limit does not hold during a collection: what it copies
    /// was in memory before, and is checked afterwards.
    ///
    /// If the system itself refuses, the process ends with a message and exit status 251, as GHC does: half of the heap is
    /// forwarded at that moment.
    pub(crate) fn allocate_in_collection(&mut self, least: u32, most: u32) -> BlockRun {
        match self.blocks.allocate_up_to(least, most) {
            Ok(run) => run,
            Err(error) => {
                // Whether anybody can read it or not, the process has to end.
                let _ = writeln!(std::io::stderr(), "gclab: {error} (in the middle of a collection)");
                std::process::exit(EXIT_HEAP_EXHAUSTED)
            }
        }
    }

    pub(crate) fn begin_collection(&mut self) {
        self.blocks.set_limit(None);
    }

    pub(crate) fn end_collection(&mut self) {
        self.blocks.set_limit(Some(self.limit));
        let above = self.blocks.accounting().committed().0 > self.limit.0;
        if above {
            self.blocks.return_free_megablocks(self.limit);
        }
    }
}

/// The limit without `-M`: the memory of the machine, or of the control group that the process runs in.
pub fn default_limit() -> Bytes {
    physical_memory()
}

/// The exit status of a program whose heap is exhausted: GHC's `EXIT_HEAPOVERFLOW`.
pub const EXIT_HEAP_EXHAUSTED: i32 = 251;
