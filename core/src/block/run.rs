//! Names of blocks: one block, and a run of neighbours.

use super::sizes::BLOCK_SHIFT;
use crate::words::{Addr, Bytes};
use std::fmt;

/// The number of a block in its heap's reservation, from 0; less than 2^28.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct BlockId(pub u32);

impl BlockId {
    /// This block's number, as an index of side tables.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Neighbouring blocks that were allocated together and are freed together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockRun {
    pub(super) start: Addr,
    pub(super) first: BlockId,
    pub(super) blocks: u32,
}

impl BlockRun {
    /// The address of the first byte, a multiple of [`BLOCK`](super::BLOCK).
    #[inline(always)]
    pub const fn start(self) -> Addr {
        self.start
    }

    /// The address after the last byte.
    #[inline(always)]
    pub const fn end(self) -> Addr {
        Addr(self.start.0 + self.bytes().0)
    }

    /// The number of the first block.
    #[inline(always)]
    pub const fn first(self) -> BlockId {
        self.first
    }

    /// The number of blocks; at least one.
    #[inline(always)]
    pub const fn blocks(self) -> u32 {
        self.blocks
    }

    /// The number of bytes; a multiple of [`BLOCK`](super::BLOCK).
    #[inline(always)]
    pub const fn bytes(self) -> Bytes {
        Bytes((self.blocks as usize) << BLOCK_SHIFT)
    }

    /// Whether `address` lies in these blocks.
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
