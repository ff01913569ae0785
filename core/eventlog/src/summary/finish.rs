//! Builds the [`Summary`] of a log from its sums.

use gclab_core::stats::Pauses;

use super::cap::add_sparks;
use super::data::{Generation, Interval, Sparks, Summary};
use super::gather::{Gather, pause};

/// The windows of utilisation, in nanoseconds.
pub(crate) const WINDOWS: [u64; 4] = [1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

impl Gather {
    /// The figures. `damaged`: the log lost its end.
    pub(super) fn finish(mut self, damaged: bool) -> Summary {
        let end = self.end(damaged);
        let interval = self.interval;
        let is_whole = interval == Interval::default();
        let to = interval.to.unwrap_or(end).min(end);
        let from = interval.from.min(to);
        let mut summary = std::mem::take(&mut self.summary);
        summary.interval = interval;
        summary.has_profile = summary.census;
        summary.census &= self.profiled;
        // Without events of collections, no event tells when the run ended.
        let has_end = self.traces_gc || damaged || interval.to.is_some_and(|to| to <= end);
        summary.total_ns = (summary.events > 0 && has_end).then_some(to - from);
        summary.damaged = damaged;
        summary.last_ns = self.last;
        self.spans.settle();
        self.looks.settle();
        // gclab prints the lines of the threaded runtime in every run.
        summary.threaded |= self.looks.own();
        self.times(&mut summary, (from, to));
        for (number, cap) in self.caps.iter_mut().enumerate() {
            let Some(cap) = cap else { continue };
            // A killed program has threads that still run.
            cap.stop(interval, self.last);
            let allocated = cap.allocated;
            let mut times = cap.times;
            times.cap = number as u16;
            if allocated.is_known() {
                let before = allocated.before.unwrap_or(0);
                let bytes = allocated.within.map_or(0, |bytes| bytes.saturating_sub(before));
                times.allocated = Some(bytes);
                let sum = summary.allocated.get_or_insert(0);
                *sum = sum.saturating_add(bytes);
            }
            if cap.sparks.within.is_some() {
                add_sparks(summary.sparks.get_or_insert_default(), &cap.sparks);
            }
            if times.collections > 0 || times.gc_ns > 0 || times.allocated.is_some() {
                summary.caps.push(times);
            }
        }
        if self.traces_gc {
            if self.looks.own() {
                // gclab has no sparks yet, and prints that there were none.
                summary.sparks.get_or_insert_with(Sparks::default);
            }
            summary.looks = self.looks.times();
            self.collections(&mut summary);
        } else {
            (summary.mutator_ns, summary.exit_ns) = (None, None);
            summary.utilisation.clear();
        }
        // Each capability's events end at their own place, and only some cover the collections of
        // the others.
        if damaged && self.caps.iter().flatten().count() > 1 {
            (summary.mutator_span, summary.mutator_ns, summary.exit_ns) = (None, None, None);
            summary.utilisation.clear();
        }
        summary.live = (self.live.samples > 0).then_some(self.live);
        summary.peak_heap = self.peak_heap.map(|peak| peak.max(self.heap_before.1));
        if summary.peak_heap.is_none() && !is_whole && self.heap_before.1 > 0 {
            summary.peak_heap = Some(self.heap_before.1);
        }
        summary.nonmoving_sync = self.sync;
        summary.time_samples = self.samples.finish();
        summary.time_to_stop = self.time_to_stop;
        summary.max_average_ns = self.cap_pauses.greatest_average();
        summary
    }

    /// Figures of collections, in a log that has them.
    fn collections(&self, summary: &mut Summary) {
        let generations = &mut summary.generations;
        let declared = self.info_generations.unwrap_or(0) as usize;
        if generations.len() < declared {
            generations.resize(declared, Generation::default());
        }
        let sum = |figure: fn(&Generation) -> u64| generations.iter().map(figure).sum::<u64>();
        summary.collections = Some(sum(|generation| generation.collections));
        summary.copied = Some(self.copied);
        summary.gc_ns = Some(self.gc_ns);
        let oldest = self.info_generations.map(|all| all.saturating_sub(1) as usize);
        let oldest = oldest.or(self.major.map(usize::from));
        if let Some(major) = oldest.and_then(|place| generations.get(place)) {
            // A slice of an incremental collector is a pause of the oldest generation, too, but
            // only a collection of everything is followed by the size of live data.
            let (majors, slop) = match self.major {
                Some(_) => (self.live.samples.min(major.collections), self.live_slop),
                None => (major.collections, major.max_slop),
            };
            summary.major = Some(majors);
            summary.max_slop = (majors > 0).then_some(slop);
        }
        let mut parallel = self.parallel;
        if self.unbalanced {
            parallel.balanced = None;
        } else if parallel.threads == 0 {
            parallel.balanced = Some(0);
        }
        summary.parallel = Some(parallel);
    }

    /// The end of the run: GHC reports allocation for the last time when it has read the total
    /// time.
    fn end(&self, damaged: bool) -> u64 {
        let caps = self.caps.iter().flatten();
        let first = caps.filter_map(|cap| cap.allocated_at).min();
        match first {
            Some(end) if !damaged => end,
            // What follows the run is not part of it, and must not raise a lower bound.
            _ => self.run_ended.filter(|_| damaged).unwrap_or(self.last),
        }
    }

    /// Times of the interval, and utilisation.
    fn times(&self, summary: &mut Summary, (from, to): (u64, u64)) {
        let call = self.calls.mutator(summary.threaded, self.last);
        summary.mutator_span = call;
        let part = |span| {
            let within = Interval { from, to: Some(to) };
            within.clip(span).map_or(0, |(from, to)| to - from)
        };
        // Without threads and tasks the log tells nothing about the mutator.
        if let Some((begin, end)) = call {
            let within = Interval {
                from: from.max(begin),
                to: Some(to.min(end)),
            };
            let stopped = self.spans.paused(within).saturating_add(self.looks.within(within));
            let mutator = part((begin, end)).saturating_sub(stopped);
            summary.mutator_ns = Some(mutator);
            let init = part((0, begin));
            summary.init_ns = Some(init);
            // The rest: collections and looks are not part of the time before the mutator's.
            let looks = self.looks.times().unwrap_or_default().total_ns();
            let others = [init, mutator, self.gc_ns, looks];
            summary.exit_ns = Some(others.into_iter().fold(to - from, u64::saturating_sub));
        }
        if let Some(each) = self.spans.each() {
            let mut pauses = Pauses::default();
            each.for_each(|(from, to)| pauses.add(pause(from, to)));
            let least = |window| Some((window, pauses.least_utilisation(window, (from, to))?));
            summary.utilisation = WINDOWS.into_iter().filter_map(least).collect();
        }
    }
}
