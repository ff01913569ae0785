//! Accumulates the statistics of a run, from time stamps and from the figures of each collection.
//!
//! A world owns one recorder and calls, in this order: [`Recorder::new`], [`Recorder::init_done`],
//! for each collection [`Recorder::gc_start`] (mutators stopped) and [`Recorder::gc_end`] (about to
//! resume them), [`Recorder::exit_start`], [`Recorder::finish`]. Collections may also come before
//! `init_done` and after `exit_start`. Cost: about one microsecond a collection, and some 200 bytes
//! that [`Statistics::collections`] keeps for it, with 72 more for each thread of a parallel one.

mod counts;
mod resident;

pub use counts::{Ended, FinalCounts};

use crate::clock::{Clock, ProcessUsage};
use crate::words::Bytes;
use gclab_stats::render::Printer;
use gclab_stats::{Before, Collection, GenerationStats, Statistics, Times, Timing};
use resident::Resident;

/// All clocks of the process at one moment.
#[derive(Clone, Copy, Debug, Default)]
struct Stamp {
    elapsed_ns: u64,
    cpu_ns: u64,
    faults: u64,
}

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
    init_done: Option<Stamp>,
    exit_start: Option<Stamp>,
    gc_started: Started,
    faults_at_last_end: u64,
    allocated_at_last: u64,
    gc: Times,
    prof: Times,
    /// The sum of both so far.
    stopped_at_init: Times,
    stopped_at_exit: Times,
    stats: Statistics,
    last: Collection,
    keep: bool,
    printer: Option<Printer>,
    resident: Resident,
}

impl Recorder {
    /// Starts the clocks: INIT begins here. `generations` and `capabilities` are at least 1.
    pub fn new(generations: u32, capabilities: u32) -> Self {
        let clock = Clock::start();
        let start = stamp(&clock);
        Self::starting(clock, start, generations, capabilities)
    }

    fn starting(clock: Clock, start: Stamp, generations: u32, capabilities: u32) -> Self {
        Self {
            clock,
            start,
            init_done: None,
            exit_start: None,
            gc_started: Started::default(),
            faults_at_last_end: start.faults,
            allocated_at_last: 0,
            gc: Times::default(),
            prof: Times::default(),
            stopped_at_init: Times::default(),
            stopped_at_exit: Times::default(),
            stats: Statistics {
                capabilities,
                generations: vec![GenerationStats::default(); generations as usize],
                ..Statistics::default()
            },
            last: Collection::default(),
            keep: true,
            printer: None,
            resident: Resident::open(),
        }
    }

    /// Prints each collection when it has ended (`-S`).
    pub fn print_with(&mut self, printer: Printer) {
        self.printer = Some(printer);
    }

    /// Sets whether [`Statistics::collections`] has every collection, as it has at first. A stress
    /// test that collects a million times needs the memory; all other figures stay the same.
    pub fn keep_collections(&mut self, keep: bool) {
        self.keep = keep;
    }

    /// The clock of this world, for stamps such as the request of a collection.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The heap is ready: INIT ends, MUT begins.
    pub fn init_done(&mut self) {
        self.stopped_at_init = self.stopped();
        self.init_done = Some(stamp(&self.clock));
    }

    /// A collection begins: every mutator has stopped. `requested_ns` is the reading of
    /// [`Recorder::clock`] when it was asked for. Called on the thread that will call
    /// [`Recorder::gc_end`].
    pub fn gc_start(&mut self, requested_ns: u64) {
        let elapsed_ns = self.clock.elapsed_ns();
        self.gc_started = Started {
            sync_ns: elapsed_ns.saturating_sub(requested_ns),
            elapsed_ns,
            thread_cpu_ns: Clock::thread_cpu_ns(),
            faults: Clock::process_usage().faults,
        };
    }

    /// The collection has ended and the mutators are about to go on. Returns its record.
    pub fn gc_end(&mut self, ended: Ended) -> &Collection {
        let thread_cpu_ns = Clock::thread_cpu_ns();
        let usage = Clock::process_usage();
        self.gc_ended(ended, self.clock.elapsed_ns(), thread_cpu_ns, usage)
    }

