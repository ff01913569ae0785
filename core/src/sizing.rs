//! Heap sizing: from what is live to the next thresholds. GHC's `-F` rule (`resizeGenerations`, `calcNeeded`,
//! `resize_nursery`), apart from any collector.
//!
//! Under `-M` two things shrink as the limit nears: the factor, so that a copy of everything that is copied fits, and then
//! the allocation area (that of all capabilities together, here and below). When less than `-m` percent of the limit would be left to allocate in, the heap is exhausted.

use crate::block::{BLOCK, Exhausted};
use crate::flags::{Flags, HeapHint};
use crate::heap::{Heap, OutOfMemory};
use crate::space::Steps;
use crate::words::Bytes;

/// What collections leave of a chunk of to-space, for each lane at most: counted when a limit is near.
const CHUNK_SLACK: usize = 32 << 10;

/// GHC's `-F` rule.
#[derive(Debug, Clone)]
pub struct FactorSizing {
    factor: f64,
    old_min: Bytes,
    /// `-A`, for all capabilities together.
    area: Bytes,
    hint: HeapHint,
    generations: u32,
    limit: Bytes,
    /// Least allocation area before the heap counts as exhausted.
    least_area: Bytes,
    /// Percentage of the allocation area that survives a minor collection, as last seen (for `-H`).
    kept_percent: usize,
}

/// What is live, in bytes, as sizing needs it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Live {
    /// Closures that are copied when they are collected.
    pub copied: Bytes,
    /// Large objects, which are not.
    pub large: Bytes,
}

impl Live {
    /// What is live in these steps.
    pub fn of(steps: &Steps) -> Live {
        let large = steps.large_words().to_bytes();
        Live {
            copied: Bytes(steps.words().to_bytes().0 - large.0),
            large,
        }
    }
}

impl FactorSizing {
    /// The rule as `flags` set it, for a heap with this limit.
    pub fn new(flags: &Flags, heap: &Heap) -> Self {
        let limit = heap.limit();
        let area = flags.allocation_area.0.saturating_mul(flags.capabilities as usize);
        let least = (limit.0 as f64 * flags.min_free / 200.0) as usize;
        FactorSizing {
            factor: flags.old_factor,
            old_min: flags.old_min,
            area: Bytes(area.min(limit.0)),
            hint: flags.heap_hint,
            generations: flags.generations,
            limit,
            least_area: Bytes(least.min(area)),
            kept_percent: INITIAL_KEPT_PERCENT,
        }
    }

    /// The limit of an old generation after a major collection that left `live`: max(F × live, -O), less if a copy of it
    /// would not fit under `-M` ([`copying_clamp`]).
    pub fn old_limit(&self, live: Bytes) -> Bytes {
        let wanted = (live.0 as f64 * self.factor) as usize;
        let reserve = self.least_area.0.max(self.area.0);
        Bytes(
            wanted
                .max(self.old_min.0)
                .min(copying_clamp(self.limit, Bytes(reserve), self.generations).0),
        )
    }

    /// The allocation area when there is one generation and `live` was just copied: max(F × live, -A), less if the copy of
    /// everything at the next collection would not fit under `-M`.
    ///
    /// # Errors
    /// If that leaves less than `-m` percent of the limit.
    pub fn area_of_one_generation(&self, live: Live) -> Result<Bytes, OutOfMemory> {
        let wanted = Bytes(((live.copied.0 as f64 * self.factor) as usize).max(self.area.0));
        self.fitting_area(wanted, live)
    }

    /// The allocation area after a collection, with generations: -A, or what `-H` asks for; less if the copy of everything
    /// would not fit under `-M`.
    ///
    /// # Errors
    /// If that leaves less than `-m` percent of the limit.
    pub fn area(&self, live: Live, old_limit: Bytes) -> Result<Bytes, OutOfMemory> {
        let hint = match self.hint {
            HeapHint::None => None,
            HeapHint::Auto => Some(old_limit),
            HeapHint::Size(size) => Some(size),
        };
        let needed = Bytes(live.copied.0 * 2 + live.large.0);
        let wanted = hint.map_or(self.area, |hint| {
            Bytes(hinted_area(hint, needed, self.kept_percent).0.max(self.area.0))
        });
        self.fitting_area(wanted, live)
    }

