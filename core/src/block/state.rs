//! The state of a block: one byte, the only thing that hot paths read about an address.
//!
//! A dense table of bytes over the reservation, indexed by block number. One more entry at its end
//! is for every address outside (null, foreign). So the lookup has no branch: the index is the
//! minimum of the block number and the table's length. Descriptors of 64 bytes in the megablock, as
//! GHC has them, alias in the caches; this table is 256 bytes a megablock.
//!
//! Invariants: free blocks, and those of runs whose owner has not set their state yet, have
//! [`BlockState::OUTSIDE`]; so has the entry at the end. Bytes at and above top are meaningless
//! (zero): no pointer leads there. `BlockAllocator::check` checks the free ones.
//!
//! Bytes are atomics with relaxed loads and stores, which cost nothing extra on the machines we
//! know: GC threads read states while others set those of new blocks. The reader of a state infers
//! nothing else from it, so no ordering is needed; the phases of a collection have their own
//! synchronisation.

use std::fmt;

use super::sizes::bytes_of_blocks;
use super::{BLOCK_SHIFT, BlockId, BlockRun};
use crate::memory::{MemoryError, Table};
use crate::sync::{MappedU8, Ordering::Relaxed};
use crate::words::Addr;

/// The first step that is not collected at every collection: generation 1.
pub const FIRST_OLD_STEP: u8 = 2;

/// The facts that hold for all closures in a block.
///
/// | bits | meaning |
/// |---|---|
/// | 0–3 | step: 0 nursery, 1 aged, g+1 generation g (up to 14); 15 outside the heap, or free |
/// | 4 | condemned: being collected now; its live closures are moved or marked |
/// | 5 | large: the run holds one large object, which is never copied |
/// | 6 | reached: large, and found alive in the copying that is under way; or in a snapshot |
/// | 7 | mixed: old closures lie among young ones, or may move soon; the step is that of young ones |
///
/// Steps are ordered by age: a store must be remembered where the object's step is greater than the
/// value's. A mixed block counts as older than every step when an object in it is written, and as
/// its step when a pointer leads into it: each store to its closures is remembered, and each
/// pointer into it from an older step.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct BlockState(pub u8);

impl BlockState {
    /// The bits of the step.
    pub(crate) const STEP_MASK: u8 = 0x0f;
    /// The bit of condemned blocks.
    pub(crate) const CONDEMNED: u8 = 1 << 4;
    /// The bit of large objects' blocks.
    pub const LARGE: u8 = 1 << 5;
    /// The bit of large objects' blocks that a collection has reached, until it ends.
    pub(crate) const REACHED: u8 = 1 << 6;
    /// The bit of blocks with closures of a snapshot. Collectors that have one reach no large
    /// objects by the other bit.
    pub(crate) const SNAPSHOT: u8 = BlockState::REACHED;
    /// The bit of blocks in which old closures lie among young ones.
    pub(crate) const MIXED: u8 = 1 << 7;
    /// The step of addresses outside the heap and of free blocks.
    pub(crate) const STEP_OUTSIDE: u8 = 15;
    /// The highest step a block of the heap may have.
    pub(crate) const STEP_MAX: u8 = 14;

    /// Outside the heap, or free: step 15, nothing else.
    pub const OUTSIDE: BlockState = BlockState(BlockState::STEP_OUTSIDE);
    /// Nursery blocks, in which mutators allocate: step 0.
    pub const NURSERY: BlockState = BlockState(0);
    /// Survivors of one collection that are still in generation 0: step 1.
    pub const AGED: BlockState = BlockState(1);

    /// The state of blocks of `step`, 0 to 14, neither condemned nor large.
    #[inline(always)]
    pub const fn of_step(step: u8) -> BlockState {
        debug_assert!(step <= BlockState::STEP_MAX);
        BlockState(step)
    }

