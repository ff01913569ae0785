//! Accumulates the statistics of a run, from its stamps and from what each collection counted.
//!
//! A world owns one recorder and calls, in this order: [`Recorder::new`], [`Recorder::init_done`], for each collection
//! [`Recorder::gc_start`] (mutators stopped) and [`Recorder::gc_end`] (about to let them go on), [`Recorder::exit_start`],
//! [`Recorder::finish`]. Collections may also come before `init_done` and after `exit_start`.
//! Cost: about one microsecond a collection, and some 180 bytes that [`Statistics::collections`] keeps for it.

use super::render::Printer;
use super::{
    Clock, Collection, GenerationStats, ProcessUsage, Statistics, Tasks, Times, WorkSearch,
};

/// What a collection counted, told to [`Recorder::gc_end`]. Sizes in bytes; see [`Collection`] for what each means.
#[derive(Clone, Copy, Debug, Default)]
pub struct GcCounts {
    /// Oldest generation collected.
    pub generation: u32,
    /// Whether all generations were collected.
    pub major: bool,
    /// Whether somebody asked for it.
    pub forced: bool,
    /// GC threads that took part, at least 1.
    pub threads: u32,
    /// Allocated by all capabilities since the start of the world: the recorder takes the difference.
    pub allocated_total: u64,
    /// Copied.
    pub copied: u64,
    /// Live after it.
    pub live: u64,
    /// Of `live`: large objects.
    pub large: u64,
    /// Block space minus `live`.
    pub slop: u64,
    /// Megablocks mapped.
    pub in_use: u64,
    /// Mapped and unused.
    pub fragmentation: u64,
    /// Copied by the busiest thread (0 when sequential).
    pub par_max: u64,
    /// Copied in balance (0 when sequential).
    pub par_balanced: u64,
    /// Moved to an older generation.
    pub promoted: u64,
    /// Remembered entries scanned.
    pub remembered: u64,
    /// CPU time in nanoseconds of the GC threads other than the one that calls `gc_end`.
    pub workers_cpu_ns: u64,
    /// Searches for work, by all threads (zeros when sequential).
    pub search: WorkSearch,
}

/// What the heap knows at the end of a run, told to [`Recorder::finish`]. Sizes in bytes; see [`Statistics`].
#[derive(Clone, Copy, Debug, Default)]
pub struct FinalCounts {
    /// Allocated by all capabilities since the start of the world.
    pub allocated_total: u64,
    /// Most megablocks mapped at any moment.
    pub peak_in_use: u64,
    /// Most blocks allocated at any moment.
    pub peak_blocks: u64,
    /// Most mapped and unused at any one moment.
    pub peak_fragmentation: u64,
    /// Tables beside the heap.
    pub metadata: u64,
    /// Threads of the run.
    pub tasks: Tasks,
}

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

