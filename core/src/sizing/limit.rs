//! The limit on memory (`-M`, or the machine's memory), less the needs of the next collection.
//!
//! The worst case of a collection: everything in the allocation areas lives, and everything that is
//! copied is copied into new chunks before anything is freed. Let *R* be the room for blocks, *L*
//! the memory of live data now, *C* the part of it that will be copied (all but large objects, or
//! only closures younger than the oldest step), *A* the allocation area, *Y* young large objects,
//! and *w(n)* the memory that copying *n* bytes can take ([`copy_bound`]). Then
//!
//! ```text
//! L + A + Y + w(C + A) ≤ R
//! ```
//!
//! where Y is at most the part of `-AL` that A is of `-A`, and at most A: more than that is not
//! kept free for large objects. Where `-AL` allows more, objects beyond are allocated as long as
//! there is room, and cause a collection when there is none. The memory left for A and all that
//! depends on it is called *free*: R − L − w(C), less memory that is too scattered.

use super::live::{Live, MajorStrategy};
use crate::block::{BLOCK, OutOfMemory, Shortage};
use crate::config::Config;
use crate::heap::{Heap, copy_bound};
use crate::words::Bytes;

/// Free blocks of megablocks in use that are too few for a chunk, and the rest of the last
/// megablock.
const SCATTERED: Bytes = Bytes(256 << 10);

/// Size of an allocation area with its copy, in units of the area, with the smallest chunks (16
/// KiB, of which a fifth may be wasted).
const WITH_COPY: f64 = 2.25;

/// Size of an allocation area from which nothing is copied.
const IN_PLACE: f64 = 1.0;

/// The least allocation area of a capability, in bytes: a few blocks.
const LEAST_AREA: usize = 4 * BLOCK.0;

/// The limit on a heap.
#[derive(Debug)]
pub(super) struct Limit {
    /// `-M`, the whole limit.
    whole: Bytes,
    /// The part of the limit that blocks can have.
    room: Bytes,
    /// Half of `-m` percent of the limit.
    least_free: Bytes,
    /// The capabilities that share the allocation area: one at first.
    capabilities: usize,
    /// `-A`, for one of them, and `-AL`.
    area_of_one: Bytes,
    large_limit: Bytes,
    /// Lanes that a thread copies into (of two steps at least). Where there is no room for the
    /// lanes of several threads, one thread copies.
    lanes: usize,
    /// Memory that is too scattered to count on.
    scattered: Bytes,
}

impl Limit {
    /// The limit of `heap`, with the parts of it that `config` sets.
    pub(super) fn new(config: &Config, heap: &Heap) -> Limit {
        let mut limit = Limit::of_size(config, heap.limit());
        limit.scattered += heap.open_cells();
        limit.look_at(heap);
        limit
    }

    /// The limit of a heap of which only the size is known.
    pub(super) fn of_size(config: &Config, whole: Bytes) -> Limit {
        Limit {
            whole,
            room: whole,
            least_free: Bytes((whole.0 as f64 * config.min_free / 200.0) as usize),
            capabilities: 1,
            area_of_one: config.allocation_area,
            large_limit: config.large_limit(),
            lanes: 2 * config.generations.max(2) as usize,
            scattered: SCATTERED,
        }
    }

    /// Notes the room that the heap has now.
    pub(super) fn look_at(&mut self, heap: &Heap) {
        self.room = heap.room();
    }

    pub(super) fn lanes(&self) -> usize {
        self.lanes
    }

    /// The least allocation area of all capabilities together.
    pub(super) fn least_area(&self) -> Bytes {
        Bytes(LEAST_AREA.saturating_mul(self.capabilities))
    }

    /// `-A` for all capabilities together.
    pub(super) fn full_area(&self) -> Bytes {
        Bytes(self.area_of_one.0.saturating_mul(self.capabilities)).min(self.whole)
    }

    /// From now on so many capabilities share the allocation area.
    pub(super) fn share_among(&mut self, capabilities: usize) {
        self.capabilities = capabilities;
    }

    /// The whole limit, `-M`.
    pub(super) fn whole(&self) -> Bytes {
        self.whole
    }

    /// GHC's clamp of an old generation ([`clamp`]), with `area` or half of `-m` percent in
    /// reserve.
    pub(super) fn clamp(&self, area: Bytes, generations: u32, strategy: MajorStrategy) -> Bytes {
        clamp(self.room, self.least_free.max(area), generations, strategy)
    }

    /// The memory that a major collection leaves for allocation and its copy; see the module's
    /// formula.
    fn free(&self, live: Live, strategy: MajorStrategy) -> usize {
        let held = live.total() + live.slop;
        let copy = match strategy {
            MajorStrategy::Promoting | MajorStrategy::InPlace => Bytes::ZERO,
            _ => copy_bound(live.to_copy(strategy).to_words_up(), self.lanes),
        };
        let taken = held.0.saturating_add(copy.0).saturating_add(self.scattered.0);
        self.room.0.saturating_sub(taken)
    }

