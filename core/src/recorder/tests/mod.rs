//! Accumulation, from made-up stamps and from real clocks.

mod phases;

use super::*;
use crate::stats::{Cycle, GcThread, Shared, Sharing, Work, WorkSearch};

/// A recorder whose clocks the test sets: elapsed time, CPU time and faults.
struct Driven(Recorder);

impl Driven {
    fn new(start: (u64, u64, u64)) -> Self {
        Self(Recorder::starting(Clock::start(), at(start), 2, 1))
    }

    fn init_done(&mut self, now: (u64, u64, u64)) {
        self.0.init_done = Some(self.0.reading(at(now), 0));
    }

    fn ended(&self, now: (u64, u64, u64), counts: &FinalCounts) -> Statistics {
        self.0.ended(self.0.stats.clone(), at(now), counts)
    }

    fn collection(
        &mut self,
        requested: u64,
        start: (u64, u64, u64),
        end: (u64, u64, u64, u64),
        ended: Ended,
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
            .gc_ended(ended, elapsed_ns, thread_cpu_ns, ProcessUsage { cpu_ns, faults })
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

fn minor(allocated_total: u64, live: usize) -> Ended {
    Ended {
        allocated_total,
        work: Work {
            live: Bytes(live),
            copied: Bytes(10),
            large: Bytes(900),
            slop: Bytes(900),
            ..Work::default()
        },
        ..Ended::default()
    }
}

fn major(allocated_total: u64, live: usize) -> Ended {
    let minor = minor(allocated_total, live);
    Ended {
        work: Work {
            generation: 1,
            cycle: Cycle::Whole,
            large: Bytes(3),
            slop: Bytes(5),
            ..minor.work
        },
        ..minor
    }
}

#[test]
fn a_run_adds_up() {
    let mut run = Driven::new((0, 1000, 50));
    run.init_done((100, 1080, 60));
    let first = run.collection(200, (210, 5, 70), (260, 45, 1300, 75), minor(1000, 999));
    assert_eq!(
        (
            first.before.allocated,
            first.before.sync_ns,
            first.time.start_ns,
            first.time.elapsed_ns,
            first.time.cpu_ns
        ),
        (Bytes(1000), 10, 210, 50, 40)
    );
    assert_eq!(
        (first.before.faults, first.time.faults, first.time.total_cpu_ns),
        (20, 5, 300)
    );
    let two = vec![gc_thread(7, [0; 4], 0), gc_thread(3, [0; 4], 30)];
    let parallel = shared(major(1500, 300), Sharing::Balanced, two, 0);
    let second = run.collection(400, (400, 100, 80), (430, 120, 1500, 80), parallel);
    assert_eq!(
        (
            second.before.allocated,
            second.before.sync_ns,
            second.time.cpu_ns,
            second.before.faults,
            second.time.faults
        ),
        (Bytes(500), 0, 50, 5, 0)
    );
    run.0.exit_started(at((1000, 2000, 90)), 1600);
    let third = run.collection(1010, (1010, 200, 90), (1020, 210, 2100, 90), major(1600, 200));
    let counts = FinalCounts {
        allocated_total: 1650,
        peak_in_use: 9,
        ..FinalCounts::default()
    };
    let stats = run.ended((1100, 2200, 95), &counts);

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
    assert_eq!((stats.sync_ns, stats.page_faults, stats.peak_in_use), (10, 95, 9));
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
fn an_unfinished_run_has_no_exit_and_can_be_queried_again() {
    let mut run = Driven::new((0, 0, 0));
    run.init_done((100, 90, 0));
    run.collection(200, (200, 0, 0), (250, 40, 200, 0), minor(10, 10));
    let counts = FinalCounts {
        allocated_total: 10,
        ..FinalCounts::default()
    };
    let stats = run.ended((400, 300, 0), &counts);
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
    assert_eq!(run.ended((400, 300, 0), &counts), stats);
    run.collection(500, (500, 0, 0), (550, 40, 600, 0), minor(10, 10));
    let stats = run.ended((600, 600, 0), &counts);
    assert_eq!((stats.collections.len(), stats.collections_count()), (2, 2));
}

#[test]
fn with_real_clocks_the_parts_add_up_to_the_total() {
    let mut recorder = Recorder::new(2, 1);
    recorder.init_done();
    for i in 1..=10 {
        let requested = recorder.clock().elapsed_ns();
        recorder.gc_start(requested);
        recorder.gc_end(minor(i * 100, 1));
    }
    recorder.exit_start(1000);
    let stats = recorder.finish(&FinalCounts {
        allocated_total: 1000,
        ..FinalCounts::default()
    });
    let parts = [stats.init, stats.mutator, stats.gc, stats.exit];
    assert_eq!(parts.iter().map(|t| t.elapsed_ns).sum::<u64>(), stats.total.elapsed_ns);
    assert_eq!(parts.iter().map(|t| t.cpu_ns).sum::<u64>(), stats.total.cpu_ns);
    assert_eq!(stats.collections.len(), 10);
    assert!(
        stats
            .collections
            .windows(2)
            .all(|c| c[0].time.start_ns + c[0].time.elapsed_ns <= c[1].time.start_ns)
    );
}

fn gc_thread(copied: u64, times: [u64; 4], cpu_ns: u64) -> GcThread {
    let [start_ns, work_ns, idle_ns, termination_ns] = times;
    GcThread {
        copied,
        start_ns,
        work_ns,
        idle_ns,
        termination_ns,
        cpu_ns,
        search: WorkSearch {
            any_work: 5,
            no_work: 3,
            scav_find_work: 1,
        },
    }
}

fn shared(mut ended: Ended, sharing: Sharing, threads: Vec<GcThread>, parallel_ns: u64) -> Ended {
    ended.work.shared = Shared {
        sharing,
        threads,
        parallel_ns,
    };
    ended
}

#[test]
fn parallel_collections_add_up_by_thread_and_by_decision() {
    let mut run = Driven::new((0, 0, 0));
    run.init_done((10, 10, 0));
    let two = vec![gc_thread(70, [0, 30, 5, 5], 0), gc_thread(30, [10, 20, 5, 5], 25)];
    let mut first = shared(minor(100, 10), Sharing::Balanced, two, 40);
    first.idle_cpu_ns = 3;
    let first = run.collection(100, (103, 7, 0), (153, 47, 200, 0), first);
    // The leader's CPU time is the collecting thread's over the whole pause.
    assert_eq!(
        (first.time.cpu_ns, first.work.shared.threads[0].cpu_ns),
        (40 + 25 + 3, 40)
    );
    let three = vec![gc_thread(5, [0, 10, 0, 0], 0); 3];
    let second = shared(major(200, 10), Sharing::Owners, three, 10);
    run.collection(300, (320, 50, 0), (340, 70, 300, 0), second);
    for (sharing, end) in [
        (Sharing::TooLittle, 403),
        (Sharing::TooLittle, 404),
        (Sharing::Alone, 405),
    ] {
        let small = shared(minor(300, 10), sharing, Vec::new(), 0);
        run.collection(400, (401, 100, 0), (end, 102, 400, 0), small);
    }
    let unkept = shared(major(400, 10), Sharing::OneOwner, Vec::new(), 0);
    run.collection(500, (500, 100, 0), (540, 102, 400, 0), unkept);
    let counts = FinalCounts {
        allocated_total: 400,
        ..FinalCounts::default()
    };
    let stats = run.ended((600, 600, 0), &counts);

    let sharings = &stats.sharings;
    assert_eq!(sharings.taken, [[1, 0, 2, 0, 0, 1], [0, 0, 0, 1, 1, 0]]);
    assert_eq!(sharings.count(0, Sharing::TooLittle), 2);
    assert_eq!(sharings.count(7, Sharing::Balanced), 0);
    assert!(sharings.any_choice());
    assert_eq!(sharings.threads.len(), 3);
    let sum = |of: fn(&GcThread) -> u64| sharings.threads.iter().map(of).collect::<Vec<_>>();
    assert_eq!(sum(|t| t.copied), [75, 35, 5]);
    assert_eq!(sum(|t| t.work_ns), [40, 30, 10]);
    assert_eq!(sum(|t| t.start_ns), [0, 10, 0]);
    assert_eq!(
        (sum(|t| t.idle_ns), sum(|t| t.termination_ns)),
        (vec![5, 5, 0], vec![5, 5, 0])
    );
    assert_eq!(sum(|t| t.cpu_ns), [60, 25, 0]);
    assert_eq!(sum(|t| t.search.any_work), [10, 10, 5]);
    assert_eq!((sharings.elapsed_ns, sharings.parallel_ns), (70, 50));
    assert_eq!(sharings.sequential_share(), 20.0 / 70.0);
    assert_eq!(
        (
            stats.generations[0].par_collections,
            stats.generations[1].par_collections
        ),
        (1, 1)
    );
    assert_eq!(
        (stats.sync_ns, stats.max_sync_ns, stats.mean_sync_ns()),
        (3 + 20 + 3, 20, 26 / 6)
    );
}

#[test]
fn the_list_of_ways_to_share_is_in_the_order_of_their_numbers() {
    for (number, sharing) in Sharing::ALL.into_iter().enumerate() {
        assert_eq!(sharing as usize, number);
        assert_eq!(sharing.is_parallel(), number >= 4);
    }
}

fn times((cpu_ns, elapsed_ns): (u64, u64)) -> Times {
    Times { cpu_ns, elapsed_ns }
}

fn pair(times: Times) -> (u64, u64) {
    (times.cpu_ns, times.elapsed_ns)
}

/// Time spent in a listener counts neither as the program's nor as a collection's.
#[test]
fn the_time_of_a_census_is_its_own() {
    let mut run = Driven::new((0, 0, 0));
    run.init_done((10, 10, 0));
    run.collection(100, (100, 0, 0), (150, 40, 150, 0), minor(1000, 999));
    run.0.stats.looks.census = times((30, 20));
    run.0.exit_started(at((1000, 900, 0)), 1000);
    run.0.stats.looks.check = times((0, 5));
    let counts = FinalCounts {
        allocated_total: 1000,
        ..FinalCounts::default()
    };
    let stats = run.ended((1100, 1000, 0), &counts);
    let parts = [stats.init, stats.mutator, stats.gc, stats.looks.total(), stats.exit];
    assert_eq!(parts.map(pair), [(10, 10), (820, 920), (40, 50), (30, 25), (100, 95)]);
    let sum = |of: fn(&Times) -> u64| parts.iter().map(of).sum::<u64>();
    assert_eq!(
        (sum(|times| times.cpu_ns), sum(|times| times.elapsed_ns)),
        (stats.total.cpu_ns, stats.total.elapsed_ns)
    );
    let text = crate::stats::render::machine_readable(&stats);
    let keys = "\"exit_wall_seconds\", \"0.000000\")\n ,(\"rp_cpu_seconds\", \"0.000000\")\n ,(\"rp_wall_seconds\", \"0.000000\")\n ,(\"hc_cpu_seconds\", \"0.000000\")\n ,(\"hc_wall_seconds\", \"0.000000\")\n ,(\"total_cpu_seconds\"";
    assert!(text.contains(keys), "{text}");
}
