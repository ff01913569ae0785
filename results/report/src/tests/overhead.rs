//! The lower bound of the cost of collection in reports.

use super::answers::{folder, sweep, timed};
use super::synthetic::{Experiment, fail};
use crate::analysis::overhead::{charts, overheads};
use crate::folder::kept;
use crate::html;
use crate::summary::Summary;
use gclab_results::{RunRecord, Status};

fn experiment() -> Experiment {
    Experiment {
        repeat: 5,
        ..sweep(&["copying", "two-space"])
    }
}

/// The program takes 1 s; copying adds 0.5 s, and two-space 1 s of which it knows 0.2 s. Their CPU
/// times are twice as long.
fn runs() -> Vec<RunRecord> {
    let of = |run: &RunRecord| {
        if run.collector == "copying" {
            (1.5, 0.5)
        } else {
            (2.0, 0.2)
        }
    };
    let mut runs = timed(&experiment(), 0.0, |run| of(run).0);
    for run in &mut runs {
        let (total, collections) = of(run);
        let stats = run.stats.as_mut().expect("a good run");
        stats.gc_elapsed_seconds = Some(collections);
        stats.total_cpu_seconds = Some(2.0 * total);
        stats.gc_cpu_seconds = Some(2.0 * collections);
    }
    runs
}

#[test]
fn the_baseline_is_the_least_cost_without_collections() {
    let mut runs = runs();
    // A configuration that fails takes no part, however cheap it is.
    let broken = runs
        .iter()
        .position(|run| run.collector == "two-space" && run.flags["A"] == "1m");
    fail(&mut runs[broken.expect("a run")], Status::Timeout, "");
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let found = overheads(&summary);
    assert_eq!(found.len(), 2, "two workloads");
    let (baseline, cost) = found[0].baseline(0).expect("a baseline");
    assert_eq!((baseline.configuration.collector.as_str(), cost), ("copying", 1.0));
    assert_eq!(found[0].groups.len(), 7);
    for (index, group) in found[0].groups.iter().enumerate() {
        let wanted = if group.configuration.collector == "copying" {
            1.5
        } else {
            2.0
        };
        for cost in 0..2 {
            let ratio = found[0].overhead(cost, index).expect("takes part");
            let ends = ratio.ci95.expect("five runs");
            assert!(
                (ratio.estimate - wanted).abs() < 1e-9 && ends.contains(wanted),
                "{ratio:?}"
            );
        }
    }
    let [elapsed, cpu] = &charts(&summary, &found[0])[..] else {
        panic!("two charts")
    };
    assert!(elapsed.title.contains("elapsed") && cpu.title.contains("CPU") && elapsed.dots() == 7);
}

/// As a JVM, which tells the elapsed time of collections only.
#[test]
fn a_cost_that_a_configuration_does_not_tell_is_absent_alone() {
    let mut runs = runs();
    for run in runs.iter_mut().filter(|run| run.collector == "two-space") {
        run.stats.as_mut().expect("a good run").gc_cpu_seconds = None;
    }
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let found = overheads(&summary);
    let [elapsed, cpu] = &charts(&summary, &found[0])[..] else {
        panic!("two charts")
    };
    assert_eq!((elapsed.dots(), cpu.dots()), (8, 4));
    for (index, group) in found[0].groups.iter().enumerate() {
        let has_cpu = group.configuration.collector == "copying";
        assert!(found[0].overhead(0, index).is_some());
        assert_eq!(found[0].overhead(1, index).is_some(), has_cpu);
    }
    for run in &mut runs {
        run.stats.as_mut().expect("a good run").gc_cpu_seconds = None;
    }
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let found = overheads(&summary);
    assert_eq!(charts(&summary, &found[0]).len(), 1, "elapsed time alone");
    assert!(found[0].baseline(0).is_some() && found[0].baseline(1).is_none());
}

#[test]
fn the_page_names_the_baseline() {
    let (_parent, dir) = folder(&experiment(), &runs());
    let page = html(&[dir]);
    assert!(page.contains("The cost of collection, at least"));
    assert!(
        page.contains("The least costs: 1.000 s of elapsed time without collections, by copying A="),
        "the configuration of the baseline"
    );
}
