//! The memory of one heap: blocks, their states, and the limit on everything that it takes.
//!
//! * *Promised* ([`Heap::prepare`]): the memory that a collection may need is reserved before the
//!   collection condemns anything; no collection fails half-way.
//! * *Charged* ([`Heap::charges`]): all memory taken for the heap counts under the limit.
//! * *Kept*: of the memory that a major collection leaves free, GHC's rule says how much is kept
//!   (`retention`); the rest is returned to the system.
//!
//! The collector of a world is the only code that gets its heap mutably. Its correct use of these
//! methods is part of the promise that an implementation of [`crate::collector::Collector`] makes;
//! therefore they are safe.

use crate::alloc::SizeClass;
pub(crate) use crate::block::copy_bound;
use crate::block::{
    BLOCK, BLOCKS_PER_MEGABLOCK, BlockAllocator, BlockRun, BlockState, CHUNK_BLOCKS, Charges, MEGABLOCK, OutOfMemory,
    Shortage, StateView, ToSpace,
};
use crate::closure::Closures;
use crate::config::Config;
use crate::memory::{MemoryConfig, MemoryError, physical_memory};
use crate::profile::{Followers, SideWords, Stacks};
use crate::sync::{Arc, Mutex};
use crate::words::{Bytes, Words};
use retention::Retention;
use slabs::Slabs;

mod chunks;
mod large;
mod retention;
mod slabs;

pub(crate) use retention::AfterMajor;
pub use retention::Kept;
pub use slabs::{LargeObject, LargeRequest};

/// The mark stack of the thread that collects. A heap near its limit refuses more, and each closure
/// that a marking drops for want of room costs a search for it. A list needs one span of 16 bytes at
/// a time, a balanced tree some thirty, but a hash table as many as it has chains in a piece of its
/// array.
pub(crate) const MARK_STACK: Bytes = if cfg!(debug_assertions) {
    Bytes(64)
} else {
    Bytes::kib(16)
};

/// The memory of one heap. A value: a process may have many.
#[derive(Debug)]
pub struct Heap {
    pub(crate) blocks: BlockAllocator,
    states: StateView,
    /// The most memory that mutators may take: `-M`, or else the machine's memory; at most the
    /// reservation.
    limit: Bytes,
    /// Number of threads that may copy at a time.
    copiers: usize,
    /// Blocks of a chunk of to-space, in the collection under way.
    chunk_blocks: u32,
    retention: Retention,
    /// The to-space that the next collection may need if one thread copies. Large objects allocated
    /// until then leave room for it.
    next_copy: Option<ToSpace>,
    /// Copies go into cells of size classes.
    into_cells: bool,
    /// The words that the next collection may promote, for which memory is kept.
    next_promotion: Option<Words>,
    /// Where large objects share blocks.
    slabs: Slabs,
    /// The side words of closures, for profiles.
    side_words: Option<Arc<SideWords>>,
}

impl Heap {
    /// Reserves the address space of a heap. Private to core: a heap outside a world could be
    /// dropped before the spaces and mark bits that were made for it and read it.
    ///
    /// # Errors
    /// If the system refuses even a small reservation.
    pub(crate) fn new(config: &Config) -> Result<Heap, MemoryError> {
        let limit = config.max_heap.unwrap_or_else(default_limit);
        let memory = MemoryConfig {
            reserve: config.reserve,
            near: config.map_near,
            huge_pages: config.huge_pages,
            limit: Some(limit),
            refuse: config.refuse_request,
        };
        let mut blocks = BlockAllocator::new(&memory)?;
        if config.protect_freed {
            blocks.protect_freed()?;
        }
        let refused = |cause| match cause {
            Shortage::System(error) => error,
            other => unreachable!("nothing is in use yet, but {other}"),
        };
        blocks.register_side(BLOCK_TABLES).map_err(refused)?;
        let limit = Bytes(limit.0.min(blocks.accounting().reserved.0));
        // SAFETY: only core gets the view, for this heap, its collections and its sessions, all of
        // which end before the allocator does.
        let states = unsafe { blocks.states().view() };
        Ok(Heap {
            blocks,
            states,
            limit,
            copiers: 1,
            chunk_blocks: CHUNK_BLOCKS,
            retention: Retention::new(config),
            next_copy: None,
            into_cells: false,
            next_promotion: None,
            slabs: Slabs::default(),
            side_words: None,
        })
    }

