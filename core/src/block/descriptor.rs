//! Descriptors: the allocator's own data about each block. 16 bytes, in a dense table outside the
//! heap.
//!
//! # Which descriptors are valid
//!
//! * An allocated run: every one. The first has the flag and the size, all have `head`. So the run
//!   around an address is found in O(1).
//! * A free group: the first (flag, size, head, list links) and the last (flag, head), which is all
//!   that coalescing reads.
//! * A held-back run: as an allocated one, but the first has another flag.
//! * Elsewhere (inside free groups, in free and returned extents) they are stale, with one
//!   guarantee: none is the first of an allocated run.

use super::{BLOCKS_PER_MEGABLOCK, BlockId};
use crate::memory::ZeroValid;

/// No block: the end of a free list.
pub(super) const NONE: u32 = u32::MAX;

/// The low bits of `size`: up to 2^28 blocks.
const SIZE_MASK: u32 = (1 << 29) - 1;
/// First block of an allocated run.
const ALLOCATED: u32 = 1 << 31;
/// First or last block of a free group.
const FREE: u32 = 1 << 30;
/// First block of a free group whose pages were returned to the system.
const DRY: u32 = 1 << 29;
/// First block of a run that is held back: the same bit, without [`FREE`].
const HELD: u32 = DRY;

/// The descriptor of one block. See the module. A descriptor of zeros is stale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descriptor {
    /// Blocks of the run or group that begins here, 0 where none does; with the flag [`ALLOCATED`]
    /// or [`FREE`].
    size: u32,
    /// The first block of the run or group.
    pub(super) head: u32,
    /// In a free group's first block: the next group in its list, or [`NONE`].
    pub(super) next: u32,
    /// In a free group's first block: the previous group in its list, or [`NONE`].
    pub(super) previous: u32,
}

const _: () = assert!(size_of::<Descriptor>() == 16);
const _: () = assert!(super::MAX_RESERVATION.0 / super::BLOCK.0 <= SIZE_MASK as usize);

// SAFETY: four integers, for which zero is a value; no drop.
unsafe impl ZeroValid for Descriptor {}

impl Descriptor {
    /// The descriptor of a block that was never in use.
    #[cfg(test)]
    pub(super) const STALE: Descriptor = Descriptor {
        size: 0,
        head: 0,
        next: 0,
        previous: 0,
    };

    /// Blocks of the run or group whose first block this is.
    pub(super) fn blocks(&self) -> u32 {
        self.size & SIZE_MASK
    }

    /// Whether an allocated run begins here.
    pub(super) fn is_allocated_head(&self) -> bool {
        self.size & ALLOCATED != 0
    }

    /// Whether the pages of the free group with this first block were returned to the system.
    pub(super) fn is_dry(&self) -> bool {
        self.size & (DRY | FREE) == (DRY | FREE)
    }

    /// Whether a run begins here that is held back.
    pub(super) fn is_held_head(&self) -> bool {
        self.size & (HELD | FREE) == HELD
    }

    /// Notes that the pages were returned to the system.
    pub(super) fn set_dry(&mut self) {
        self.size |= DRY;
    }

    /// Whether it is the first or last block of a free group. Valid only for blocks at the edges of
    /// runs and groups.
    pub(super) fn is_free_edge(&self) -> bool {
        self.size & FREE != 0
    }
}

/// Describes an allocated run.
pub(super) fn describe_run(descriptors: &mut [Descriptor], first: u32, blocks: u32) {
    let run = &mut descriptors[first as usize..(first + blocks) as usize];
    run.fill(Descriptor {
        size: 0,
        head: first,
        next: NONE,
        previous: NONE,
    });
    run[0].size = blocks | ALLOCATED;
}

/// Describes a free group: its first and last block.
pub(super) fn describe_group(descriptors: &mut [Descriptor], first: u32, blocks: u32) {
    debug_assert!(blocks < BLOCKS_PER_MEGABLOCK);
    let last = first + blocks - 1;
    descriptors[last as usize] = Descriptor {
        size: FREE,
        head: first,
        next: NONE,
        previous: NONE,
    };
    descriptors[first as usize] = Descriptor {
        size: blocks | FREE,
        head: first,
        next: NONE,
        previous: NONE,
    };
}

/// Describes the allocated run that begins here as held back.
pub(super) fn hold_head(descriptors: &mut [Descriptor], first: u32) {
    let head = &mut descriptors[first as usize];
    head.size = head.size & !ALLOCATED | HELD;
}

/// Ensures that no allocated run seems to begin here.
pub(super) fn retire_head(descriptors: &mut [Descriptor], first: u32) {
    descriptors[first as usize] = Descriptor {
        size: 0,
        head: first,
        next: NONE,
        previous: NONE,
    };
}

/// The allocated run around a block: its first block and its length. `None` where the block is not
/// in use.
pub(super) fn run_around(descriptors: &[Descriptor], block: BlockId) -> Option<(u32, u32)> {
    let head = descriptors.get(block.index())?.head;
    let first = &descriptors[head as usize];
    // A stale `head` may lead to a newer, shorter run.
    let inside = first.is_allocated_head() && head <= block.0 && block.0 - head < first.blocks();
    inside.then(|| (head, first.blocks()))
}
