//! Adds up the events of a log, in the order of the file.
//!
//! All figures are kept by capability or by generation, and put together at the end: the global
//! events, which say how many generations there are, come last in the file.

use gclab_stats::{Pauses, SinglePause};

use super::calls::Calls;
use super::cap::{Cap, Figures, Work, add_sparks, figures, sparks};
use super::data::{Generation, Interval, Live, Parallel, Stops, Summary};
use super::samples::Samples;
use super::spans::Spans;
use crate::event::Event;
use crate::kinds::number::*;
use crate::value::texts;

/// The windows of utilisation, in nanoseconds.
pub(crate) const WINDOWS: [u64; 4] = [1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// The sums so far.
#[derive(Debug, Default)]
pub(super) struct Gather {
    interval: Interval,
    summary: Summary,
    caps: Vec<Option<Box<Cap>>>,
    last: u64,
    /// Whether the log has events of class g.
    traces_gc: bool,
    info_generations: Option<u64>,
    /// The generation whose collections were followed by a figure of live data.
    major: Option<u16>,
    copied: u64,
    live: Live,
    /// The latest size of the heap before the interval: time and bytes.
    heap_before: (u64, u64),
    peak_heap: Option<u64>,
    parallel: Parallel,
    unbalanced: bool,
    gc_ns: u64,
    spans: Spans,
    time_to_stop: Option<Stops>,
    sync: Option<Stops>,
    sync_began: Option<u64>,
    calls: Calls,
    samples: Samples,
    profiled: bool,
}

impl Gather {
    pub(super) fn new(interval: Interval) -> Self {
        Gather {
            interval,
            ..Gather::default()
        }
    }

    #[inline]
    pub(super) fn event(&mut self, event: &Event<'_>) {
        let number = event.known();
        if number == BLOCK_MARKER {
            return;
        }
        let time = event.time();
        self.summary.events += 1;
        self.last = self.last.max(time);
        match number {
            RUN_THREAD => self.calls.run(time),
            STOP_THREAD => self.calls.stop(time),
            GC_START..=REQUEST_PAR_GC
            | GC_IDLE..=GC_DONE
            | SPARK_COUNTERS
            | HEAP_ALLOCATED..=HEAP_LIVE
            | GC_STATS_GHC => {
                self.collection(event, number, time);
            }
            CAPSET_CREATE..=OSPROCESS_PPID
            | CAP_CREATE
            | STARTUP
            | HEAP_INFO_GHC
            | TASK_CREATE
            | TASK_DELETE
            | HEAP_PROF_SAMPLE_BEGIN
            | HEAP_BIO_PROF_SAMPLE_BEGIN
            | CONC_SYNC_BEGIN
            | CONC_SYNC_END => {
                self.rare(event, number, time);
            }
            HEAP_PROF_COST_CENTRE | PROF_SAMPLE_COST_CENTRE | PROF_BEGIN => {
                self.samples.event(event, number, self.interval);
            }
            _ => {}
        }
    }

    /// An event about collections, which belongs to a capability. Without one it means nothing.
    fn collection(&mut self, event: &Event<'_>, number: u16, time: u64) {
        let interval = self.interval;
        let Some(place) = event.cap().map(usize::from) else {
            return;
        };
        if self.caps.len() <= place {
            self.caps.resize_with(place + 1, || None);
        }
        let cap = self.caps[place].get_or_insert_default();
        match number {
            REQUEST_SEQ_GC | REQUEST_PAR_GC => {
                self.summary.threaded = true;
                cap.requested = Some(time);
            }
            GC_START => cap.start(time),
            GC_WORK => cap.work(interval, Work::Working, time),
            GC_IDLE => cap.work(interval, Work::Idle, time),
            GC_DONE => cap.work(interval, Work::Done, time),
            GC_STATS_GHC => {
                self.traces_gc = true;
                cap.figures = figures(event);
            }
            GC_END => {
                let Some((start, end)) = cap.end(interval, time) else {
                    return;
                };
                let requested = cap.requested.take();
                let figures = cap.figures.take();
                if interval.contains(start) {
                    cap.times.collections += 1;
                    self.summary.cap_pauses.add(pause(start, end));
                }
                if let Some(figures) = figures {
                    cap.led = Some(figures.generation);
                    self.pause(requested, (start, end), &figures);
                }
            }
            HEAP_ALLOCATED => {
                let [_, Some(bytes)] = event.numbers() else { return };
                self.traces_gc = true;
                // It belongs to the interval in which its collection begins.
                cap.allocated.set(interval, cap.started.unwrap_or(time), bytes);
                cap.allocated_at = Some(time);
            }
            SPARK_COUNTERS => {
                self.summary.threaded = true;
                if let Some(sparks) = sparks(event) {
                    let time = cap.collection().unwrap_or(time);
                    cap.sparks.set(interval, time, sparks);
                }
            }
            HEAP_LIVE => {
                let [_, Some(bytes)] = event.numbers() else { return };
                self.major = cap.led.or(self.major);
                let time = cap.collection().unwrap_or(time);
                if interval.contains(time) {
                    self.live.samples += 1;
                    self.live.max = self.live.max.max(bytes);
                    self.live.sum = self.live.sum.saturating_add(bytes);
                }
            }
            HEAP_SIZE => {
                let [_, Some(bytes)] = event.numbers() else { return };
                let time = cap.collection().unwrap_or(time);
                if time < interval.from {
                    // Blocks of another capability, which come later, may be of an earlier time.
                    self.heap_before = self.heap_before.max((time, bytes));
                } else if interval.contains(time) {
                    self.peak_heap = self.peak_heap.max(Some(bytes));
                }
            }
            _ => {}
        }
    }

    /// A pause of the whole program, with the statistics of its collection.
    fn pause(&mut self, requested: Option<u64>, (start, end): (u64, u64), figures: &Figures) {
        if let Some((from, to)) = self.interval.clip((start, end)) {
            self.gc_ns = self.gc_ns.saturating_add(to - from);
            self.spans.add(from, to);
        }
        if !self.interval.contains(start) {
            return;
        }
        if let Some(requested) = requested {
            let stops = self.time_to_stop.get_or_insert_default();
            stops.add(start.saturating_sub(requested));
        }
        let single = pause(start, end);
        self.summary.pauses.add(single);
        self.copied = self.copied.saturating_add(figures.copied);
        let place = usize::from(figures.generation);
        let generations = &mut self.summary.generations;
        if generations.len() <= place {
            generations.resize(place + 1, Generation::default());
        }
        let generation = &mut generations[place];
        generation.collections += 1;
        generation.elapsed_ns = generation.elapsed_ns.saturating_add(single.length_ns);
        generation.max_pause_ns = generation.max_pause_ns.max(single.length_ns);
        generation.max_slop = generation.max_slop.max(figures.slop);
        if figures.threads > 1 {
            generation.par_collections += 1;
            let parallel = &mut self.parallel;
            parallel.copied = parallel.copied.saturating_add(figures.par_copied);
            parallel.max_copied = parallel.max_copied.saturating_add(figures.max_copied);
            parallel.threads = parallel.threads.max(figures.threads);
            match figures.balanced {
                Some(bytes) => {
                    let balanced = parallel.balanced.get_or_insert(0);
                    *balanced = balanced.saturating_add(bytes);
                }
                None => self.unbalanced = true,
            }
        }
    }

    /// An event of the start, the end, or the nonmoving collector.
    #[cold]
    fn rare(&mut self, event: &Event<'_>, number: u16, time: u64) {
        match number {
            RTS_IDENTIFIER => {
                let text = String::from_utf8_lossy(event.payload().get(4..).unwrap_or_default()).into_owned();
                let way = text.split(' ').next_back().unwrap_or_default();
                self.summary.threaded |= way.contains("thr");
                self.profiled |= way.split('_').any(|part| part == "p");
                self.calls.runtime(&text, time);
                self.summary.rts = Some(text);
            }
            PROGRAM_ARGS => {
                let list = event.payload().get(4..).unwrap_or_default();
                self.summary.args = texts(list)
                    .map(|arg| String::from_utf8_lossy(arg).into_owned())
                    .collect();
            }
            OSPROCESS_PID => {
                let [_, process] = event.numbers();
                self.calls.process(process);
            }
            CAP_CREATE => *self.summary.capabilities.get_or_insert(0) += 1,
            STARTUP => [self.summary.capabilities] = event.numbers(),
            HEAP_INFO_GHC => {
                self.traces_gc = true;
                [_, self.info_generations] = event.numbers();
            }
            TASK_CREATE => {
                let [Some(task), _, Some(thread)] = event.numbers() else {
                    return;
                };
                self.calls.begin(task, thread, time);
            }
            TASK_DELETE => {
                let [Some(task)] = event.numbers() else { return };
                self.calls.end(task, time);
            }
            HEAP_PROF_SAMPLE_BEGIN | HEAP_BIO_PROF_SAMPLE_BEGIN => self.summary.census = true,
            // GHC writes both twice in a row.
            CONC_SYNC_BEGIN => self.sync_began = Some(time),
            CONC_SYNC_END => {
                let stops = self.sync.get_or_insert_default();
                if let Some(began) = self.sync_began.take().filter(|began| self.interval.contains(*began)) {
                    stops.add(time.saturating_sub(began));
                }
            }
            _ => {}
        }
    }

    /// The figures. `damaged` says that the log has lost its end.
    pub(super) fn finish(mut self, damaged: bool) -> Summary {
        let end = self.end(damaged);
        let interval = self.interval;
        let is_whole = interval == Interval::default();
        let to = interval.to.unwrap_or(end).min(end);
        let from = interval.from.min(to);
        let mut summary = std::mem::take(&mut self.summary);
        summary.interval = interval;
        summary.census &= self.profiled;
        // Without figures of collections no event tells when the run ended.
        let has_end = self.traces_gc || damaged || interval.to.is_some_and(|to| to <= end);
        summary.total_ns = (summary.events > 0 && has_end).then_some(to - from);
        summary.damaged = damaged;
        summary.last_ns = self.last;
        self.spans.settle();
        self.times(&mut summary, (from, to));
        for (number, cap) in self.caps.iter().enumerate() {
            let Some(cap) = cap else { continue };
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
            if cap.sparks.is_known() {
                add_sparks(summary.sparks.get_or_insert_default(), &cap.sparks);
            }
            if times.collections > 0 || times.gc_ns > 0 || times.allocated.is_some() {
                summary.caps.push(times);
            }
        }
        if self.traces_gc {
            self.collections(&mut summary);
        } else {
            (summary.mutator_ns, summary.exit_ns) = (None, None);
        }
        // Each capability ends at its own place, and only some have the collections of the others.
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
            summary.major = Some(major.collections);
            summary.max_slop = (major.collections > 0).then_some(major.max_slop);
        }
        let mut parallel = self.parallel;
        if self.unbalanced {
            parallel.balanced = None;
        } else if parallel.threads == 0 {
            parallel.balanced = Some(0);
        }
        summary.parallel = Some(parallel);
    }

    /// The end of the run: GHC writes the last figures of allocation when it has read the total
    /// time.
    fn end(&self, damaged: bool) -> u64 {
        let caps = self.caps.iter().flatten();
        let first = caps.filter_map(|cap| cap.allocated_at).min();
        match first {
            Some(end) if !damaged => end,
            _ => self.last,
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
        // Without threads and tasks the log tells nothing of the mutator.
        if let Some((begin, end)) = call {
            let within = Interval {
                from: from.max(begin),
                to: Some(to.min(end)),
            };
            let mutator = part((begin, end)).saturating_sub(self.spans.paused(within));
            summary.mutator_ns = Some(mutator);
            let init = part((0, begin));
            summary.init_ns = Some(init);
            // Of the time before `main`, collections are no part.
            summary.exit_ns = Some(
                (to - from)
                    .saturating_sub(init)
                    .saturating_sub(mutator)
                    .saturating_sub(self.gc_ns),
            );
        }
        if let Some(each) = self.spans.each() {
            let mut pauses = Pauses::default();
            each.for_each(|(from, to)| pauses.add(pause(from, to)));
            let least = |window| Some((window, pauses.least_utilisation(window, (from, to))?));
            summary.utilisation = WINDOWS.into_iter().filter_map(least).collect();
        }
    }
}

fn pause(start: u64, end: u64) -> SinglePause {
    SinglePause {
        start_ns: start,
        length_ns: end - start,
    }
}
