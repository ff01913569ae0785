//! An end to thrashing: a run whose collections take almost all time and free almost nothing ends
//! as one whose heap is exhausted.
//!
//! An *interval* lasts from the end of a major collection to the end of the next. It is *vain* if
//! its collections freed less than [`FREED`] percent of `-M` and left a heap that is nearly full. A
//! *window* is a row of vain intervals, [`IN_A_ROW`] or more, that lasts for [`WINDOW_NS`]. The run
//! thrashes in a window if collections took [`COLLECTING`] percent of its time, or the share that
//! `--gc-overhead-limit` says. The figures are HotSpot's (`GCHeapFreeLimit`, `GCTimeLimit`, and five
//! full collections); the second lets a short peak of live data pass.
//!
//! The share is one of time, not of work: a program that computes for long between two allocations
//! may have a full heap and yet hardly collect. By work (bytes traced for each byte allocated) the
//! rule would only repeat `-m`, which allows no less than 1.5 % of `-M` to be free. What was freed is
//! counted in bytes, so the clock decides only over heaps that are about to be exhausted anyway.
//!
//! Without `-M` nothing thrashes; nor does a heap whose collections the program asks for, or one that
//! collects often because its flags say so: that one is not full.

use crate::block::{OutOfMemory, Shortage};
use crate::config::Config;
use crate::stats::{Cause, Collection, Thrashing};
use crate::words::Bytes;

/// The least share of time, in percent.
const COLLECTING: f64 = 98.0;

/// What collections free less of, in percent of `-M`.
const FREED: usize = 2;

/// A heap is nearly full if live data, with the copy that the next major collection makes, take this
/// part of `-M`, in percent.
const FULL: usize = 75;

/// The least number of intervals in a window.
const IN_A_ROW: u64 = 5;

/// The least length of a window, in nanoseconds.
const WINDOW_NS: u64 = 1_000_000_000;

/// Finds out whether a run thrashes.
#[derive(Debug)]
pub(crate) struct Overhead {
    /// `-M`.
    limit: Option<Bytes>,
    /// The least share of time, in percent.
    collecting: f64,
    /// Whether a run that thrashes ends.
    ends: bool,
    /// The interval under way.
    interval: Thrashing,
    /// The window under way.
    window: Thrashing,
    /// All windows in which the run thrashed.
    total: Thrashing,
    /// When the last collection ended, in nanoseconds of elapsed and of CPU time, and what the last
    /// major one left live.
    ended_ns: u64,
    ended_cpu_ns: u64,
    live: Bytes,
}

impl Overhead {
    pub(crate) fn new(config: &Config) -> Overhead {
        let ends = config.gc_overhead_limit > 0.0;
        Overhead {
            limit: config.max_heap,
            collecting: if ends { config.gc_overhead_limit } else { COLLECTING },
            ends,
            interval: Thrashing::default(),
            window: Thrashing::default(),
            total: Thrashing::default(),
            ended_ns: 0,
            ended_cpu_ns: 0,
            live: Bytes::ZERO,
        }
    }

    /// How the run has thrashed so far.
    pub(crate) fn total(&self) -> Thrashing {
        self.total
    }

