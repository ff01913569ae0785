//! The allocator of blocks: free groups first, then free megablocks, then the system.
//!
//! Where a run comes from, in this order:
//!
//! 1. fewer than 256 blocks: the smallest free group that holds them, the last freed of that size (warm memory), cut at its low end;
//! 2. the smallest free region, the lowest of those, cut at its low end; blocks left over in the last megablock become a free group, so
//!    a run of 300 blocks leaves 212 for others (GHC wastes them);
//! 3. a returned region, committed again; or fresh megablocks at top, together with what is free or returned directly below it;
//! 4. where the limit or the reservation forbids that: free regions are returned, and 3 is tried again. So a run
//!    is refused only if no contiguous unused megablocks exist for it, or those in use and its own exceed the limit.
//!
//! Nothing is given back to the system when blocks are freed: the next collection wants them (it would cost 2.9 times the collection).
//! [`BlockAllocator::return_free_megablocks`] does that when it is asked to.

use std::sync::Arc;

use super::descriptor::{self, Descriptor};
use super::free_list::FreeLists;
use super::regions::Regions;
use super::{
    Accounting, BLOCKS_PER_MEGABLOCK, BlockId, BlockRun, BlockState, MAX_RESERVATION, MEGABLOCK,
    POISON, StateTable, StateView, bytes_of_blocks, bytes_of_megablocks, megablocks_for,
};
use crate::memory::{HUGE_PAGE, MemoryConfig, MemoryError, PAGE, Reservation, Table};
use crate::words::{Addr, Bytes};

/// The blocks of one heap. See the module's text, and that of [`crate::block`].
///
/// Memory of a fresh run is not zeroed. All runs end with the allocator.
#[derive(Debug)]
pub struct BlockAllocator {
    pub(super) space: Reservation,
    pub(super) states: Arc<StateTable>,
    pub(super) descriptors: Table<Descriptor>,
    pub(super) groups: FreeLists,
    /// Committed and wholly free.
    pub(super) free: Regions,
    /// Below top, given back.
    pub(super) returned: Regions,
    /// Megablocks that were ever committed: all below it, and none above.
    pub(super) top: u32,
    /// The most megablocks that may be committed.
    limit: Option<u32>,
    pub(super) counts: Accounting,
}

/// Why there is no memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exhausted {
    /// The limit set by `-M` would be exceeded.
    #[error("the limit is reached")]
    Limit,
    /// The reserved address space has no contiguous place for the run.
    #[error("the reserved address space is full; reserve more")]
    Reservation,
    /// The system refused.
    #[error("{0}")]
    System(MemoryError),
}

/// An allocation that cannot be had. The allocator is as before, and usable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no memory for {requested}: {in_use} in use, limit {}; {cause}", .limit.map_or("none".into(), |limit| limit.to_string()))]
pub struct OutOfMemory {
    /// The size of the run that was asked for.
    pub requested: Bytes,
    /// In allocated runs now.
    pub in_use: Bytes,
    /// The limit of committed megablocks, where there is one.
    pub limit: Option<Bytes>,
    /// What stood in the way.
    pub cause: Exhausted,
}

impl BlockAllocator {
    /// Reserves address space and side tables; no memory yet. Where the tables do not fit beside the heap, the heap's reservation is halved until
    /// they do.
    ///
    /// # Errors
    /// [`MemoryError::Reserve`] where not even a few MiB of addresses can be had.
    ///
    /// # Panics
    /// If `config.reserve` exceeds [`MAX_RESERVATION`]: whoever reads flags refuses that with a message.
    pub fn new(config: &MemoryConfig) -> Result<BlockAllocator, MemoryError> {
        assert!(
            config.reserve <= MAX_RESERVATION,
            "a reservation is at most {MAX_RESERVATION}, not {}",
            config.reserve
        );
        let mut size = config.reserve;
        let (space, states, descriptors) = loop {
            let space = Reservation::new(size, config.huge_pages)?;
            let blocks = (space.size().0 / super::BLOCK.0) as u32;
            match (
                StateTable::new(space.base(), blocks),
                Table::new(blocks as usize),
            ) {
                (Ok(states), Ok(descriptors)) => break (space, states, descriptors),
                (Err(error), _) | (_, Err(error)) if space.size() <= HUGE_PAGE => {
                    return Err(error);
                }
                _ => size = Bytes(space.size().0 / 2),
            }
        };
        let counts = Accounting {
            reserved: space.size(),
            ..Accounting::default()
        };
        let mut allocator = BlockAllocator {
            space,
            states: Arc::new(states),
            descriptors,
            groups: FreeLists::new(),
            free: Regions::default(),
            returned: Regions::default(),
            top: 0,
            limit: None,
            counts,
        };
        allocator.set_limit(config.limit);
        Ok(allocator)
    }

