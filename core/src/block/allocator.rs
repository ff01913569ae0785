//! Runs: allocated, split, freed, found, walked.
//!
//! A run comes from the first of these places that can hold it:
//!
//! 1. for fewer than 256 blocks: the smallest free group that is large enough, of those the one
//!    that was freed last (warm memory), cut at its low end;
//! 2. for more than 256 blocks: a place where such a run was freed, or behind one, if it saves a
//!    megablock: it may begin in the last group of a megablock, and end in the first of another;
//! 3. megablocks (see [`super::megablocks`]). Blocks left over in the last one become a free group,
//!    so a run of 300 blocks leaves 212 for others (GHC wastes them).
//!
//! Because of 2, objects of 1 MiB and their headers take 257 blocks each, not 512, if they are
//! allocated back to back.

use super::descriptor::{self, Descriptor};
use super::extents::Extents;
use super::fault::Watched;
use super::free_list::FreeLists;
use super::held::Held;
use super::sizes::{bytes_of_blocks, bytes_of_megablocks};
use super::{
    Accounting, BLOCKS_PER_MEGABLOCK, BlockId, BlockRun, BlockState, Charges, MAX_RESERVATION, OutOfMemory, Shortage,
    StateTable, megablocks_for, poison,
};
use crate::memory::{HUGE_PAGE, MemoryConfig, MemoryError, PAGE, Requests, Reservation, Table};
use crate::words::{Addr, Bytes};

/// The most places that are kept for runs of several megablocks: a search looks at each.
const MOST_SEAMS: usize = 256;

/// The blocks of one heap. See this module and [`crate::block`].
///
/// Memory of a fresh run is not zeroed. All runs end with the allocator.
#[derive(Debug)]
pub struct BlockAllocator {
    /// Dropped first: the handler of faults reads the tables.
    pub(super) watched: Option<Watched>,
    pub(super) space: Reservation,
    pub(super) states: StateTable,
    pub(super) descriptors: Table<Descriptor>,
    pub(super) groups: FreeLists,
    /// Megablocks at whose start a run of several may lie, or before it: see `run_around`.
    seams: Vec<u32>,
    /// Committed and wholly free megablocks.
    pub(super) free: Extents,
    /// Megablocks below top whose memory was returned to the system.
    pub(super) returned: Extents,
    /// End of the megablocks that were ever committed: all below it were, none above.
    pub(super) top: u32,
    /// The account of everything that counts under the limit.
    pub(super) charges: Charges,
    /// Whether the collection under way has a promise.
    pub(super) has_promise: bool,
    /// Megablocks promised to it that it has not taken: it need not ask for these.
    pub(super) promised: u32,
    /// Bytes kept for the promise of a collection to come, a part of the promised ones of the
    /// account.
    pub(super) kept: Bytes,
    /// Free megablocks that this promise counts on: they are not returned to the system.
    pub(super) kept_free: u32,
    /// Number of megablocks for which side tables are charged; at least `top`.
    pub(super) side_for: u32,
    pub(super) counts: Accounting,
    /// Freed memory that is held back, if the heap does that.
    pub(super) held: Option<Box<Held>>,
}

