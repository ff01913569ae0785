//! Verdicts: a change counts only if it is large enough and more than noise.

use super::synthetic::{self, fail, small, small_runs, write};
use crate::analysis::verdict::{Verdict, judge};
use crate::inference::Change;
use crate::{Comparison, Rivals, compare, comparison as text, comparison_json, comparison_markdown};
use gclab_results::{RunPhase, RunPhases, RunRecord, Status};
use std::collections::BTreeSet;
use tempfile::tempdir;

pub(super) fn compared(base: &[RunRecord], new: &[RunRecord]) -> Comparison {
    let (a, b) = (tempdir().expect("a folder"), tempdir().expect("a folder"));
    let manifest = || synthetic::manifest(&small());
    compare(
        &write(a.path(), manifest(), base),
        &write(b.path(), manifest(), new),
        0.03,
        None,
    )
}

/// The same runs with all times multiplied by `factor`, and a little noise for each run.
pub(super) fn slower(runs: &[RunRecord], factor: f64) -> Vec<RunRecord> {
    let mut noise = synthetic::Noise::new(3);
    let mut runs = runs.to_vec();
    for run in &mut runs {
        let factor = factor * (1.0 + 0.002 * noise.next());
        if let Some(s) = &mut run.stats {
            for time in [
                &mut s.total_elapsed_seconds,
                &mut s.total_cpu_seconds,
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
pub(super) fn steady() -> Vec<RunRecord> {
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

/// A change of ten rounds, each by this factor and a share of noise that alternates.
fn change(factor: f64, noise: f64) -> Change {
    let base: Vec<(u32, f64)> = (0..10).map(|round| (round, 1.0 + f64::from(round))).collect();
    let new = |&(round, value): &(u32, f64)| {
        let noise = if round % 2 == 0 { noise } else { -noise };
        (round, value * factor * noise.exp())
    };
    let new: Vec<(u32, f64)> = base.iter().map(new).collect();
    Change::of(&base, &new).expect("a change")
}

/// The same runs as a newer gclab records them: the measured phase takes `share` of all times.
pub(super) fn with_phases(runs: &[RunRecord], share: f64) -> Vec<RunRecord> {
    let mut runs = runs.to_vec();
    for stats in runs.iter_mut().filter_map(|run| run.stats.as_mut()) {
        let part = |whole: Option<f64>| whole.map(|seconds| seconds * share);
        stats.phases = Some(RunPhases {
            measured: RunPhase {
                total_elapsed_seconds: part(stats.total_elapsed_seconds),
                gc_cpu_seconds: part(stats.gc_cpu_seconds),
                mut_cpu_seconds: part(stats.mut_cpu_seconds),
                allocated_bytes: stats.allocated_bytes,
                ..RunPhase::default()
            },
            ..RunPhases::default()
        });
    }
    runs
}

/// The measured phase is shorter than the run. So a folder with phases was better than one without,
/// though nothing had changed.
#[test]
fn whole_runs_are_not_compared_with_measured_phases() {
    let (old, new) = (steady(), with_phases(&slower(&steady(), 1.0), 0.5));
    for (base, new) in [(&old, &new), (&new, &old)] {
        let comparison = compared(base, new);
        let changed = comparison.rows.iter().filter(|row| row.verdict.is_change()).count();
        assert_eq!(changed, 0, "{}", text(&comparison));
        let caution = format!(
            "of {0} of {0} configurations are those of whole runs",
            comparison.rows.len()
        );
        assert!(text(&comparison).contains(&caution), "{}", text(&comparison));
    }
    // Both have phases: these are compared, and there is nothing to be said.
    let both = compared(&new, &with_phases(&slower(&steady(), 1.0), 0.6));
    assert!(both.regressed() && both.cautions.is_empty(), "{}", text(&both));
}

#[test]
fn verdicts_on_changes() {
    let cases = [
        (change(1.10, 0.04), Verdict::Worse),
        (change(0.90, 0.04), Verdict::Better),
        (change(1.00, 0.02), Verdict::Same),
        (change(1.02, 0.005), Verdict::Same),   // certain, but too small to count
        (change(1.10, 0.20), Verdict::Unclear), // large, but may be noise
        (change(1.02, 0.02), Verdict::Unclear),
        (change(1.00, 0.10), Verdict::Unclear),
    ];
    for (change, verdict) in cases {
        assert_eq!(judge(&change, 0.03), verdict, "{change:?}");
    }
    let two = |factor: f64| [(0, factor), (1, factor)];
    let few = Change::of(&two(1.0), &two(2.0)).expect("a change");
    assert_eq!(judge(&few, 0.03), Verdict::Unclear);
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
        worse.regressed() && worse.rows.iter().all(|row| row.verdict == Verdict::Worse),
        "{worse:?}"
    );
    let better = compared(&new, &base);
    assert!(
        !better.regressed() && better.rows.iter().all(|row| row.verdict == Verdict::Better),
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
            .any(|row| row.verdict == Verdict::Better && row.note.is_some())
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
    let mut new = base.clone();
    new.iter_mut().for_each(|run| run.load_average = Some(0.5));
    let comparison = compared(&base, &new);
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
    let comparison = compare(&base, &write(b.path(), elsewhere, &new), 0.03, None);
    insta::assert_snapshot!(text(&comparison));
}

/// Reading counters takes time in each pause.
#[test]
fn counters_at_pauses_on_one_side_are_a_caution() {
    let (a, b) = (tempdir().expect("a folder"), tempdir().expect("a folder"));
    let plain = write(a.path(), synthetic::manifest(&small()), &steady());
    let mut counted = synthetic::manifest(&small());
    counted.pause_counters = Some(true);
    let counted = write(b.path(), counted, &slower(&steady(), 1.0));
    let cautions = |base, new| compare(base, new, 0.03, None).cautions;
    assert_eq!(
        cautions(&plain, &counted),
        ["the key pause_counters differs: false in the base, true in the new one"]
    );
    assert_eq!(
        cautions(&counted, &plain),
        ["the key pause_counters differs: true in the base, false in the new one"]
    );
    assert_eq!(cautions(&counted, &counted), Vec::<String>::new());
    let says_so = |dir| crate::markdown(std::slice::from_ref(dir)).contains("Counters at pauses: read in each run");
    assert!(says_so(&counted) && !says_so(&plain));
}

/// Two collectors of one folder: each setting of one has its partner of the other.
#[test]
fn collectors_of_one_folder() {
    let mut runs = steady();
    for run in runs.iter_mut().filter(|run| run.collector == "copying") {
        for partner in steady() {
            let is_partner = partner.collector == "two-space"
                && (partner.workload == run.workload && partner.flags == run.flags && partner.round == run.round);
            if is_partner {
                run.stats = slower(&[partner], 0.5)[0].stats.clone();
            }
        }
    }
    let is_alone = |run: &RunRecord| run.collector == "two-space" && run.flags["A"] == "16m";
    runs.retain(|run| !is_alone(run));
    let folder = tempdir().expect("a folder");
    let dir = write(folder.path(), synthetic::manifest(&small()), &runs);
    let rivals = |collector, against| compare(&dir, &dir, 0.03, Some(Rivals { collector, against }));
    let better = rivals("copying", "two-space");
    let names: Vec<String> = better.rows.iter().map(|row| row.configuration.to_string()).collect();
    assert!(names.iter().all(|name| name.contains("copying")), "{names:?}");
    let settings: BTreeSet<_> = better.rows.iter().map(|row| &row.configuration.flags["A"]).collect();
    assert_eq!(settings.into_iter().collect::<Vec<_>>(), ["1m", "4m"]);
    assert!(
        !better.regressed() && better.rows.iter().all(|row| row.verdict == Verdict::Better),
        "{better:?}"
    );
    assert!(better.only_base.is_empty() && !better.only_new.is_empty());
    let words = text(&better);
    assert!(words.contains("copying over two-space A=1m"), "{words}");
    assert!(words.contains("without a partner: "), "{words}");
    assert!(
        words.contains(&format!("0 worse, {} better", better.rows.len())),
        "{words}"
    );
    assert!(comparison_json(&better).contains(r#""against": "two-space""#));
    assert!(rivals("two-space", "copying").regressed());
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
    assert_eq!(row(&lost), Some(("gc_elapsed_seconds", Verdict::Worse)));
    assert!(lost.regressed());
    assert_eq!(
        row(&compared(&steady(), &steady())).map(|(key, _)| key),
        Some("peak_in_use_bytes")
    );
}

/// One figure is better and all others are unclear: the configuration is an improvement, and it is
/// counted.
#[test]
fn an_improvement_is_not_hidden_by_figures_that_are_unclear() {
    let base = steady();
    let mut new = base.clone();
    let mut noise = synthetic::Noise::new(5);
    for stats in new.iter_mut().filter_map(|run| run.stats.as_mut()) {
        stats.gc_cpu_seconds = stats.gc_cpu_seconds.map(|seconds| seconds * 0.5);
        stats.mut_cpu_seconds = stats.mut_cpu_seconds.map(|seconds| seconds * (0.5 + noise.next()));
    }
    let comparison = compared(&base, &new);
    let row = &comparison.rows[0];
    let verdicts: Vec<Verdict> = row.figures.iter().map(|figure| figure.verdict).collect();
    assert!(
        verdicts.contains(&Verdict::Better) && verdicts.contains(&Verdict::Unclear),
        "{verdicts:?}"
    );
    assert_eq!(row.verdict, Verdict::Better);
    let text = text(&comparison);
    assert!(text.contains("0 regressions, 12 improvements"), "{text}");
    assert!(
        text.contains("figures: 12 better, 0 worse,") && text.contains("would have been seen"),
        "{text}"
    );
}

/// The peak is counted in megablocks: from 19 to 20 of them is the least change that there is.
#[test]
fn one_megablock_is_no_regression_and_two_are_one() {
    let with_peak = |megablocks: u64| {
        let mut runs = steady();
        for stats in runs.iter_mut().filter_map(|run| run.stats.as_mut()) {
            stats.peak_in_use_bytes = Some(megablocks << 20);
        }
        runs
    };
    let peak = |comparison: &Comparison| {
        let figures = &comparison.rows[0].figures;
        let peak = figures.iter().find(|figure| figure.metric.key == "peak_in_use_bytes");
        peak.map(|peak| (peak.verdict, peak.remark.clone()))
    };
    let one = compared(&with_peak(19), &with_peak(20));
    assert_eq!(peak(&one), Some((Verdict::Same, Some("one megablock".to_owned()))));
    assert!(
        !one.regressed() && text(&one).contains("same (one megablock)"),
        "{}",
        text(&one)
    );
    let two = compared(&with_peak(19), &with_peak(21));
    assert_eq!(peak(&two), Some((Verdict::Worse, None)));
    // Two megablocks of a thousand are less than the threshold.
    assert_eq!(
        peak(&compared(&with_peak(1000), &with_peak(1002))),
        Some((Verdict::Same, None))
    );
}

#[test]
fn a_folder_beside_itself_has_identical_runs() {
    let runs = small_runs();
    let comparison = compared(&runs, &runs);
    assert!(
        comparison.rows.iter().all(|row| row.verdict == Verdict::Identical),
        "{comparison:?}"
    );
    let text = text(&comparison);
    assert!(
        text.contains("identical runs: both folders hold the same runs of 12 configurations")
            && !comparison.regressed(),
        "{text}"
    );
    // A difference that no comparison judges still makes the runs others.
    let mut later = runs.clone();
    later
        .iter_mut()
        .for_each(|run| run.started = Some("2027-01-01T00:00:00Z".to_owned()));
    let comparison = compared(&runs, &later);
    assert!(
        comparison.rows.iter().all(|row| row.verdict != Verdict::Identical),
        "{comparison:?}"
    );
}

#[test]
fn only_changes_in_three_formats() {
    let base = steady();
    let mut new = base.clone();
    let cell = new[0].cell.clone();
    for run in new.iter_mut().filter(|run| run.cell == cell) {
        let stats = run.stats.as_mut().expect("a good run");
        stats.gc_cpu_seconds = stats.gc_cpu_seconds.map(|seconds| seconds * 2.0);
    }
    let changed = compared(&base, &slower(&new, 1.0)).only_changed(true);
    let (table, markdown) = (text(&changed), comparison_markdown(&changed));
    assert_eq!(table.matches("GC CPU").count(), 1, "{table}");
    assert!(!table.contains("mutator CPU") && table.contains(" worse"), "{table}");
    assert_eq!(
        markdown.lines().filter(|line| line.starts_with("| ")).count(),
        2,
        "{markdown}"
    );
    assert!(
        markdown.starts_with("**1 figure worse in 1 of 12 configurations, most in ") && !markdown.contains("<details>"),
        "{markdown}"
    );
    assert!(markdown.contains("\n- figures: 0 better, 1 worse, "), "{markdown}");
    let json: serde_json::Value = serde_json::from_str(&comparison_json(&changed)).expect("JSON");
    assert_eq!(
        (&json["worse"], &json["regressed"], &json["threshold"]),
        (&1.into(), &true.into(), &0.03.into())
    );
    let rows = json["configurations"].as_array().expect("an array");
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["figures"][0]["figure"], "gc_cpu_seconds");
    assert_eq!(rows[0]["figures"][0]["verdict"], "worse");
}

/// Figures that are unclear are not shown to be the same: the headline claims no more.
#[test]
fn the_headline_claims_only_what_was_shown() {
    let mut few = small_runs();
    few.retain(|run| run.round < 2);
    let markdown = comparison_markdown(&compared(&few, &slower(&few, 1.01)));
    let headline = markdown.lines().next().expect("a line");
    assert!(
        !headline.contains(" is worse") && headline.contains("shown to be worse") && headline.contains("cannot tell"),
        "{headline}"
    );
}
