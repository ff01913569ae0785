//! Histories of folders: changes, the last folder, and what is said of them.

use super::compare::steady;
use super::synthetic::{self, fail, small, write};
use crate::analysis::verdict::Verdict;
use crate::{History, Order, history as text, history_json, history_markdown, history_of};
use gclab_results::{Manifest, RunRecord, Status};
use tempfile::{TempDir, tempdir};

/// The runs of a folder with all times multiplied by `factor`, and noise: 1 % of each folder, 0.2 %
/// of each run.
fn folder(number: u64, factor: f64) -> Vec<RunRecord> {
    let mut noise = synthetic::Noise::new(100 + number);
    let of_folder = 1.0 + 0.01 * noise.next();
    let mut runs = steady();
    for run in &mut runs {
        let factor = factor * of_folder * (1.0 + 0.002 * noise.next());
        let stats = run.stats.as_mut().expect("a good run");
        for time in [
            &mut stats.total_elapsed_seconds,
            &mut stats.total_cpu_seconds,
            &mut stats.gc_cpu_seconds,
            &mut stats.mut_cpu_seconds,
        ] {
            *time = time.map(|seconds| seconds * factor);
        }
    }
    runs
}

fn manifest(number: usize) -> Manifest {
    let mut manifest = synthetic::manifest(&small());
    manifest.started = format!("2026-01-{:02}T12:00:00Z", number + 1);
    manifest.build.git_commit = Some(format!("{number:08x}ffffffff"));
    manifest
}

/// The history of folders with these factors; `change` may alter the runs of each.
fn of(factors: &[f64], change: impl Fn(usize, &mut Vec<RunRecord>)) -> (TempDir, History) {
    let root = tempdir().expect("a folder");
    let dirs = factors.iter().enumerate().map(|(number, factor)| {
        let mut runs = folder(number as u64, *factor);
        change(number, &mut runs);
        write(&root.path().join(number.to_string()), manifest(number), &runs)
    });
    let history = history_of(dirs.collect(), Order::Time, 0.03);
    (root, history)
}

fn nothing(_: usize, _: &mut Vec<RunRecord>) {}

const LEVEL: [f64; 8] = [1.0; 8];

#[test]
fn folders_that_only_scatter_have_no_change() {
    let (_root, history) = of(&LEVEL, nothing);
    assert_eq!(
        (history.changes().count(), history.regressed()),
        (0, false),
        "{}",
        text(&history)
    );
    assert!(
        text(&history).contains("The last folder, 8 (00000007), is not worse than those before it: 0 better, "),
        "{}",
        text(&history)
    );
}

#[test]
fn a_change_in_the_middle_has_its_place_and_its_size() {
    let factors = [1.0, 1.0, 1.0, 1.0, 1.1, 1.1, 1.1, 1.1];
    let (_root, history) = of(&factors, nothing);
    assert!(history.changes().count() >= 12, "{}", text(&history));
    for (row, series, step) in history.changes() {
        let place = format!("{} {}", row.configuration, series.metric.key);
        assert_eq!(step.folder, 4, "{place}");
        let ci = step.change.interval(0.95).expect("eight folders");
        assert!(ci.low > 1.05 && ci.contains(1.1), "{place}: {ci:?}");
    }
    assert!(
        !history.regressed(),
        "the last folder is like those before it: {}",
        text(&history)
    );
    let table = text(&history);
    assert!(table.contains("5 (00000004)") && table.contains("▲ "), "{table}");
    assert!(table.contains(" to the worse, 0 to the better."), "{table}");
}

#[test]
fn the_last_folder_that_is_worse_is_told() {
    let factors = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.1];
    let (_root, history) = of(&factors, nothing);
    assert!(history.regressed(), "{}", text(&history));
    assert!(
        text(&history).contains("The last folder, 8 (00000007), is worse than those before it in "),
        "{}",
        text(&history)
    );
    let (_root, better) = of(&[1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.0], nothing);
    assert!(!better.regressed() && better.count(Verdict::Better) > 0);
    // A smaller change than the threshold is none.
    let (_root, small) = of(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.02], nothing);
    assert!(!small.regressed() && small.count(Verdict::Worse) == 0);
}

/// Two folders are a comparison: the scatter of the runs alone judges.
#[test]
fn two_folders_are_compared_by_their_runs() {
    let (_root, history) = of(&[1.0, 1.2], nothing);
    assert!(history.regressed());
    let notes = "changes within the history are looked for from 4 folders on";
    assert!(text(&history).contains(notes), "{}", text(&history));
}