    /// The state of blocks of generation `generation`, 0 to 13; of generation 0 the aged ones.
    #[inline(always)]
    pub const fn of_generation(generation: u8) -> BlockState {
        BlockState::of_step(generation + 1)
    }

    /// The number of the step: 0 nursery, 1 aged, g+1 generation g, 15 outside.
    #[inline(always)]
    pub const fn step(self) -> u8 {
        self.0 & BlockState::STEP_MASK
    }

    /// The generation of the closures: 0 for the nursery too. Meaningless outside the heap (14).
    #[inline(always)]
    pub const fn generation(self) -> u8 {
        self.step().saturating_sub(1)
    }

    /// Whether it is outside the heap, or free.
    #[inline(always)]
    pub const fn is_outside(self) -> bool {
        self.step() == BlockState::STEP_OUTSIDE
    }

    /// The age of an object that is written: its step, or a number above all steps if the block is
    /// mixed or in a snapshot. The barrier must see the store of a pointer into a block of a lesser
    /// step.
    #[inline(always)]
    pub const fn age_of_holder(self) -> u8 {
        self.0 & (BlockState::STEP_MASK | BlockState::MIXED | BlockState::SNAPSHOT)
    }

    /// Whether its closures are in a snapshot that is being marked while mutators run.
    #[inline(always)]
    pub const fn is_in_snapshot(self) -> bool {
        self.0 & BlockState::SNAPSHOT != 0
    }

    /// The same state, in a snapshot or not.
    #[inline(always)]
    #[must_use]
    pub const fn in_snapshot(self, yes: bool) -> BlockState {
        if yes {
            BlockState(self.0 | BlockState::SNAPSHOT)
        } else {
            BlockState(self.0 & !BlockState::SNAPSHOT)
        }
    }

    /// Whether old closures lie among young ones.
    #[inline(always)]
    pub const fn is_mixed(self) -> bool {
        self.0 & BlockState::MIXED != 0
    }

    /// Whether it is being collected now.
    #[inline(always)]
    pub const fn is_condemned(self) -> bool {
        self.0 & BlockState::CONDEMNED != 0
    }

    /// The step, of a condemned block of small closures. Of any other block it is a number above
    /// all steps.
    #[inline(always)]
    pub(crate) const fn condemned_step(self) -> u8 {
        self.0.wrapping_sub(BlockState::CONDEMNED)
    }

    /// Whether it is being collected now, or was until it was reached.
    #[inline(always)]
    pub(crate) const fn takes_part(self) -> bool {
        self.0 & (BlockState::CONDEMNED | BlockState::REACHED) != 0
    }

    /// Whether it belongs to a large object.
    #[inline(always)]
    pub const fn is_large(self) -> bool {
        self.0 & BlockState::LARGE != 0
    }

    /// The same state, condemned or not.
    #[inline(always)]
    #[must_use]
    pub const fn condemned(self, yes: bool) -> BlockState {
        if yes {
            BlockState(self.0 | BlockState::CONDEMNED)
        } else {
            BlockState(self.0 & !BlockState::CONDEMNED)
        }
    }

    /// The same state, reached by the collection that is under way or not.
    #[inline(always)]
    #[must_use]
    pub const fn reached(self, yes: bool) -> BlockState {
        if yes {
            BlockState(self.0 | BlockState::REACHED)
        } else {
            BlockState(self.0 & !BlockState::REACHED)
        }
    }

    /// The same state, for blocks in which old closures lie among young ones: collectors that tell
    /// ages by marks, not by places, have such blocks.
    #[inline(always)]
    #[must_use]
    pub const fn mixed(self) -> BlockState {
        BlockState(self.0 | BlockState::MIXED)
    }

    /// The same state, for a large object's blocks.
    #[inline(always)]
    #[must_use]
    pub const fn large(self) -> BlockState {
        BlockState(self.0 | BlockState::LARGE)
    }
}

