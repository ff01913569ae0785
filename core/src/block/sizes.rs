//! The sizes of blocks, megablocks and large objects, and conversions between units.

use crate::words::{Bytes, Words};

/// log2 of [`BLOCK`]: an address shifted by this is a block number.
pub(crate) const BLOCK_SHIFT: u32 = 12;

/// The size of a block (GHC's).
pub const BLOCK: Bytes = Bytes(1 << BLOCK_SHIFT);

/// The size of a megablock (GHC's).
pub const MEGABLOCK: Bytes = Bytes::mib(1);

/// Blocks in a megablock, all of them usable.
pub const BLOCKS_PER_MEGABLOCK: u32 = (MEGABLOCK.0 / BLOCK.0) as u32;

/// The largest reservation: 1 TiB is 2^28 blocks. A descriptor stores sizes in 29 bits, links
/// in 32.
pub const MAX_RESERVATION: Bytes = Bytes::gib(1024);

/// Closures of this many words or more, header included, are large: GHC's `LARGE_OBJECT_THRESHOLD`,
/// floor(0.8 × 4096 / 8).
pub const LARGE_OBJECT: Words = Words(409);

/// The number of blocks that hold `bytes`. `u32::MAX` for more than any reservation holds, so that
/// allocation fails cleanly.
pub const fn blocks_for(bytes: Bytes) -> u32 {
    let blocks = bytes.0.div_ceil(BLOCK.0);
    if blocks > u32::MAX as usize {
        u32::MAX
    } else {
        blocks as u32
    }
}

/// The number of megablocks that hold `blocks` blocks.
pub const fn megablocks_for(blocks: u32) -> u32 {
    blocks.div_ceil(BLOCKS_PER_MEGABLOCK)
}

/// The size of `blocks` blocks.
pub(crate) const fn bytes_of_blocks(blocks: u32) -> Bytes {
    Bytes((blocks as usize) << BLOCK_SHIFT)
}

/// The size of `megablocks` megablocks.
pub(crate) const fn bytes_of_megablocks(megablocks: u32) -> Bytes {
    Bytes(megablocks as usize * MEGABLOCK.0)
}
