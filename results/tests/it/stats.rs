//! The figures of a run as they are recorded.

use crate::FIXTURES;
use gclab_core::stats::{
    Collection, GenerationStats, Shared, Sharing, Sharings, SinglePause, Statistics, Times, Timing, Work, WorkSearch,
};
use gclab_results::schema::Documented;
use gclab_results::{CollectionRecord, GcThread, RunRecord, RunStats};
use std::collections::{BTreeMap, BTreeSet};

fn thread(copied: u64) -> gclab_core::stats::GcThread {
    gclab_core::stats::GcThread {
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
fn a_parallel_collection_is_recorded_whole() {
    let shared = Shared {
        sharing: Sharing::Balanced,
        threads: vec![thread(120), thread(80)],
        parallel_ns: 900,
    };
    let pause = CollectionRecord::from(&Collection {
        work: Work {
            shared,
            ..Work::default()
        },
        time: Timing {
            elapsed_ns: 1000,
            ..Timing::default()
        },
        ..Collection::default()
    });
    assert_eq!(
        (pause.sharing.as_deref(), pause.parallel_ns),
        (Some("balanced"), Some(900))
    );
    assert_eq!(
        (pause.par_max_copied_bytes, pause.par_balanced_copied_bytes),
        (Some(120), Some(160))
    );
    let expected = |copied_bytes| GcThread {
        copied_bytes,
        start_ns: 1,
        work_ns: 2,
        idle_ns: 3,
        termination_ns: 4,
        cpu_ns: 5,
        any_work: 6,
        no_work: 7,
        scav_find_work: 8,
    };
    assert_eq!(pause.gc_threads, Some(vec![expected(120), expected(80)]));
    let alone = CollectionRecord::from(&Collection::default());
    assert_eq!(alone.sharing.as_deref(), Some("alone"));
    assert_eq!(
        (alone.parallel_ns, alone.par_max_copied_bytes, alone.gc_threads),
        (None, None, None)
    );
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

/// A record says why a figure is absent that it would otherwise have.
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

/// The fixture was written by `gclab exec --record` of version 0.1.0, before the figures of a
/// collection were a table.
#[test]
fn a_line_of_an_earlier_version_reads_and_is_written_again_with_the_same_keys() {
    let line = std::fs::read_to_string(format!("{FIXTURES}/exec.jsonl")).expect("the fixture is there");
    let record: RunRecord = serde_json::from_str(&line).expect("a record");
    let stats = record.stats.as_ref().expect("statistics");
    assert_eq!(stats.collections.len(), 5);
    // It knows no phases, so all counts as measured.
    assert_eq!((&stats.phases, stats.measured_collections().len()), (&None, 5));
    assert!(stats.collections.iter().any(|pause| pause.gc_threads.is_some()));
    assert!(stats.collections.iter().any(|pause| pause.resident_bytes.is_none()));
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
    assert_eq!(json(&serde_json::to_string(&record).expect("JSON")), json(&line));
}

/// A figure may be added, but no key goes away.
#[test]
fn the_keys_of_a_collection_include_those_of_earlier_versions() {
    let line = std::fs::read_to_string(format!("{FIXTURES}/exec.jsonl")).expect("the fixture is there");
    let record: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    let collections = record["stats"]["collections"].as_array().expect("a list");
    let recorded: BTreeSet<&str> = collections
        .iter()
        .flat_map(|collection| collection.as_object().expect("an object").keys())
        .map(String::as_str)
        .collect();
    let documented: BTreeSet<&str> = CollectionRecord::FIELDS.iter().map(|field| field.name).collect();
    assert!(recorded.is_subset(&documented), "{recorded:?}");
}