    /// The most memory that mutators may take.
    pub fn limit(&self) -> Bytes {
        self.limit
    }

    /// Maps a side word for each closure, which records the facts that `config` needs. `stacks` are
    /// those of cost centres.
    ///
    /// # Errors
    /// If the system has no addresses for them.
    pub(crate) fn map_side_words(&mut self, config: &Config, stacks: Arc<Mutex<Stacks>>) -> Result<(), MemoryError> {
        let reserved = self.blocks.accounting().reserved.0;
        let base = self.blocks.base();
        let followers = Followers::new(base, self.states, config.follow_moves, config.follow_closure);
        let side_words = SideWords::new(base, reserved, stacks, config.profile.follows_uses(), followers)?;
        self.side_words = Some(Arc::new(side_words));
        Ok(())
    }

    /// The side words of closures, in a profiled heap. A collector that moves closures by its own
    /// code, not by [`crate::trace`], must move these too ([`SideWords::moves`]).
    pub fn side_words(&self) -> Option<&Arc<SideWords>> {
        self.side_words.as_ref()
    }

    /// The states of all blocks, for reading.
    pub(crate) fn states(&self) -> StateView {
        self.states
    }

    /// The blocks, for accounting, checks and walks.
    pub fn blocks(&self) -> &BlockAllocator {
        &self.blocks
    }

    /// Sets the state of the blocks of a run.
    pub fn set_state(&mut self, run: BlockRun, state: BlockState) {
        self.blocks.set_state(run, state);
    }

    /// Takes `least` to `most` neighbouring blocks, in `state`; the number depends on the free
    /// groups ([`BlockAllocator::allocate_up_to`]).
    ///
    /// # Errors
    /// If even `least` would exceed the limit, or the system refuses.
    pub fn allocate(&mut self, least: u32, most: u32, state: BlockState) -> Result<BlockRun, OutOfMemory> {
        let run = self.blocks.allocate_up_to(least, most)?;
        self.blocks.set_state(run, state);
        Ok(run)
    }

    /// Frees a run. No reachable closure lies in it.
    ///
    /// # Panics
    /// If it is not an allocated run of this heap.
    pub fn free(&mut self, run: BlockRun) {
        self.blocks.free(run);
    }

    /// Whether the next collection can copy `words` words into `lanes` lanes by one thread, if
    /// nothing is allocated until then. If so, `Heap::allocate_large` keeps that true from now on.
    pub(crate) fn keep_room_to_copy(&mut self, words: Words, lanes: usize) -> bool {
        let to_space = self.to_space(words, lanes);
        let could = self.plan(to_space);
        self.next_copy = could.then_some(to_space);
        if !could {
            self.blocks.keep_nothing();
        }
        could
    }

    /// From now on, collections copy into cells of size classes, each of which is a lane.
    pub fn copy_into_cells(&mut self) {
        self.into_cells = true;
    }

    /// The memory of cells that may be open at a time, at least: a block for each size class.
    pub(crate) fn open_cells(&self) -> Bytes {
        Bytes(if self.into_cells { SizeClass::COUNT * BLOCK.0 } else { 0 })
    }

    /// The to-space for copies of `words` words by one thread.
    fn to_space(&self, words: Words, lanes: usize) -> ToSpace {
        let cells = self.into_cells;
        ToSpace {
            words: words
                + Words(if cells {
                    words.0.div_ceil(SizeClass::WORDS_PER_PADDING)
                } else {
                    0
                }),
            lanes: if cells { SizeClass::COUNT } else { lanes },
            cells,
        }
    }

    /// Keeps this to-space for the next collection, if there is room for it. Only then do
    /// remembered sets and tables leave it free. Returns whether there is.
    fn plan(&mut self, to_space: ToSpace) -> bool {
        self.with_held(|blocks| blocks.keep_to_copy(to_space)).is_ok()
    }

    /// Keeps memory for the next collection again, which counts on other blocks now. Returns whether
    /// there is enough.
    fn keep_again(&mut self) -> bool {
        self.next_promotion
            .is_none_or(|words| self.keep_room_to_promote(words).is_ok())
            && self.next_copy.is_none_or(|to_space| self.plan(to_space))
    }