    /// Allocates `blocks` neighbouring blocks. Their state stays [`BlockState::OUTSIDE`] until the caller sets it.
    ///
    /// # Errors
    /// [`OutOfMemory`]; nothing has changed then, except that free megablocks may have been returned.
    ///
    /// # Panics
    /// If `blocks` is 0.
    pub fn allocate(&mut self, blocks: u32) -> Result<BlockRun, OutOfMemory> {
        assert!(blocks > 0, "a run has at least one block");
        if let Some(group) = self.groups.smallest_from(blocks) {
            return Ok(self.cut_group(group, blocks));
        }
        let megablocks = megablocks_for(blocks);
        let first = self
            .take_megablocks(megablocks)
            .map_err(|cause| self.out_of_memory(blocks, cause))?;
        let first = first * BLOCKS_PER_MEGABLOCK;
        self.put_group(first + blocks, megablocks * BLOCKS_PER_MEGABLOCK - blocks);
        Ok(self.claim(first, blocks))
    }

    /// Allocates `least` to `most` neighbouring blocks: the largest free group of such a size, so that fragments are used (GHC's
    /// `allocLargeChunk`); where there is none, `most` of a larger one or of megablocks; where those cannot be had, fewer.
    ///
    /// # Errors
    /// [`OutOfMemory`] when not even `least` can be had.
    ///
    /// # Panics
    /// If `least` is 0 or more than `most`.
    pub fn allocate_up_to(&mut self, least: u32, most: u32) -> Result<BlockRun, OutOfMemory> {
        assert!(
            0 < least && least <= most,
            "a run of {least} to {most} blocks"
        );
        if let Some(group) = self.groups.largest_between(least, most) {
            let blocks = self.descriptors[group as usize].blocks();
            return Ok(self.cut_group(group, blocks));
        }
        let mut blocks = most;
        loop {
            match self.allocate(blocks) {
                Err(_) if blocks > least => blocks = (blocks / 2).max(least),
                result => return result,
            }
        }
    }

    /// Frees a run, which becomes one with the free blocks around it.
    ///
    /// # Panics
    /// If it is not an allocated run of this heap (freed already, or a part of one): that is an error of the collector, and going on would
    /// hand memory out twice.
    pub fn free(&mut self, run: BlockRun) {
        self.expect_allocated(run);
        let (first, end) = (run.first.0, run.first.0 + run.blocks);
        self.counts.blocks_in_use -= run.blocks;
        self.states.fill(run.first, run.blocks, BlockState::OUTSIDE);
        if cfg!(debug_assertions) {
            // SAFETY: the run is committed and was allocated until now; its owner gave it up.
            unsafe {
                run.start
                    .as_mut_ptr::<u8>()
                    .write_bytes(POISON, run.bytes().0)
            };
        }
        descriptor::retire_head(&mut self.descriptors, first);
        let mut at = first;
        while at < end {
            let whole = (end - at) / BLOCKS_PER_MEGABLOCK;
            if at.is_multiple_of(BLOCKS_PER_MEGABLOCK) && whole > 0 {
                self.free.insert(at / BLOCKS_PER_MEGABLOCK, whole);
                at += whole * BLOCKS_PER_MEGABLOCK;
            } else {
                let megablock_end = (at / BLOCKS_PER_MEGABLOCK + 1) * BLOCKS_PER_MEGABLOCK;
                self.free_part(at, end.min(megablock_end));
                at = megablock_end;
            }
        }
    }

    /// Makes two runs of one, the lower with `blocks` blocks; each is freed by itself.
    ///
    /// # Panics
    /// If it is not an allocated run of this heap with more than `blocks` blocks, or `blocks` is 0.
    pub fn split(&mut self, run: BlockRun, blocks: u32) -> (BlockRun, BlockRun) {
        self.expect_allocated(run);
        assert!(
            0 < blocks && blocks < run.blocks,
            "{run:?} has no two parts of which the lower has {blocks} blocks"
        );
        let (first, second) = (run.first.0, run.first.0 + blocks);
        descriptor::describe_run(&mut self.descriptors, first, blocks);
        descriptor::describe_run(&mut self.descriptors, second, run.blocks - blocks);
        (
            self.run(first, blocks),
            self.run(second, run.blocks - blocks),
        )
    }

    /// The allocated run that `address` lies in, `None` where it lies in none. O(1), three memory accesses: for checkers and large objects.
    pub fn run_of(&self, address: Addr) -> Option<BlockRun> {
        let offset = address.0.wrapping_sub(self.space.base().0);
        if offset >= self.space.size().0 {
            return None;
        }
        let block = BlockId((offset >> super::BLOCK_SHIFT) as u32);
        descriptor::run_around(&self.descriptors, block)
            .map(|(first, blocks)| self.run(first, blocks))
    }

