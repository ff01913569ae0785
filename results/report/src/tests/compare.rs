//! Verdicts: a change counts only if it is large enough and more than noise.

use super::synthetic::{self, fail, small, small_runs, write};
use crate::analysis::compare::{Verdict, judge};
use crate::maths::{Interval, Ratio};
use crate::{Comparison, compare, comparison as text};
use gclab_results::{RunRecord, Status};
use tempfile::tempdir;

fn compared(base: &[RunRecord], new: &[RunRecord]) -> Comparison {
    let (a, b) = (tempdir().expect("a folder"), tempdir().expect("a folder"));
    let manifest = || synthetic::manifest(&small());
    compare(
        &write(a.path(), manifest(), base),
        &write(b.path(), manifest(), new),
        0.03,
    )
}

/// The same runs with all times multiplied by `factor`, and a little noise for each run.
fn slower(runs: &[RunRecord], factor: f64) -> Vec<RunRecord> {
    let mut noise = synthetic::Noise::new(3);
    let mut runs = runs.to_vec();
    for run in &mut runs {
        let factor = factor * (1.0 + 0.002 * noise.next());
        if let Some(s) = &mut run.stats {
            for time in [
                &mut s.total_elapsed_seconds,
                &mut s.gc_cpu_seconds,
                &mut s.mut_cpu_seconds,
            ] {
                *time = time.map(|t| t * factor);
            }
        }
    }
    runs
}

/// Runs with hardly any noise: each round has the times of the first one.
fn steady() -> Vec<RunRecord> {
    let runs = synthetic::runs(&small());
    let first = |run: &RunRecord| {
        let first = runs
            .iter()
            .find(|r| r.cell == run.cell)
            .expect("there is a first round");
        RunRecord {
            stats: first.stats.clone(),
            ..run.clone()
        }
    };
    slower(&runs.iter().map(first).collect::<Vec<_>>(), 1.0)
}

fn ratio(estimate: f64, low: f64, high: f64) -> Ratio {
    Ratio {
        estimate,
        ci95: Some(Interval { low, high }),
    }
}

#[test]
fn verdicts_on_ratios() {
    let cases = [
        (ratio(1.10, 1.05, 1.15), Verdict::Regression),
        (ratio(0.90, 0.85, 0.95), Verdict::Improvement),
        (ratio(1.00, 0.98, 1.02), Verdict::Same),
        (ratio(1.02, 1.01, 1.025), Verdict::Same), // certain, but too small to count
        (ratio(1.10, 0.95, 1.25), Verdict::Unclear), // large, but may be noise
        (ratio(1.02, 1.005, 1.04), Verdict::Unclear),
        (ratio(1.00, 0.90, 1.10), Verdict::Unclear),
        (
            Ratio {
                estimate: 2.0,
                ci95: None,
            },
            Verdict::Unclear,
        ),
    ];
    for (ratio, verdict) in cases {
        assert_eq!(judge(&ratio, 0.03), verdict, "{ratio:?}");
    }
}

#[test]
fn the_same_runs_are_the_same() {
    let comparison = compared(&steady(), &slower(&steady(), 1.0));
    assert!(
        comparison.rows.iter().all(|row| row.verdict == Verdict::Same),
        "{comparison:?}"
    );
    assert_eq!(comparison.rows.len(), 12);
    assert!(!comparison.regressed());
}

#[test]
fn ten_percent_slower_is_a_regression_and_the_other_way_an_improvement() {
    let (base, new) = (steady(), slower(&steady(), 1.1));
    let worse = compared(&base, &new);
    assert!(
        worse.regressed() && worse.rows.iter().all(|row| row.verdict == Verdict::Regression),
        "{worse:?}"
    );
    let better = compared(&new, &base);
    assert!(
        !better.regressed() && better.rows.iter().all(|row| row.verdict == Verdict::Improvement),
        "{better:?}"
    );
}