    fn gc_ended(&mut self, ended: Ended, elapsed_ns: u64, thread_cpu_ns: u64, usage: ProcessUsage) -> &Collection {
        let Ended {
            mut work,
            forced,
            allocated_total,
            mut memory,
        } = ended;
        let started = self.gc_started;
        let leader_cpu_ns = thread_cpu_ns.saturating_sub(started.thread_cpu_ns);
        let mut cpu_ns = leader_cpu_ns;
        if let Some((leader, others)) = work.shared.threads.split_first_mut() {
            leader.cpu_ns = leader_cpu_ns;
            cpu_ns += others.iter().map(|thread| thread.cpu_ns).sum::<u64>();
        }
        memory.resident = if work.major { self.resident.read() } else { None };
        let collection = Collection {
            before: Before {
                forced,
                allocated: Bytes((allocated_total - self.allocated_at_last) as usize),
                sync_ns: started.sync_ns,
                faults: started.faults.saturating_sub(self.faults_at_last_end),
            },
            time: Timing {
                start_ns: started.elapsed_ns,
                elapsed_ns: elapsed_ns.saturating_sub(started.elapsed_ns),
                cpu_ns,
                total_cpu_ns: usage.cpu_ns.saturating_sub(self.start.cpu_ns),
                faults: usage.faults.saturating_sub(started.faults),
            },
            work,
            memory,
        };
        self.allocated_at_last = allocated_total;
        self.faults_at_last_end = usage.faults;
        self.gc.cpu_ns += collection.time.cpu_ns;
        self.gc.elapsed_ns += collection.time.elapsed_ns;
        if let Some(printer) = &self.printer {
            printer.collection(&collection);
        }
        self.stats.add(&collection);
        if self.keep {
            self.stats.collections.push(collection.clone());
        }
        self.last = collection;
        &self.last
    }

    /// The time at which a listener begins to look at the stopped heap.
    pub fn look_start(&self) -> Times {
        Times {
            cpu_ns: Clock::process_cpu_ns(),
            elapsed_ns: self.clock.elapsed_ns(),
        }
    }

    /// The listener is done; `started` is what [`Recorder::look_start`] returned.
    pub fn look_end(&mut self, started: Times) {
        let now = self.look_start();
        self.prof.cpu_ns += now.cpu_ns.saturating_sub(started.cpu_ns);
        self.prof.elapsed_ns += now.elapsed_ns.saturating_sub(started.elapsed_ns);
    }

    /// CPU time of the program itself until now, in nanoseconds: MUT.
    pub fn mutator_cpu_ns(&self) -> u64 {
        let from = self.init_done.unwrap_or(self.start);
        let stopped = self.stopped().cpu_ns - self.stopped_at_init.cpu_ns;
        Clock::process_cpu_ns()
            .saturating_sub(from.cpu_ns)
            .saturating_sub(stopped)
    }

    fn stopped(&self) -> Times {
        Times {
            cpu_ns: self.gc.cpu_ns + self.prof.cpu_ns,
            elapsed_ns: self.gc.elapsed_ns + self.prof.elapsed_ns,
        }
    }

    /// The program has ended: MUT ends, EXIT begins.
    pub fn exit_start(&mut self) {
        self.stopped_at_exit = self.stopped();
        self.exit_start = Some(stamp(&self.clock));
    }

    /// The figures so far, as `GHC.Stats` has them for a running program: times up to now, peaks
    /// and threads as given.
    pub fn so_far(&self, counts: &FinalCounts) -> Statistics {
        self.ended(stamp(&self.clock), counts)
    }

    /// The figures of the whole run. EXIT ends here.
    pub fn finish(self, counts: &FinalCounts) -> Statistics {
        self.ended(stamp(&self.clock), counts)
    }

    /// A phase that was never announced takes no time: without `init_done` INIT lasts until now,
    /// without `exit_start` MUT does.
    fn ended(&self, end: Stamp, counts: &FinalCounts) -> Statistics {
        let exit_start = self.exit_start.unwrap_or(end);
        let stopped_at_exit = if self.exit_start.is_some() {
            self.stopped_at_exit
        } else {
            self.stopped()
        };
        let init_done = self.init_done.unwrap_or(exit_start);
        let stopped_at_init = if self.init_done.is_some() {
            self.stopped_at_init
        } else {
            stopped_at_exit
        };
        let none = Times::default();
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
            tasks: counts.tasks,
            init: part(self.start, init_done, none, stopped_at_init),
            mutator: part(init_done, exit_start, stopped_at_init, stopped_at_exit),
            gc: self.gc,
            prof: self.prof,
            exit: part(exit_start, end, stopped_at_exit, self.stopped()),
            total: part(self.start, end, none, none),
            page_faults: end.faults,
            ..self.stats.clone()
        }
    }
}

/// The time between two stamps, less the time between them in which the mutators were stopped.
fn part(from: Stamp, to: Stamp, stopped_from: Times, stopped_to: Times) -> Times {
    let less = |from: u64, to: u64, stopped: u64| to.saturating_sub(from).saturating_sub(stopped);
    Times {
        cpu_ns: less(from.cpu_ns, to.cpu_ns, stopped_to.cpu_ns - stopped_from.cpu_ns),
        elapsed_ns: less(
            from.elapsed_ns,
            to.elapsed_ns,
            stopped_to.elapsed_ns - stopped_from.elapsed_ns,
        ),
    }
}

fn stamp(clock: &Clock) -> Stamp {
    Stamp {
        elapsed_ns: clock.elapsed_ns(),
        cpu_ns: Clock::process_cpu_ns(),
        faults: Clock::process_usage().faults,
    }
}

#[cfg(test)]
mod tests;
