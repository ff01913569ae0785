//! Adds up the events of a log, in the order of the file.
//!
//! All figures are kept by capability or by generation, and put together at the end: the global
//! events, which say how many generations there are, come last in the file.

use gclab_stats::{Pauses, SinglePause};

use super::data::{CapTimes, Generation, Interval, Live, Parallel, Sparks, Stops, Summary};
use crate::event::Event;
use crate::kinds::number::*;
use crate::value::texts;

/// The most pauses that are kept singly, with begin and end: 16 MiB.
const MOST_SPANS: usize = 1 << 20;

/// The most calls of the main thread that are open at a time; a correct log has one.
const MOST_CALLS: usize = 64;

/// The windows of utilisation, in nanoseconds.
const WINDOWS: [u64; 4] = [1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// The last value of a counter of a capability before an interval, and the last one in it.
#[derive(Debug, Clone, Copy, Default)]
struct Counter<T> {
    before: Option<T>,
    within: Option<T>,
}

impl<T> Counter<T> {
    fn set(&mut self, interval: Interval, time: u64, value: T) {
        if time < interval.from {
            self.before = Some(value);
        } else if interval.contains(time) {
            self.within = Some(value);
        }
    }
}

/// The work of a GC thread since a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Working,
    Idle,
    Done,
}

/// The statistics of a collection.
#[derive(Debug, Clone, Copy)]
struct Figures {
    generation: u16,
    copied: u64,
    slop: u64,
    threads: u64,
    max_copied: u64,
    balanced: Option<u64>,
}

/// The state of a capability.
#[derive(Debug, Default)]
struct Cap {
    allocated: Counter<u64>,
    /// The time of the last figure of allocation, in the interval or not.
    allocated_at: Option<u64>,
    sparks: Counter<Sparks>,
    requested: Option<u64>,
    started: Option<u64>,
    figures: Option<Figures>,
    work: Option<(Work, u64)>,
    /// The generation of the last collection that it led.
    led: Option<u16>,
    times: CapTimes,
}

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
    /// Begin and end of pauses; `None` if there were too many.
    spans: Option<Vec<(u64, u64)>>,
    time_to_stop: Option<Stops>,
    sync: Option<Stops>,
    sync_began: Option<u64>,
    pid: Option<u64>,
    calls: Vec<(u64, u64)>,
    longest_call: Option<(u64, u64)>,
    first_run: Option<u64>,
    last_stop: Option<u64>,
    profiled: bool,
}