/// Accumulates [`Statistics`].
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
    gc_at_init: Times,
    gc_at_exit: Times,
    stats: Statistics,
    last: Collection,
    keep: bool,
    printer: Option<Printer>,
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
            gc_at_init: Times::default(),
            gc_at_exit: Times::default(),
            stats: Statistics {
                capabilities,
                generations: vec![GenerationStats::default(); generations as usize],
                ..Statistics::default()
            },
            last: Collection::default(),
            keep: true,
            printer: None,
        }
    }

    /// Prints each collection when it has ended (`-S`).
    pub fn print_with(&mut self, printer: Printer) {
        self.printer = Some(printer);
    }

    /// Whether [`Statistics::collections`] is to have every collection (so it is at first). A stress test that collects a million
    /// times would rather have the memory; all other figures stay the same.
    pub fn keep_collections(&mut self, keep: bool) {
        self.keep = keep;
    }

    /// The clock of this world, for stamps such as the request of a collection.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The heap stands: INIT ends, MUT begins.
    pub fn init_done(&mut self) {
        self.gc_at_init = self.gc;
        self.init_done = Some(stamp(&self.clock));
    }

    /// A collection begins: every mutator has stopped. `requested_ns` is the reading of [`Recorder::clock`] when it was asked
    /// for. Called on the thread that will call [`Recorder::gc_end`].
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
    pub fn gc_end(&mut self, counts: &GcCounts) -> &Collection {
        let thread_cpu_ns = Clock::thread_cpu_ns();
        let usage = Clock::process_usage();
        self.gc_ended(counts, self.clock.elapsed_ns(), thread_cpu_ns, usage)
    }

    fn gc_ended(
        &mut self,
        counts: &GcCounts,
        elapsed_ns: u64,
        thread_cpu_ns: u64,
        usage: ProcessUsage,
    ) -> &Collection {
        let started = self.gc_started;
        let collection = Collection {
            generation: counts.generation,
            major: counts.major,
            forced: counts.forced,
            threads: counts.threads,
            allocated: counts.allocated_total - self.allocated_at_last,
            copied: counts.copied,
            live: counts.live,
            large: counts.large,
            slop: counts.slop,
            in_use: counts.in_use,
            fragmentation: counts.fragmentation,
            par_max: counts.par_max,
            par_balanced: counts.par_balanced,
            promoted: counts.promoted,
            remembered: counts.remembered,
            start_ns: started.elapsed_ns,
            sync_ns: started.sync_ns,
            elapsed_ns: elapsed_ns.saturating_sub(started.elapsed_ns),
            cpu_ns: thread_cpu_ns.saturating_sub(started.thread_cpu_ns) + counts.workers_cpu_ns,
            total_cpu_ns: usage.cpu_ns.saturating_sub(self.start.cpu_ns),
            faults: usage.faults.saturating_sub(started.faults),
            faults_before: started.faults.saturating_sub(self.faults_at_last_end),
        };
        self.allocated_at_last = counts.allocated_total;
        self.faults_at_last_end = usage.faults;
        self.gc.cpu_ns += collection.cpu_ns;
        self.gc.elapsed_ns += collection.elapsed_ns;
        self.stats.search.any_work += counts.search.any_work;
        self.stats.search.no_work += counts.search.no_work;
        self.stats.search.scav_find_work += counts.search.scav_find_work;
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

    /// The program has ended: MUT ends, EXIT begins.
    pub fn exit_start(&mut self) {
        self.gc_at_exit = self.gc;
        self.exit_start = Some(stamp(&self.clock));
    }

    /// What is known so far, as `GHC.Stats` offers it to a running program: times up to now, peaks and threads as given.
    pub fn so_far(&self, counts: &FinalCounts) -> Statistics {
        self.ended(stamp(&self.clock), counts)
    }

    /// The figures of the whole run. EXIT ends here.
    pub fn finish(self, counts: &FinalCounts) -> Statistics {
        self.ended(stamp(&self.clock), counts)
    }

    /// A phase that was never announced takes no time: without `init_done` INIT lasts until now, without `exit_start` MUT does.
    fn ended(&self, end: Stamp, counts: &FinalCounts) -> Statistics {
        let exit_start = self.exit_start.unwrap_or(end);
        let gc_at_exit = if self.exit_start.is_some() {
            self.gc_at_exit
        } else {
            self.gc
        };
        let init_done = self.init_done.unwrap_or(exit_start);
        let gc_at_init = if self.init_done.is_some() {
            self.gc_at_init
        } else {
            gc_at_exit
        };
        let none = Times::default();
        Statistics {
            allocated: counts.allocated_total,
            allocated_after_last: counts.allocated_total - self.allocated_at_last,
            peak_in_use: counts.peak_in_use,
            peak_blocks: counts.peak_blocks,
            peak_fragmentation: counts.peak_fragmentation,
            metadata: counts.metadata,
            tasks: counts.tasks,
            init: part(self.start, init_done, none, gc_at_init),
            mutator: part(init_done, exit_start, gc_at_init, gc_at_exit),
            gc: self.gc,
            exit: part(exit_start, end, gc_at_exit, self.gc),
            total: part(self.start, end, none, none),
            page_faults: end.faults,
            ..self.stats.clone()
        }
    }
}

