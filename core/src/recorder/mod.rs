//! Accumulates the statistics of a run from time stamps and each collection's figures.
//!
//! A world owns one recorder and calls, in this order: [`Recorder::new`], `Recorder::init_done`,
//! for each collection `Recorder::gc_start` (mutators stopped) and `Recorder::gc_end` (about to
//! resume them), `Recorder::exit_start`, [`Recorder::finish`]. Collections may also come before
//! `init_done` and after `exit_start`. In between the program may say where its measured phase
//! begins and ends (`Recorder::measure_start`, `Recorder::measure_end`). Cost: about one
//! microsecond per collection; about 400 bytes for each of the first ten thousand
//! ([`Statistics::keep`]), and 16 bytes for each of the first million
//! ([`Pauses`](crate::stats::Pauses)).

mod counts;
mod phases;
mod resident;
mod stamp;

pub use counts::{Ended, FinalCounts};

use crate::clock::{Clock, ProcessUsage};
use crate::stats::render::Printer;
use crate::stats::{
    Before, Collection, GenerationStats, Look, RtsStats, SinglePause, Statistics, Times, Timing, Totals,
};
use crate::words::Bytes;
use phases::{Marks, Reading};
use resident::Resident;
use stamp::Stamp;

/// The clocks at the start of a collection.
#[derive(Clone, Copy, Debug, Default)]
struct Started {
    sync_ns: u64,
    elapsed_ns: u64,
    thread_cpu_ns: u64,
    faults: u64,
}

/// Accumulates the [`Statistics`] of a run.
#[derive(Debug)]
pub struct Recorder {
    clock: Clock,
    start: Stamp,
    init_done: Option<Reading>,
    exit_start: Option<Reading>,
    marks: Marks,
    gc_started: Started,
    /// The concurrent work since the last collection.
    concurrent: Times,
    faults_at_last_end: u64,
    allocated_at_last: u64,
    /// The figures that grow with each collection and each look; the others are 0 until the end.
    stats: Statistics,
    last: Collection,
    printer: Option<Printer>,
    resident: Resident,
}

impl Recorder {
    /// Starts the clocks: INIT begins here. `generations` and `capabilities` are at least 1.
    pub fn new(generations: u32, capabilities: u32) -> Self {
        let clock = Clock::start();
        let start = Stamp::now(&clock);
        Self::starting(clock, start, generations, capabilities)
    }

    fn starting(clock: Clock, start: Stamp, generations: u32, capabilities: u32) -> Self {
        Self {
            clock,
            start,
            init_done: None,
            exit_start: None,
            marks: Marks::default(),
            gc_started: Started::default(),
            concurrent: Times::default(),
            faults_at_last_end: start.faults,
            allocated_at_last: 0,
            stats: Statistics {
                capabilities,
                generations: vec![GenerationStats::default(); generations as usize],
                ..Statistics::default()
            },
            last: Collection::default(),
            printer: None,
            resident: Resident::open(),
        }
    }

    /// Prints each collection when it ends (`-S`).
    pub fn print_with(&mut self, printer: Printer) {
        self.printer = Some(printer);
    }

    /// The clock of this world, for stamps such as the request of a collection.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The clock when the run's figures began.
    pub(crate) fn started_ns(&self) -> u64 {
        self.start.elapsed_ns
    }

    /// The clock when the current collection began.
    pub(crate) fn gc_started_ns(&self) -> u64 {
        self.gc_started.elapsed_ns
    }

    /// The heap is ready: INIT ends, MUT begins.
    pub(crate) fn init_done(&mut self) {
        self.init_done = Some(self.reading(Stamp::now(&self.clock), 0));
    }

    /// The measured phase begins, unless it already has. `allocated_total` is the number of bytes
    /// that all capabilities have allocated since the start of the world.
    pub(crate) fn measure_start(&mut self, allocated_total: u64) {
        self.measure_started(Stamp::now(&self.clock), allocated_total);
    }

    fn measure_started(&mut self, at: Stamp, allocated_total: u64) {
        let here = self.reading(at, allocated_total);
        if self.marks.begin(here) {
            self.stats.pauses.clear();
        }
    }

    /// The end of a call of [`Recorder::measure_start`]. The measured phase ends with the last of
    /// those that overlap.
    pub(crate) fn measure_end(&mut self, allocated_total: u64) {
        self.marks.end(self.reading(Stamp::now(&self.clock), allocated_total));
    }

