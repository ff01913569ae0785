//! Takes the events of a log, and puts each where it belongs.

use super::cap::{Cap, Stats, Stop};
use super::data::{Collections, GENERATIONS, Lane, Pause, Sample, SparkSample, Stretch, Timeline};
use super::marks::Marks;
use super::pauses::Pauses;
use super::profile::Bands;
use super::series::Series;
use crate::event::Event;
use crate::header::Header;
use crate::kinds::number::*;

/// The latest time told apart from others: 104 days. JavaScript's integers are not exact above
/// that.
const LATEST: u64 = (1 << 53) - 1;

/// The timeline so far.
#[derive(Debug)]
pub(super) struct Fold {
    most: usize,
    /// The entries of all series.
    entries: usize,
    step: u64,
    last: Option<u64>,
    caps: Vec<Option<Box<Cap>>>,
    pauses: Pauses<Pause>,
    looks: Pauses<Stretch>,
    /// When the current look began.
    look_began: Option<u64>,
    concurrent: [Series<Stretch>; 2],
    /// When the current ones began.
    concurrent_began: [Option<u64>; 2],
    heap_size: Series<Sample>,
    live: Series<Sample>,
    marks: Marks,
    bands: Bands,
    has_threads: bool,
    generations: Option<u64>,
}

impl Fold {
    /// The timeline at the start of a log with this header.
    pub(super) fn new(most: usize, header: &Header) -> Self {
        Fold {
            most,
            entries: 0,
            step: 1,
            last: None,
            caps: Vec::new(),
            pauses: Pauses::default(),
            looks: Pauses::default(),
            look_began: None,
            concurrent: Default::default(),
            concurrent_began: [None; 2],
            heap_size: Series::default(),
            live: Series::default(),
            marks: Marks::default(),
            bands: Bands::before(header),
            has_threads: false,
            generations: None,
        }
    }

    pub(super) fn event(&mut self, event: &Event<'_>) {
        let number = event.known();
        if number == BLOCK_MARKER {
            return;
        }
        let time = event.time().min(LATEST - 1);
        self.last = self.last.max(Some(time));
        match number {
            RUN_THREAD | STOP_THREAD | GC_START..=REQUEST_PAR_GC | GC_IDLE..=GC_DONE => self.state(event, number, time),
            GC_STATS_GHC | HEAP_ALLOCATED..=HEAP_LIVE => self.figure(event, number, time),
            SPARK_COUNTERS..=SPARK_GC => self.sparks(event, number, time),
            HEAP_INFO_GHC => [_, self.generations] = event.numbers(),
            USER_MARKER | USER_MSG => self.marks.mark(number == USER_MARKER, event.payload(), time),
            LOOK_BEGIN => self.look_began = Some(time),
            LOOK_END => self.look(time),
            CONC_MARK_BEGIN => self.concurrent_began[0] = Some(time),
            CONC_MARK_END => self.concurrent(0, time),
            CONC_SWEEP_BEGIN => self.concurrent_began[1] = Some(time),
            CONC_SWEEP_END => self.concurrent(1, time),
            HEAP_PROF_BEGIN..=HEAP_BIO_PROF_SAMPLE_BEGIN => self.bands.event(event, number, time),
            _ => {}
        }
        if self.entries > self.most {
            self.coarsen();
        }
    }

    fn cap(&mut self, event: &Event<'_>) -> Option<&mut Cap> {
        let place = event.cap().map(usize::from)?;
        if self.caps.len() <= place {
            self.caps.resize_with(place + 1, || None);
        }
        Some(self.caps[place].get_or_insert_default())
    }

    /// An event that changes the state of its capability.
    fn state(&mut self, event: &Event<'_>, number: u16, time: u64) {
        let step = self.step;
        let Some(cap) = self.cap(event) else { return };
        let more = match number {
            RUN_THREAD | STOP_THREAD => cap.thread(number == RUN_THREAD, time, step),
            REQUEST_SEQ_GC | REQUEST_PAR_GC => cap.request(time, step),
            GC_START => cap.start(time, step),
            GC_END => {
                let (more, ended) = cap.end(time, step);
                if let Some((stop, copied)) = ended {
                    self.pause(stop, copied);
                }
                more
            }
            _ => cap.work(number, time, step),
        };
        self.entries += more;
        self.has_threads |= number == RUN_THREAD;
    }

    /// A pause of the program, from the events of its leader.
    fn pause(&mut self, stop: Stop, copied: u64) {
        let Stop { from, to, .. } = stop;
        let mut generations = [Collections::default(); GENERATIONS];
        generations[stop.generation] = Collections {
            count: 1,
            total_ns: to - from,
            max_ns: to - from,
            copied,
        };
        let pause = Pause { from, to, generations };
        self.entries += usize::from(self.pauses.push(pause, self.step));
        for cap in self.caps.iter_mut().flatten() {
            self.entries += cap.stop(stop, self.step);
        }
    }

    /// A look at the heap ends.
    fn look(&mut self, to: u64) {
        let Some(from) = self.look_began.take() else { return };
        self.entries += usize::from(self.looks.push(Stretch::single(from, to), self.step));
    }

