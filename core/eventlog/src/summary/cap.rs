//! One capability: its counters, its current collection, and the work of its GC thread.

use super::data::{CapTimes, Interval, Sparks};
use crate::event::Event;

/// The last value of a counter of a capability before an interval, and the last one in it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counter<T> {
    pub(super) before: Option<T>,
    pub(super) within: Option<T>,
}

impl<T> Counter<T> {
    pub(super) fn set(&mut self, interval: Interval, time: u64, value: T) {
        if time < interval.from {
            self.before = Some(value);
        } else if interval.contains(time) {
            self.within = Some(value);
        }
    }

    /// Whether the log has the counter before the end of the interval.
    pub(super) fn is_known(&self) -> bool {
        self.before.is_some() || self.within.is_some()
    }
}

/// What a GC thread has been doing since a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Working,
    Idle,
    Done,
}

/// The statistics of a collection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    pub(super) generation: u16,
    pub(super) copied: u64,
    pub(super) slop: u64,
    pub(super) threads: u64,
    pub(super) max_copied: u64,
    /// Bytes copied by all threads.
    pub(super) par_copied: u64,
    pub(super) balanced: Option<u64>,
}

/// The state of a capability.
#[derive(Debug, Default)]
pub(super) struct Cap {
    pub(super) allocated: Counter<u64>,
    /// When allocation was last reported, in the interval or not.
    pub(super) allocated_at: Option<u64>,
    pub(super) sparks: Counter<Sparks>,
    /// Its sparks so far.
    pub(super) sparks_now: Sparks,
    pub(super) requested: Option<u64>,
    pub(super) started: Option<u64>,
    /// The beginning of the last finished collection.
    before: Option<u64>,
    pub(super) figures: Option<Figures>,
    /// Since when it runs a Haskell thread.
    pub(super) runs: Option<u64>,
    work: Option<(Work, u64)>,
    /// The time without work in its current collection: idle, and after its GC thread finished.
    /// Added when the collection ends, with its length.
    open: (u64, u64),
    /// The generation of the last collection that it led.
    pub(super) led: Option<u16>,
    /// The slop after that collection.
    pub(super) led_slop: u64,
    pub(super) times: CapTimes,
}

impl Cap {
    /// Its Haskell thread stops.
    pub(super) fn stop(&mut self, interval: Interval, time: u64) {
        if let Some(since) = self.runs.take()
            && let Some((from, to)) = interval.clip((since, time))
        {
            self.times.ran_ns = self.times.ran_ns.saturating_add(to - from);
        }
    }

    pub(super) fn start(&mut self, time: u64) {
        (self.started, self.figures, self.work) = (Some(time), None, None);
        self.open = (0, 0);
    }

    /// Its collection ends. Returns the beginning and the end, if one had begun.
    pub(super) fn end(&mut self, interval: Interval, time: u64) -> Option<(u64, u64)> {
        let start = self.started.take()?;
        let end = time.max(start);
        self.work(interval, Work::Working, end);
        self.work = None;
        self.before = Some(start);
        let (idle, done) = std::mem::take(&mut self.open);
        self.times.idle_ns = self.times.idle_ns.saturating_add(idle);
        self.times.done_ns = self.times.done_ns.saturating_add(done);
        if let Some((from, to)) = interval.clip((start, end)) {
            self.times.gc_ns = self.times.gc_ns.saturating_add(to - from);
        }
        Some((start, end))
    }

    /// The beginning of its current collection, or else of the last one.
    pub(super) fn collection(&self) -> Option<u64> {
        self.started.or(self.before)
    }

    /// Its GC thread changes what it does.
    pub(super) fn work(&mut self, interval: Interval, next: Work, time: u64) {
        if self.started.is_none() && next != Work::Working {
            return;
        }
        if let Some((work, since)) = self.work
            && let Some((from, to)) = interval.clip((since, time))
        {
            let sum = match work {
                Work::Working => None,
                Work::Idle => Some(&mut self.open.0),
                Work::Done => Some(&mut self.open.1),
            };
            if let Some(sum) = sum {
                *sum = sum.saturating_add(to - from);
            }
        }
        self.work = Some((next, time));
    }
}

/// The statistics of a `GC_STATS_GHC`.
pub(super) fn figures(event: &Event<'_>) -> Option<Figures> {
    let [
        _,
        generation,
        copied,
        slop,
        _,
        threads,
        max_copied,
        par_copied,
        balanced,
    ] = event.numbers();
    Some(Figures {
        generation: generation? as u16,
        copied: copied?,
        slop: slop?,
        threads: threads?,
        max_copied: max_copied?,
        par_copied: par_copied?,
        balanced,
    })
}

/// Adds the sparks of a capability in the interval.
pub(super) fn add_sparks(sum: &mut Sparks, counter: &Counter<Sparks>) {
    let before = counter.before.unwrap_or_default();
    let Some(within) = counter.within else { return };
    let add = |sum: &mut u64, within: u64, before: u64| *sum = sum.saturating_add(within.saturating_sub(before));
    add(&mut sum.created, within.created, before.created);
    add(&mut sum.dud, within.dud, before.dud);
    add(&mut sum.overflowed, within.overflowed, before.overflowed);
    add(&mut sum.converted, within.converted, before.converted);
    add(&mut sum.gcd, within.gcd, before.gcd);
    add(&mut sum.fizzled, within.fizzled, before.fizzled);
}
