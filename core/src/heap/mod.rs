//! The memory of one heap: blocks, their states, and the limit on all that it takes.
//!
//! * *Promised* ([`Heap::prepare`]): what a collection may need is there before it condemns anything; no collection fails in its middle.
//! * *Charged* ([`Heap::charges`]): whatever takes memory for the heap counts under the limit.
//! * *Kept*: what a major collection leaves free is kept as far as GHC's rule has it (`retention`), the rest given back to the system.
//!
//! A heap that has a world is given, to write, to its collector alone: what is done to it there is part of what an implementation of
//! [`crate::collector::Collector`] promises, which is why these methods are safe.

use crate::block::{
    BLOCKS_PER_MEGABLOCK, BlockAllocator, BlockRun, BlockState, CHUNK_BLOCKS, Exhausted, StateView, ToSpace,
};
pub use crate::block::{Charges, OutOfMemory, copy_bound};
use crate::config::Config;
use crate::memory::{MemoryConfig, MemoryError, physical_memory};
use crate::profile::SideWords;
use crate::sync::Arc;
use crate::words::{Bytes, Words};
use retention::Retention;

mod retention;

pub(crate) use retention::Left;

/// The memory of one heap. A value: a process may have many.
#[derive(Debug)]
pub struct Heap {
    pub(crate) blocks: BlockAllocator,
    states: StateView,
    /// Most memory that mutators may take: `-M`, or else what the machine has; no more than the reservation holds.
    limit: Bytes,
    /// Threads that may copy at a time.
    copiers: usize,
    /// Blocks of a chunk of to-space, in the collection under way.
    chunk_blocks: u32,
    retention: Retention,
    /// What the next collection may have to copy. What is allocated in large objects until then leaves room for it.
    next_copy: Option<ToSpace>,
    /// What profiles know of single closures.
    side_words: Option<Arc<SideWords>>,
}

impl Heap {
    /// Reserve the address space of a heap. The core's own: a heap that no world has could be dropped under the spaces and mark
    /// bits made for it, which read it.
    ///
    /// # Errors
    /// If the system refuses even a small one.
    pub(crate) fn new(config: &Config) -> Result<Heap, MemoryError> {
        let limit = config.max_heap.unwrap_or_else(default_limit);
        let memory = MemoryConfig {
            reserve: config.reserve,
            huge_pages: config.huge_pages,
            limit: Some(limit),
            refuse: config.refuse_request,
        };
        let blocks = BlockAllocator::new(&memory)?;
        let refused = |cause| match cause {
            Exhausted::System(error) => error,
            other => unreachable!("nothing is in use yet, but {other}"),
        };
        blocks.register_side(BLOCK_TABLES).map_err(refused)?;
        let limit = Bytes(limit.0.min(blocks.accounting().reserved.0));
        // SAFETY: only the core gets the view, for this heap, its collections and its stays, which end before the
        // allocator does.
        let states = unsafe { blocks.states().view() };
        Ok(Heap {
            blocks,
            states,
            limit,
            copiers: 1,
            chunk_blocks: CHUNK_BLOCKS,
            retention: Retention::new(config),
            next_copy: None,
            side_words: None,
        })
    }

    /// Most memory that mutators may take.
    pub fn limit(&self) -> Bytes {
        self.limit
    }

    /// From now on each closure has a side word; `biographies`: which also says when it was used.
    ///
    /// # Errors
    /// If the system has no addresses for them.
    pub(crate) fn map_side_words(&mut self, biographies: bool) -> Result<(), MemoryError> {
        let reserved = self.blocks.accounting().reserved.0;
        let side_words = SideWords::new(self.blocks.base(), reserved, biographies)?;
        self.side_words = Some(Arc::new(side_words));
        Ok(())
    }

    /// The side words of closures, in a profiled heap. A collector that moves closures by its own means, not by [`crate::trace`], has to move these.
    pub fn side_words(&self) -> Option<&Arc<SideWords>> {
        self.side_words.as_ref()
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
        let bytes = Bytes(words.0.saturating_mul(8));
        let run = self.blocks.allocate(crate::block::blocks_for(bytes))?;
        match self.next_copy {
            Some(to_space) if !self.blocks.could_copy(to_space) => {
                self.blocks.free(run);
                Err(self.blocks.out_of_memory(run.blocks(), Exhausted::Limit))
            }
            _ => Ok(run),
        }
    }

    /// Whether the next collection can copy `words` words into `lanes` lanes by each of the threads that may copy, if nothing is allocated until
    /// then. If so, [`Heap::allocate_words`] sees to it from now on that it stays so.
    pub fn keep_room_to_copy(&mut self, words: Words, lanes: usize) -> bool {
        let lanes = lanes * self.copiers;
        let to_space = ToSpace { words, lanes };
        let could = self.blocks.could_copy(to_space);
        self.next_copy = could.then_some(to_space);
        could
    }

