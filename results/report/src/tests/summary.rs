//! Runs by configuration, in the order in which a reader looks for them.

use super::synthetic::{self, fail, fixture, small, small_runs};
use crate::folder::kept;
use crate::metric;
use crate::summary::{Summary, UNSET};
use gclab_results::{Axis, Configuration, PlannedRun, RunPhase, RunPhases, RunRecord, Status};
use std::collections::BTreeMap;

fn with_flags(flags: &[(&str, &str)]) -> RunRecord {
    let flags: BTreeMap<String, String> = flags.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    let configuration = Configuration {
        workload: "w".to_owned(),
        collector: "c".to_owned(),
        flags,
        args: Vec::new(),
        ..Configuration::default()
    };
    RunRecord::planned(&PlannedRun::new(configuration, 0, 0), 1)
}

fn axes(runs: &[RunRecord], sweep: &[Axis]) -> Vec<(String, Vec<String>)> {
    Summary::of_runs(&kept(runs), sweep)
        .axes
        .into_iter()
        .map(|axis| (axis.flag, axis.values))
        .collect()
}

#[test]
fn sizes_are_ordered_as_sizes_and_words_as_in_the_file() {
    let runs: Vec<RunRecord> = ["16m", "256k", "1g", "4m"]
        .iter()
        .map(|a| with_flags(&[("A", a), ("F", "2")]))
        .collect();
    let values = |v: &[&str]| v.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        axes(&runs, &[]),
        [("A".to_owned(), values(&["256k", "4m", "16m", "1g"]))]
    );
    assert_eq!(
        Summary::of_runs(&kept(&runs), &[]).fixed,
        BTreeMap::from([("F".to_owned(), "2".to_owned())])
    );

    let runs: Vec<RunRecord> = ["1", "false", "0"].iter().map(|v| with_flags(&[("qg", v)])).collect();
    let sweep = [Axis {
        flag: "qg".to_owned(),
        values: values(&["false", "0", "1"]),
    }];
    assert_eq!(axes(&runs, &sweep), [("qg".to_owned(), values(&["false", "0", "1"]))]);
}

#[test]
fn a_flag_that_some_runs_lack_is_an_axis() {
    let runs = [with_flags(&[]), with_flags(&[("H", "64m")])];
    let (flag, values) = axes(&runs, &[]).swap_remove(0);
    assert_eq!(flag, "H");
    assert!(values.contains(&UNSET.to_owned()) && values.len() == 2);
}

#[test]
fn groups_count_failures_and_leave_them_out_of_figures() {
    let dir = fixture();
    let summary = Summary::of(&dir);
    assert_eq!(
        summary.works.iter().map(|w| w.title.as_str()).collect::<Vec<_>>(),
        ["binary_trees 14", "hash_churn 4096 8192"]
    );
    let labels: Vec<String> = summary.works[1].groups.iter().map(|g| g.label(&summary.axes)).collect();
    let expected = [
        "copying A=1m",
        "two-space A=1m",
        "copying A=4m",
        "two-space A=4m",
        "copying A=16m",
        "two-space A=16m",
    ];
    assert_eq!(labels, expected);
    let crashed = &summary.works[0].groups[0];
    assert_eq!(
        (crashed.ok().count(), crashed.failures_text()),
        (2, "1 crash".to_owned())
    );
    assert_eq!(crashed.spread(&metric::TOTAL_ELAPSED).map(|s| s.n), Some(2));
    // The wall clock of a failed run is in its record, but in no statistic.
    assert_eq!(crashed.spread(&metric::WALL).map(|s| s.n), Some(2));
    let exhausted = &summary.works[1].groups[5];
    assert_eq!(exhausted.failures(), BTreeMap::from([("heap exhausted", 3)]));
    assert_eq!(exhausted.spread(&metric::WALL), None);
    assert!(exhausted.pauses_of_runs().concat().is_empty());
}