impl fmt::Debug for BlockState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step() {
            BlockState::STEP_OUTSIDE => f.write_str("outside")?,
            step => write!(f, "step {step}")?,
        }
        f.write_str(if self.is_condemned() { ", condemned" } else { "" })?;
        f.write_str(if self.is_mixed() { ", mixed" } else { "" })?;
        f.write_str(if self.is_large() { ", large" } else { "" })
    }
}

/// The states of all blocks of a reservation.
#[derive(Debug)]
pub(crate) struct StateTable {
    /// The start of the reservation, which may be gone.
    base: Addr,
    /// Number of blocks in the reservation.
    blocks: usize,
    /// `blocks + 1` bytes; the last one is [`BlockState::OUTSIDE`] for ever.
    bytes: Table<MappedU8>,
}

impl StateTable {
    /// Makes a table for `blocks` blocks from `base`, none of which is committed yet.
    pub(super) fn new(base: Addr, blocks: u32) -> Result<StateTable, MemoryError> {
        let blocks = blocks as usize;
        let bytes: Table<MappedU8> = Table::new(blocks + 1)?;
        bytes[blocks].store(BlockState::OUTSIDE.0, Relaxed);
        Ok(StateTable { base, blocks, bytes })
    }

    /// The state of the block that contains `address`; [`BlockState::OUTSIDE`] for other addresses.
    #[inline(always)]
    pub(crate) fn of(&self, address: Addr) -> BlockState {
        // SAFETY: the view does not outlive `self`.
        unsafe { self.view() }.of(address)
    }

    /// The state of a block.
    #[inline(always)]
    pub(crate) fn of_block(&self, block: BlockId) -> BlockState {
        assert!(block.index() < self.blocks);
        BlockState(self.bytes[block.index()].load(Relaxed))
    }

    /// Sets the state of every block of a run.
    pub(crate) fn set_run(&self, run: BlockRun, state: BlockState) {
        assert_eq!(
            run.start,
            self.base + bytes_of_blocks(run.first.0),
            "{run:?} belongs to another heap"
        );
        self.fill(run.first, run.blocks, state);
    }

    /// Sets the state of `count` blocks from `first`.
    pub(super) fn fill(&self, first: BlockId, count: u32, state: BlockState) {
        let end = first.index() + count as usize;
        assert!(end <= self.blocks);
        for byte in &(*self.bytes)[first.index()..end] {
            byte.store(state.0, Relaxed);
        }
    }

    /// The entry of the first block.
    pub(super) fn as_ptr(&self) -> *const MappedU8 {
        self.bytes.as_ptr()
    }

    /// The table as three words that fit in registers.
    ///
    /// # Safety
    /// The view is not used after this table has been dropped, which the allocator owns.
    #[inline(always)]
    pub(crate) unsafe fn view(&self) -> StateView {
        StateView {
            table: self.bytes.as_ptr(),
            base: self.base,
            blocks: self.blocks,
        }
    }
}

/// A [`StateTable`] as three words, for loops that keep it in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StateView {
    table: *const MappedU8,
    base: Addr,
    blocks: usize,
}

// SAFETY: it only reads atomics, which any thread may do. The caller of `StateTable::view` vouched
// that the table lives.
unsafe impl Send for StateView {}
// SAFETY: as above.
unsafe impl Sync for StateView {}

impl StateView {
    /// The state of the block that contains `address`; [`BlockState::OUTSIDE`] for other addresses.
    /// No branch, one load.
    #[inline(always)]
    pub fn of(self, address: Addr) -> BlockState {
        // An address below the base wraps round to a huge number, which is outside, too.
        let block = address.0.wrapping_sub(self.base.0) >> BLOCK_SHIFT;
        let index = block.min(self.blocks);
        // SAFETY: the table has `blocks + 1` entries, and lives: the caller of `StateTable::view`
        // vouched for it.
        BlockState(unsafe { &*self.table.add(index) }.load(Relaxed))
    }
}