/// The time between two stamps, less the collections between them.
fn part(from: Stamp, to: Stamp, gc_from: Times, gc_to: Times) -> Times {
    let less = |from: u64, to: u64, gc: u64| to.saturating_sub(from).saturating_sub(gc);
    Times {
        cpu_ns: less(from.cpu_ns, to.cpu_ns, gc_to.cpu_ns - gc_from.cpu_ns),
        elapsed_ns: less(
            from.elapsed_ns,
            to.elapsed_ns,
            gc_to.elapsed_ns - gc_from.elapsed_ns,
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
mod tests {
    use super::*;

    /// A recorder whose clocks say what the test says: elapsed, CPU and faults as given.
    struct Driven(Recorder);

    impl Driven {
        fn new(start: (u64, u64, u64)) -> Self {
            Self(Recorder::starting(Clock::start(), at(start), 2, 1))
        }

        fn collection(
            &mut self,
            requested: u64,
            start: (u64, u64, u64),
            end: (u64, u64, u64, u64),
            counts: GcCounts,
        ) -> Collection {
            let (elapsed_ns, thread_cpu_ns, faults) = start;
            self.0.gc_started = Started {
                sync_ns: elapsed_ns - requested,
                elapsed_ns,
                thread_cpu_ns,
                faults,
            };
            let (elapsed_ns, thread_cpu_ns, cpu_ns, faults) = end;
            self.0
                .gc_ended(
                    &counts,
                    elapsed_ns,
                    thread_cpu_ns,
                    ProcessUsage { cpu_ns, faults },
                )
                .clone()
        }
    }

    fn at((elapsed_ns, cpu_ns, faults): (u64, u64, u64)) -> Stamp {
        Stamp {
            elapsed_ns,
            cpu_ns,
            faults,
        }
    }

    fn minor(allocated_total: u64, live: u64) -> GcCounts {
        GcCounts {
            threads: 1,
            allocated_total,
            live,
            copied: 10,
            large: 900,
            slop: 900,
            ..GcCounts::default()
        }
    }

    fn major(allocated_total: u64, live: u64) -> GcCounts {
        GcCounts {
            generation: 1,
            major: true,
            large: 3,
            slop: 5,
            ..minor(allocated_total, live)
        }
    }

    #[test]
    fn a_run_adds_up() {
        let mut run = Driven::new((0, 1000, 50));
        run.0.init_done = Some(at((100, 1080, 60)));
        let first = run.collection(200, (210, 5, 70), (260, 45, 1300, 75), minor(1000, 999));
        assert_eq!(
            (
                first.allocated,
                first.sync_ns,
                first.start_ns,
                first.elapsed_ns,
                first.cpu_ns
            ),
            (1000, 10, 210, 50, 40)
        );
        assert_eq!(
            (first.faults_before, first.faults, first.total_cpu_ns),
            (20, 5, 300)
        );
        let parallel = GcCounts {
            threads: 2,
            workers_cpu_ns: 30,
            par_max: 7,
            par_balanced: 6,
            ..major(1500, 300)
        };
        let second = run.collection(400, (400, 100, 80), (430, 120, 1500, 80), parallel);
        assert_eq!(
            (
                second.allocated,
                second.sync_ns,
                second.cpu_ns,
                second.faults_before,
                second.faults
            ),
            (500, 0, 50, 5, 0)
        );
        run.0.exit_start = Some(at((1000, 2000, 90)));
        run.0.gc_at_exit = run.0.gc;
        let third = run.collection(
            1010,
            (1010, 200, 90),
            (1020, 210, 2100, 90),
            major(1600, 200),
        );
        let counts = FinalCounts {
            allocated_total: 1650,
            peak_in_use: 9,
            ..FinalCounts::default()
        };
        let stats = run.0.ended(at((1100, 2200, 95)), &counts);

        assert_eq!(stats.collections, [first, second, third]);
        assert_eq!(
            (stats.allocated, stats.allocated_after_last, stats.copied),
            (1650, 50, 30)
        );
        assert_eq!(
            (
                stats.par_copied,
                stats.cumulative_par_max,
                stats.cumulative_par_balanced
            ),
            (10, 7, 6)
        );
        // The minor collection had more of each.
        assert_eq!(
            (
                stats.major_gcs,
                stats.max_live,
                stats.max_large,
                stats.max_slop,
                stats.cumulative_live
            ),
            (2, 300, 3, 5, 500)
        );
        assert_eq!(
            stats.init,
            Times {
                cpu_ns: 80,
                elapsed_ns: 100
            }
        );
        assert_eq!(
            stats.mutator,
            Times {
                cpu_ns: 920 - 90,
                elapsed_ns: 900 - 80
            }
        );
        assert_eq!(
            stats.gc,
            Times {
                cpu_ns: 100,
                elapsed_ns: 90
            }
        );
        assert_eq!(
            stats.exit,
            Times {
                cpu_ns: 190,
                elapsed_ns: 90
            }
        );
        assert_eq!(
            stats.total,
            Times {
                cpu_ns: 1200,
                elapsed_ns: 1100
            }
        );
        assert_eq!(
            (stats.sync_ns, stats.page_faults, stats.peak_in_use),
            (10, 95, 9)
        );
        let old = &stats.generations[1];
        assert_eq!(
            (
                old.collections,
                old.par_collections,
                old.elapsed_ns,
                old.max_pause_ns,
                old.avg_pause_ns()
            ),
            (2, 1, 40, 30, 20)
        );
        assert_eq!(stats.productivity_cpu(), 830.0 / 1200.0);
    }

    #[test]
    fn a_run_that_is_not_over_has_no_exit_and_may_be_asked_again() {
        let mut run = Driven::new((0, 0, 0));
        run.0.init_done = Some(at((100, 90, 0)));
        run.collection(200, (200, 0, 0), (250, 40, 200, 0), minor(10, 10));
        let counts = FinalCounts {
            allocated_total: 10,
            ..FinalCounts::default()
        };
        let stats = run.0.ended(at((400, 300, 0)), &counts);
        assert_eq!(
            (stats.exit, stats.mutator),
            (
                Times::default(),
                Times {
                    cpu_ns: 170,
                    elapsed_ns: 250
                }
            )
        );
        assert_eq!(run.0.ended(at((400, 300, 0)), &counts), stats);
        run.0.keep_collections(false);
        run.collection(500, (500, 0, 0), (550, 40, 600, 0), minor(10, 10));
        let stats = run.0.ended(at((600, 600, 0)), &counts);
        assert_eq!((stats.collections.len(), stats.collections_count()), (1, 2));
    }

    #[test]
    fn with_real_clocks_the_parts_add_up_to_the_total() {
        let mut recorder = Recorder::new(2, 1);
        recorder.init_done();
        for i in 1..=10 {
            let requested = recorder.clock().elapsed_ns();
            recorder.gc_start(requested);
            recorder.gc_end(&minor(i * 100, 1));
        }
        recorder.exit_start();
        let stats = recorder.finish(&FinalCounts {
            allocated_total: 1000,
            ..FinalCounts::default()
        });
        let parts = [stats.init, stats.mutator, stats.gc, stats.exit];
        assert_eq!(
            parts.iter().map(|t| t.elapsed_ns).sum::<u64>(),
            stats.total.elapsed_ns
        );
        assert_eq!(
            parts.iter().map(|t| t.cpu_ns).sum::<u64>(),
            stats.total.cpu_ns
        );
        assert_eq!(stats.collections.len(), 10);
        assert!(
            stats
                .collections
                .windows(2)
                .all(|c| c[0].start_ns + c[0].elapsed_ns <= c[1].start_ns)
        );
    }
}