    /// The next collection will have so much less to copy than was said.
    pub(crate) fn less_to_copy(&mut self, bytes: Bytes) {
        if let Some(to_space) = &mut self.next_copy {
            to_space.words.0 = to_space.words.0.saturating_sub(bytes.0 / 8);
        }
    }

    /// Guarantees that, in the collection that begins, blocks of so many bytes can be allocated, without asking the system and without
    /// exceeding the limit: whole megablocks, free or promised. For what is allocated in runs whose lengths divide a megablock; for to-space see
    /// [`Heap::prepare_to_copy`]. To be called before anything is condemned, and once in a collection.
    ///
    /// # Errors
    /// If it cannot be guaranteed. Nothing has changed then: the collector returns the error as [`crate::collector::NotBegun`].
    pub fn prepare(&mut self, bytes: Bytes) -> Result<(), OutOfMemory> {
        self.blocks.prepare(bytes)
    }

    /// Guarantees that, in the collection that begins, `words` words can be copied into `lanes` lanes by each of the threads that may copy,
    /// whatever their closures: the bound is [`copy_bound`]. To be called before anything is condemned, and once in a collection.
    ///
    /// # Errors
    /// As for [`Heap::prepare`].
    pub fn prepare_to_copy(&mut self, words: Words, lanes: usize) -> Result<(), OutOfMemory> {
        let lanes = lanes * self.copiers;
        self.chunk_blocks = self.blocks.prepare_to_copy(ToSpace { words, lanes })?;
        Ok(())
    }

    /// The most bytes of blocks that fit under the limit beside side tables and all other charges, as they are now. What sizing may
    /// plan with; in whole megablocks, and less than [`Heap::limit`] by some percent.
    pub fn room(&self) -> Bytes {
        self.blocks.room()
    }

    /// Threads that may copy at a time, each with lanes of its own: what [`copy_bound`] has to be told of.
    pub fn copiers(&self) -> usize {
        self.copiers
    }

    /// So many threads may copy at a time.
    pub(crate) fn set_copiers(&mut self, copiers: usize) {
        self.copiers = copiers;
    }

    /// The account of all that counts under the limit: for what takes memory beside blocks (mark stacks, tables). A handle of its own, for any thread.
    pub fn charges(&self) -> Charges {
        self.blocks.charges().clone()
    }

    /// Charges for a side table that takes so many bytes for each megablock that is in use or ever was, for as long as the heap lives.
    /// To be called when the table is mapped, which counts as a request for memory.
    ///
    /// # Errors
    /// If the limit would be exceeded by what is in use already, or the request is refused on purpose.
    pub fn register_side(&self, bytes_per_megablock: Bytes) -> Result<(), OutOfMemory> {
        self.blocks
            .register_side(bytes_per_megablock)
            .map_err(|cause| OutOfMemory {
                requested: bytes_per_megablock,
                in_use: self.blocks.accounting().committed(),
                limit: self.blocks.limit(),
                cause,
            })
    }

    /// A chunk to copy survivors into, with `least` blocks at least: never refused after [`Heap::prepare_to_copy`].
    ///
    /// # Panics
    /// If the collector has not prepared, and there is no memory.
    pub(crate) fn allocate_chunk(&mut self, least: u32) -> BlockRun {
        let most = self.chunk_blocks.max(least);
        match self.blocks.allocate_up_to(least, most) {
            Ok(run) => run,
            Err(error) => panic!("to-space was not prepared, and there is none: {error}"),
        }
    }

    /// A collection is over: what it was promised is no longer kept. After a major one, what will not be needed goes back to the system: whole free
    /// megablocks first, then pages of free groups of blocks. `allocation` brought it about, or somebody asked for it.
    pub(crate) fn end_collection(&mut self, left: Option<Left>, allocation: bool) {
        self.blocks.end_promise();
        if let Some(left) = left {
            self.retention.note(allocation);
            let needed = self.retention.needed(left);
            self.blocks.return_free_megablocks(needed);
            self.blocks.dry_free_groups(needed);
        }
    }
}

/// The block allocator's own tables: a state and a descriptor for each block.
const BLOCK_TABLES: Bytes = Bytes(BLOCKS_PER_MEGABLOCK as usize * 17);

/// The limit without `-M`: the memory of the machine, or of the control group that the process runs in.
pub fn default_limit() -> Bytes {
    physical_memory()
}

/// The exit status of a program whose heap is exhausted: GHC's `EXIT_HEAPOVERFLOW`.
pub const EXIT_HEAP_EXHAUSTED: i32 = 251;