#[test]
fn two_runs_of_each_say_nothing() {
    let two: Vec<RunRecord> = steady().into_iter().filter(|run| run.round < 2).collect();
    let comparison = compared(&two, &slower(&two, 1.5));
    assert!(
        comparison.rows.iter().all(|row| row.verdict == Verdict::Unclear),
        "{comparison:?}"
    );
}

#[test]
fn new_failures_and_new_checksums_are_regressions() {
    let base = steady();
    let mut new = base.clone();
    fail(&mut new[0], Status::Timeout, "");
    let changed = new
        .iter()
        .position(|run| run.cell != new[0].cell)
        .expect("another configuration");
    new[changed].checksum = Some("1".to_owned());
    let comparison = compared(&base, &new);
    let notes: Vec<&str> = comparison.rows.iter().filter_map(|row| row.note.as_deref()).collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes.contains(&"was no failures, is 1 timeout of 3"), "{notes:?}");
    assert!(notes.iter().any(|n| n.starts_with("checksum was")), "{notes:?}");
    assert!(comparison.regressed());
    assert!(
        !compared(&new[..0], &new).regressed(),
        "nothing in common, nothing worse"
    );
    // A configuration that failed before and no longer fails is an improvement.
    let mut failed = base.clone();
    fail(
        &mut failed[0],
        Status::Crash {
            exit_code: Some(101),
            signal: None,
        },
        "",
    );
    let comparison = compared(&failed, &base);
    assert!(
        comparison
            .rows
            .iter()
            .any(|row| row.verdict == Verdict::Improvement && row.note.is_some())
    );
}

#[test]
fn times_of_zero_are_the_same() {
    let mut base = steady();
    for run in &mut base {
        if let Some(s) = &mut run.stats {
            (s.total_elapsed_seconds, s.gc_cpu_seconds, s.mut_cpu_seconds) = (Some(0.0), Some(0.0), Some(f64::NAN));
        }
    }
    let comparison = compared(&base, &base);
    assert!(
        comparison.rows.iter().all(|row| row.verdict == Verdict::Same),
        "{comparison:?}"
    );
}

#[test]
fn a_comparison_in_text() {
    let base = small_runs();
    let mut new = slower(&base, 1.2);
    new.retain(|run| run.flags["A"] != "4m");
    let mut only_here = new[0].clone();
    only_here.flags.insert("F".to_owned(), "3".to_owned());
    only_here.id = "another".to_owned();
    new.push(only_here);
    let (a, b) = (tempdir().expect("a folder"), tempdir().expect("a folder"));
    let mut elsewhere = synthetic::manifest(&small());
    elsewhere.machine.cpu = Some("Imaginary 4000".to_owned());
    let base = write(a.path(), synthetic::manifest(&small()), &base);
    let comparison = compare(&base, &write(b.path(), elsewhere, &new), 0.03);
    insta::assert_snapshot!(text(&comparison));
}

/// The CPU time can stay the same although several threads no longer save any time.
#[test]
fn parallel_collections_are_judged_by_their_elapsed_time_too() {
    let parallel = |factor: f64| {
        let mut runs = steady();
        for s in runs.iter_mut().filter_map(|run| run.stats.as_mut()) {
            s.generations[0].par_collections = Some(1);
            s.gc_elapsed_seconds = s.gc_elapsed_seconds.map(|t| t * factor);
        }
        runs
    };
    let row = |comparison: &Comparison| {
        let figures = &comparison.rows[0].figures;
        figures.iter().map(|f| (f.metric.key, f.verdict)).next_back()
    };
    let lost = compared(&parallel(1.0), &parallel(1.5));
    assert_eq!(row(&lost), Some(("gc_elapsed_seconds", Verdict::Regression)));
    assert!(lost.regressed());
    assert_eq!(
        row(&compared(&steady(), &steady())).map(|(key, _)| key),
        Some("peak_in_use_bytes")
    );
}