    /// Returns free megablocks to the system, those at the highest addresses first, until no more than `keep` remains committed (in use
    /// or free) or none is free. GHC's `returnMemoryToOS`, which starts at the lowest. Gives what was returned now.
    pub fn return_free_megablocks(&mut self, keep: Bytes) -> Bytes {
        let keep = u32::try_from(keep.0.div_ceil(MEGABLOCK.0)).unwrap_or(u32::MAX);
        let mut returned = 0;
        while let Some((first, length)) = self.free.highest() {
            let count = length.min(self.counts.megablocks_in_use.saturating_sub(keep));
            let from = first + length - count;
            // SAFETY: the megablocks are committed and wholly free: nobody has a run in them.
            let given = count > 0
                && unsafe {
                    self.space
                        .decommit(bytes_of_megablocks(from), bytes_of_megablocks(count))
                }
                .is_ok();
            if !given {
                break;
            }
            self.free.take_high(first, count);
            self.returned.insert(from, count);
            self.counts.megablocks_in_use -= count;
            returned += count;
        }
        self.counts.returned_bytes += bytes_of_megablocks(returned);
        bytes_of_megablocks(returned)
    }

    /// Sets or lifts the limit of committed memory (`-M`), rounded down to megablocks. Free megablocks beyond it are returned at once;
    /// those in use beyond it stay.
    pub fn set_limit(&mut self, limit: Option<Bytes>) {
        self.limit = limit.map(|limit| u32::try_from(limit.0 / MEGABLOCK.0).unwrap_or(u32::MAX));
        if let Some(limit) = self.limit() {
            self.return_free_megablocks(limit);
        }
    }

    /// The limit in force, in whole megablocks.
    pub fn limit(&self) -> Option<Bytes> {
        self.limit.map(bytes_of_megablocks)
    }

    /// The lowest address of the heap's reservation.
    pub fn base(&self) -> Addr {
        self.space.base()
    }

    /// The table of states.
    #[inline(always)]
    pub fn states(&self) -> &Arc<StateTable> {
        &self.states
    }

    /// The table of states as three words for hot loops.
    ///
    /// # Safety
    /// As [`StateTable::view`]: not to be used after the allocator is gone.
    #[inline(always)]
    pub unsafe fn state_view(&self) -> StateView {
        // SAFETY: the caller's promise.
        unsafe { self.states.view() }
    }

    /// What the blocks cost now.
    pub fn accounting(&self) -> Accounting {
        let states =
            (self.top as usize * BLOCKS_PER_MEGABLOCK as usize).next_multiple_of(PAGE.0) + PAGE.0;
        let descriptors =
            self.top as usize * BLOCKS_PER_MEGABLOCK as usize * size_of::<Descriptor>();
        Accounting {
            metadata_bytes: Bytes(states + descriptors),
            ..self.counts
        }
    }

    /// Calls `visit` with every allocated run, in the order of addresses. Time proportional to runs, free groups and megablocks.
    pub fn for_each_allocated(&self, mut visit: impl FnMut(BlockRun)) {
        let mut at = 0;
        while at < self.top * BLOCKS_PER_MEGABLOCK {
            if let Some(megablocks) = self.unused_at(at) {
                at += megablocks * BLOCKS_PER_MEGABLOCK;
                continue;
            }
            let here = &self.descriptors[at as usize];
            if here.is_allocated_head() {
                visit(self.run(at, here.blocks()));
            }
            at += here.blocks();
        }
    }

    /// Orders that the system refuse one request for memory, after `granted` more. For fault injection.
    pub fn refuse_request(&mut self, granted: u64) {
        self.space.refuse_request(granted);
    }

    /// If block `at` begins a free or returned region: its length in megablocks.
    pub(super) fn unused_at(&self, at: u32) -> Option<u32> {
        if !at.is_multiple_of(BLOCKS_PER_MEGABLOCK) {
            return None;
        }
        let megablock = at / BLOCKS_PER_MEGABLOCK;
        self.free
            .starting_at(megablock)
            .or_else(|| self.returned.starting_at(megablock))
    }

    /// A run's value. Makes no claim that it is allocated.
    pub(super) fn run(&self, first: u32, blocks: u32) -> BlockRun {
        BlockRun {
            start: self.space.base() + bytes_of_blocks(first),
            first: BlockId(first),
            blocks,
        }
    }

    /// Takes the low `blocks` blocks of a free group; the rest becomes a smaller group.
    fn cut_group(&mut self, group: u32, blocks: u32) -> BlockRun {
        let size = self.descriptors[group as usize].blocks();
        self.groups.remove(&mut self.descriptors, group);
        self.put_group(group + blocks, size - blocks);
        self.claim(group, blocks)
    }

