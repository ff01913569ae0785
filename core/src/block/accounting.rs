//! The cost of a heap's blocks, as a value.

use super::BLOCKS_PER_MEGABLOCK;
use super::sizes::{bytes_of_blocks, bytes_of_megablocks};
use crate::words::Bytes;

/// Exact counts at one moment; the peaks are since the heap was made. `BlockAllocator::check`
/// compares the current counts with a full count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accounting {
    /// Blocks in allocated runs (GHC's `n_alloc_blocks`, except that it counts megablock groups as
    /// multiples of 252).
    pub blocks_in_use: u32,
    /// The most blocks that were ever in allocated runs at a time.
    pub peak_blocks: u32,
    /// Megablocks that hold memory: in use wholly or in part, or free but not returned (GHC's
    /// `mblocks_allocated`).
    pub megablocks_in_use: u32,
    /// The most megablocks that ever held memory at a time (GHC's `peak_mblocks_allocated`).
    pub peak_megablocks: u32,
    /// The most blocks that were in use while the megablocks were at their peak.
    pub blocks_at_peak: u32,
    /// Address space of the heap; no memory by itself.
    pub reserved: Bytes,
    /// All bytes that were ever returned to the system.
    pub returned_bytes: Bytes,
    /// Bytes of wholly free megablocks, a part of `megablocks_in_use`.
    pub free: Bytes,
    /// Bytes charged for side tables: a fixed amount for each megablock that was ever committed.
    pub side: Bytes,
    /// All bytes that count under the limit: megablocks, side tables, and other charges (mark
    /// stacks, remembered sets).
    pub taken: Bytes,
    /// The most that `taken` ever was.
    pub peak_taken: Bytes,
    /// Memory of the side tables, in pages, if everything that was ever committed was touched. It
    /// is not part of the megablocks.
    pub metadata_bytes: Bytes,
}

impl Accounting {
    /// Bytes of committed megablocks that are in no run: `(megablocks · 256 − blocks) · 4096`
    /// (GHC's `block_fragmentation_bytes`, with 256 usable blocks in a megablock for its 252).
    pub fn fragmentation(&self) -> Bytes {
        bytes_of_blocks(self.megablocks_in_use * BLOCKS_PER_MEGABLOCK - self.blocks_in_use)
    }

    /// "Lost due to fragmentation" of `-s`: while the megablocks were at their peak, the bytes in
    /// no run when most blocks were in use. Both figures are from one moment; GHC's two peaks may
    /// be of different ones. Blocks that a collection has just freed do not count: the next one
    /// fills them again.
    pub fn peak_fragmentation(&self) -> Bytes {
        bytes_of_blocks(self.peak_megablocks * BLOCKS_PER_MEGABLOCK - self.blocks_at_peak)
    }

    /// The bytes of all committed megablocks.
    pub fn committed(&self) -> Bytes {
        bytes_of_megablocks(self.megablocks_in_use)
    }

    pub(super) fn add_blocks(&mut self, blocks: u32) {
        self.blocks_in_use += blocks;
        self.peak_blocks = self.peak_blocks.max(self.blocks_in_use);
        if self.megablocks_in_use == self.peak_megablocks {
            self.blocks_at_peak = self.blocks_at_peak.max(self.blocks_in_use);
        }
    }

    pub(super) fn add_megablocks(&mut self, megablocks: u32) {
        self.megablocks_in_use += megablocks;
        if self.megablocks_in_use > self.peak_megablocks {
            self.peak_megablocks = self.megablocks_in_use;
            self.blocks_at_peak = self.blocks_in_use;
        }
    }
}