    /// Whether memory that collections free is held back without access (`-DP`).
    /// A collection frees memory then that it would use again at once.
    pub(crate) fn protects_freed(&self) -> bool {
        self.blocks.protects_freed()
    }

    /// Raises the to-space that the next collection was said to need by `bytes`, unless there is no
    /// room for that. Returns whether there is.
    pub(crate) fn more_to_copy(&mut self, bytes: Bytes) -> bool {
        let Some(mut to_space) = self.next_copy else {
            return true;
        };
        to_space.words += self.to_space(bytes.to_words_up(), 0).words;
        let could = self.plan(to_space);
        if could {
            self.next_copy = Some(to_space);
        }
        could
    }

    /// Lowers the to-space that the next collection was said to need by `bytes`.
    pub(crate) fn less_to_copy(&mut self, bytes: Bytes) {
        let less = self.to_space(Words(bytes.0 / 8), 0).words;
        if let Some(mut to_space) = self.next_copy {
            to_space.words = to_space.words.saturating_sub(less);
            // What is less than before can be had.
            self.plan(to_space);
            self.next_copy = Some(to_space);
        }
    }

    /// Guarantees that the collection that begins can allocate `bytes` of blocks without asking the
    /// system and without exceeding the limit: whole megablocks, free or promised. For allocation
    /// in runs whose lengths divide a megablock; for to-space see `Heap::prepare_to_copy`.
    ///
    /// # Errors
    /// If it cannot be guaranteed. Nothing has changed then: the collector returns the error as
    /// [`crate::collector::NotBegun`], as long as it has condemned nothing.
    ///
    /// # Panics
    /// If this collection has such a guarantee already.
    pub fn prepare(&mut self, bytes: Bytes) -> Result<(), OutOfMemory> {
        self.with_held(|blocks| blocks.prepare(bytes))
    }

    /// Calls `attempt`. If it fails, memory that is held back gives way, and it is called again.
    fn with_held<T>(
        &mut self,
        attempt: impl Fn(&mut BlockAllocator) -> Result<T, OutOfMemory>,
    ) -> Result<T, OutOfMemory> {
        match attempt(&mut self.blocks) {
            Err(_) if self.blocks.release_held() => attempt(&mut self.blocks),
            done => done,
        }
    }

    /// Guarantees that the collection that begins can copy `words` words into `lanes` lanes by each
    /// of the threads that may copy, for closures of any sizes: the bound is
    /// `copy_bound`. Where there is no room for so many lanes, it guarantees that for as many
    /// threads as there is room for, or for one if the system refuses memory. Returns the number of
    /// threads.
    ///
    /// # Errors
    /// As for [`Heap::prepare`].
    ///
    /// # Panics
    /// As for [`Heap::prepare`].
    pub(crate) fn prepare_to_copy(&mut self, words: Words, lanes: usize) -> Result<usize, OutOfMemory> {
        let one = self.to_space(words, lanes);
        let to_space = |copiers: usize| ToSpace {
            lanes: one.lanes * copiers,
            ..one
        };
        let mut copiers = self.copiers;
        let mut prepared = self.with_held(|blocks| blocks.prepare_to_copy(to_space(copiers)));
        if prepared.is_err() && copiers > 1 {
            copiers = self.most_copiers(to_space);
            prepared = self.blocks.prepare_to_copy(to_space(copiers));
        }
        if prepared.is_err() && copiers > 1 {
            copiers = 1;
            prepared = self.blocks.prepare_to_copy(to_space(copiers));
        }
        self.chunk_blocks = prepared?;
        Ok(copiers)
    }

    /// The most threads, at least one and fewer than may copy, whose `to_space` fits. (More threads
    /// need no less, so the numbers that fit come first.)
    #[cold]
    fn most_copiers(&self, to_space: impl Fn(usize) -> ToSpace) -> usize {
        let (mut most, mut too_many) = (1, self.copiers);
        while too_many - most > 1 {
            let middle = most.midpoint(too_many);
            if self.blocks.could_copy(to_space(middle)) {
                most = middle;
            } else {
                too_many = middle;
            }
        }
        most
    }