impl BlockAllocator {
    /// Reserves address space and side tables; no memory yet. Where the tables do not fit in
    /// addition to the heap, the heap's reservation is halved until they do.
    ///
    /// # Errors
    /// [`MemoryError::Reserve`] where not even a few MiB of addresses can be had.
    ///
    /// # Panics
    /// If `config.reserve` exceeds [`MAX_RESERVATION`]: the reader of the flags refuses that with a
    /// message.
    pub fn new(config: &MemoryConfig) -> Result<BlockAllocator, MemoryError> {
        assert!(
            config.reserve <= MAX_RESERVATION,
            "a reservation is at most {MAX_RESERVATION}, not {}",
            config.reserve
        );
        let requests = Requests::refusing(config.refuse);
        let mut size = config.reserve;
        let (space, states, descriptors) = loop {
            // One request for the reservation and one for each of the two tables.
            requests.ask()?;
            requests.ask()?;
            requests.ask()?;
            let space = Reservation::new(size, config.near, config.huge_pages)?;
            let blocks = (space.size().0 / super::BLOCK.0) as u32;
            match (StateTable::new(space.base(), blocks), Table::new(blocks as usize)) {
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
        Ok(BlockAllocator {
            watched: None,
            space,
            states,
            descriptors,
            groups: FreeLists::new(),
            seams: Vec::new(),
            free: Extents::default(),
            returned: Extents::default(),
            top: 0,
            charges: Charges::new(config.limit, requests),
            has_promise: false,
            promised: 0,
            kept: Bytes::ZERO,
            kept_free: 0,
            side_for: 0,
            counts,
            held: None,
        })
    }

    /// Allocates `blocks` neighbouring blocks. Their state stays [`BlockState::OUTSIDE`] until the
    /// caller sets it.
    ///
    /// # Errors
    /// [`OutOfMemory`]; nothing has changed then, except that free megablocks may have been
    /// returned.
    ///
    /// # Panics
    /// If `blocks` is 0.
    pub fn allocate(&mut self, blocks: u32) -> Result<BlockRun, OutOfMemory> {
        assert!(blocks > 0, "a run has at least one block");
        match self.allocate_free(blocks) {
            Err(_) if self.release_held() => self.allocate_free(blocks),
            result => result,
        }
    }

    /// Allocates blocks that are not held back.
    fn allocate_free(&mut self, blocks: u32) -> Result<BlockRun, OutOfMemory> {
        if let Some(group) = self.groups.smallest_from(blocks) {
            return Ok(self.cut_group(group, blocks));
        }
        let megablocks = megablocks_for(blocks);
        if megablocks > 1
            && let Some(run) = (0..self.seams.len()).rev().find_map(|at| self.run_around(at, blocks))
        {
            return Ok(run);
        }
        let first = self
            .take_megablocks(megablocks)
            .map_err(|cause| self.out_of_memory(blocks, cause))?;
        let first = first * BLOCKS_PER_MEGABLOCK;
        self.put_group(first + blocks, megablocks * BLOCKS_PER_MEGABLOCK - blocks);
        if megablocks > 1 {
            self.note_seam(first + blocks);
        }
        Ok(self.claim(first, blocks))
    }

    /// Allocates more than a megablock of blocks at seam `at`, if that takes fewer unused megablocks
    /// than elsewhere.
    fn run_around(&mut self, at: usize, blocks: u32) -> Option<BlockRun> {
        let seam = self.seams[at];
        let middle = seam * BLOCKS_PER_MEGABLOCK;
        let first = match seam.checked_sub(1).filter(|&before| !self.is_unused(before)) {
            Some(_) if self.descriptors[middle as usize - 1].is_free_edge() => {
                self.descriptors[middle as usize - 1].head
            }
            _ => middle,
        };
        let more = blocks - (middle - first);
        let (whole, rest) = (more / BLOCKS_PER_MEGABLOCK, more % BLOCKS_PER_MEGABLOCK);
        let last = (seam + whole) * BLOCKS_PER_MEGABLOCK;
        let size = match self.is_unused(seam + whole) {
            false if self.descriptors[last as usize].is_free_edge() => self.descriptors[last as usize].blocks(),
            _ => 0,
        };
        let joins = rest > 0 && rest <= size;
        let taken = whole + u32::from(rest > 0 && !joins);
        if taken >= megablocks_for(blocks) || taken > 0 && !self.take_megablocks_at(seam, taken) {
            return None;
        }
        if first < middle {
            self.groups.remove(&mut self.descriptors, first);
        }
        let end = if joins {
            self.groups.remove(&mut self.descriptors, last);
            last + size
        } else {
            (seam + taken) * BLOCKS_PER_MEGABLOCK
        };
        self.put_group(first + blocks, end - first - blocks);
        self.seams.remove(at);
        self.note_seam(first + blocks);
        Some(self.claim(first, blocks))
    }

    /// Records the seam at or after a block.
    fn note_seam(&mut self, block: u32) {
        let seam = block.div_ceil(BLOCKS_PER_MEGABLOCK);
        if !self.seams.contains(&seam) {
            self.seams.drain(..self.seams.len().saturating_sub(MOST_SEAMS));
            self.seams.push(seam);
        }
    }

    /// Whether a megablock lies in a free or returned extent, or above top.
    fn is_unused(&self, megablock: u32) -> bool {
        megablock >= self.top || self.free.contains(megablock) || self.returned.contains(megablock)
    }

    /// Allocates `least` to `most` neighbouring blocks. The first choice is the largest free group
    /// of such a size, so that fragments are used (GHC's `allocLargeChunk`); then `most` blocks of
    /// a larger group or of megablocks; then fewer.
    ///
    /// # Errors
    /// [`OutOfMemory`] when not even `least` can be had.
    ///
    /// # Panics
    /// If `least` is 0 or more than `most`.
    pub fn allocate_up_to(&mut self, least: u32, most: u32) -> Result<BlockRun, OutOfMemory> {
        assert!(0 < least && least <= most, "a run of {least} to {most} blocks");
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

    /// Frees a run, which joins the free blocks around it.
    ///
    /// # Panics
    /// If it is not an allocated run of this heap (freed already, or a part of one). That is a bug
    /// of the collector, and continuing would hand memory out twice.
    pub fn free(&mut self, run: BlockRun) {
        self.expect_allocated(run);
        if !self.hold_back(run) {
            self.free_now(run);
        }
    }

    /// Frees an allocated run, which is not held back.
    pub(super) fn free_now(&mut self, run: BlockRun) {
        let (first, end) = (run.first.0, run.first.0 + run.blocks);
        if run.blocks > BLOCKS_PER_MEGABLOCK {
            self.note_seam(first);
        }
        self.counts.blocks_in_use -= run.blocks;
        self.states.fill(run.first, run.blocks, BlockState::OUTSIDE);
        // SAFETY: the run is committed and was allocated until now; its owner gave it up.
        unsafe { poison::retire(run.start, run.bytes()) };
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

    /// Splits a run in two, the lower with `blocks` blocks. Each is freed by itself.
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
        (self.run(first, blocks), self.run(second, run.blocks - blocks))
    }

    /// The allocated run that contains `address`, if there is one. O(1), three memory accesses: for
    /// checkers and large objects.
    pub fn run_of(&self, address: Addr) -> Option<BlockRun> {
        let offset = address.0.wrapping_sub(self.space.base().0);
        if offset >= self.space.size().0 {
            return None;
        }
        let block = BlockId((offset >> super::BLOCK_SHIFT) as u32);
        descriptor::run_around(&self.descriptors, block).map(|(first, blocks)| self.run(first, blocks))
    }

    /// The blocks from that of `start` up to that of `end`, without the latter.
    pub fn blocks_before(&self, start: Addr, end: Addr) -> BlockRun {
        let block = |at: Addr| ((at - self.space.base()).0 >> super::BLOCK_SHIFT) as u32;
        self.run(block(start), block(end) - block(start))
    }

    /// The lowest address of the heap's reservation.
    pub fn base(&self) -> Addr {
        self.space.base()
    }

    /// The table of the states of all blocks.
    #[inline(always)]
    pub(crate) fn states(&self) -> &StateTable {
        &self.states
    }

    /// The state of the block that contains `address`; [`BlockState::OUTSIDE`] for other addresses.
    pub fn state_of(&self, address: Addr) -> BlockState {
        self.states.of(address)
    }

    /// Sets the state of every block of a run. It needs the allocator exclusively: code that only
    /// inspects a heap must not be able to change the facts that collections rely on.
    pub fn set_state(&mut self, run: BlockRun, state: BlockState) {
        self.states.set_run(run, state);
    }

    /// The current cost of the blocks.
    pub fn accounting(&self) -> Accounting {
        let states = (self.top as usize * BLOCKS_PER_MEGABLOCK as usize).next_multiple_of(PAGE.0) + PAGE.0;
        let descriptors = self.top as usize * BLOCKS_PER_MEGABLOCK as usize * size_of::<Descriptor>();
        Accounting {
            metadata_bytes: Bytes(states + descriptors),
            taken: self.charges.taken(),
            peak_taken: self.charges.peak(),
            side: self.side_taken(),
            free: bytes_of_megablocks(self.free.total()),
            ..self.counts
        }
    }

    /// Calls `visit` with every allocated run, in the order of addresses. Time proportional to
    /// runs, free groups and megablocks.
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

    /// The length in megablocks of the free or returned extent that begins at block `at`, if one
    /// does.
    pub(super) fn unused_at(&self, at: u32) -> Option<u32> {
        if !at.is_multiple_of(BLOCKS_PER_MEGABLOCK) {
            return None;
        }
        let megablock = at / BLOCKS_PER_MEGABLOCK;
        self.free
            .starting_at(megablock)
            .or_else(|| self.returned.starting_at(megablock))
    }

    /// Makes the value of a run, which may or may not be allocated.
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

    /// Describes and counts a run that was taken out of its list.
    fn claim(&mut self, first: u32, blocks: u32) -> BlockRun {
        descriptor::describe_run(&mut self.descriptors, first, blocks);
        self.counts.add_blocks(blocks);
        let run = self.run(first, blocks);
        // SAFETY: the run was free and committed, and is the caller's now.
        unsafe { poison::lend(run.start, run.bytes()) };
        run
    }

    /// Lists a free group, if it has any blocks. It is not coalesced.
    fn put_group(&mut self, first: u32, blocks: u32) {
        if blocks > 0 {
            descriptor::describe_group(&mut self.descriptors, first, blocks);
            self.groups.push(&mut self.descriptors, first);
        }
    }

    /// Frees blocks `from..to` of one megablock, and joins them to the free groups on both sides.
    fn free_part(&mut self, from: u32, to: u32) {
        let (mut first, mut end) = (from, to);
        if !end.is_multiple_of(BLOCKS_PER_MEGABLOCK) && self.descriptors[end as usize].is_free_edge() {
            self.groups.remove(&mut self.descriptors, end);
            end += self.descriptors[end as usize].blocks();
        }
        if !first.is_multiple_of(BLOCKS_PER_MEGABLOCK) && self.descriptors[first as usize - 1].is_free_edge() {
            first = self.descriptors[first as usize - 1].head;
            self.groups.remove(&mut self.descriptors, first);
        }
        if end - first == BLOCKS_PER_MEGABLOCK {
            self.free.insert(first / BLOCKS_PER_MEGABLOCK, 1);
        } else {
            self.put_group(first, end - first);
        }
    }

    fn expect_allocated(&self, run: BlockRun) {
        let found = self.run_of(run.start);
        assert!(found == Some(run), "{run:?} is not allocated here (found {found:?})");
    }

    #[cold]
    pub(crate) fn out_of_memory(&self, blocks: u32, cause: Shortage) -> OutOfMemory {
        OutOfMemory {
            requested: bytes_of_blocks(blocks),
            in_use: bytes_of_blocks(self.counts.blocks_in_use),
            limit: self.limit(),
            cause,
        }
    }
}