impl StateView {
    /// The same states, for addresses in the heap only: one word, and a shift less to look up.
    #[inline(always)]
    pub fn in_heap(self) -> HeapStates {
        HeapStates {
            biased: self.table.cast::<u8>().wrapping_sub(self.base.0 >> BLOCK_SHIFT),
            #[cfg(debug_assertions)]
            view: self,
        }
    }
}

/// The states of blocks, for addresses of the heap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeapStates {
    /// The entry that block number 0 of the address space would have.
    biased: *const u8,
    #[cfg(debug_assertions)]
    view: StateView,
}

impl HeapStates {
    /// The state of the block that contains `address`.
    ///
    /// # Safety
    /// `address` lies in the reservation of the heap.
    #[inline(always)]
    pub unsafe fn of(self, address: Addr) -> BlockState {
        #[cfg(debug_assertions)]
        debug_assert!(
            address.0.wrapping_sub(self.view.base.0) >> BLOCK_SHIFT < self.view.blocks,
            "{address} is not in this heap"
        );
        let entry = self.biased.wrapping_add(address.0 >> BLOCK_SHIFT).cast::<MappedU8>();
        // SAFETY: the caller vouches for the block, so this is its entry in the table, which lives
        // (`StateTable::view`).
        BlockState(unsafe { &*entry }.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_outside_read_as_outside_and_blocks_as_set() {
        let base = Addr(0x4200_0000_0000);
        let table = StateTable::new(base, 512).unwrap();
        let run = BlockRun {
            start: base + bytes_of_blocks(3),
            first: BlockId(3),
            blocks: 2,
        };
        table.set_run(run, BlockState::of_generation(1).large());
        let foreign = [
            Addr::NULL,
            Addr(8),
            Addr(base.0 - 1),
            Addr(base.0 + (512 << BLOCK_SHIFT)),
            Addr(usize::MAX),
        ];
        for address in foreign {
            assert_eq!(table.of(address), BlockState::OUTSIDE, "{address}");
        }
        for (offset, step) in [(0x2fff, 0), (0x3000, 2), (0x3fff, 2), (0x4fff, 2), (0x5000, 0)] {
            assert_eq!(table.of(Addr(base.0 + offset)).step(), step, "{offset:#x}");
        }
        assert!(table.of_block(BlockId(4)).is_large());
    }

    #[test]
    fn bits_do_not_disturb_each_other() {
        for step in 0..=BlockState::STEP_MAX {
            let state = BlockState::of_step(step).large().condemned(true);
            assert_eq!(
                (state.step(), state.is_condemned(), state.is_large()),
                (step, true, true)
            );
            assert_eq!(state.condemned(false), BlockState::of_step(step).large());
            assert!(!state.is_outside());
        }
        assert_eq!(BlockState::of_generation(0), BlockState::AGED);
        assert_eq!(
            (
                BlockState::NURSERY.generation(),
                BlockState::of_generation(3).generation()
            ),
            (0, 3)
        );
    }

    #[test]
    fn a_mixed_block_is_old_as_a_holder_and_young_as_a_referent() {
        let mixed = BlockState::AGED.mixed();
        assert_eq!((mixed.step(), mixed.is_mixed(), mixed.is_large()), (1, true, false));
        assert!(mixed.age_of_holder() > BlockState::STEP_OUTSIDE);
        assert!(mixed.step() < BlockState::of_generation(1).age_of_holder());
        for step in 0..=BlockState::STEP_MAX {
            let state = BlockState::of_step(step).large().condemned(true);
            assert_eq!((state.age_of_holder(), state.is_mixed()), (step, false));
        }
    }

    #[test]
    #[should_panic(expected = "another heap")]
    fn a_run_of_another_heap_is_refused() {
        let table = StateTable::new(Addr(0x4200_0000_0000), 512).unwrap();
        table.set_run(
            BlockRun {
                start: Addr(0x1000),
                first: BlockId(3),
                blocks: 1,
            },
            BlockState::NURSERY,
        );
    }
}
