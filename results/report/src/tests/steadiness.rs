//! Drift over the time of an experiment, and runs that stand apart.

use super::answers::{folder, sweep, timed};
use crate::analysis::steadiness::steadiness;
use crate::folder::kept;
use crate::html;
use crate::summary::Summary;
use gclab_results::RunRecord;

/// Eighty runs whose times grow by `growth` from the first to the last.
fn runs(growth: f64) -> Vec<RunRecord> {
    let experiment = sweep(&["copying"]);
    timed(&experiment, 0.02, |run| growth.powf(f64::from(run.position) / 79.0))
}

#[test]
fn a_machine_that_slows_down_is_told() {
    let runs = runs(1.08);
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let found = steadiness(&summary).expect("runs");
    let drift = found.drift.as_ref().expect("enough runs");
    assert!((drift.change - 1.08).abs() < 0.01 && found.looked_at == 80, "{drift:?}");
    let chart = found.chart(&summary).expect("a chart");
    let last = chart.series[2]
        .points
        .last()
        .and_then(|point| point.y)
        .expect("a point");
    assert!(
        last.0 > 2.0 && chart.svg().contains(">-5</text>"),
        "both directions: {last:?}"
    );
    let (_parent, dir) = folder(&sweep(&["copying"]), &runs);
    let page = html(&[dir]);
    assert!(page.contains("The machine drifted: the last runs took 8."), "a caution");
    assert!(page.contains("Did the machine hold still?") && page.contains("more than noise"));
}

#[test]
fn a_machine_that_holds_still_has_no_caution() {
    let runs = runs(1.0);
    let (_parent, dir) = folder(&sweep(&["copying"]), &runs);
    let page = html(&[dir]);
    assert!(!page.contains("The machine drifted") && page.contains("this may be noise"));
    assert!(page.contains("None of 80 runs stands apart."));
}

/// A run of three times the time is named with its place, and stays in the mean.
#[test]
fn a_strange_run_is_kept_and_named() {
    let mut runs = runs(1.0);
    let stats = runs[33].stats.as_mut().expect("a good run");
    stats.total_elapsed_seconds = stats.total_elapsed_seconds.map(|seconds| seconds * 3.0);
    runs[33].load_average = Some(7.5);
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let found = steadiness(&summary).expect("runs");
    let [strange] = &found.strange[..] else {
        panic!("{:?}", found.strange)
    };
    assert_eq!(strange.run.position, runs[33].position);
    assert!((strange.ratio - 3.0).abs() < 0.1);
    let spread = summary
        .groups()
        .find(|group| group.runs.iter().any(|run| run.position == runs[33].position));
    let spread = spread
        .and_then(|group| group.spread(summary.time_metric()))
        .expect("a time");
    assert!(spread.n == 10 && spread.mean > 1.15, "it is kept: {spread:?}");
    let (_parent, dir) = folder(&sweep(&["copying"]), &runs);
    let page = html(&[dir]);
    assert!(
        page.contains("1 of 80 runs stands apart from the others of its configuration; it is kept in all statistics.")
            && page.contains("7.5"),
        "its load is a clue"
    );
}