    fn reading(&self, at: Stamp, allocated_total: u64) -> Reading {
        Reading::new(at, &self.stats, allocated_total)
    }

    /// The collector has worked concurrently for this time. The CPU time is the collector's;
    /// the elapsed time was the program's, too.
    pub(crate) fn worked_concurrently(&mut self, times: Times) {
        self.concurrent += times;
        self.stats.concurrent += times;
        self.stats.gc.cpu_ns += times.cpu_ns;
    }

    /// A collection begins: every mutator has stopped. `requested_ns` is [`Recorder::clock`] when
    /// it was requested. Called on the thread that will call [`Recorder::gc_end`].
    pub(crate) fn gc_start(&mut self, requested_ns: u64) {
        let elapsed_ns = self.clock.elapsed_ns();
        self.gc_started = Started {
            sync_ns: elapsed_ns.saturating_sub(requested_ns),
            elapsed_ns,
            thread_cpu_ns: Clock::thread_cpu_ns(),
            faults: Clock::process_usage().faults,
        };
    }

    /// The collection has ended and the mutators are about to resume. Returns its record.
    pub(crate) fn gc_end(&mut self, ended: Ended) -> &Collection {
        let thread_cpu_ns = Clock::thread_cpu_ns();
        let usage = Clock::process_usage();
        self.gc_ended(ended, self.clock.elapsed_ns(), thread_cpu_ns, usage)
    }

    fn gc_ended(&mut self, ended: Ended, elapsed_ns: u64, thread_cpu_ns: u64, usage: ProcessUsage) -> &Collection {
        let Ended {
            mut work,
            cause,
            phases,
            idle_cpu_ns,
            allocated_total,
            mut memory,
        } = ended;
        let started = self.gc_started;
        let leader_cpu_ns = thread_cpu_ns.saturating_sub(started.thread_cpu_ns);
        let mut cpu_ns = leader_cpu_ns + idle_cpu_ns;
        if let Some((leader, others)) = work.shared.threads.split_first_mut() {
            leader.cpu_ns = leader_cpu_ns;
            cpu_ns += others.iter().map(|thread| thread.cpu_ns).sum::<u64>();
        }
        memory.resident = if work.is_major() { self.resident.read() } else { None };
        let collection = Collection {
            before: Before {
                cause,
                allocated: Bytes((allocated_total - self.allocated_at_last) as usize),
                sync_ns: started.sync_ns,
                faults: started.faults.saturating_sub(self.faults_at_last_end),
                concurrent: std::mem::take(&mut self.concurrent),
            },
            time: Timing {
                start_ns: started.elapsed_ns,
                elapsed_ns: elapsed_ns.saturating_sub(started.elapsed_ns),
                cpu_ns,
                phases,
                total_cpu_ns: usage.cpu_ns.saturating_sub(self.start.cpu_ns),
                faults: usage.faults.saturating_sub(started.faults),
            },
            work,
            memory,
        };
        self.allocated_at_last = allocated_total;
        self.faults_at_last_end = usage.faults;
        self.stats.gc += Times {
            cpu_ns: collection.time.cpu_ns,
            elapsed_ns: collection.time.elapsed_ns,
        };
        if let Some(printer) = &self.printer {
            printer.collection(&collection);
        }
        self.stats.add(&collection);
        let pause = SinglePause {
            start_ns: started.elapsed_ns - started.sync_ns,
            length_ns: started.sync_ns + collection.time.elapsed_ns,
        };
        if self.marks.pause(pause.length_ns) {
            self.stats.pauses.add(pause);
        }
        self.stats.keep(&collection);
        self.stats.note_memory();
        self.last = collection;
        &self.last
    }

    /// Runs a refill of an allocator. It is timed if the summary of `-s` will show that; otherwise
    /// no clock is read.
    #[inline]
    pub(crate) fn refill<R>(&mut self, refill: impl FnOnce() -> R) -> R {
        if !self.printer.as_ref().is_some_and(Printer::prints_summary) {
            return refill();
        }
        let before = self.clock.elapsed_ns();
        let result = refill();
        let refills = &mut self.stats.refills;
        refills.count += 1;
        refills.elapsed_ns += self.clock.elapsed_ns().saturating_sub(before);
        result
    }

