//! The answers where nothing contends, where runs failed, and where settings are many.

use super::answers::{folder, sweep, timed};
use super::synthetic::{Experiment, fail, small};
use crate::folder::kept;
use crate::render::terminal_within;
use crate::sections::report;
use crate::summary::Summary;
use crate::{html, markdown};
use gclab_results::{Pauses, RunRecord, Status};

/// One collector with one setting on some workloads.
fn plain(workloads: &[&'static str]) -> Experiment {
    Experiment {
        collectors: vec!["copying"],
        workloads: workloads.iter().map(|name| (*name, vec![], 24.0, 4.0)).collect(),
        sweep: Vec::new(),
        repeat: 5,
        ..small()
    }
}

/// The sentences of the answer.
fn sentences(experiment: &Experiment, runs: &[RunRecord]) -> String {
    let (_parent, dir) = folder(experiment, runs);
    report(&dir).sentences().cloned().collect::<Vec<_>>().join(" ")
}

/// Makes the runs those of programs without a runtime.
fn programs(runs: &mut [RunRecord], runtime: impl Fn(&RunRecord) -> &'static str) {
    for run in runs {
        run.collector = runtime(run).to_owned();
        run.program = Some(format!("id of {}", run.workload));
    }
}

#[test]
fn one_setting_has_its_mean_with_the_interval() {
    let experiment = plain(&["one", "two"]);
    let text = sentences(&experiment, &timed(&experiment, 0.02, |_| 1.0));
    assert!(text.contains("nothing is compared. On average one takes 1.0"), "{text}");
    let figure = text.split("one takes ").nth(1).expect("a figure");
    let figure = figure.split(';').next().expect("its end");
    assert!(
        figure.contains('(') && figure.contains('–') && figure.ends_with(") s"),
        "{figure}"
    );
    let few: Vec<RunRecord> = timed(&experiment, 0.02, |_| 1.0)
        .into_iter()
        .filter(|run| run.round < 2)
        .collect();
    let text = sentences(&experiment, &few);
    assert!(text.contains("(too few runs for an interval)"), "{text}");
}

#[test]
fn the_answer_names_workloads_that_fail() {
    let experiment = plain(&["one", "two", "three"]);
    let mut runs = timed(&experiment, 0.02, |_| 1.0);
    for run in runs.iter_mut().filter(|run| run.workload != "one") {
        fail(
            run,
            if run.workload == "two" {
                Status::Timeout
            } else {
                Status::HeapExhausted
            },
            "",
        );
    }
    let text = sentences(&experiment, &runs);
    assert!(
        text.contains("No configuration completes three (heap exhausted) and two (timeout)."),
        "{text}"
    );
}

/// Two programs of two runtimes do works of their own: each has its answer.
#[test]
fn programs_that_do_not_contend_have_an_answer_at_multiples_of_the_least_heap() {
    let experiment = Experiment {
        sweep: vec![("heap", vec!["1.5", "3"])],
        ..plain(&["one", "two"])
    };
    let mut runs = timed(
        &experiment,
        0.02,
        |run| if run.flags["heap"] == "3" { 1.0 } else { 1.4 },
    );
    programs(&mut runs, |run| if run.workload == "one" { "ghc" } else { "jvm" });
    for run in &mut runs {
        run.heap_multiple = run.flags["heap"].parse().ok();
    }
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    assert!(crate::analysis::memory::budgets(&summary).is_none(), "nothing contends");
    let text = sentences(&experiment, &runs);
    assert!(
        text.contains("No two collectors ran the same one of 2 workloads. The fastest setting: ")
            && text.contains(" on one (")
            && text.contains(" on two ("),
        "{text}"
    );
}

/// `none` is the name of the runtime that a program lacks; a sentence must not begin with it.
#[test]
fn a_program_without_a_runtime_is_not_called_none() {
    let experiment = Experiment {
        sweep: vec![("heap", vec!["1.5", "3"])],
        ..plain(&["one", "two"])
    };
    let mut runs = timed(&experiment, 0.02, |_| 1.0);
    programs(&mut runs, |_| "none");
    for run in &mut runs {
        run.heap_multiple = run.flags["heap"].parse().ok();
    }
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let found = crate::analysis::memory::budgets(&summary).expect("one contender");
    let text = found.text.join(" ");
    assert!(
        text.contains("the program") && text.contains(" completes both workloads") && !text.contains("none"),
        "{text}"
    );
}

/// More contenders than sentences: a sentence counts the others, and a table has them all.
#[test]
fn contenders_without_a_sentence_are_counted_and_in_a_table() {
    let experiment = Experiment {
        workloads: vec![("one", vec![], 24.0, 4.0)],
        sweep: vec![
            ("A", vec!["1m", "4m"]),
            ("G", vec!["copy", "mark", "slide", "region", "immix", "free"]),
        ],
        ..sweep(&["copying"])
    };
    let runs = timed(
        &experiment,
        0.02,
        |run| if run.flags["G"] == "slide" { 1.0 } else { 1.5 },
    );
    let text = sentences(&experiment, &runs);
    assert!(
        text.contains("2 more settings are in the table of the page and of Markdown."),
        "{text}"
    );
    assert!(
        text.starts_with("Of all settings copying A=") && text.contains(" G=slide has the least total time; "),
        "{text}"
    );
    let (_parent, dir) = folder(&experiment, &runs);
    let dirs = std::slice::from_ref(&dir);
    for page in [markdown(dirs), html(dirs)] {
        let table = page.split("From which value on?").nth(1).expect("a section");
        assert!(
            table.contains("copying G=free") && table.contains("copying G=region"),
            "{table}"
        );
    }
}

#[test]
fn the_answer_counts_the_runs_of_all_configurations() {
    let experiment = sweep(&["copying"]);
    let mut runs = timed(&experiment, 0.02, |_| 1.0);
    runs.retain(|run| run.round == 0 || run.flags["A"] == "4m");
    let (_parent, dir) = folder(&experiment, &runs);
    let text = terminal_within(&dir, Some(100));
    assert!(
        text.contains("\nAnswer (1 to 10 runs of each configuration)\n"),
        "{text}"
    );
}

/// A runtime that tells the lengths of its pauses, and not when they were, has percentiles.
#[test]
fn percentiles_that_a_runtime_tells_are_shown() {
    let experiment = plain(&["one"]);
    let mut runs = timed(&experiment, 0.02, |_| 1.0);
    for stats in runs.iter_mut().filter_map(|run| run.stats.as_mut()) {
        stats.collections.clear();
        stats.pauses = Some(Pauses {
            count: 50,
            p50_ns: Some(7_654_321),
            max_ns: Some(20_000_000),
            single_pauses_absent: Some("only their lengths are known".to_owned()),
            ..Pauses::default()
        });
    }
    let (_parent, dir) = folder(&experiment, &runs);
    let page = html(&[dir]);
    assert!(page.contains("7.65") && !page.contains("no pause was recorded"));
    // GHC's statistics have the longest pause of each generation, and no other.
    for stats in runs.iter_mut().filter_map(|run| run.stats.as_mut()) {
        (stats.pauses, stats.phases) = (None, None);
        stats.generations.truncate(1);
        stats
            .generations
            .iter_mut()
            .for_each(|generation| generation.max_pause_seconds = Some(0.02));
    }
    let (_parent, dir) = folder(&experiment, &runs);
    let page = html(&[dir]);
    assert!(page.contains("one: only the longest pause of each run is known"));
}

/// A line after a table without a blank one between them is a row of the table.
#[test]
fn the_command_of_markdown_is_no_row_of_a_table() {
    let experiment = plain(&["one"]);
    let (_parent, dir) = folder(&experiment, &timed(&experiment, 0.02, |_| 1.0));
    let text = markdown(&[dir]);
    assert!(text.contains("\n\nRepeat with (seed "), "{text}");
}

/// A ratio of two runs has no interval: it is not drawn as an exact one.
#[test]
fn a_ratio_without_an_interval_is_hollow_and_has_no_ends() {
    let experiment = Experiment {
        collectors: vec!["copying", "two-space"],
        ..plain(&["one", "two"])
    };
    let runs = timed(
        &experiment,
        0.02,
        |run| if run.collector == "copying" { 1.0 } else { 2.0 },
    );
    let drawn = |rounds: u32| {
        let few: Vec<RunRecord> = runs.iter().filter(|run| run.round < rounds).cloned().collect();
        let kept_runs = kept(&few);
        let summary = Summary::of_runs(&kept_runs, &[]);
        let forest = crate::analysis::answers::overall(&summary)
            .expect("two workloads")
            .forest(&summary);
        forest.svg()
    };
    let svg = drawn(2);
    assert!(
        svg.contains("fill:none;stroke:") && svg.contains("too few runs"),
        "{svg}"
    );
    let svg = drawn(5);
    assert!(!svg.contains("fill:none;stroke:"), "{svg}");
}
