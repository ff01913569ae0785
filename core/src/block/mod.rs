//! Blocks: the unit in which a heap's memory is handed out, by one [`BlockAllocator`] per heap.
//!
//! # Terms
//!
//! * **block**: 4 KiB, aligned. Named by a [`BlockId`], its index in the heap's reservation.
//! * **megablock**: 1 MiB, aligned, 256 blocks, all usable (GHC has 252: descriptors take the
//!   others). The unit of commit, of limits and of return.
//! * **run** ([`BlockRun`]): allocated neighbouring blocks, a *group* in GHC. Any length; a run
//!   longer than a megablock crosses megablocks.
//! * **free group**: free neighbouring blocks inside one megablock of which other blocks are in
//!   use; 1 to 255 blocks, as long as possible (coalesced).
//! * **held-back run**: a run that a collection freed, and that has no access for a time
//!   (`-DP`).
//! * **extent**: neighbouring megablocks that are wholly free: still committed (*free*), or
//!   returned to the system (*returned*).
//! * **top**: megablocks below it have been committed at some time, above it none has.
//! * **region** ([`Region`]): a stretch of a run that holds closures, back to back.
//! * **state**: one byte a block, read by barriers and evacuation ([`BlockState`]).
//! * **descriptor**: 16 bytes a block, read by the allocator only.
//!
//! # Invariants
//!
//! Every megablock below top is in exactly one of: a free extent, a returned extent, or in use.
//! Runs, free groups and held-back runs tile a megablock in use without gaps. The fields of each
//! part have their own invariants, stated there. [`BlockAllocator::check`] checks every one of
//! them, in time proportional to the blocks below top.
//!
//! # Cost
//!
//! | operation | time |
//! |---|---|
//! | allocate `n` < 256 | O(1) in a group, else O(log extents); writes `n` descriptors |
//! | allocate `n` ≥ 256 | O(log extents), a system call for growth; writes `n` descriptors |
//! | free | O(1) at each end, O(log extents) for free megablocks; writes `n` state bytes |
//! | state of an address | one comparison, one load |
//! | return of megablocks | one system call an extent |
//! | side tables | 17 bytes a block touched, 0.42 % |
//!
//! In builds with debug assertions freed blocks are filled with a pattern (`poison`): a memset of
//! all that is freed, which also makes untouched memory resident. Release builds do not touch freed
//! memory.

mod accounting;
mod allocator;
mod charges;
mod check;
mod descriptor;
mod error;
mod extents;
mod fault;
mod free_list;
mod held;
mod megablocks;
pub(crate) mod poison;
mod prepare;
mod protect;
mod region;
mod run;
mod sizes;
#[allow(unreachable_pub, reason = "its items are for the files around it")]
mod state;
mod stretch;

pub use accounting::Accounting;
pub use allocator::BlockAllocator;
pub use charges::Charges;
pub use error::{BlockError, OutOfMemory, Shortage};
#[cfg(test)]
pub(crate) use poison::POISON;
#[cfg(test)]
pub(crate) use prepare::CELL_WORDS;
pub(crate) use prepare::{CHUNK_BLOCKS, ToSpace, copy_bound};
pub(crate) use region::CELLS;
pub use region::{Region, Units};
pub use run::{BlockId, BlockRun};
pub(crate) use sizes::BLOCK_SHIFT;
pub use sizes::{BLOCK, BLOCKS_PER_MEGABLOCK, LARGE_OBJECT, MAX_RESERVATION, MEGABLOCK, blocks_for, megablocks_for};
pub use state::{BlockState, FIRST_OLD_STEP};
pub(crate) use state::{HeapStates, StateTable, StateView};
pub use stretch::{Stretch, StretchKind};