    /// The clocks when a look at the stopped heap begins.
    pub(crate) fn look_start(&self) -> Times {
        Times {
            cpu_ns: Clock::process_cpu_ns(),
            elapsed_ns: self.clock.elapsed_ns(),
        }
    }

    /// The look is over; `started` is what [`Recorder::look_start`] returned. Returns the clocks.
    pub(crate) fn look_end(&mut self, started: Times, look: Look) -> Times {
        let ended = self.look_start();
        self.stats.looks.add(look, ended.since(started));
        ended
    }

    /// CPU time of the program itself (MUT), in nanoseconds, when [`Clock::process_cpu_ns`] was
    /// `process_cpu_ns`. No collection and no look may have ended since.
    pub(crate) fn mutator_cpu_ns(&self, process_cpu_ns: u64) -> u64 {
        let now = Stamp {
            cpu_ns: process_cpu_ns,
            ..Stamp::default()
        };
        let from = self.init_done.unwrap_or(self.reading_at_start());
        self.reading(now, 0).program_since(&from).cpu_ns
    }

    /// The reading when the clocks started.
    fn reading_at_start(&self) -> Reading {
        Reading {
            stamp: self.start,
            ..Reading::default()
        }
    }

    /// The program has ended: MUT ends, EXIT begins. `allocated_total` is as for
    /// [`Recorder::measure_start`].
    pub(crate) fn exit_start(&mut self, allocated_total: u64) {
        self.exit_started(Stamp::now(&self.clock), allocated_total);
    }

    fn exit_started(&mut self, at: Stamp, allocated_total: u64) {
        let here = self.reading(at, allocated_total);
        self.marks.exit(here);
        self.exit_start = Some(here);
    }

    /// The figures so far, as `GHC.Stats` has them for a running program: times up to now, peaks
    /// and threads as given.
    pub(crate) fn so_far(&self, counts: &FinalCounts) -> Statistics {
        self.ended(self.stats.clone(), Stamp::now(&self.clock), counts)
    }

    /// The figures so far for the program itself. It copies no list of collections.
    pub(crate) fn rts_stats(&self, counts: &FinalCounts) -> RtsStats {
        let end = Reading::new(Stamp::now(&self.clock), &self.stats, counts.allocated_total);
        let start = self.reading_at_start();
        let init_done = self.init_done.unwrap_or(end);
        let totals = Totals {
            allocated: counts.allocated_total,
            peak_in_use: counts.peak_in_use,
            init: init_done.program_since(&start),
            mutator: self.exit_start.unwrap_or(end).program_since(&init_done),
            total: end.total_since(&start),
        };
        let last = (self.stats.collections_count() > 0).then_some(&self.last);
        RtsStats::new(&self.stats, &totals, last)
    }

    /// The figures of the whole run. EXIT ends here.
    pub fn finish(mut self, counts: &FinalCounts) -> Statistics {
        let end = Stamp::now(&self.clock);
        let stats = std::mem::take(&mut self.stats);
        self.ended(stats, end, counts)
    }

    /// The figures of a run that ends at `end`, from the sums and maxima in `stats`. Without
    /// `init_done` INIT lasts until now, and without `exit_start` MUT does: a phase that was never
    /// announced takes no time.
    fn ended(&self, stats: Statistics, end: Stamp, counts: &FinalCounts) -> Statistics {
        let start = self.reading_at_start();
        let end = Reading::new(end, &stats, counts.allocated_total);
        let exit_start = self.exit_start.unwrap_or(end);
        let init_done = self.init_done.unwrap_or(exit_start);
        Statistics {
            allocated: counts.allocated_total,
            allocated_after_last: counts.allocated_total - self.allocated_at_last,
            peak_in_use: counts.peak_in_use,
            peak_blocks: counts.peak_blocks,
            peak_fragmentation: counts.peak_fragmentation,
            metadata: counts.metadata,
            reserved: counts.reserved,
            returned: counts.returned,
            peak_taken: counts.peak_taken,
            thrashing: counts.thrashing,
            tasks: counts.tasks,
            init: init_done.program_since(&start),
            mutator: exit_start.program_since(&init_done),
            exit: end.program_since(&exit_start),
            total: end.total_since(&start),
            phases: self.marks.phases(self.start, &init_done, &end),
            page_faults: end.stamp.faults,
            ..stats
        }
    }
}

#[cfg(test)]
mod tests;
