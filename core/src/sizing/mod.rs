//! Heap sizing, apart from any collector: it computes the next thresholds from the live memory.
//!
//! A *policy* says how far a heap should grow before a major collection ([`Factor`]: GHC's `-F`;
//! [`Fixed`]; [`MemBalancer`]). The *limit* says how far it can grow: `-M`, less the memory that a
//! collection copies into. [`Sizing`] combines both and is all that a collector sees; its code is
//! the same under every policy.
//!
//! As the limit nears, three things give way, in this order: the factor, so that the next major
//! collection still fits; the allocation area (of all capabilities together, here and below),
//! down to a few blocks; and minor collections, which become major ones. The area leaves room for
//! a minor collection in which everything lives, and for a major one after it, so that minor
//! collections end only where the area has its least size. The heap is exhausted only when a major
//! collection leaves less than half of `-m` percent of the limit to allocate in, or no room for the
//! allocation that asked for it.
//!
//! A collector makes a call when it begins ([`Sizing::nursery`] or [`Sizing::first_area`]), and one
//! at the end of each collection ([`Sizing::after`] or [`Sizing::after_in_place`]).
//!
//! Invariant: planned memory fits. After [`Sizing::after`] the next collection has the memory that
//! it copies into, even if everything lives (`Heap::prepare_to_copy` does not fail; property
//! tests in `tests.rs`).

mod factor;
mod fixed;
mod limit;
mod live;
mod membalancer;
mod policy;

pub use factor::Factor;
pub use fixed::Fixed;
use live::Young;
pub use live::{Live, MajorStrategy};
pub use membalancer::MemBalancer;
pub use policy::{Measured, Policy};

use crate::block::OutOfMemory;
use crate::collector::{Outcome, Pause};
use crate::config::{Compact, Config, HeapHint, INITIAL_KEPT_PERCENT, SizingPolicy, hinted_area};
use crate::heap::Heap;
use crate::space::Nursery;
use crate::words::Bytes;
use limit::Limit;

/// A policy and a limit, which together set a collector's thresholds.
#[derive(Debug)]
pub struct Sizing {
    policy: Box<dyn Policy>,
    limit: Limit,
    /// `-O`, the least limit of an old generation.
    old_min: Bytes,
    hint: HeapHint,
    /// `-c`, where it has an effect.
    compact: Compact,
    generations: u32,
    /// How the next major collection is done.
    strategy: MajorStrategy,
    /// The size at which the oldest generation is collected.
    old_limit: Bytes,
    /// Whether the next collection must be major: see [`Sizing::major_is_urgent`].
    is_urgent: bool,
    /// The part of an allocation area that the last minor collection copied, in percent (for `-H`).
    kept_percent: usize,
    /// The size of the nursery.
    granted: Bytes,
    /// Live memory after the last collection.
    live: Bytes,
    /// Whether the last collection was a major one: no other can free more then.
    last_was_major: bool,
}

impl Sizing {
    /// The sizing that `config` asks for, for this heap, whose next major collection has this
    /// strategy.
    pub fn new(config: &Config, heap: &Heap, strategy: MajorStrategy) -> Sizing {
        Sizing::with(policy_of(config), config, heap, strategy)
    }

    /// The same sizing with another policy.
    pub fn with(policy: Box<dyn Policy>, config: &Config, heap: &Heap, strategy: MajorStrategy) -> Sizing {
        let limit = Limit::new(config, heap);
        let mut sizing = Sizing {
            policy,
            limit,
            old_min: config.old_min,
            hint: config.heap_hint,
            compact: match config.compaction() {
                // A share of a limit has no meaning without a limit.
                Compact::Above(_) if config.max_heap.is_none() => Compact::Never,
                given => given,
            },
            generations: config.generations,
            strategy,
            old_limit: Bytes::ZERO,
            is_urgent: false,
            kept_percent: INITIAL_KEPT_PERCENT,
            granted: Bytes::ZERO,
            live: Bytes::ZERO,
            last_was_major: true,
        };
        sizing.old_limit = sizing.old_limit_of(Live::default(), strategy);
        sizing
    }

