//! Adds up the events of a log, in file order.
//!
//! All figures are kept by capability or by generation, and combined at the end (`finish`): the
//! global events, which tell how many generations there are, come last in the file.

use gclab_core::stats::SinglePause;

use super::calls::Calls;
use super::cap::{Cap, Figures, Work, figures};
use super::cap_pauses::CapPauses;
use super::data::{Generation, Interval, Live, Parallel, Stops, Summary};
use super::looks::Looks;
use super::samples::Samples;
use super::spans::Spans;
use crate::event::Event;
use crate::kinds::number::*;
use crate::value::texts;

/// The sums so far.
#[derive(Debug, Default)]
pub(super) struct Gather {
    pub(super) interval: Interval,
    pub(super) summary: Summary,
    pub(super) caps: Vec<Option<Box<Cap>>>,
    pub(super) last: u64,
    /// The latest event before the runtime took its capabilities down.
    pub(super) run_ended: Option<u64>,
    /// Whether the log has events of class g.
    pub(super) traces_gc: bool,
    pub(super) info_generations: Option<u64>,
    /// The generation whose collections were followed by the size of live data.
    pub(super) major: Option<u16>,
    /// The maximum slop after a collection whose live data the log records.
    pub(super) live_slop: u64,
    pub(super) copied: u64,
    pub(super) live: Live,
    /// The latest size of the heap before the interval: time and bytes.
    pub(super) heap_before: (u64, u64),
    pub(super) peak_heap: Option<u64>,
    pub(super) parallel: Parallel,
    pub(super) unbalanced: bool,
    pub(super) gc_ns: u64,
    pub(super) spans: Spans,
    pub(super) cap_pauses: CapPauses,
    pub(super) time_to_stop: Option<Stops>,
    pub(super) sync: Option<Stops>,
    pub(super) sync_began: Option<u64>,
    pub(super) calls: Calls,
    pub(super) looks: Looks,
    pub(super) samples: Samples,
    pub(super) profiled: bool,
}

impl Gather {
    pub(super) fn new(interval: Interval) -> Self {
        Gather {
            interval,
            ..Gather::default()
        }
    }

    /// Takes an event. Inlined into the reader's loop, where most events turn out to be of no
    /// interest.
    #[inline(always)]
    pub(super) fn event(&mut self, event: &Event<'_>) {
        let number = event.known();
        if number == BLOCK_MARKER {
            return;
        }
        let time = event.time();
        self.summary.events += 1;
        let before = self.last;
        self.last = before.max(time);
        match number {
            RUN_THREAD => {
                self.calls.run(time);
                if let Some(cap) = cap(&mut self.caps, event) {
                    cap.runs.get_or_insert(time);
                }
            }
            STOP_THREAD => {
                self.calls.stop(time);
                if let Some(cap) = cap(&mut self.caps, event) {
                    cap.stop(self.interval, time);
                }
            }
            GC_START..=REQUEST_PAR_GC
            | GC_IDLE..=GC_DONE
            | SPARK_COUNTERS..=SPARK_GC
            | HEAP_ALLOCATED..=HEAP_LIVE
            | GC_STATS_GHC => {
                self.collection(event, number, time);
            }
            CAPSET_CREATE..=OSPROCESS_PPID
            | CAP_CREATE
            | CAP_DELETE
            | STARTUP
            | HEAP_INFO_GHC
            | TASK_CREATE
            | TASK_DELETE
            | HEAP_PROF_SAMPLE_BEGIN
            | HEAP_BIO_PROF_SAMPLE_BEGIN
            | CONC_SYNC_BEGIN
            | CONC_SYNC_END
            | LOOK_BEGIN
            | LOOK_END => {
                self.rare(event, number, time, before);
            }
            HEAP_PROF_COST_CENTRE | PROF_SAMPLE_COST_CENTRE | PROF_BEGIN => {
                self.samples.event(event, number, self.interval);
            }
            _ => {}
        }
    }

    /// An event about collections. It belongs to a capability, and means nothing without one.
    fn collection(&mut self, event: &Event<'_>, number: u16, time: u64) {
        let interval = self.interval;
        let Some(cap) = cap(&mut self.caps, event) else { return };
        match number {
            REQUEST_SEQ_GC | REQUEST_PAR_GC => {
                self.summary.threaded = true;
                cap.requested = Some(time);
                self.calls.request(time);
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
                    self.cap_pauses.add(event.cap().unwrap_or(0), start, end);
                }
                if let Some(figures) = figures {
                    cap.led = Some(figures.generation);
                    cap.led_slop = figures.slop;
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
            SPARK_COUNTERS..=SPARK_GC => {
                self.summary.threaded = true;
                if let Some(sparks) = cap.sparks_now.after(event, number) {
                    let counters = number == SPARK_COUNTERS;
                    let time = cap.collection().filter(|_| counters).unwrap_or(time);
                    cap.sparks.set(interval, time, sparks);
                    cap.sparks_now = sparks;
                }
            }
            HEAP_LIVE => {
                let [_, Some(bytes)] = event.numbers() else { return };
                self.major = cap.led.or(self.major);
                let time = cap.collection().unwrap_or(time);
                if interval.contains(time) {
                    self.live.samples += 1;
                    self.live_slop = self.live_slop.max(cap.led_slop);
                    self.live.max = self.live.max.max(bytes);
                    self.live.sum = self.live.sum.saturating_add(bytes);
                }
            }
            HEAP_SIZE => {
                let [_, Some(bytes)] = event.numbers() else { return };
                let time = cap.collection().unwrap_or(time);
                if time < interval.from {
                    // Blocks of another capability that come later may hold earlier times.
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

    /// An event at the start or the end, or of the nonmoving collector. The latest event before it
    /// was at `before`.
    #[cold]
    fn rare(&mut self, event: &Event<'_>, number: u16, time: u64, before: u64) {
        match number {
            CAPSET_REMOVE_CAP | CAPSET_DELETE | CAP_DELETE => {
                self.run_ended.get_or_insert(before);
            }
            RTS_IDENTIFIER => {
                let text = String::from_utf8_lossy(event.payload().get(4..).unwrap_or_default()).into_owned();
                let way = text.split(' ').next_back().unwrap_or_default();
                self.summary.threaded |= way.contains("thr");
                self.profiled |= way.split('_').any(|part| part == "p");
                self.calls.runtime(&text, time);
                self.looks.runtime(&text);
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
            LOOK_BEGIN | LOOK_END => self.looks.event(event, number, self.interval),
            // GHC writes both twice in a row.
            CONC_SYNC_BEGIN => self.summary.are_syncs_doubled |= self.sync_began.replace(time).is_some(),
            CONC_SYNC_END => {
                let stops = self.sync.get_or_insert_default();
                if let Some(began) = self.sync_began.take().filter(|began| self.interval.contains(*began)) {
                    stops.add(time.saturating_sub(began));
                }
            }
            _ => {}
        }
    }
}

/// The capability of an event.
fn cap<'a>(caps: &'a mut Vec<Option<Box<Cap>>>, event: &Event<'_>) -> Option<&'a mut Cap> {
    let place = usize::from(event.cap()?);
    if caps.len() <= place {
        caps.resize_with(place + 1, || None);
    }
    Some(caps[place].get_or_insert_default())
}

/// A pause from beginning to end.
pub(super) fn pause(start: u64, end: u64) -> SinglePause {
    SinglePause {
        start_ns: start,
        length_ns: end - start,
    }
}