    /// Describes and counts a run that is in no list any more.
    fn claim(&mut self, first: u32, blocks: u32) -> BlockRun {
        descriptor::describe_run(&mut self.descriptors, first, blocks);
        self.counts.add_blocks(blocks);
        self.run(first, blocks)
    }

    /// Lists a free group, if it has any blocks; not coalesced.
    fn put_group(&mut self, first: u32, blocks: u32) {
        if blocks > 0 {
            descriptor::describe_group(&mut self.descriptors, first, blocks);
            self.groups.push(&mut self.descriptors, first);
        }
    }

    /// Frees blocks `from..to` of one megablock, and joins them to the free groups on both sides.
    fn free_part(&mut self, from: u32, to: u32) {
        let (mut first, mut end) = (from, to);
        if !end.is_multiple_of(BLOCKS_PER_MEGABLOCK)
            && self.descriptors[end as usize].is_free_edge()
        {
            self.groups.remove(&mut self.descriptors, end);
            end += self.descriptors[end as usize].blocks();
        }
        if !first.is_multiple_of(BLOCKS_PER_MEGABLOCK)
            && self.descriptors[first as usize - 1].is_free_edge()
        {
            first = self.descriptors[first as usize - 1].head;
            self.groups.remove(&mut self.descriptors, first);
        }
        if end - first == BLOCKS_PER_MEGABLOCK {
            self.free.insert(first / BLOCKS_PER_MEGABLOCK, 1);
        } else {
            self.put_group(first, end - first);
        }
    }

    /// Takes neighbouring megablocks out of a free region or from the system.
    fn take_megablocks(&mut self, count: u32) -> Result<u32, Exhausted> {
        if !self.fits_limit(count) {
            return Err(Exhausted::Limit);
        }
        if let Some(first) = self.free.best_fit(count) {
            self.free.take_low(first, count);
            return Ok(first);
        }
        match self.grow(count) {
            // No free region is large enough. Returned, they count no longer towards the limit, and join the returned ones beside them.
            Err(Exhausted::Limit | Exhausted::Reservation) if self.free.total() > 0 => {
                self.return_free_megablocks(Bytes::ZERO);
                self.grow(count)
            }
            result => result,
        }
    }

    /// Would `count` more megablocks be within the limit if all free ones were returned?
    fn fits_limit(&self, count: u32) -> bool {
        let in_use = self.counts.megablocks_in_use - self.free.total();
        self.limit
            .is_none_or(|limit| in_use.saturating_add(count) <= limit)
    }

    /// Commits neighbouring megablocks: a returned region, or at top. Changes nothing when it fails.
    #[cold]
    fn grow(&mut self, count: u32) -> Result<u32, Exhausted> {
        let ends_at_top = |regions: &Regions| {
            regions
                .highest()
                .filter(|(first, length)| first + length == self.top)
        };
        // `first`: where the megablocks begin; `free`, `returned`: how many of them are so now.
        let (first, free, returned) = if let Some(first) = self.returned.best_fit(count) {
            (first, 0, count)
        } else if let Some((first, length)) = ends_at_top(&self.free) {
            (first, length, 0)
        } else if let Some((first, length)) = ends_at_top(&self.returned) {
            (first, 0, length)
        } else {
            (self.top, 0, 0)
        };
        let fresh = count - free;
        if self
            .limit
            .is_some_and(|limit| self.counts.megablocks_in_use.saturating_add(fresh) > limit)
        {
            return Err(Exhausted::Limit);
        }
        let capacity = (self.space.size().0 / MEGABLOCK.0) as u32;
        if count > capacity - first {
            return Err(Exhausted::Reservation);
        }
        self.space
            .commit(
                bytes_of_megablocks(first + free),
                bytes_of_megablocks(fresh),
            )
            .map_err(Exhausted::System)?;
        if free > 0 {
            self.free.take_low(first, free);
        }
        if returned > 0 {
            self.returned.take_low(first, returned);
        }
        if first + count > self.top {
            let new = (first + count - self.top) * BLOCKS_PER_MEGABLOCK;
            self.states.fill(
                BlockId(self.top * BLOCKS_PER_MEGABLOCK),
                new,
                BlockState::OUTSIDE,
            );
            self.top = first + count;
        }
        self.counts.add_megablocks(fresh);
        Ok(first)
    }

    fn expect_allocated(&self, run: BlockRun) {
        let found = self.run_of(run.start);
        assert!(
            found == Some(run),
            "{run:?} is not allocated here (found {found:?})"
        );
    }

    #[cold]
    fn out_of_memory(&self, blocks: u32, cause: Exhausted) -> OutOfMemory {
        OutOfMemory {
            requested: bytes_of_blocks(blocks),
            in_use: bytes_of_blocks(self.counts.blocks_in_use),
            limit: self.limit(),
            cause,
        }
    }
}
