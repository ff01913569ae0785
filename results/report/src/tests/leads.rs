//! What a report says of leads: certain ones, and those that may be noise.

use super::answers::{folder, sweep, timed};
use super::synthetic::{Experiment, small};
use crate::analysis::answers::{answers, headline, knees, overall};
use crate::folder::kept;
use crate::html;
use crate::summary::Summary;
use gclab_results::RunRecord;

/// Two collectors on two workloads at one setting, `copying` this much slower in each round.
fn two(factor: impl Fn(&RunRecord) -> f64) -> Vec<RunRecord> {
    let alone = Experiment {
        sweep: Vec::new(),
        ..sweep(&["copying", "two-space"])
    };
    timed(&alone, 0.001, |run| {
        if run.collector == "copying" { factor(run) } else { 1.0 }
    })
}

/// Every sentence that tells a lead.
fn said(runs: &[RunRecord]) -> String {
    let kept_runs = kept(runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let answers = answers(&summary);
    let mut said = headline(&summary, &answers);
    said.extend(overall(&summary).expect("two workloads").sentences(&summary));
    said.extend(
        answers
            .iter()
            .flat_map(|answer| answer.alternatives.iter().map(|next| next.text())),
    );
    said.join("\n")
}

#[test]
fn a_lead_whose_interval_excludes_one_is_told_without_a_doubt() {
    let said = said(&two(|_| 1.5));
    assert!(said.contains("more than noise on 2 of 2."), "{said}");
    assert!(
        !said.contains("cannot tell") && !said.contains("no difference"),
        "{said}"
    );
}

/// The time of one collector goes up and down by a third around that of the other.
#[test]
fn a_lead_whose_interval_includes_one_is_called_noise_everywhere() {
    let said = said(&two(|run| [0.67, 1.5, 1.05, 0.7, 1.4][run.round as usize % 5]));
    assert!(said.contains("more than noise on 0 of 2."), "{said}");
    // Twice in the headline, which joins equal verdicts; once over all; once for each workload.
    assert_eq!(said.matches(": cannot tell; ").count(), 4, "{said}");
}

/// The fastest setting did not run on one of the workloads: a mean over the other one would make it
/// the best.
#[test]
fn a_setting_that_did_not_run_everywhere_has_no_mean() {
    let experiment = sweep(&["copying", "two-space"]);
    let mut runs = timed(&experiment, 0.01, |run| {
        match (run.collector.as_str(), run.flags["A"].as_str()) {
            ("copying", "4m") => 0.2,
            _ => 1.0,
        }
    });
    let last = small().workloads[1].0;
    runs.retain(|run| !(run.workload == last && run.collector == "copying" && run.flags["A"] == "4m"));
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let found = overall(&summary).expect("two workloads");
    let sentence = found.sentences(&summary).join(" ");
    assert!(!sentence.contains("copying A=4m"), "{sentence}");
    let rows = found.forest(&summary).rows;
    let row = rows.iter().find(|row| row.label == "copying A=4m").expect("a row");
    assert_eq!((row.value, row.text.as_str()), (None, "fails on 1 of 2"));
    let (_parent, dir) = folder(&experiment, &runs);
    assert!(html(&[dir]).contains("copying A=4m: does not complete both workloads"));
}

/// The time in collections falls from the first value to the knee: by a factor that the runs show,
/// or by one that may be chance.
#[test]
fn other_figures_of_a_knee_are_told_if_they_are_more_than_noise() {
    let experiment = sweep(&["copying"]);
    let said = |first: fn(u32) -> f64| {
        let mut runs = timed(
            &experiment,
            0.01,
            |run| if run.flags["A"] == "256k" { 2.0 } else { 1.0 },
        );
        for run in &mut runs {
            let seconds = if run.flags["A"] == "256k" {
                first(run.round)
            } else {
                0.1
            };
            run.stats.as_mut().expect("a good run").gc_elapsed_seconds = Some(seconds);
        }
        let kept_runs = kept(&runs);
        let summary = Summary::of_runs(&kept_runs, &[]);
        knees(&summary).expect("a sweep").sentences.join(" ")
    };
    let certain = said(|_| 0.5);
    assert!(certain.contains("GC time falls 5.0×"), "{certain}");
    let noise = said(|round| if round == 0 { 4.0 } else { 0.1 });
    assert!(!noise.is_empty() && !noise.contains("GC time"), "{noise}");
}