    /// Half of the bytes by which each old generation can grow before a major collection leaves
    /// nothing to allocate in.
    pub(super) fn half_of_growth(&self, live: Live, generations: u32, strategy: MajorStrategy) -> Bytes {
        clamp(Bytes(self.free(live, strategy) / 2), Bytes::ZERO, generations, strategy)
    }

    /// Whether a major collection leaves enough to continue.
    pub(super) fn leaves_enough(&self, live: Live, strategy: MajorStrategy) -> bool {
        self.free(live, strategy) >= self.least_free.0 && self.can_go_on(live, strategy)
    }

    /// Whether there is room for the least allocation area, and for a collection after it.
    pub(super) fn can_go_on(&self, live: Live, strategy: MajorStrategy) -> bool {
        self.area_of(self.free(live, strategy), strategy) >= self.least_area().0
    }

    /// The largest allocation area for which `free` has room, with its copy (if there will be one)
    /// and young large objects. Approximate: the places of free blocks are not known here.
    fn area_of(&self, free: usize, strategy: MajorStrategy) -> usize {
        // Young large objects have at most as much room as closures in the area.
        let area = self.area_of_one.0.saturating_mul(self.capabilities) as f64;
        let large = area.min(self.large_limit.0 as f64);
        let with_copy = match strategy {
            MajorStrategy::InPlace => IN_PLACE,
            _ => WITH_COPY,
        };
        let small = free as f64 / (with_copy + large / area);
        if small <= area {
            small as usize
        } else {
            ((free as f64 - large) / with_copy) as usize
        }
    }

    /// The allocation area: `wanted`, or as much of it as fits, but at least a few blocks. Beside
    /// it there is room for the least area, so that the next collection may be a minor one
    /// ([`Limit::can_go_on`] after it, even if everything lives); at most half of what is free.
    pub(super) fn fitting(&self, wanted: Bytes, live: Live, strategy: MajorStrategy) -> Bytes {
        let free = self.free(live, strategy);
        let least = (self.least_area().0 as f64 * 2.0 * WITH_COPY) as usize;
        let area = self.area_of(free - least.min(free / 2), strategy);
        wanted.min(Bytes(area)).max(self.least_area())
    }

    /// The allocation area where nothing is copied.
    pub(super) fn in_place(&self, wanted: Bytes, live: Bytes) -> Result<Bytes, OutOfMemory> {
        let free = Bytes(self.room.0.saturating_sub(live.0));
        if free < self.least_free.max(BLOCK) {
            return Err(self.exhausted(live));
        }
        Ok(wanted.min(free))
    }

    pub(super) fn exhausted(&self, in_use: Bytes) -> OutOfMemory {
        OutOfMemory {
            requested: self.least_free.max(self.least_area()),
            in_use,
            limit: Some(self.whole),
            cause: Shortage::Limit,
        }
    }
}

/// GHC's clamp of a generation's size under `-M`. Of *G* generations, all but the first may be
/// equally large. Copied generations exist twice: all of them, or all but the oldest if that one is
/// compacted. So the clamp is (M − reserve) / 2(G − 1), or (M − reserve) / (2(G − 1) − 1) with
/// compaction. Where nothing is copied, they exist once.
pub(crate) fn clamp(limit: Bytes, reserve: Bytes, generations: u32, strategy: MajorStrategy) -> Bytes {
    let old = generations.saturating_sub(1).max(1) as usize;
    let parts = match strategy {
        MajorStrategy::Copying => 2 * old,
        MajorStrategy::Compacting => 2 * old - 1,
        MajorStrategy::Promoting | MajorStrategy::InPlace => old,
    };
    Bytes(limit.0.saturating_sub(reserve.0) / parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::hinted_area;

    const BLOCK: usize = 4096;

    #[test]
    fn the_clamps_are_ghcs() {
        // -M 1 GiB, G = 2, reserve 3932 blocks (3 % / 2).
        let of =
            |generations, strategy| clamp(Bytes(262_144 * BLOCK), Bytes(3932 * BLOCK), generations, strategy).0 / BLOCK;
        assert_eq!(of(2, MajorStrategy::Copying), 129_106);
        assert_eq!(of(2, MajorStrategy::Compacting), 258_212);
        // (262 144 − 3932) / 4 and / 3.
        assert_eq!(of(3, MajorStrategy::Copying), 64_553);
        assert_eq!(of(3, MajorStrategy::Compacting), 86_070);
        // 262 144 − 3932, and half of it.
        assert_eq!(of(2, MajorStrategy::InPlace), 258_212);
        assert_eq!(of(3, MajorStrategy::InPlace), 129_106);
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
