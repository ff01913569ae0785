//! Heap sizing, apart from any collector: from what is live to the next thresholds.
//!
//! A *policy* says how far a heap should grow before it is collected in full ([`Factor`]: GHC's `-F`). The *limit* says how far it
//! can ([`Limit`]: `-M`, less what a collection needs to copy into). [`Sizing`] is both, and all that a collector sees; its
//! code is the same under every policy.
//!
//! As the limit nears, three things give way, in this order: the factor, so that the next collection in full still fits; the
//! allocation area (that of all capabilities together, here and below), down to a few blocks; and collections of generation 0, for ones in
//! full. Only when one of these leaves less than half of `-m` percent of the limit to allocate in is the heap exhausted.
//!
//! Invariant: what is planned fits. After every area that is given here, the next collection stays within [`Heap::limit`] even
//! if everything lives (property tests in `limit.rs`).

mod factor;
mod limit;

pub use factor::Factor;
pub use limit::{Limit, clamp, hinted_area};

use crate::collector::{Outcome, Pause};
use crate::flags::{Compact, Flags, HeapHint};
use crate::heap::{Heap, OutOfMemory};
use crate::space::{Nursery, Steps};
use crate::words::Bytes;

/// How the oldest generation is collected in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// All that lives is copied: there must be room for it a second time.
    Copying,
    /// What the oldest step holds stays in its place, or moves within it; what is younger is copied into it.
    Compacting,
}

/// What is live, in bytes, as sizing needs it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Live {
    /// Closures in chunks, which are copied when they are collected.
    pub copied: Bytes,
    /// Of these, closures outside the oldest step: they are copied even if that is compacted.
    pub young: Bytes,
    /// Large objects, which are not copied.
    pub large: Bytes,
    /// What their blocks take beyond that.
    pub slop: Bytes,
}

impl Live {
    /// What is live in these steps.
    pub fn of(steps: &Steps) -> Live {
        let small = |words: usize, large: usize| Bytes((words - large) * 8);
        let (words, large) = (steps.words().0, steps.large_words().0);
        let oldest = steps.step(steps.oldest());
        let copied = small(words, large);
        Live {
            copied,
            young: copied - small(oldest.words().0, oldest.large_words),
            large: Bytes(large * 8),
            slop: steps.slop(),
        }
    }

    /// All of it, without slop.
    pub fn total(self) -> Bytes {
        self.copied + self.large
    }

    /// All of it, if everything young survives.
    fn with(self, young: Young) -> Live {
        Live {
            copied: self.copied + young.area,
            young: self.young + young.area,
            large: self.large + young.large,
            ..self
        }
    }
}

/// What was allocated since the last collection, at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Young {
    /// The allocation areas, as if they were full.
    pub area: Bytes,
    /// Young large objects.
    pub large: Bytes,
}

impl Young {
    /// What a nursery may hold.
    pub fn of(nursery: &Nursery) -> Young {
        Young {
            area: nursery.size(),
            large: nursery.large_words().to_bytes(),
        }
    }
}

/// A policy and a limit: thresholds for a collector.
#[derive(Debug, Clone)]
pub struct Sizing {
    policy: Policy,
    limit: Limit,
    /// `-A`, for all capabilities together.
    area: Bytes,
    /// `-O`.
    old_min: Bytes,
    hint: HeapHint,
    /// `-c`, where it has an effect.
    compact: Compact,
    generations: u32,
    /// What part of an allocation area a minor collection last copied, in percent (for `-H`).
    kept_percent: usize,
    /// The area that was last given.
    given: Bytes,
    /// Whether the last collection was one in full: nothing more can be had then.
    in_full: bool,
}

/// How far a heap should grow.
#[derive(Debug, Clone)]
enum Policy {
    Factor(Factor),
}

impl Policy {
    /// The size to which what is `live` after a collection in full may grow before the next.
    fn grown(&self, live: Bytes) -> Bytes {
        match self {
            Policy::Factor(policy) => policy.grown(live),
        }
    }

    /// The allocation area of a heap that is collected in full each time.
    fn area(&self, live: Bytes) -> Bytes {
        match self {
            Policy::Factor(policy) => policy.area(live),
        }
    }
}

