//! What fits: the limit on memory (`-M`, or what the machine has), less what the next collection needs.
//!
//! The worst case of a collection: everything in the allocation areas lives, and all that is copied is copied into new chunks before
//! anything is freed. With *R* the room for blocks, *L* what live data take now, *C* the part of it that will be copied (all but large objects, or only what is
//! younger than the oldest step), *A* the allocation area, *Y* young large objects, and *w(n)* the memory that copying *n* bytes can take ([`copy_bound`]),
//!
//! ```text
//! L + A + Y + w(C + A) ≤ R
//! ```
//!
//! where Y is at most the part of `-AL` that A is of `-A`. What that leaves for A and all that depends on it is *free*: R − L − w(C), less what is too scattered.

use super::live::{Live, Shape};
use crate::block::{BLOCK, Shortage};
use crate::config::Config;
use crate::heap::{Heap, OutOfMemory, copy_bound};
use crate::words::Bytes;

/// Free blocks of megablocks in use that a chunk cannot be made of, and what is left of the last megablock.
const SCATTERED: Bytes = Bytes(256 << 10);

/// An allocation area with its copy in the smallest chunks (16 KiB, of which a fifth may be wasted).
const WITH_COPY: f64 = 2.25;

/// The least allocation area of a capability: a few blocks.
const LEAST_AREA: usize = 4 * BLOCK.0;

/// The limit on a heap.
#[derive(Debug)]
pub(super) struct Limit {
    /// `-M`.
    whole: Bytes,
    /// What of it blocks can have.
    room: Bytes,
    /// Half of `-m` percent of the limit.
    least_free: Bytes,
    least_area: Bytes,
    /// `-A` for all capabilities together, and `-AL`.
    area: Bytes,
    large_area: Bytes,
    /// Lanes that a thread copies into, of two steps at least, and threads that may copy.
    lanes: usize,
    copiers: usize,
}

impl Limit {
    /// That of `heap`, with the shares of it that `config` sets.
    pub fn new(config: &Config, heap: &Heap) -> Limit {
        let mut limit = Limit::of_size(config, heap.limit());
        limit.look_at(heap);
        limit
    }

    /// That of a heap of which no more is known than its size.
    pub fn of_size(config: &Config, whole: Bytes) -> Limit {
        let capabilities = config.capabilities as usize;
        Limit {
            whole,
            room: whole,
            least_free: Bytes((whole.0 as f64 * config.min_free / 200.0) as usize),
            least_area: Bytes(LEAST_AREA.saturating_mul(capabilities)),
            area: Bytes(config.allocation_area.0.saturating_mul(capabilities)),
            large_area: config.large_limit(),
            lanes: 2 * config.generations.max(2) as usize,
            copiers: 1,
        }
    }

    /// Takes note of what the heap has room for.
    pub(super) fn look_at(&mut self, heap: &Heap) {
        (self.room, self.copiers) = (heap.room(), heap.copiers());
    }

    pub(super) fn lanes(&self) -> usize {
        self.lanes
    }

    pub(super) fn least_area(&self) -> Bytes {
        self.least_area
    }

    /// All of it.
    pub(super) fn whole(&self) -> Bytes {
        self.whole
    }

    /// GHC's clamp of an old generation ([`clamp`]), with `area` or half of `-m` percent in reserve.
    pub(super) fn clamp(&self, area: Bytes, generations: u32, shape: Shape) -> Bytes {
        clamp(self.room, self.least_free.max(area), generations, shape)
    }

    /// What a collection in full leaves to allocate in and to copy that: see the module's formula.
    fn free(&self, live: Live, shape: Shape) -> usize {
        let copied = match shape {
            Shape::Copying => live.copied,
            Shape::Compacting => live.young,
        };
        let held = live.total() + live.slop;
        let copy = copy_bound(copied.to_words_up(), self.lanes * self.copiers);
        let taken = held.0.saturating_add(copy.0).saturating_add(SCATTERED.0);
        self.room.0.saturating_sub(taken)
    }

    /// Whether there is enough to go on with.
    pub(super) fn leaves_enough(&self, live: Live, shape: Shape) -> bool {
        let free = self.free(live, shape);
        free >= self.least_free.0 && self.area_of(free) >= self.least_area.0
    }

    /// The largest allocation area that `free` has room for, with its copy and young large objects; about, since where free blocks lie is not known here.
    fn area_of(&self, free: usize) -> usize {
        let (area, large) = (self.area.0 as f64, self.large_area.0 as f64);
        let small = free as f64 / (WITH_COPY + large / area);
        if small <= area {
            small as usize
        } else {
            ((free as f64 - large) / WITH_COPY) as usize
        }
    }

    /// The allocation area: `wanted`, or as much of it as fits; never less than a few blocks.
    pub(super) fn fitting(&self, wanted: Bytes, live: Live, shape: Shape) -> Bytes {
        wanted
            .min(Bytes(self.area_of(self.free(live, shape))))
            .max(self.least_area)
    }

    /// The same where nothing is copied.
    pub(super) fn in_place(&self, wanted: Bytes, live: Bytes) -> Result<Bytes, OutOfMemory> {
        let free = Bytes(self.room.0.saturating_sub(live.0));
        if free < self.least_free.max(BLOCK) {
            return Err(self.exhausted(live));
        }
        Ok(wanted.min(free))
    }

    pub(super) fn exhausted(&self, in_use: Bytes) -> OutOfMemory {
        OutOfMemory {
            requested: self.least_free.max(self.least_area),
            in_use,
            limit: Some(self.whole),
            cause: Shortage::Limit,
        }
    }
}

/// GHC's clamp of a generation's size under `-M`. Of *G* generations, all but the first may be as large as each other, and what is copied exists
/// twice: all of them, or all but the oldest; so it is (M − reserve) / 2(G − 1), or (M − reserve) / (2(G − 1) − 1) if that is compacted.
pub fn clamp(limit: Bytes, reserve: Bytes, generations: u32, shape: Shape) -> Bytes {
    let old = generations.saturating_sub(1).max(1) as usize;
    let parts = match shape {
        Shape::Copying => 2 * old,
        Shape::Compacting => 2 * old - 1,
    };
    Bytes(limit.0.saturating_sub(reserve.0) / parts)
}

/// GHC's allocation area under `-H`: (H − needed) × 100 / (100 + kept %).
pub fn hinted_area(hint: Bytes, needed: Bytes, kept_percent: usize) -> Bytes {
    Bytes((hint.0.saturating_sub(needed.0) as u128 * 100 / (100 + kept_percent as u128)) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: usize = 4096;

    #[test]
    fn the_clamps_are_ghcs() {
        // -M 1 GiB, G = 2, reserve 3932 blocks (3 % / 2).
        let of = |generations, shape| clamp(Bytes(262_144 * BLOCK), Bytes(3932 * BLOCK), generations, shape).0 / BLOCK;
        assert_eq!(of(2, Shape::Copying), 129_106);
        assert_eq!(of(2, Shape::Compacting), 258_212);
        // (262 144 − 3932) / 4 and / 3.
        assert_eq!(of(3, Shape::Copying), 64_553);
        assert_eq!(of(3, Shape::Compacting), 86_070);
    }

    #[test]
    fn the_hinted_area_is_ghcs() {
        // -H 100 MiB, needed 6000 blocks, 30 % kept: 15 076 blocks.
        assert_eq!(
            hinted_area(Bytes(25_600 * BLOCK), Bytes(6000 * BLOCK), 30).0 / BLOCK,
            15_076
        );
    }
}