    /// Makes the nursery of an empty heap.
    ///
    /// # Errors
    /// If the limit leaves no room for it.
    pub fn nursery(&mut self, heap: &mut Heap, config: &Config) -> Result<Nursery, OutOfMemory> {
        let mut nursery = Nursery::new(heap, self.limit.least_area(), config)?;
        self.limit.share_among(nursery.sharers());
        self.old_limit = self.old_limit_of(Live::default(), self.strategy);
        let area = self.area_after(Live::default(), Bytes::ZERO);
        self.resize(&mut nursery, heap, Live::default(), area, self.strategy)?;
        Ok(nursery)
    }

    /// At the end of a collection that left `live`: sets the limits for the next one, and gives the
    /// nursery its size. If there is no room to continue, the outcome says so.
    pub fn after<A>(&mut self, pause: &mut Pause<'_, A>, outcome: &mut Outcome, nursery: &mut Nursery, live: Live) {
        self.granted = nursery.size();
        self.note(pause, outcome);
        self.limit.share_among(nursery.sharers());
        self.plan(pause.heap, outcome, nursery, live);
    }

    /// After [`Sizing::after`] found no room to continue: if the next major collection was to copy, has
    /// it compact instead, for which there may be.
    pub fn compact_if_exhausted(&mut self, heap: &mut Heap, outcome: &mut Outcome, nursery: &mut Nursery, live: Live) {
        if outcome.exhausted.is_some() && self.strategy == MajorStrategy::Copying {
            self.strategy = MajorStrategy::Compacting;
            self.plan(heap, outcome, nursery, live);
        }
    }

    fn plan(&mut self, heap: &mut Heap, outcome: &mut Outcome, nursery: &mut Nursery, live: Live) {
        if outcome.work.is_major() {
            self.old_limit = self.old_limit_of(live, self.strategy);
        }
        let area = self.area_after(live, self.old_limit);
        outcome.exhausted = self.resize(nursery, heap, live, area, self.strategy).err();
    }

    /// The allocation area of an empty heap without a nursery, in which closures stay in place.
    ///
    /// # Errors
    /// If the limit leaves no room for it.
    pub fn first_area(&self) -> Result<Bytes, OutOfMemory> {
        if self.generations == 1 {
            self.area_in_place(Bytes::ZERO)
        } else {
            self.area(Live::default(), self.old_limit, MajorStrategy::InPlace)
        }
    }

    /// At the end of a collection that left closures in place, in a heap without a nursery: sets
    /// the limits for the next one, and returns the allocation area. If there is no room to
    /// continue, there is none, and the outcome says so.
    pub fn after_in_place<A>(&mut self, pause: &Pause<'_, A>, outcome: &mut Outcome) -> Option<Bytes> {
        self.note(pause, outcome);
        self.limit.share_among(pause.capabilities.in_use());
        let live = Live::in_place(&outcome.work);
        let area = if self.generations == 1 {
            self.area_in_place(outcome.work.live)
        } else {
            if outcome.work.is_major() {
                let found = Live {
                    old: live.old.saturating_sub(outcome.newer),
                    ..live
                };
                self.old_limit = self.old_limit_of(found, MajorStrategy::InPlace);
            }
            self.area(live, self.old_limit, MajorStrategy::InPlace)
        };
        match area {
            Ok(area) => {
                self.is_urgent = !self.fits_after_minor(live, Young::of_area(area));
                Some(area)
            }
            Err(exhausted) => {
                outcome.exhausted = Some(exhausted);
                None
            }
        }
    }

    /// The size at which the oldest generation is collected, as of the last major collection.
    pub fn old_limit(&self) -> Bytes {
        self.old_limit
    }

    /// Whether the next collection must be major, in a heap without a nursery that has `old` bytes
    /// in its oldest generation.
    pub fn major_is_due(&self, old: Bytes) -> bool {
        self.is_urgent || old > self.old_limit
    }