#[test]
fn failures_and_checksums_of_the_last_folder_overrule_its_figures() {
    let (_root, history) = of(&LEVEL, |number, runs| {
        if number == 7 {
            fail(&mut runs[0], Status::Timeout, "");
        }
    });
    assert!(
        history.regressed() && text(&history).contains("is 1 timeout of 3"),
        "{}",
        text(&history)
    );
    let (_root, earlier) = of(&LEVEL, |number, runs| {
        if number == 3 {
            fail(&mut runs[0], Status::Timeout, "");
        }
    });
    assert!(!earlier.regressed(), "{}", text(&earlier));
}

#[test]
fn folders_are_ordered_by_time_or_as_given() {
    let root = tempdir().expect("a folder");
    let dirs = || -> Vec<_> {
        let name = |number: usize| root.path().join(number.to_string()).join(manifest(number).name);
        let open = |number: usize| crate::Reader::for_comparisons().read(name(number));
        [2, 0, 1].map(|number| open(number).expect("a folder")).into()
    };
    for number in 0..3 {
        write(
            &root.path().join(number.to_string()),
            manifest(number),
            &folder(number as u64, 1.0),
        );
    }
    let names = |history: &History| -> Vec<String> { history.folders.iter().map(|f| f.commit.clone()).collect() };
    let by_time = history_of(dirs(), Order::Time, 0.03);
    assert_eq!(names(&by_time), ["00000000", "00000001", "00000002"]);
    assert!(text(&by_time).starts_with("3 folders in the order of their start\n"));
    let as_given = history_of(dirs(), Order::Given, 0.03);
    assert_eq!(names(&as_given), ["00000002", "00000000", "00000001"]);
    assert!(text(&as_given).starts_with("3 folders in the order in which they were given\n"));
}

/// A configuration that a folder lacks has a gap there; one that a single folder has is left out.
#[test]
fn gaps_are_gaps() {
    let (_root, history) = of(&LEVEL, |number, runs| {
        let is_first = |run: &RunRecord| run.workload == "binary_trees" && run.flags["A"] == "1m";
        if number == 2 {
            runs.retain(|run| !is_first(run));
        }
        let is_other = |run: &RunRecord| run.flags["A"] == "4m";
        if number > 0 {
            runs.retain(|run| !is_other(run));
        }
        if number == 7 {
            runs.retain(|run| run.collector != "copying");
        }
    });
    assert!(history.rows.iter().all(|row| row.configuration.flags["A"] != "4m"));
    let gap = history
        .rows
        .iter()
        .filter(|row| row.series[0].means[2].is_none())
        .count();
    assert_eq!(gap, 2, "two collectors");
    let without_last = history.rows.iter().filter(|row| row.series[0].last.is_none());
    assert!(without_last.clone().count() > 0);
    assert!(without_last.clone().all(|row| row.configuration.collector == "copying"));
}

#[test]
fn another_kernel_is_a_caution_and_so_are_counters_at_pauses() {
    let root = tempdir().expect("a folder");
    let dirs = (0..3).map(|number| {
        let mut manifest = manifest(number);
        manifest.machine.kernel = Some(if number == 2 { "Linux 7" } else { "Linux 6" }.to_owned());
        manifest.pause_counters = (number == 1).then_some(true);
        write(
            &root.path().join(number.to_string()),
            manifest,
            &folder(number as u64, 1.0),
        )
    });
    let history = history_of(dirs.collect(), Order::Time, 0.03);
    assert_eq!(
        history.cautions,
        [
            "from folder 2 on the key pause_counters is true; it was false",
            "from folder 3 on the kernel is Linux 7; it was Linux 6",
            "from folder 3 on the key pause_counters is false; it was true"
        ]
    );
}

#[test]
fn a_history_for_github_and_for_programs() {
    let factors = [1.0, 1.0, 1.0, 1.0, 1.1, 1.1, 1.1, 1.25];
    let (_root, history) = of(&factors, nothing);
    let markdown = history_markdown(&history);
    assert!(
        markdown.starts_with("**The last folder, 8 (00000007), is worse than those before it in "),
        "{markdown}"
    );
    let opened = markdown.matches("<details>").count();
    assert_eq!(opened, markdown.matches("</details>").count());
    assert_eq!(
        opened,
        2 + history.rows.len(),
        "folders, the last one, and a part for each configuration"
    );
    assert!(markdown.contains("| 5 (00000004) |"), "{markdown}");
    let json: serde_json::Value = serde_json::from_str(&history_json(&history)).expect("JSON");
    assert_eq!((&json["regressed"], &json["order"]), (&true.into(), &"time".into()));
    assert_eq!(json["folders"][7]["commit"], "00000007");
    let figure = &json["configurations"][0]["figures"][0];
    assert_eq!(figure["means"].as_array().map(Vec::len), Some(8));
    assert_eq!(figure["changes"][0]["from_folder"], 5);
    assert_eq!(figure["last"]["verdict"], "worse");
    let few = history.only_changed(true);
    assert!(text(&few).lines().count() <= text(&of(&factors, nothing).1).lines().count());
}
