//! A run's statistics as they are recorded.

use gclab_core::stats::{
    Collection, Cycle, GcThread, GenerationStats, Sharings, SinglePause, Statistics, Times, WorkSearch,
};
use gclab_core::words::Bytes;
use gclab_results::{RunRecord, RunStats};
use std::collections::BTreeMap;

fn thread(copied: u64) -> GcThread {
    GcThread {
        copied,
        start_ns: 1,
        work_ns: 2,
        idle_ns: 3,
        termination_ns: 4,
        cpu_ns: 5,
        search: WorkSearch {
            any_work: 6,
            no_work: 7,
            scav_find_work: 8,
        },
    }
}

#[test]
fn a_run_has_what_its_threads_did_and_how_often_each_way_to_share_was_taken() {
    let statistics = Statistics {
        copied: 300,
        par_copied: 200,
        cumulative_par_max: 120,
        cumulative_par_balanced: 160,
        sync_ns: 30_000_000,
        max_sync_ns: 20_000_000,
        sharings: Sharings {
            taken: vec![[0, 9, 2, 0, 0, 0], [0, 0, 0, 0, 0, 1]],
            threads: vec![thread(120), thread(80)],
            elapsed_ns: 2_000_000_000,
            parallel_ns: 1_500_000_000,
        },
        generations: vec![GenerationStats::default(); 2],
        ..Statistics::default()
    };
    let run = RunStats::from(&statistics);
    assert_eq!(
        (run.work_balance, run.par_elapsed_seconds, run.par_shared_seconds),
        (Some(0.8), Some(2.0), Some(1.5))
    );
    assert!((run.old_work_balance.unwrap() - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(
        (run.sync_elapsed_seconds, run.max_sync_seconds),
        (Some(0.03), Some(0.02))
    );
    assert_eq!(run.gc_threads.unwrap().len(), 2);
    let sharing = |of: &[(&str, u64)]| Some(BTreeMap::from_iter(of.iter().map(|(name, n)| ((*name).to_owned(), *n))));
    assert_eq!(
        run.generations[0].sharing,
        sharing(&[("too little", 2), ("younger", 9)])
    );
    assert_eq!(run.generations[1].sharing, sharing(&[("balanced", 1)]));

    let alone = RunStats::from(&Statistics::default());
    assert_eq!(
        (alone.work_balance, alone.old_work_balance, alone.gc_threads),
        (None, None, None)
    );
    assert_eq!((alone.par_elapsed_seconds, alone.par_shared_seconds), (None, None));
}

/// If a value is absent that should be there, a record says why.
#[test]
fn figures_that_need_single_pauses_are_absent_with_the_reason() {
    let mut statistics = Statistics::default();
    statistics.phases.measured.mutator = Times {
        cpu_ns: 0,
        elapsed_ns: 3_000_000_000,
    };
    let pause = |n: u64| SinglePause {
        start_ns: n * 2000,
        length_ns: 1000,
    };
    (0..1 << 20).for_each(|n| statistics.pauses.add(pause(n)));
    let single = RunStats::from(&statistics).pauses.expect("pauses");
    assert_eq!((single.count, single.single_pauses_absent.as_ref()), (1 << 20, None));
    let least = single.least_utilisation.expect("single pauses are known");
    assert_eq!(least.keys().collect::<Vec<_>>(), ["1 ms", "10 ms", "100 ms", "1000 ms"]);
    assert!(least.values().all(|share| (share - 0.5).abs() < 1e-3), "{least:?}");

    statistics.pauses.add(pause(1 << 20));
    statistics.collections_absent = Some("too many".to_owned());
    let stats = RunStats::from(&statistics);
    assert_eq!(stats.collections_absent.as_deref(), Some("too many"));
    let pauses = stats.pauses.expect("pauses");
    assert_eq!((pauses.count, pauses.max_ns), ((1 << 20) + 1, Some(1000)));
    assert!(pauses.least_utilisation.is_none() && pauses.p99_9_ns == single.p99_9_ns);
    let reason = pauses.single_pauses_absent.expect("a reason");
    assert!(reason.contains("1048577 pauses"), "{reason}");
}

/// Statistics of a run of 1 s, measured from 0.1 to 0.9 s, with one collection before that and
/// three in it. Collections end at 0.05, 0.2, 0.3 and 0.5 s.
fn measured() -> Statistics {
    let collection = |start_ms: u64, cycle, in_use| {
        let mut one = Collection::default();
        one.time.start_ns = start_ms * 1_000_000;
        one.time.elapsed_ns = 10_000_000;
        one.work.cycle = cycle;
        (one.work.copied, one.work.promoted) = (Bytes(100), Bytes(40));
        one.work.counted.remembered = start_ms;
        one.before.allocated = Bytes(1000);
        one.memory.in_use = Bytes(in_use);
        one
    };
    let mut statistics = Statistics {
        collections: vec![
            collection(40, Cycle::Whole, 1000),
            collection(190, Cycle::None, 2000),
            collection(290, Cycle::None, 4000),
            collection(490, Cycle::Whole, 2000),
        ],
        ..Statistics::default()
    };
    let ms = |ms: u64| Times {
        cpu_ns: 0,
        elapsed_ns: ms * 1_000_000,
    };
    statistics.total = ms(1000);
    (statistics.phases.measured.start_ns, statistics.phases.exit.start_ns) = (100_000_000, 900_000_000);
    (statistics.phases.measured.mutator, statistics.phases.measured.gc) = (ms(770), ms(30));
    statistics
}

#[test]
fn figures_of_single_collections_are_those_of_the_measured_phase() {
    let stats = RunStats::from(&measured());
    assert_eq!((stats.promoted_bytes, stats.marked_bytes), (Some(120), None));
    assert_eq!(stats.remembered, Some(190 + 290 + 490));
    assert_eq!(
        (stats.minor_copied_bytes, stats.minor_allocated_bytes),
        (Some(200), Some(2000))
    );
    // By hand: 0.05 s at 1000 bytes, then trapezia, then 0.5 s at 2000 bytes.
    let expected = 50.0 + 225.0 + 300.0 + 600.0 + 1000.0;
    assert!((stats.space_time_byte_seconds.unwrap() - expected).abs() < 1e-6);
    let bounded = stats.pauses.unwrap().bounded_utilisation.unwrap();
    // A window of 10 ms may be all pause. No window of 100 ms contains more than one pause, but one
    // of 110 ms contains two.
    assert_eq!(bounded["10 ms"], 0.0);
    assert!((bounded["100 ms"] - (1.0 - 20.0 / 110.0)).abs() < 1e-9, "{bounded:?}");

    let mut too_many = measured();
    too_many.collections.clear();
    let stats = RunStats::from(&too_many);
    assert_eq!((stats.promoted_bytes, stats.minor_copied_bytes), (None, None));
    assert_eq!(stats.space_time_byte_seconds, None);
}

#[test]
fn a_figure_of_a_program_joins_the_record_if_that_has_its_name() {
    let none = RunRecord::default();
    let with = |name, figure| none.with_figure(name, figure);
    let stats = |name, figure| with(name, figure).unwrap().stats.unwrap();
    assert_eq!(stats("gcs", 2.6).gcs, Some(3));
    assert_eq!(stats("gc_cpu_seconds", 0.25).gc_cpu_seconds, Some(0.25));
    let latency = |name, figure| with(name, figure).unwrap().latency.unwrap();
    assert_eq!(latency("latency_p99_9_ns", 1500.2).p99_9_ns, Some(1500));
    assert_eq!(latency("latency_requests", 7.0).requests, Some(7));
    assert_eq!(latency("latency_p99_9_ns", 1.0).requests, None, "not 0");
    assert_eq!(with("latency_metered", 1.0), None);
    assert_eq!(with("latency_p99", 1.0), None);
    assert_eq!(with("gcs", -1.0), None);
    assert_eq!(with("phases", 1.0), None);
    assert_eq!(with("requests", 1.0), None);
}