#[test]
fn checksums_that_differ_are_found() {
    let mut runs = small_runs();
    assert!(
        Summary::of_runs(&kept(&runs), &[])
            .works
            .iter()
            .all(|w| w.disagreement().is_none())
    );
    let wrong = runs
        .iter_mut()
        .find(|r| r.collector == "copying" && r.outcome.is_ok())
        .expect("a good run");
    wrong.checksum = Some("666".to_owned());
    let work = wrong.workload.clone();
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    for found in &summary.works {
        assert_eq!(
            found.disagreement().is_some(),
            found.groups[0].configuration.workload == work
        );
    }
    // A failed run has no checksum to disagree with.
    runs.iter_mut().for_each(|run| fail(run, Status::Timeout, ""));
    assert!(
        Summary::of_runs(&kept(&runs), &[])
            .works
            .iter()
            .all(|w| w.disagreement().is_none())
    );
}

#[test]
fn the_longest_pause_includes_stopping_the_threads() {
    let mut run = synthetic::runs(&small()).swap_remove(0);
    let stats = run.stats.as_mut().expect("a good run");
    stats.collections.truncate(2);
    (stats.collections[0].elapsed_ns, stats.collections[0].sync_ns) = (1_000_000, Some(4_000_000));
    (stats.collections[1].elapsed_ns, stats.collections[1].sync_ns) = (3_000_000, None);
    let longest = metric::MAX_PAUSE.read(&run).expect("two pauses");
    assert!((longest - 0.005).abs() < 1e-12, "{longest}");
    // Without single pauses, the figures of the generations count.
    run.stats.as_mut().expect("a good run").collections.clear();
    let by_generation = run
        .stats
        .as_ref()
        .expect("a good run")
        .generations
        .iter()
        .filter_map(|g| g.max_pause_seconds);
    assert_eq!(metric::MAX_PAUSE.read(&run), by_generation.reduce(f64::max));
}

/// The pauses of set-up, and the collection at the end, counted as the program's.
#[test]
fn figures_are_those_of_the_measured_phase() {
    let mut run = synthetic::runs(&small()).swap_remove(0);
    let whole = metric::TOTAL_ELAPSED.read(&run).expect("a total");
    let stats = run.stats.as_mut().expect("a good run");
    stats.collections.truncate(4);
    for (number, pause) in stats.collections.iter_mut().enumerate() {
        pause.start_ns = 1_000_000_000 * (number as u64 + 1);
        (pause.elapsed_ns, pause.sync_ns) = (10_000_000 * (number as u64 + 1), Some(0));
    }
    let phase = |start_seconds: f64| RunPhase {
        start_seconds,
        ..RunPhase::default()
    };
    stats.phases = Some(RunPhases {
        marked: true,
        setup: phase(0.5),
        measured: RunPhase {
            total_elapsed_seconds: Some(2.0),
            gcs: Some(2),
            max_pause_seconds: Some(0.03),
            ..phase(1.5)
        },
        exit: phase(3.5),
    });
    let of = |metric: &metric::Metric| metric.read(&run);
    assert_eq!(
        [
            &metric::TOTAL_ELAPSED,
            &metric::GCS,
            &metric::MAX_PAUSE,
            &metric::WHOLE_ELAPSED
        ]
        .map(of),
        [Some(2.0), Some(2.0), Some(0.03), Some(whole)]
    );
    let runs = kept(&[run]);
    let summary = Summary::of_runs(&runs, &[]);
    assert_eq!(
        summary.works[0].groups[0].pauses_of_runs().concat(),
        [20_000_000, 30_000_000]
    );
}

#[test]
fn ids_of_configurations_do_not_change() {
    // The id is in plans and results already written: if this fails, old folders no longer match
    // new ones.
    let run = with_flags(&[("A", "1m")]);
    assert_eq!(run.cell, "ae22d7913fba3074");
    assert_eq!(run.id, format!("{}-0", run.cell));
    let mut all: Vec<String> = [
        with_flags(&[("A", "1"), ("m", "")]),
        with_flags(&[("A", "1m")]),
        with_flags(&[("A1", "m")]),
        RunRecord {
            args: vec!["A".to_owned(), "1m".to_owned()],
            flags: BTreeMap::new(),
            ..with_flags(&[])
        },
        RunRecord {
            args: vec!["A1m".to_owned()],
            ..with_flags(&[])
        },
        with_flags(&[]),
    ]
    .iter()
    .map(|run| run.configuration().id())
    .collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 6, "different configurations have different ids");
}