    /// Whether a minor collection may leave too little memory, in a heap without a nursery.
    pub fn is_urgent(&self) -> bool {
        self.is_urgent
    }

    /// Whether a minor collection may leave so much that a major collection after it would not fit:
    /// then this one must be major. `live` is what the last collection left.
    pub fn major_is_urgent(&self, live: Live, nursery: &Nursery) -> bool {
        !self.fits_after_minor(live, Young::of(nursery))
    }

    /// How the next major collection is done.
    pub fn strategy(&self) -> MajorStrategy {
        self.strategy
    }

    /// Decides how the next major collection is done, copying or compacting. It compacts if that was
    /// asked for always (`-c`), or if `live` is more than `-c<n>` percent of `-M`, or if a copy of it
    /// would leave nothing to allocate in.
    pub fn choose_strategy(&mut self, live: Live) {
        self.strategy = self.copying_or_compacting(live);
    }

    fn area_after(&self, live: Live, old_limit: Bytes) -> Result<Bytes, OutOfMemory> {
        if self.generations == 1 {
            self.area_of_one_generation(live, self.strategy)
        } else {
            self.area(live, old_limit, self.strategy)
        }
    }

    /// After a minor collection, everything young may be live.
    fn fits_after_minor(&self, live: Live, young: Young) -> bool {
        self.limit.can_go_on(live.with(young), self.strategy)
    }

    /// Notes the figures of a collection.
    fn note<A>(&mut self, pause: &Pause<'_, A>, Outcome { work, .. }: &Outcome) {
        self.limit.look_at(pause.heap);
        let arrived = match (self.generations, work.is_major()) {
            (1, _) => Some(pause.since.allocated.0 as f64),
            (_, false) => Some(work.live.0 as f64 - self.live.0 as f64),
            (_, true) => None,
        };
        self.note_measured(
            &Measured {
                major: work.is_major(),
                live: work.live,
                arrived,
                running: pause.since.running,
                collecting: pause.since.collecting(),
            },
            work.copied,
        );
    }

    fn note_measured(&mut self, measured: &Measured, copied: Bytes) {
        self.policy.note(measured);
        (self.last_was_major, self.live) = (measured.major, measured.live);
        if !measured.major {
            self.kept_percent = copied.0 * 100 / self.granted.0.max(1);
        }
    }

    /// The size at which an old generation is collected, after a major collection that left `live`:
    /// the policy's limit, at least `-O`; less if the generation's collection would not fit beside
    /// an allocation area of `-A` (GHC's clamp). Where little is free that clamp would allow the
    /// generation no growth at all, and every collection would be a major one. So it may take half
    /// of what is free; the allocation area shrinks.
    fn old_limit_of(&self, live: Live, strategy: MajorStrategy) -> Bytes {
        let wanted = self.policy.old_limit(live.old, strategy).max(self.old_min);
        let clamp = self.limit.clamp(self.limit.full_area(), self.generations, strategy);
        let half = self.limit.half_of_growth(live, self.generations, strategy);
        wanted.min(clamp.max(live.old + half))
    }

    /// The allocation area with generations: `-A`, or the size that `-H` asks for; less if the next
    /// collection would not fit. `strategy` is the next major collection's.
    ///
    /// # Errors
    /// If the last collection was a major one, or there was none, and less than half of `-m`
    /// percent of the limit is free.
    fn area(&self, live: Live, old_limit: Bytes, strategy: MajorStrategy) -> Result<Bytes, OutOfMemory> {
        let hint = match self.hint {
            _ if !self.policy.takes_hints() => None,
            HeapHint::None => None,
            HeapHint::Auto => Some(old_limit),
            HeapHint::Size(size) => Some(size),
        };
        let needed = Bytes(live.copied.0 * 2 + live.large.0);
        let wanted = hint.map_or(self.limit.full_area(), |hint| {
            hinted_area(hint, needed, self.kept_percent).max(self.limit.full_area())
        });
        self.fitting(wanted, live, strategy)
    }