    /// Notes a collection. `in_place`: the next major collection copies nothing.
    ///
    /// # Errors
    /// If the run thrashes and is to end. It has a new chance afterwards: a program may continue
    /// with less data.
    pub(crate) fn note(&mut self, collection: &Collection, in_place: bool) -> Result<(), OutOfMemory> {
        let Some(limit) = self.limit else { return Ok(()) };
        let (work, time) = (&collection.work, &collection.time);
        let end = time.start_ns + time.elapsed_ns;
        self.interval += Thrashing {
            major_gcs: u64::from(work.is_major()),
            elapsed_ns: end - self.ended_ns,
            collecting_ns: time.elapsed_ns,
            cpu_ns: time.total_cpu_ns - self.ended_cpu_ns,
            collecting_cpu_ns: time.cpu_ns + collection.before.concurrent.cpu_ns,
            freed: collection.before.allocated,
        };
        (self.ended_ns, self.ended_cpu_ns) = (end, time.total_cpu_ns);
        if !work.is_major() {
            return Ok(());
        }
        let mut interval = std::mem::take(&mut self.interval);
        interval.freed = (interval.freed + self.live).saturating_sub(work.live);
        self.live = work.live;
        let copy = if in_place { Bytes::ZERO } else { work.live - work.large };
        let full = work.live + work.slop + copy;
        let is_vain = matches!(collection.before.cause, Cause::Allocation | Cause::Shortage)
            && interval.freed.0 < limit.0 / 100 * FREED
            && full.0 >= limit.0 / 100 * FULL;
        if !is_vain {
            self.window = Thrashing::default();
            return Ok(());
        }
        self.window += interval;
        if self.window.major_gcs < IN_A_ROW || self.window.elapsed_ns < WINDOW_NS {
            return Ok(());
        }
        let window = std::mem::take(&mut self.window);
        if window.collecting() < self.collecting {
            return Ok(());
        }
        self.total += window;
        if !self.ends {
            return Ok(());
        }
        Err(OutOfMemory {
            requested: Bytes(limit.0 / 100 * FREED),
            in_use: work.live + work.slop,
            limit: Some(limit),
            cause: Shortage::Thrashing(window),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Before, Cycle, Times, Timing, Work};
    use proptest::prelude::*;

    const MIB: usize = 1 << 20;

    fn config(gc_overhead_limit: f64) -> Config {
        Config {
            max_heap: Some(Bytes(100 * MIB)),
            gc_overhead_limit,
            ..Config::default()
        }
    }

    /// A major collection, and what came before it.
    #[derive(Clone, Copy, Debug)]
    struct Major {
        running: Times,
        collecting: Times,
        freed: usize,
        live: usize,
        cause: Cause,
    }

    /// So much elapsed time, all of it on a processor.
    const fn busy(ns: u64) -> Times {
        Times {
            elapsed_ns: ns,
            cpu_ns: ns,
        }
    }

    /// Of 100 MiB 95 are live, a collection frees 1 MiB, and the program has 1 % of the time.
    const HOPELESS: Major = Major {
        running: busy(2_500_000),
        collecting: busy(247_500_000),
        freed: MIB,
        live: 95 * MIB,
        cause: Cause::Allocation,
    };

    /// Notes these collections, each after a minor one. Returns the results.
    fn note(overhead: &mut Overhead, majors: &[Major]) -> Vec<Result<(), OutOfMemory>> {
        let mut results = Vec::new();
        for major in majors {
            // The first collection finds the live data in place.
            overhead.live = Bytes(major.live);
            let minor = busy(10);
            for (cycle, running, collecting) in [
                (Cycle::None, major.running, minor),
                (Cycle::Whole, Times::default(), major.collecting.since(minor)),
            ] {
                let collection = Collection {
                    work: Work {
                        cycle,
                        live: Bytes(major.live),
                        ..Work::default()
                    },
                    before: Before {
                        cause: major.cause,
                        allocated: Bytes(major.freed / 2),
                        ..Before::default()
                    },
                    time: Timing {
                        start_ns: overhead.ended_ns + running.elapsed_ns,
                        elapsed_ns: collecting.elapsed_ns,
                        cpu_ns: collecting.cpu_ns,
                        total_cpu_ns: overhead.ended_cpu_ns + (running + collecting).cpu_ns,
                        ..Timing::default()
                    },
                    ..Collection::default()
                };
                let result = overhead.note(&collection, true);
                if cycle == Cycle::None {
                    result.expect("only a major collection ends a run");
                } else {
                    results.push(result);
                }
            }
        }
        results
    }

    #[test]
    fn five_hopeless_collections_in_a_row_end_a_run_and_the_next_five_again() {
        let mut overhead = Overhead::new(&config(98.0));
        let ended: Vec<_> = note(&mut overhead, &[HOPELESS; 10])
            .into_iter()
            .map(|r| r.is_err())
            .collect();
        assert_eq!(ended, [false, false, false, false, true].repeat(2));
        let error = note(&mut overhead, &[HOPELESS; 5]).pop().expect("five").unwrap_err();
        assert_eq!(
            error.to_string(),
            "no memory for 2 MiB: 95 MiB in use, limit 100 MiB; \
             99.0 % of 1250.0 ms went into 5 major collections that freed 1 MiB each"
        );
        assert_eq!(overhead.total().major_gcs, 15);
    }

    #[test]
    fn a_run_allowed_to_thrash_continues_and_says_so() {
        let mut overhead = Overhead::new(&config(0.0));
        assert!(note(&mut overhead, &[HOPELESS; 4]).iter().all(Result::is_ok));
        assert_eq!(overhead.total(), Thrashing::default());
        assert!(note(&mut overhead, &[HOPELESS; 8]).iter().all(Result::is_ok));
        let total = overhead.total();
        assert_eq!((total.major_gcs, total.elapsed_ns), (10, 2_500_000_000));
        assert_eq!(total.freed, Bytes(10 * MIB));
        let mut unlimited = Overhead::new(&Config::default());
        assert!(note(&mut unlimited, &[HOPELESS; 20]).iter().all(Result::is_ok));
        assert_eq!(unlimited.total(), Thrashing::default());
    }

    /// Whether ten times the same ends a run.
    fn ends(major: Major) -> bool {
        note(&mut Overhead::new(&config(98.0)), &[major; 10])
            .iter()
            .any(Result::is_err)
    }

    #[test]
    fn what_frees_something_or_leaves_time_to_the_program_is_healthy() {
        assert!(ends(HOPELESS));
        let ms = 1_000_000;
        for (running_ns, expected) in [(5 * ms, true), (6 * ms, false)] {
            let running = busy(running_ns);
            assert_eq!(ends(Major { running, ..HOPELESS }), expected, "{running_ns} of 250 ms");
        }
        // The program waits; and other processes interrupt its collections, but not the program.
        let waiting = Times {
            elapsed_ns: 6 * ms,
            cpu_ns: ms,
        };
        assert!(!ends(Major {
            running: waiting,
            ..HOPELESS
        }));
        let interrupted = Times {
            elapsed_ns: 247 * ms,
            cpu_ns: 100 * ms,
        };
        assert!(!ends(Major {
            collecting: interrupted,
            ..HOPELESS
        }));
        for (freed, expected) in [(2 * MIB - 8, true), (2 * MIB, false)] {
            assert_eq!(ends(Major { freed, ..HOPELESS }), expected, "{freed} bytes of 100 MiB");
        }
        // Much is free: flags have collections come so often.
        assert!(!ends(Major {
            live: 70 * MIB,
            ..HOPELESS
        }));
        for cause in [Cause::Stress, Cause::Idle, Cause::Asked(crate::cause::Request::Full)] {
            assert!(!ends(Major { cause, ..HOPELESS }), "{cause:?}");
        }
        // A peak of a second, and so little time for each collection that it is not over.
        assert!(!ends(Major {
            running: busy(10),
            collecting: busy(90 * ms),
            ..HOPELESS
        }));
    }

    proptest! {
        /// However the others are mixed in, at most the ends of windows end a run, and every window
        /// of a second without any of them does.
        #[test]
        fn a_healthy_collection_restarts_the_window(healthy in prop::collection::vec(any::<bool>(), 0..60)) {
            let majors: Vec<_> = healthy
                .iter()
                .map(|&healthy| if healthy { Major { freed: 2 * MIB, ..HOPELESS } } else { HOPELESS })
                .collect();
            let mut row = 0;
            for (result, healthy) in note(&mut Overhead::new(&config(98.0)), &majors).iter().zip(healthy) {
                row = if healthy { 0 } else { row + 1 };
                prop_assert_eq!(result.is_err(), row > 0 && row % 5 == 0);
            }
        }
    }
}
