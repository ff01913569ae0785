//! Blocks: the unit in which a heap's memory is handed out, one [`BlockAllocator`] per heap.
//!
//! # Terms
//!
//! * **block**: 4 KiB, aligned. Named by a [`BlockId`], its index in the heap's reservation.
//! * **megablock**: 1 MiB, aligned, 256 blocks, all usable (GHC has 252: descriptors take the others). The unit of commit, of limits and of return.
//! * **run** ([`BlockRun`]): allocated neighbouring blocks, a *group* in GHC. Any length; crosses megablocks where it is longer than one.
//! * **free group**: free neighbouring blocks inside one megablock of which other blocks are in use; 1 to 255 blocks, as long as they can be (coalesced).
//! * **region**: neighbouring megablocks that are wholly free: still committed (*free*), or given back to the system (*returned*).
//! * **top**: megablocks below it have been committed at some time, above it none has.
//! * **state**: one byte a block, what barriers and evacuation read ([`BlockState`]).
//! * **descriptor**: 16 bytes a block, what the allocator itself reads and nobody else.
//!
//! # Invariants
//!
//! Every megablock below top is in exactly one of: a free region, a returned region, or in use; a megablock in use is tiled by runs and free groups without gaps.
//! The fields of each part have invariants of their own, stated there. [`BlockAllocator::check`] checks every one of them, in time
//! proportional to the blocks below top.
//!
//! # Cost
//!
//! | operation | time |
//! |---|---|
//! | allocate `n` < 256 | O(1) to find and split a group, or O(log regions); writes `n` descriptors |
//! | allocate `n` ≥ 256 | O(log regions), a system call where the heap grows; writes `n` descriptors |
//! | free | O(1) coalescing at each end, O(log regions) where megablocks fall free; writes `n` state bytes |
//! | state of an address | one comparison, one load |
//! | return of megablocks | one system call a region |
//! | side tables | 17 bytes a block touched, 0.42 % |
//!
//! In builds with debug assertions freed blocks are filled with [`POISON`] (`poison`): a memset of all that is freed, which also makes
//! resident what was never touched. Release builds do not touch freed memory.

mod accounting;
mod allocator;
mod charges;
mod check;
mod descriptor;
mod error;
mod free_list;
mod megablocks;
pub(crate) mod poison;
mod prepare;
mod regions;
mod state;

use std::fmt;

pub use accounting::Accounting;
pub use allocator::BlockAllocator;
pub use charges::Charges;
pub use error::{BlockError, Exhausted, OutOfMemory};
pub(crate) use prepare::CHUNK_BLOCKS;
pub use prepare::{ToSpace, copy_bound};
pub use state::{BlockState, StateTable, StateView};

use crate::words::{Addr, Bytes};

/// log2 of [`BLOCK`]: an address shifted by this is a block number.
pub const BLOCK_SHIFT: u32 = 12;

/// The size of a block (GHC's).
pub const BLOCK: Bytes = Bytes(1 << BLOCK_SHIFT);

/// The size of a megablock (GHC's).
pub const MEGABLOCK: Bytes = Bytes::mib(1);

/// Blocks in a megablock, all of them usable.
pub const BLOCKS_PER_MEGABLOCK: u32 = (MEGABLOCK.0 / BLOCK.0) as u32;

/// The largest reservation: 1 TiB is 2^28 blocks. A descriptor keeps sizes in 29 bits, links in 32.
pub const MAX_RESERVATION: Bytes = Bytes::gib(1024);

/// What freed blocks are filled with in builds with debug assertions: as an address non-canonical and odd, as a count absurd.
pub const POISON: u8 = 0xd5;

/// The number of a block in its heap's reservation, from 0; less than 2^28.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct BlockId(pub u32);

impl BlockId {
    /// This block's number as an index of side tables.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Neighbouring blocks that were allocated together, and are freed together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockRun {
    start: Addr,
    first: BlockId,
    blocks: u32,
}

impl BlockRun {
    /// The address of the first byte, a multiple of [`BLOCK`].
    #[inline(always)]
    pub const fn start(self) -> Addr {
        self.start
    }

    /// The address behind the last byte.
    #[inline(always)]
    pub const fn end(self) -> Addr {
        Addr(self.start.0 + self.bytes().0)
    }

    /// The number of the first block.
    #[inline(always)]
    pub const fn first(self) -> BlockId {
        self.first
    }

    /// How many blocks; at least one.
    #[inline(always)]
    pub const fn blocks(self) -> u32 {
        self.blocks
    }

    /// How many bytes; a multiple of [`BLOCK`].
    #[inline(always)]
    pub const fn bytes(self) -> Bytes {
        Bytes((self.blocks as usize) << BLOCK_SHIFT)
    }

    /// Does `address` lie in these blocks?
    #[inline(always)]
    pub const fn contains(self, address: Addr) -> bool {
        address.0.wrapping_sub(self.start.0) < self.bytes().0
    }
}

impl fmt::Debug for BlockRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "BlockRun({} blocks at {}, number {})",
            self.blocks, self.start, self.first.0
        )
    }
}

/// The blocks that hold so many bytes. `u32::MAX` for more than any reservation holds, so that allocation fails cleanly.
pub const fn blocks_for(bytes: Bytes) -> u32 {
    let blocks = bytes.0.div_ceil(BLOCK.0);
    if blocks > u32::MAX as usize {
        u32::MAX
    } else {
        blocks as u32
    }
}

/// The megablocks that hold so many blocks.
pub const fn megablocks_for(blocks: u32) -> u32 {
    blocks.div_ceil(BLOCKS_PER_MEGABLOCK)
}

/// The bytes of so many blocks.
const fn bytes_of_blocks(blocks: u32) -> Bytes {
    Bytes((blocks as usize) << BLOCK_SHIFT)
}

/// The bytes of so many megablocks.
const fn bytes_of_megablocks(megablocks: u32) -> Bytes {
    Bytes(megablocks as usize * MEGABLOCK.0)
}
