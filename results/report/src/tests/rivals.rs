//! Two collectors or programs of one experiment: means over the workloads, and flags that only one
//! of the two has.

use super::compare::{slower, steady, with_phases};
use super::synthetic::{self, small, write};
use crate::{Comparison, Rivals, compare, comparison as text, comparison_json, comparison_markdown};
use gclab_results::RunRecord;
use tempfile::tempdir;

const RIVALS: Rivals<'static> = Rivals {
    collector: "copying",
    against: "two-space",
};

/// `copying` over `two-space` of one folder.
fn rivals(runs: &[RunRecord]) -> Comparison {
    let folder = tempdir().expect("a folder");
    let dir = write(folder.path(), synthetic::manifest(&small()), runs);
    compare(&dir, &dir, 0.03, Some(RIVALS))
}

/// The runs of `steady` with a third workload, where `copying` takes these multiples of the time of
/// `two-space` on each of the three.
fn three_workloads(factors: [f64; 3]) -> Vec<RunRecord> {
    let of = |collector: &str, workload: &str| -> Vec<RunRecord> {
        let all = steady().into_iter();
        all.filter(|run| run.collector == collector && run.workload == workload)
            .collect()
    };
    let mut runs = Vec::new();
    for (name, source, factor) in [
        ("binary_trees", "binary_trees", factors[0]),
        ("hash_churn", "hash_churn", factors[1]),
        ("third", "hash_churn", factors[2]),
    ] {
        let theirs = of("two-space", source);
        let mut ours = of("copying", source);
        for (their, slow) in theirs.iter().zip(slower(&theirs, factor)) {
            let same = |our: &&mut RunRecord| our.flags == their.flags && our.round == their.round;
            ours.iter_mut().find(same).expect("a partner").stats = slow.stats;
        }
        for mut run in theirs.into_iter().chain(ours) {
            run.workload = name.to_owned();
            run.id = format!("{name}-{}", run.id);
            runs.push(run);
        }
    }
    runs
}

fn mean_of(comparison: &Comparison, key: &str) -> Vec<(usize, f64, String)> {
    let means = comparison.means.iter().filter(|mean| mean.metric.key == key);
    means
        .map(|mean| (mean.workloads, mean.ratio.estimate, mean.worst.1.clone()))
        .collect()
}

#[test]
fn the_mean_of_ratios_is_that_of_all_workloads_at_a_setting() {
    let comparison = rivals(&three_workloads([0.5, 2.0, 8.0]));
    let means = mean_of(&comparison, "gc_cpu_seconds");
    assert_eq!(means.len(), 3, "one for each -A: {means:?}");
    for (workloads, ratio, worst) in means {
        assert_eq!((workloads, worst.as_str()), (3, "third 4096 8192"));
        // The geometric mean of 1/2, 2 and 8; the noise is 0.2 %.
        assert!((ratio - 2.0).abs() < 0.01, "{ratio}");
    }
    let words = text(&comparison);
    assert!(
        words.contains("geometric mean of all workloads") && words.contains("copying over two-space A=16m"),
        "{words}"
    );
    let markdown = comparison_markdown(&comparison);
    assert!(
        markdown.contains("| geometric mean of all workloads | figure |"),
        "{markdown}"
    );
    let json: serde_json::Value = serde_json::from_str(&comparison_json(&comparison)).expect("JSON");
    assert_eq!(json["means"][0]["workloads"], 3);
    assert_eq!(json["means"][0]["worst"]["workload"], "third 4096 8192");
}

/// A workload on which one of the two failed, or has no such figure, is in no mean.
#[test]
fn a_mean_is_over_the_common_set_only() {
    for without in ["two-space", "copying"] {
        let mut runs = three_workloads([0.5, 2.0, 8.0]);
        for run in runs
            .iter_mut()
            .filter(|run| run.workload == "third" && run.collector == without)
        {
            run.stats.as_mut().expect("a good run").gc_cpu_seconds = None;
        }
        let comparison = rivals(&runs);
        let means = mean_of(&comparison, "gc_cpu_seconds");
        assert_eq!(means.len(), 3);
        for (workloads, ratio, worst) in means {
            assert_eq!((workloads, worst.as_str()), (2, "hash_churn 4096 8192"), "{without}");
            assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
        }
        assert!(mean_of(&comparison, "mut_cpu_seconds").iter().all(|mean| mean.0 == 3));
        // With one workload left there is no mean.
        runs.retain(|run| run.workload == "binary_trees");
        assert!(rivals(&runs).means.is_empty());
    }
}

/// The flags of an OCaml program have other names than ours, so no setting has a partner. Each is
/// compared with the flags that it has.
#[test]
fn flags_that_only_one_has_are_left_out_if_nothing_else_fits() {
    let mut runs = three_workloads([0.5, 2.0, 8.0]);
    runs.retain(|run| run.flags["A"] == "4m");
    for run in runs.iter_mut().filter(|run| run.collector == "two-space") {
        run.flags = [("s".to_owned(), "512k".to_owned())].into();
        run.program = Some("0123456789abcdef".to_owned());
        run.cell = format!("of-ocaml-{}", run.workload);
        run.runtime = Some("ocaml".to_owned());
    }
    let comparison = rivals(&runs);
    assert_eq!(comparison.rows.len(), 3);
    assert!(
        comparison
            .cautions
            .iter()
            .any(|line| line.contains("no flags in common")),
        "{:?}",
        comparison.cautions
    );
    assert_eq!(mean_of(&comparison, "peak_in_use_bytes").len(), 1);
    // A flag with several values tells the runs apart, so it stays: no run is compared with two.
    let mut swept = runs.clone();
    for run in runs.iter().filter(|run| run.collector == "two-space") {
        let mut other = run.clone();
        other.flags = [("s".to_owned(), "1m".to_owned())].into();
        other.id.push_str("-1m");
        other.cell.push_str("-1m");
        swept.push(other);
    }
    assert!(rivals(&swept).is_empty());
}

/// Reading counters takes time in each pause, and a program reads none.
#[test]
fn counters_at_the_pauses_of_one_side_are_a_caution() {
    let has_caution = |counters, program: bool| {
        let mut runs = with_phases(&three_workloads([1.0, 1.0, 1.0]), 0.5);
        for run in runs.iter_mut().filter(|run| program && run.collector == "two-space") {
            run.stats.as_mut().expect("statistics").phases = None;
        }
        let folder = tempdir().expect("a folder");
        let mut manifest = synthetic::manifest(&small());
        manifest.pause_counters = counters;
        let dir = write(folder.path(), manifest, &runs);
        let cautions = compare(&dir, &dir, 0.03, Some(RIVALS)).cautions;
        cautions.iter().any(|caution| caution.contains("pause_counters"))
    };
    assert!(has_caution(Some(true), true));
    assert!(!has_caution(Some(true), false));
    assert!(!has_caution(None, true));
}