    /// Concurrent marking or sweeping ends.
    fn concurrent(&mut self, which: usize, to: u64) {
        let Some(from) = self.concurrent_began[which].take() else {
            return;
        };
        let more = self.concurrent[which].push(Stretch::single(from, to), self.step);
        self.entries += usize::from(more);
    }

    /// A size that a collection reports.
    fn figure(&mut self, event: &Event<'_>, number: u16, time: u64) {
        let step = self.step;
        let [_, figure, copied] = event.numbers();
        let Some(figure) = figure else { return };
        let Some(cap) = self.cap(event) else { return };
        let after = cap.before.unwrap_or(time);
        let (series, at) = match number {
            GC_STATS_GHC => {
                cap.stats = copied.map(|copied| Stats {
                    generation: (figure as usize).min(GENERATIONS - 1),
                    copied,
                });
                return;
            }
            HEAP_ALLOCATED => {
                let at = cap.started.unwrap_or(time);
                (&mut cap.allocated, at)
            }
            HEAP_SIZE => (&mut self.heap_size, after),
            _ => (&mut self.live, after),
        };
        let at = series.last().map_or(at, |last| at.max(last.at));
        let more = series.push(Sample::single(at, figure), step);
        self.entries += usize::from(more);
    }

    /// A capability's sparks: its counters, or one spark.
    fn sparks(&mut self, event: &Event<'_>, number: u16, time: u64) {
        let step = self.step;
        let Some(cap) = self.cap(event) else { return };
        let last = cap.sparks.last().copied().unwrap_or_default();
        let Some(all) = last.all.after(event, number) else {
            return;
        };
        let mut victim = None;
        let pool = match number {
            SPARK_CREATE => last.pool.saturating_add(1),
            SPARK_RUN | SPARK_FIZZLE | SPARK_GC => last.pool.saturating_sub(1),
            SPARK_COUNTERS => {
                let [.., Some(pool)]: [Option<u64>; 7] = event.numbers() else {
                    return;
                };
                pool
            }
            SPARK_STEAL => {
                [victim] = event.numbers();
                last.pool
            }
            _ => last.pool,
        };
        let at = time.max(last.at);
        let sample = SparkSample { at, all, pool };
        self.entries += usize::from(cap.sparks.push(sample, step));
        let victim = victim.and_then(|victim| self.caps.get_mut(victim as usize)?.as_mut());
        if let Some(victim) = victim
            && let Some(mut sample) = victim.sparks.last().copied()
        {
            (sample.at, sample.pool) = (time.max(sample.at), sample.pool.saturating_sub(1));
            self.entries += usize::from(victim.sparks.push(sample, step));
        }
    }

    /// Doubles the length of the cells until half the room is free.
    #[cold]
    fn coarsen(&mut self) {
        while self.entries > self.most / 2 && self.step < LATEST {
            self.step *= 2;
            let step = self.step;
            self.entries = self.pauses.coarsen(step) + self.looks.coarsen(step);
            self.entries += self.heap_size.coarsen(step) + self.live.coarsen(step);
            for series in &mut self.concurrent {
                self.entries += series.coarsen(step);
            }
            for cap in self.caps.iter_mut().flatten() {
                self.entries += cap.pieces.coarsen(step) + cap.allocated.coarsen(step) + cap.sparks.coarsen(step);
            }
        }
    }

    /// The timeline. `lost_ends`: the capabilities whose later events are lost, with the times of
    /// their last ones; what they did afterwards is unknown. `damaged`: the log lost its end.
    pub(super) fn finish(mut self, lost_ends: impl Iterator<Item = (Option<u16>, u64)>, damaged: bool) -> Timeline {
        let length = self.last.map_or(0, |last| last + 1);
        (0..2).for_each(|which| self.concurrent(which, length));
        for (cap, last) in lost_ends {
            let place = cap.map_or(usize::MAX, usize::from);
            if let Some(Some(cap)) = self.caps.get_mut(place) {
                cap.finish(last.saturating_add(1).min(length), self.step);
                cap.is_finished = true;
            }
        }
        for cap in self.caps.iter_mut().flatten().filter(|cap| !cap.is_finished) {
            cap.finish(length, self.step);
        }
        let lanes = self.caps.into_iter().enumerate();
        let lanes = lanes.filter_map(|(number, cap)| {
            let cap = cap?;
            Some(Lane {
                cap: number as u16,
                pieces: cap.pieces.into_entries(),
                allocated: cap.allocated.into_entries(),
                sparks: cap.sparks.into_entries(),
            })
        });
        Timeline {
            length,
            step: self.step,
            lanes: lanes.collect(),
            pauses: self.pauses.into_entries(),
            looks: self.looks.into_entries(),
            concurrent: self.concurrent.map(Series::into_entries),
            heap_size: self.heap_size.into_entries(),
            live: self.live.into_entries(),
            profile: self.bands.finish(damaged),
            marks: self.marks.finish(),
            has_threads: self.has_threads,
            generations: self.generations,
        }
    }
}