    /// The allocation area of a heap in which every collection is major and the last one left
    /// `live`: the policy's area, at least `-A`; less if the next collection would not fit.
    ///
    /// # Errors
    /// If less than half of `-m` percent of the limit is free.
    fn area_of_one_generation(&self, live: Live, strategy: MajorStrategy) -> Result<Bytes, OutOfMemory> {
        let wanted = self.policy.area(live, strategy).max(self.limit.full_area());
        self.fitting(wanted, live, strategy)
    }

    /// Gives the nursery the size `area` after a collection, or a smaller one, so that the next
    /// collection will have the memory it needs. It tries the plan on the heap: the formulas do
    /// not know where free blocks lie.
    ///
    /// # Errors
    /// If `area` is an error; or if the last collection was a major one and even the least nursery
    /// leaves no room for the next. The nursery then has the least size: a program that continues
    /// after it has dropped data must have room for a collection.
    fn resize(
        &mut self,
        nursery: &mut Nursery,
        heap: &mut Heap,
        live: Live,
        area: Result<Bytes, OutOfMemory>,
        strategy: MajorStrategy,
    ) -> Result<(), OutOfMemory> {
        let (mut area, verdict) = match area {
            Ok(area) => (area, Ok(())),
            Err(exhausted) => (self.limit.least_area(), Err(exhausted)),
        };
        let copied = live.to_copy(strategy);
        loop {
            let resized = nursery.resize(heap, area);
            self.granted = nursery.size();
            let words = (copied + self.granted).to_words_up();
            if heap.keep_room_to_copy(words, self.limit.lanes()) && resized.is_ok() {
                return verdict;
            }
            if area <= self.limit.least_area() {
                // After a minor collection, the next one is major. It needs the same room if closures
                // are promoted first.
                let is_last = self.last_was_major || strategy == MajorStrategy::Promoting;
                let enough = !is_last && resized.is_ok();
                return if enough {
                    verdict
                } else {
                    Err(self.limit.exhausted(live.total()))
                };
            }
            area = Bytes(area.0 - area.0 / 4).max(self.limit.least_area());
        }
    }

    /// The allocation area of a collector of one generation after a collection that left `live` in
    /// place: the policy's growth, at least `-A`; at most the free memory, since nothing will be
    /// copied. (With generations it is [`Sizing::area`] for [`MajorStrategy::InPlace`].)
    ///
    /// # Errors
    /// If the free memory is less than half of `-m` percent of the limit.
    fn area_in_place(&self, live: Bytes) -> Result<Bytes, OutOfMemory> {
        let wanted = self.policy.growth(live).max(self.limit.full_area());
        self.limit.in_place(wanted, live)
    }

    fn copying_or_compacting(&self, live: Live) -> MajorStrategy {
        let above = match self.compact {
            Compact::Always => true,
            Compact::Above(percent) => live.total().0 as f64 > self.limit.whole().0 as f64 * percent / 100.0,
            Compact::Never => false,
        };
        if above || !self.limit.leaves_enough(live, MajorStrategy::Copying) {
            MajorStrategy::Compacting
        } else {
            MajorStrategy::Copying
        }
    }

    fn fitting(&self, wanted: Bytes, live: Live, strategy: MajorStrategy) -> Result<Bytes, OutOfMemory> {
        if self.last_was_major && !self.limit.leaves_enough(live, strategy) {
            return Err(self.limit.exhausted(live.total()));
        }
        Ok(self.limit.fitting(wanted, live, strategy))
    }
}

/// Makes the policy that `config` names (`--sizing`).
fn policy_of(config: &Config) -> Box<dyn Policy> {
    match config.sizing {
        SizingPolicy::Factor => Box::new(Factor::new(config)),
        SizingPolicy::Fixed => Box::new(Fixed::new(config)),
        SizingPolicy::MemBalancer => Box::new(MemBalancer::new(config)),
    }
}

#[cfg(test)]
mod tests;