impl Gather {
    pub(super) fn new(interval: Interval) -> Self {
        Gather {
            interval,
            spans: Some(Vec::new()),
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
            RUN_THREAD => {
                let first = self.first_run.get_or_insert(time);
                *first = time.min(*first);
            }
            STOP_THREAD => self.last_stop = self.last_stop.max(Some(time)),
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
            GC_START => (cap.started, cap.figures, cap.work) = (Some(time), None, None),
            GC_WORK => cap.work(interval, Work::Working, time),
            GC_IDLE => cap.work(interval, Work::Idle, time),
            GC_DONE => cap.work(interval, Work::Done, time),
            GC_STATS_GHC => {
                self.traces_gc = true;
                cap.figures = figures(event);
            }
            GC_END => {
                let Some(start) = cap.started.take() else { return };
                let end = time.max(start);
                cap.work(interval, Work::Working, end);
                cap.work = None;
                let requested = cap.requested.take();
                let figures = cap.figures.take();
                if let Some((from, to)) = interval.clip((start, end)) {
                    cap.times.gc_ns = cap.times.gc_ns.saturating_add(to - from);
                }
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
                cap.allocated.set(interval, time, bytes);
                cap.allocated_at = Some(time);
            }
            SPARK_COUNTERS => {
                self.summary.threaded = true;
                if let Some(sparks) = sparks(event) {
                    cap.sparks.set(interval, time, sparks);
                }
            }
            HEAP_LIVE => {
                let [_, Some(bytes)] = event.numbers() else { return };
                self.major = cap.led.or(self.major);
                if interval.contains(time) {
                    self.live.samples += 1;
                    self.live.max = self.live.max.max(bytes);
                    self.live.sum = self.live.sum.saturating_add(bytes);
                }
            }
            HEAP_SIZE => {
                let [_, Some(bytes)] = event.numbers() else { return };
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
            match &mut self.spans {
                Some(spans) if spans.len() < MOST_SPANS => spans.push((from, to)),
                spans => *spans = None,
            }
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
            parallel.copied = parallel.copied.saturating_add(figures.copied);
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
                self.summary.rts = Some(text);
            }
            PROGRAM_ARGS => {
                let list = event.payload().get(4..).unwrap_or_default();
                self.summary.args = texts(list)
                    .map(|arg| String::from_utf8_lossy(arg).into_owned())
                    .collect();
            }
            OSPROCESS_PID => [_, self.pid] = event.numbers(),
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
                if self.pid == Some(thread) && self.calls.len() < MOST_CALLS {
                    self.calls.push((task, time));
                }
            }
            TASK_DELETE => {
                let [Some(task)] = event.numbers() else { return };
                if let Some(place) = self.calls.iter().position(|(known, _)| *known == task) {
                    let (_, from) = self.calls.swap_remove(place);
                    let longest = self.longest_call.map_or(0, |(from, to)| to - from);
                    if time.saturating_sub(from) >= longest {
                        self.longest_call = Some((from, time.max(from)));
                    }
                }
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
        summary.total_ns = (summary.events > 0).then_some(to - from);
        let spans = self.spans.take().map(disjoint);
        if let Some(spans) = &spans {
            summary.mutator_ns = self.mutator(spans, (from, to));
            let mut pauses = Pauses::default();
            spans.iter().for_each(|&(from, to)| pauses.add(pause(from, to)));
            let least = |window| Some((window, pauses.least_utilisation(window, (from, to))?));
            summary.utilisation = WINDOWS.into_iter().filter_map(least).collect();
        }
        for (number, cap) in self.caps.iter().enumerate() {
            let Some(cap) = cap else { continue };
            let allocated = cap.allocated;
            let mut times = cap.times;
            times.cap = number as u16;
            if allocated.before.is_some() || allocated.within.is_some() {
                let before = allocated.before.unwrap_or(0);
                let bytes = allocated.within.map_or(0, |bytes| bytes.saturating_sub(before));
                times.allocated = Some(bytes);
                let sum = summary.allocated.get_or_insert(0);
                *sum = sum.saturating_add(bytes);
            }
            if cap.sparks.before.is_some() || cap.sparks.within.is_some() {
                add_sparks(summary.sparks.get_or_insert_default(), &cap.sparks);
            }
            if times.collections > 0 || times.gc_ns > 0 || times.allocated.is_some() {
                summary.caps.push(times);
            }
        }
        if self.traces_gc {
            self.collections(&mut summary);
        } else {
            summary.mutator_ns = None;
        }
        summary.live = (self.live.samples > 0).then_some(self.live);
        summary.peak_heap = self.peak_heap.map(|peak| peak.max(self.heap_before.1));
        if summary.peak_heap.is_none() && !is_whole && self.heap_before.1 > 0 {
            summary.peak_heap = Some(self.heap_before.1);
        }
        summary.nonmoving_sync = self.sync;
        summary.time_to_stop = self.time_to_stop;
        summary.mutator_span = self.call();
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

    /// Begin and end of the longest call of the main thread, or of all that threads ran; `None` if
    /// the log has neither.
    fn call(&self) -> Option<(u64, u64)> {
        let open = self.calls.first().map(|(_, from)| (*from, self.last));
        let threads = self.first_run.zip(self.last_stop);
        let length = |(from, to): &(u64, u64)| to.saturating_sub(*from);
        // The main thread of a program that was killed is still in its longest call.
        let call = self.longest_call.into_iter().chain(open).max_by_key(length);
        call.or(threads)
    }

    /// The longest call of the main thread, within an interval, without the pauses.
    fn mutator(&self, spans: &[(u64, u64)], (from, to): (u64, u64)) -> Option<u64> {
        let call = self.call().unwrap_or((0, to));
        let within = Interval { from, to: Some(to) };
        let (from, to) = within.clip(call).unwrap_or((to, to));
        let within = Interval { from, to: Some(to) };
        let paused = spans.iter().filter_map(|span| within.clip(*span));
        let paused: u64 = paused.map(|(from, to)| to - from).sum();
        (self.last > 0).then_some((to - from).saturating_sub(paused))
    }
}

impl Cap {
    /// Its GC thread begins some work, which ends that before.
    fn work(&mut self, interval: Interval, next: Work, time: u64) {
        if self.started.is_none() && next != Work::Working {
            return;
        }
        if let Some((work, since)) = self.work
            && let Some((from, to)) = interval.clip((since, time))
        {
            let sum = match work {
                Work::Working => None,
                Work::Idle => Some(&mut self.times.idle_ns),
                Work::Done => Some(&mut self.times.done_ns),
            };
            if let Some(sum) = sum {
                *sum = sum.saturating_add(to - from);
            }
        }
        self.work = Some((next, time));
    }
}

fn pause(start: u64, end: u64) -> SinglePause {
    SinglePause {
        start_ns: start,
        length_ns: end - start,
    }
}

fn figures(event: &Event<'_>) -> Option<Figures> {
    let [_, generation, copied, slop, _, threads, max_copied, _, balanced] = event.numbers();
    Some(Figures {
        generation: generation? as u16,
        copied: copied?,
        slop: slop?,
        threads: threads?,
        max_copied: max_copied?,
        balanced,
    })
}

fn sparks(event: &Event<'_>) -> Option<Sparks> {
    let [created, dud, overflowed, converted, gcd, fizzled] = event.numbers();
    Some(Sparks {
        created: created?,
        dud: dud?,
        overflowed: overflowed?,
        converted: converted?,
        gcd: gcd?,
        fizzled: fizzled?,
    })
}

/// Adds the sparks of a capability in the interval.
fn add_sparks(sum: &mut Sparks, counter: &Counter<Sparks>) {
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

/// Spans in the order of time, without the parts that an earlier one has.
fn disjoint(mut spans: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    spans.sort_unstable();
    let mut end = 0;
    spans.retain_mut(|span| {
        span.0 = span.0.max(end);
        end = end.max(span.1);
        span.0 < span.1
    });
    spans
}
