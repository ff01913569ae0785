//! The phases of a run: readings of all totals, and the figures between two readings.

use super::stamp::Stamp;
use crate::stats::{RunPhase, RunPhases, Statistics, Times};

/// All totals of a run at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading {
    pub stamp: Stamp,
    pub gc: Times,
    pub looks: Times,
    pub allocated: u64,
    pub copied: u64,
    pub collections: u64,
    pub major_gcs: u64,
    pub sync_ns: u64,
}

impl Reading {
    /// The reading at `stamp`, when `stats` has the totals.
    pub(super) fn new(stamp: Stamp, stats: &Statistics, allocated: u64) -> Self {
        Reading {
            stamp,
            gc: stats.gc,
            looks: stats.looks.total(),
            allocated,
            copied: stats.copied,
            collections: stats.collections_count(),
            major_gcs: stats.major_gcs,
            sync_ns: stats.sync_ns,
        }
    }

    /// All time from `from` to `self`.
    pub(super) fn total_since(&self, from: &Reading) -> Times {
        self.stamp.times().since(from.stamp.times())
    }

    /// The time from `from` to `self`, minus the time in which the mutators were stopped.
    pub(super) fn program_since(&self, from: &Reading) -> Times {
        let stopped = (self.gc + self.looks).since(from.gc + from.looks);
        self.total_since(from).since(stopped)
    }

    /// The figures from `from` to `self`.
    fn phase_since(&self, from: &Reading, start: Stamp, max_pause_ns: u64) -> RunPhase {
        RunPhase {
            start_ns: from.stamp.elapsed_ns.saturating_sub(start.elapsed_ns),
            mutator: self.program_since(from),
            gc: self.gc.since(from.gc),
            looks: self.looks.since(from.looks),
            allocated: self.allocated - from.allocated,
            copied: self.copied - from.copied,
            collections: self.collections - from.collections,
            major_gcs: self.major_gcs - from.major_gcs,
            sync_ns: self.sync_ns - from.sync_ns,
            max_pause_ns,
        }
    }
}

/// Where the phases of a run begin, as far as known.
///
/// The measured phase begins where [`Marks::begin`] is first called, and ends where as many calls
/// of [`Marks::end`] have come, or where the program ends. Later calls have no effect. Without any
/// the whole program is measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    begun: Option<Reading>,
    ended: Option<Reading>,
    /// Calls of `begin` without their `end`.
    open: u32,
    /// The longest pause before the measured phase, in it, and after it.
    longest_ns: [u64; 3],
}

impl Marks {
    /// Returns whether the measured phase begins here.
    pub(super) fn begin(&mut self, here: Reading) -> bool {
        self.open += 1;
        let begins = self.begun.is_none();
        self.begun.get_or_insert(here);
        begins
    }

    /// The end of one call of [`Marks::begin`].
    pub(super) fn end(&mut self, here: Reading) {
        self.open -= 1;
        if self.open == 0 {
            self.ended.get_or_insert(here);
        }
    }

    /// The program has ended.
    pub(super) fn exit(&mut self, here: Reading) {
        self.ended.get_or_insert(here);
    }

    /// Records a pause. Returns whether it belongs to the measured phase, or may turn out to.
    pub(super) fn pause(&mut self, ns: u64) -> bool {
        let phase = match (self.begun, self.ended) {
            (_, Some(_)) => 2,
            (Some(_), None) => 1,
            (None, None) => 0,
        };
        self.longest_ns[phase] = self.longest_ns[phase].max(ns);
        phase < 2
    }

    /// The phases of a run that started at `start`, was ready at `ready`, and ends at `end`.
    pub(super) fn phases(&self, start: Stamp, ready: &Reading, end: &Reading) -> RunPhases {
        let marked = self.begun.is_some();
        let begun = self.begun.as_ref().unwrap_or(ready);
        let ended = self.ended.as_ref().unwrap_or(end);
        let [before, within, after] = self.longest_ns;
        let (before, within) = if marked { (before, within) } else { (0, before) };
        RunPhases {
            marked,
            setup: begun.phase_since(ready, start, before),
            measured: ended.phase_since(begun, start, within),
            exit: end.phase_since(ended, start, after),
        }
    }
}