    /// The allocation area after a collection that left `live` where it is: what makes the heap grow to F × live, at least -A;
    /// under `-M` at most what is left beside it, since nothing will be copied.
    ///
    /// # Errors
    /// If that leaves less than `-m` percent of the limit.
    pub fn area_in_place(&self, live: Bytes) -> Result<Bytes, OutOfMemory> {
        let growth = (live.0 as f64 * (self.factor - 1.0)) as usize;
        let room = self.limit.0.saturating_sub(live.0);
        if room < self.least_area.0 {
            return Err(self.exhausted(live));
        }
        Ok(Bytes(growth.max(self.area.0).min(room).max(BLOCK.0)))
    }

    /// Notes what part of the allocation area survived a minor collection.
    pub fn note_survival(&mut self, copied: Bytes, area: Bytes) {
        self.kept_percent = copied.0 * 100 / area.0.max(1);
    }

    /// Whether a minor collection may leave so much that a major one after it would not fit: then it must be major now.
    /// `young` is what the allocation area holds.
    pub fn major_is_urgent(&self, live: Live, young: Bytes) -> bool {
        // After a minor collection everything young may be live, and as much will be allocated before the next one.
        self.room_for(Live {
            copied: Bytes(live.copied.0 + young.0),
            large: live.large,
        }) < self.least_area.0.max(young.0)
    }

    /// The largest allocation area with which the next collection, even if everything lives, stays under the limit: a copy
    /// of all that is copied, young large objects as large as the allocation area, and slack.
    fn room_for(&self, live: Live) -> usize {
        let slack = CHUNK_SLACK * 4 * (self.generations as usize + 1);
        self.limit
            .0
            .saturating_sub(live.copied.0.saturating_mul(2))
            .saturating_sub(live.large.0 + slack)
            / 3
    }

    fn fitting_area(&self, wanted: Bytes, live: Live) -> Result<Bytes, OutOfMemory> {
        let room = self.room_for(live);
        if room < self.least_area.0 {
            return Err(self.exhausted(Bytes(live.copied.0 + live.large.0)));
        }
        Ok(Bytes(wanted.0.min(room)))
    }

    fn exhausted(&self, in_use: Bytes) -> OutOfMemory {
        OutOfMemory {
            requested: self.least_area,
            in_use,
            limit: Some(self.limit),
            cause: Exhausted::Limit,
        }
    }
}

/// GHC's first guess of what part of a nursery survives, in percent.
const INITIAL_KEPT_PERCENT: usize = 30;

/// GHC's clamp of the generation limit under `-M` for copying: (M − reserve) / (2 (G − 1)).
pub fn copying_clamp(limit: Bytes, reserve: Bytes, generations: u32) -> Bytes {
    let old = generations.saturating_sub(1).max(1) as usize;
    Bytes(limit.0.saturating_sub(reserve.0) / (2 * old))
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
    fn the_clamp_is_ghcs() {
        // -M 1 GiB, G = 2, reserve 3932 blocks (3 % / 2): 129 106 blocks.
        let clamp = copying_clamp(Bytes(262_144 * BLOCK), Bytes(3932 * BLOCK), 2);
        assert_eq!(clamp.0 / BLOCK, 129_106);
    }

    #[test]
    fn the_hinted_area_is_ghcs() {
        // -H 100 MiB, needed 6000 blocks, 30 % kept: 15 076 blocks.
        assert_eq!(
            hinted_area(Bytes(25_600 * BLOCK), Bytes(6000 * BLOCK), 30).0 / BLOCK,
            15_076
        );
    }

    fn sizing(limit: usize) -> FactorSizing {
        let flags = Flags {
            max_heap: Some(Bytes(limit)),
            reserve: Bytes(256 << 20),
            ..Flags::default()
        };
        FactorSizing::new(&flags, &Heap::new(&flags).expect("a small heap"))
    }

    #[test]
    fn the_allocation_area_shrinks_before_the_heap_is_exhausted() {
        let sizing = sizing(64 << 20);
        let live = |mib: usize| Live {
            copied: Bytes(mib << 20),
            large: Bytes(0),
        };
        let area = |mib: usize| sizing.area(live(mib), Bytes(0));
        assert_eq!(area(4).expect("fits"), Bytes(4 << 20));
        let shrunk = area(29).expect("still fits");
        assert!(shrunk < Bytes(4 << 20) && shrunk > Bytes(0));
        assert!(area(32).is_err());
    }

    #[test]
    fn everything_fits_at_the_worst() {
        let sizing = sizing(64 << 20);
        for mib in 0..32 {
            let live = Live {
                copied: Bytes(mib << 20),
                large: Bytes(0),
            };
            if let Ok(area) = sizing.area(live, Bytes(0)) {
                assert!(
                    2 * (live.copied.0 + area.0) + area.0 <= 64 << 20,
                    "{mib} MiB live and {area:?} do not fit"
                );
            }
        }
    }
}