impl Sizing {
    /// As `flags` say, for this heap.
    pub fn new(flags: &Flags, heap: &Heap) -> Sizing {
        let limit = Limit::new(flags, heap);
        let area = Bytes(flags.allocation_area.0.saturating_mul(flags.capabilities as usize));
        Sizing {
            policy: Policy::Factor(Factor::new(flags)),
            limit,
            area: Bytes(area.0.min(heap.limit().0)),
            old_min: flags.old_min,
            hint: flags.heap_hint,
            compact: match flags.compaction() {
                // A share of a limit that there is not.
                Compact::Above(_) if flags.max_heap.is_none() => Compact::Never,
                given => given,
            },
            generations: flags.generations,
            kept_percent: INITIAL_KEPT_PERCENT,
            given: Bytes::ZERO,
            in_full: true,
        }
    }

    /// Notes what a collection did. To be called at its end, before anything is asked.
    pub fn note<A>(&mut self, pause: &Pause<'_, A>, outcome: &Outcome) {
        self.limit.look_at(pause.heap);
        self.in_full = outcome.major;
        if !outcome.major {
            self.kept_percent = outcome.copied.0 * 100 / self.given.0.max(1);
        }
    }

    /// The size at which an old generation is collected, after a collection in full that left `live` in it: as large as the policy has
    /// it, at least `-O`; less if its collection would not fit ([`clamp`], GHC's).
    pub fn old_limit(&self, live: Bytes, shape: Shape) -> Bytes {
        let wanted = self.policy.grown(live).max(self.old_min);
        wanted.min(self.limit.clamp(self.area, self.generations, shape))
    }

    /// The allocation area after a collection, with generations: `-A`, or what `-H` asks for; less if the next collection would not
    /// fit. `shape` is that of the next collection in full.
    ///
    /// # Errors
    /// If the collection was one in full and leaves less than half of `-m` percent of the limit free.
    pub fn area(&mut self, live: Live, old_limit: Bytes, shape: Shape) -> Result<Bytes, OutOfMemory> {
        let hint = match self.hint {
            HeapHint::None => None,
            HeapHint::Auto => Some(old_limit),
            HeapHint::Size(size) => Some(size),
        };
        let needed = Bytes(live.copied.0 * 2 + live.large.0);
        let wanted = hint.map_or(self.area, |hint| {
            hinted_area(hint, needed, self.kept_percent).max(self.area)
        });
        self.fitting(wanted, live, shape)
    }

    /// The allocation area when everything is collected each time, and `live` was just left: as large as the policy has it, at least
    /// `-A`; less if the next collection would not fit.
    ///
    /// # Errors
    /// If that leaves less than half of `-m` percent of the limit free.
    pub fn area_of_one_generation(&mut self, live: Live, shape: Shape) -> Result<Bytes, OutOfMemory> {
        let wanted = self.policy.area(live.copied).max(self.area);
        self.in_full = true;
        self.fitting(wanted, live, shape)
    }

    /// The allocation area after a collection that left `live` where it is: what makes the heap grow as far as the policy has it, at
    /// least `-A`; at most what is left, since nothing will be copied.
    ///
    /// # Errors
    /// If that is less than half of `-m` percent of the limit.
    pub fn area_in_place(&self, live: Bytes) -> Result<Bytes, OutOfMemory> {
        let wanted = Bytes(self.policy.grown(live).0.saturating_sub(live.0)).max(self.area);
        self.limit.in_place(wanted, live)
    }

    /// Whether a minor collection may leave so much that a collection in full after it would not fit: then this one must be in
    /// full.
    pub fn major_is_urgent(&self, live: Live, young: Young, shape: Shape) -> bool {
        // After a minor collection everything young may be live.
        !self.limit.leaves_enough(live.with(young), shape)
    }

    /// Whether the oldest generation is to be compacted: always (`-c`), or since `live` is more than `-c<n>` percent of `-M`; or since
    /// a copy of it would leave nothing to allocate in.
    pub fn compaction_is_due(&self, live: Live) -> bool {
        let above = match self.compact {
            Compact::Always => true,
            Compact::Above(percent) => live.total().0 as f64 > self.limit.whole().0 as f64 * percent / 100.0,
            Compact::Never => false,
        };
        above || !self.limit.leaves_enough(live, Shape::Copying)
    }

    fn fitting(&mut self, wanted: Bytes, live: Live, shape: Shape) -> Result<Bytes, OutOfMemory> {
        if self.in_full && !self.limit.leaves_enough(live, shape) {
            return Err(self.limit.exhausted(live.total()));
        }
        self.given = self.limit.fitting(wanted, live, shape);
        Ok(self.given)
    }
}

/// GHC's first guess of what part of a nursery survives, in percent.
const INITIAL_KEPT_PERCENT: usize = 30;