    /// The most bytes of blocks that fit under the limit in addition to side tables and all other
    /// charges, as they are now. Sizing plans with it. It is in whole megablocks, and some percent
    /// less than [`Heap::limit`].
    pub fn room(&self) -> Bytes {
        self.blocks.room()
    }

    /// Bytes of blocks that can still be allocated: free ones of megablocks in use, and
    /// blocks of megablocks for which the limit has room. (They may lie apart.)
    pub fn left(&self) -> Bytes {
        let counts = self.blocks.accounting();
        let in_use = counts.committed() - counts.fragmentation();
        self.room().max(counts.committed()) - in_use
    }

    /// Sets the number of threads that may copy at a time.
    pub(crate) fn set_copiers(&mut self, copiers: usize) {
        self.copiers = copiers;
    }

    /// The account of everything that counts under the limit, for code that takes memory in
    /// addition to blocks (mark stacks, tables). Any thread may use the returned handle.
    pub fn charges(&self) -> Charges {
        self.blocks.charges().clone()
    }

    /// A reader of its closures.
    pub fn closures(&self) -> Closures {
        Closures::new(self.states())
    }

    /// Charges for a side table that takes `bytes_per_megablock` for each megablock that is in use
    /// or ever was, as long as the heap lives. Mapping the table counts as a request for memory.
    ///
    /// # Errors
    /// If the limit would be exceeded by the megablocks that are in use already, or the request is
    /// refused on purpose.
    pub(crate) fn register_side(&self, bytes_per_megablock: Bytes) -> Result<(), OutOfMemory> {
        self.blocks
            .register_side(bytes_per_megablock)
            .map_err(|cause| OutOfMemory {
                requested: bytes_per_megablock,
                in_use: self.blocks.accounting().committed(),
                limit: self.blocks.limit(),
                cause,
            })
    }

    /// Charges for [`MARK_STACK`], as long as the heap lives: the collector marks.
    ///
    /// # Errors
    /// If the limit would be exceeded, or the request is refused on purpose.
    pub(crate) fn keep_mark_stack(&self) -> Result<(), OutOfMemory> {
        self.blocks.charges().charge(MARK_STACK).map_err(|cause| OutOfMemory {
            requested: MARK_STACK,
            in_use: self.blocks.accounting().committed(),
            limit: self.blocks.limit(),
            cause,
        })
    }

    /// Allocates a chunk of at least `least` blocks for survivors. It is never refused after
    /// `Heap::prepare_to_copy`.
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

    /// Ends a collection and cancels the rest of its promise. After a major one (`left`), memory
    /// that will not be needed is returned to the system: whole free megablocks first, then pages
    /// of free groups of blocks. `allocation`: whether allocation caused the collection. After a
    /// major one, returns the megablocks that were kept and returned.
    pub(crate) fn end_collection(&mut self, left: Option<AfterMajor>, allocation: bool) -> Option<Kept> {
        self.blocks.end_promise();
        let kept = left.map(|left| self.return_unneeded(left, allocation));
        if kept.is_some() && !mutant!("free/kept-megablocks-returned") {
            // Megablocks were returned. If others are refused, the memory of before stays kept.
            self.keep_again();
        }
        kept
    }

    /// After a major collection: returns memory that will not be needed to the system.
    fn return_unneeded(&mut self, left: AfterMajor, allocation: bool) -> Kept {
        self.retention.note_major(allocation);
        let needed = self.retention.needed(left);
        let current = self.blocks.accounting().megablocks_in_use;
        if !mutant!("memory/nothing-returned") {
            self.blocks.return_free_megablocks(needed);
        }
        let kept = Kept {
            current,
            needed: u32::try_from(needed.0.div_ceil(MEGABLOCK.0)).unwrap_or(u32::MAX),
            returned: current - self.blocks.accounting().megablocks_in_use,
        };
        self.blocks.dry_free_groups(needed);
        kept
    }
}

/// The block allocator's own tables: a state and a descriptor for each block.
const BLOCK_TABLES: Bytes = Bytes(BLOCKS_PER_MEGABLOCK as usize * 17);

/// The limit without `-M`: the memory of the machine, or of the process's control group.
pub fn default_limit() -> Bytes {
    physical_memory()
}

/// The exit status of a program whose heap is exhausted: GHC's `EXIT_HEAPOVERFLOW`.
pub const EXIT_HEAP_EXHAUSTED: i32 = 251;
