//! The answers follow from what was swept, are the same in all formats, and claim nothing that may
//! be noise.

use super::synthetic::{self, Experiment, Noise, fail, fixture, profiled, small, small_runs, write};
use crate::analysis::answers::{answers, knees, latency_rows, overall};
use crate::folder::{Results, kept};
use crate::render::terminal_within;
use crate::summary::Summary;
use crate::{html, markdown, terminal};
use gclab_results::{Latency, Manifest, MeteredLatency, RunRecord, RunStats, Status};
use tempfile::{TempDir, tempdir};

/// A sweep over `A` with ten rounds.
pub(super) fn sweep(collectors: &[&'static str]) -> Experiment {
    Experiment {
        collectors: collectors.to_vec(),
        sweep: vec![("A", vec!["256k", "1m", "4m", "16m"])],
        repeat: 10,
        ..small()
    }
}

/// The runs of an experiment, each with this total time and a share of noise.
pub(super) fn timed(experiment: &Experiment, noise: f64, time: impl Fn(&RunRecord) -> f64) -> Vec<RunRecord> {
    let mut random = Noise::new(4);
    let mut runs = synthetic::runs(experiment);
    for run in &mut runs {
        let seconds = time(run) * (1.0 + noise * (random.next() - 0.5));
        let stats = RunStats {
            total_elapsed_seconds: Some(seconds),
            gc_elapsed_seconds: Some(seconds / 2.0),
            mut_elapsed_seconds: Some(seconds / 2.0),
            ..run.stats.take().unwrap_or_default()
        };
        (run.outcome, run.stats) = (Status::Ok, Some(stats));
        run.checksum.get_or_insert_with(|| "1".to_owned());
    }
    runs
}

pub(super) fn folder(experiment: &Experiment, runs: &[RunRecord]) -> (TempDir, Results) {
    let parent = tempdir().expect("a temporary folder");
    let dir = write(parent.path(), synthetic::manifest(experiment), runs);
    (parent, dir)
}

/// Time by the size of the area: 2, 1.5, 1 and 1 times as long.
fn by_area(run: &RunRecord) -> f64 {
    match run.flags["A"].as_str() {
        "256k" => 2.0,
        "1m" => 1.5,
        _ => 1.0,
    }
}

fn blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_knee_is_the_value_from_which_on_nothing_is_gained() {
    let experiment = sweep(&["copying", "two-space"]);
    let runs = timed(&experiment, 0.02, |run| match run.collector.as_str() {
        "copying" => by_area(run),
        _ => 3.0,
    });
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let knees = knees(&summary).expect("a sweep");
    assert_eq!(
        (knees.flag.as_str(), &knees.contenders[..]),
        ("A", &["copying".into(), "two-space".into()][..])
    );
    let copying = &knees.sentences[0];
    assert!(
        copying.starts_with("copying: with A from 4m on the total time is as good as at the best value, ")
            && copying.contains("(within 5 %)")
            && copying.contains("1m takes 1.5")
            && copying.contains("256k takes 2.0")
            && copying.contains(" From 256k to 4m GC time falls 2.0×"),
        "{copying}"
    );
    assert_eq!(
        knees.sentences[1],
        "two-space: A makes no difference from 256k to 16m: the total time stays within 5 %."
    );
    assert_eq!(knees.works.len(), 2);
    assert!(
        knees.works[0].1[0].starts_with("from 4m on; 1m takes 1.5"),
        "{:?}",
        knees.works
    );
    assert_eq!(knees.works[0].1[1], "no difference at ±5 %");
}

/// The values around the best one are as good as it only if their intervals say so.
#[test]
fn noise_around_the_best_value_is_not_called_as_good() {
    let experiment = sweep(&["copying"]);
    let runs = timed(&experiment, 0.3, |run| match run.flags["A"].as_str() {
        "256k" => 4.0,
        "4m" => 0.97,
        _ => 1.0,
    });
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let knees = knees(&summary).expect("a sweep");
    let sentence = &knees.sentences[0];
    assert!(
        sentence.starts_with("copying: with A from 1m on these runs cannot tell the total time from that at the best")
            && sentence.contains("(they would not show differences below ")
            && sentence.contains("256k takes ")
            && !sentence.contains("as good"),
        "{sentence}"
    );
    assert!(
        knees
            .works
            .iter()
            .all(|(_, cells)| cells[0].contains("(cannot tell within ")),
        "{:?}",
        knees.works
    );
}

#[test]
fn a_best_value_at_the_end_of_the_sweep_says_so() {
    let experiment = sweep(&["copying"]);
    let place = |run: &RunRecord| ["16m", "4m", "1m", "256k"].iter().position(|a| *a == run.flags["A"]);
    let runs = timed(&experiment, 0.02, |run| 1.0 + place(run).expect("a value") as f64);
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let sentence = &knees(&summary).expect("a sweep").sentences[0];
    assert!(
        sentence.starts_with("copying: the larger A, the less total time, up to 16m, the largest value that was run"),
        "{sentence}"
    );
}

/// The noise is much larger than any difference: a claim would be wrong, and a number of runs is
/// stated.
#[test]
fn noise_is_no_answer() {
    let experiment = sweep(&["copying", "two-space"]);
    let runs = timed(&experiment, 1.2, |_| 1.0);
    let (_parent, dir) = folder(&experiment, &runs);
    let text = markdown(std::slice::from_ref(&dir));
    assert!(text.contains("these runs cannot tell whether A matters"), "{text}");
    assert!(text.contains(" as long: cannot tell; about "), "{text}");
    assert!(text.contains(" runs of each would show a difference of "), "{text}");
    let few: Vec<RunRecord> = runs.into_iter().filter(|run| run.round < 2).collect();
    let (_parent, dir) = folder(&experiment, &few);
    let text = markdown(&[dir]);
    assert!(
        text.contains("too few runs for an interval") && text.contains("at least 3 runs of each"),
        "{text}"
    );
}

#[test]
fn one_figure_over_all_workloads_is_the_first_chart() {
    let experiment = sweep(&["copying", "two-space"]);
    let mut runs = timed(&experiment, 0.02, |run| match run.collector.as_str() {
        "copying" => by_area(run),
        _ => 1.3 * by_area(run),
    });
    // One setting does not complete all workloads: it has no figure.
    let broken = runs
        .iter()
        .position(|run| run.collector == "copying" && run.flags["A"] == "16m");
    fail(&mut runs[broken.expect("a run")], Status::Timeout, "");
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let found = overall(&summary).expect("two workloads");
    let sentence = &found.sentences(&summary)[0];
    assert!(
        sentence.starts_with("Over both workloads copying A=4m has the least total time"),
        "{sentence}"
    );
    assert!(
        sentence.contains(" takes 1.3") && !sentence.contains("cannot tell"),
        "{sentence}"
    );
    let chart = found.curve(&summary).expect("one axis of numbers");
    assert_eq!(chart.title, "Total time over both workloads, relative to copying A=4m");
    let missing = chart
        .series
        .iter()
        .flat_map(|series| &series.points)
        .filter(|point| point.y.is_none());
    assert_eq!(missing.count(), 1);
    let (_parent, dir) = folder(&experiment, &runs);
    let page = html(&[dir]);
    let first = page.split("<svg class=\"chart\"").nth(1).expect("a chart");
    assert!(
        first.contains("<title>Total time over both workloads, relative to copying A=4m</title><desc>"),
        "{first}"
    );
    // Without numbers, each setting has a row.
    let alone = Experiment {
        sweep: Vec::new(),
        ..small()
    };
    let runs = timed(&alone, 0.02, |run| if run.collector == "copying" { 1.0 } else { 2.0 });
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let forest = overall(&summary).expect("two workloads").forest(&summary);
    let labels: Vec<&str> = forest.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["copying", "two-space"]);
    let (value, ends) = forest.rows[1].value.expect("a ratio");
    assert!(
        (value - 2.0).abs() < 0.05 && ends.expect("ten runs").0 > 1.9,
        "{forest:?}"
    );
}

/// A setting that fails on a workload has no figure, and its row says so. A workload that no
/// setting completes is left out of all figures, and named.
#[test]
fn failures_are_shown_as_failures() {
    let alone = Experiment {
        workloads: vec![
            ("one", vec![], 24.0, 4.0),
            ("two", vec![], 24.0, 4.0),
            ("three", vec![], 24.0, 4.0),
        ],
        collectors: vec!["compacting", "copying", "two-space"],
        sweep: Vec::new(),
        ..small()
    };
    let mut runs = timed(&alone, 0.02, |run| if run.collector == "copying" { 1.0 } else { 2.0 });
    for run in &mut runs {
        let fails = run.workload == "three" || run.workload == "two" && run.collector == "compacting";
        if fails {
            fail(run, Status::HeapExhausted, "");
        }
    }
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let found = overall(&summary).expect("two workloads that some setting completes");
    let sentence = &found.sentences(&summary)[0];
    assert!(
        sentence.starts_with("Over the 2 workloads that any setting completes copying has the least")
            && sentence.ends_with("No setting completes three.")
            && sentence.contains("compacting has no setting that completes"),
        "{sentence}"
    );
    let rows = found.forest(&summary).rows;
    let texts: Vec<(&str, bool)> = rows
        .iter()
        .map(|row| (row.label.as_str(), row.value.is_some()))
        .collect();
    assert_eq!(texts, [("copying", true), ("two-space", true), ("compacting", false)]);
    assert_eq!(rows[2].text, "fails on 1 of 2");
}

/// Requests in an open loop: the run of two-space takes as long as that of copying.
fn served() -> (Experiment, Vec<RunRecord>) {
    let experiment = Experiment {
        workloads: vec![("server", vec!["100"], 24.0, 4.0)],
        sweep: vec![("A", vec!["1m", "4m"])],
        repeat: 5,
        ..small()
    };
    let mut runs = timed(&experiment, 0.02, |_| 3.0);
    let mut random = Noise::new(6);
    for run in &mut runs {
        let slow = if run.collector == "copying" { 1.0 } else { 10.0 } * (1.0 + 0.1 * random.next());
        let at = |milliseconds: f64| Some((slow * milliseconds * 1e6) as u64);
        run.latency = Some(Latency {
            requests: 20_000,
            rate_per_second: Some(5000),
            mean_ns: Some(slow * 1.2e5),
            p50_ns: at(0.1),
            p90_ns: at(0.2),
            p99_ns: at(0.7),
            p99_9_ns: at(1.6),
            p99_99_ns: None,
            max_ns: at(2.5),
            metered: None,
        });
    }
    (experiment, runs)
}

#[test]
fn requests_are_answered_within_a_time() {
    let (experiment, runs) = served();
    let (_parent, dir) = folder(&experiment, &runs);
    let text = markdown(std::slice::from_ref(&dir));
    assert!(
        text.contains("server 100: 99.9 % of the requests are answered within 2 ms in every run by copying A=")
            && text.contains("; within 20 ms by all 4 settings."),
        "{text}"
    );
    // The schedule fixes the time of a run, so no collector is the fastest.
    assert!(
        !text.contains("Fastest of") && !text.contains("is the fastest"),
        "{text}"
    );
    let summary = Summary::of(&dir);
    assert!(answers(&summary)[0].fastest.is_none() && overall(&summary).is_none() && knees(&summary).is_none());
    let page = html(std::slice::from_ref(&dir));
    let first = page.split("<svg class=\"chart\"").nth(1).expect("a chart");
    assert!(
        first.contains("server 100: Latency, ms: A=1m") && first.contains("logarithmic"),
        "{first}"
    );
    assert!(first.contains("99.9%") && !first.contains("99.99%"), "{first}");
    assert_eq!(latency_rows(&summary.works[0])[0].requests, 100_000);
}

/// A closed loop has a table of metered latency, with a column for each window and percentile that
/// runs have; an open loop has none.
#[test]
fn a_closed_loop_has_metered_latency() {
    let (experiment, mut runs) = served();
    let (_parent, dir) = folder(&experiment, &runs);
    assert!(!markdown(std::slice::from_ref(&dir)).contains("Metered latency"));
    for run in &mut runs {
        let latency = run.latency.as_mut().expect("requests");
        latency.rate_per_second = None;
        let window = |window_ns, p99_ns| MeteredLatency {
            window_ns,
            p99_ns: Some(p99_ns),
            ..MeteredLatency::default()
        };
        latency.metered = Some(vec![window(Some(10_000_000), 3_210_000), window(None, 45_600_000)]);
    }
    let (_parent, dir) = folder(&experiment, &runs);
    let text = markdown(std::slice::from_ref(&dir));
    let (_, table) = text.split_once("Metered latency").expect("a note");
    let table = table.split("\n\n").nth(1).expect("a table");
    let head = table.lines().next().expect("a head");
    assert!(
        head.contains("10 ms: 99 %") && head.contains("whole run: 99 %"),
        "{head}"
    );
    assert!(!head.contains("99.9 %"), "{head}");
    assert!(table.contains("3.21") && table.contains("45.6"), "{table}");
}

/// Profiles alone: their bands are the answer, and no chart has a single dot.
#[test]
fn profiles_answer_by_their_largest_bands() {
    let (mut manifest, runs) = profiled();
    let runs: Vec<RunRecord> = runs
        .into_iter()
        .filter(|run| run.collector == "copying" && run.flags["A"] == "1m")
        .collect();
    manifest
        .plan
        .retain(|planned| runs.iter().any(|run| run.id == planned.id));
    let parent = tempdir().expect("a temporary folder");
    let dir = write(parent.path(), manifest, &runs);
    let text = terminal(&dir);
    let answer = text.split("\nAnswer").nth(1).expect("an answer");
    assert!(
        answer.contains("-hy -i0: at most") && !answer.contains("One collector ran"),
        "{answer}"
    );
    let page = html(std::slice::from_ref(&dir));
    assert!(
        !page.contains("<h2>Time and memory") && !page.contains("The best configurations"),
        "no chart of one dot"
    );
    let place = |title: &str| {
        page.find(&format!("<h2>{title}"))
            .unwrap_or_else(|| panic!("no {title}"))
    };
    assert!(place("Heap profiles") < place("Pauses"));
}

#[test]
fn all_formats_have_the_same_sentences() {
    let (experiment, runs) = served();
    let mut dirs = vec![folder(&experiment, &runs)];
    let swept = sweep(&["copying", "two-space"]);
    dirs.push(folder(&swept, &timed(&swept, 0.3, by_area)));
    for (_parent, dir) in &dirs {
        let report = crate::sections::report(dir);
        let sentences: Vec<&String> = report.sentences().collect();
        assert!(!sentences.is_empty());
        let dirs = std::slice::from_ref(dir);
        let narrow = terminal_within(dir, Some(70));
        let answer = narrow.split("\nAnswer").nth(1).expect("an answer");
        assert!(answer.lines().all(|line| line.chars().count() <= 80), "{answer}");
        let all = [blanks(&html(dirs)), blanks(&markdown(dirs)), blanks(answer)];
        for sentence in sentences {
            assert!(all.iter().all(|text| text.contains(sentence.as_str())), "{sentence}");
        }
    }
}

/// The fastest has the least *mean*, as the ratios beside it: one that is fastest by its median
/// would have a ratio below 1 next to it.
#[test]
fn the_fastest_and_the_ratios_are_of_one_kind() {
    let experiment = sweep(&["copying", "two-space"]);
    // One run in five of `copying` takes five times as long: its mean is 1.8, its median 1.
    let runs = timed(&experiment, 0.02, |run| match run.collector.as_str() {
        "copying" if run.round % 5 == 0 => 5.0,
        "copying" => 1.0,
        _ => 1.4,
    });
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    for answer in answers(&summary) {
        let fastest = answer.fastest.expect("a fastest one");
        assert_eq!(fastest.group.configuration.collector, "two-space");
        let ratios = answer.alternatives.iter().chain(&answer.slowest);
        assert!(
            ratios
                .filter_map(|other| other.ratio)
                .all(|ratio| ratio.estimate >= 1.0)
        );
    }
}

#[test]
fn ties_are_named() {
    let mut runs = small_runs();
    for stats in runs.iter_mut().filter_map(|run| run.stats.as_mut()) {
        stats.peak_in_use_bytes = Some(13 << 20);
    }
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let answers = answers(&summary);
    assert!(
        answers.iter().all(|answer| answer.least_memory.len() == 5),
        "{answers:?}"
    );
    let (_parent, dir) = folder(&small(), &runs);
    assert!(html(&[dir]).contains("two-space A=1m, copying A=4m, two-space A=4m"));
}

/// A page can be used by keyboard, by ear and on a phone.
#[test]
fn pages_have_ids_scopes_buttons_and_labels() {
    let page = html(&[fixture(), fixture()]);
    for wanted in [
        "<section id=\"answer\">",
        "<section id=\"answer-2\">",
        "<h3 id=\"the-best-configurations\">",
        "<a href=\"#pauses\">Pauses</a>",
        "<th scope=\"col\" class=\"n\"><button type=\"button\">total s</button></th>",
        "<th scope=\"row\">Processor</th>",
        "<title>binary_trees 14: Total time, ms</title><desc>copying A=1m: ",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
    assert!(!page.contains("<th>"), "each heading has a scope");
    // The winner, its lead and the verdict stand in one cell.
    let cell = page
        .split("data-label=\"Fastest (total time), and the others at their best\"")
        .nth(1)
        .expect("a cell");
    let cell = cell.split("</td>").next().expect("its end");
    assert!(
        cell.contains("copying A=4m") && cell.contains("two-space A=16m") && cell.contains('×'),
        "{cell}"
    );
}

/// 5e-324 is the least number above 0: a record of another program may have it.
#[test]
fn times_without_digits_do_not_end_the_report() {
    for tiny in [5e-324, 1e-320, 1e308] {
        let mut runs = timed(&small(), 0.0, |_| 1.0);
        for stats in runs.iter_mut().filter_map(|run| run.stats.as_mut()) {
            (stats.gc_elapsed_seconds, stats.mut_elapsed_seconds) = (Some(tiny), Some(tiny));
            stats.total_elapsed_seconds = Some(tiny);
        }
        let (_parent, dir) = folder(&small(), &runs);
        let text = format!("{}{}", terminal(&dir), markdown(std::slice::from_ref(&dir)));
        let page = html(&[dir]);
        assert!(
            page.ends_with("</html>\n") && !page.contains("NaN") && !text.contains("NaN"),
            "{tiny}"
        );
    }
}

/// Memory holds until the next collection, live data are known after major collections only, and
/// all charts have the time axis of the longest run.
#[test]
fn memory_over_time_has_steps_and_one_axis() {
    let mut runs = timed(&small(), 0.02, |run| if run.flags["A"] == "4m" { 1.0 } else { 2.0 });
    for run in &mut runs {
        let long = if run.collector == "copying" { 1 } else { 5 };
        let stats = run.stats.as_mut().expect("a good run");
        if let Some(first) = stats.collections.first().cloned() {
            stats.collections = vec![first; 4];
        }
        for (number, pause) in (1..).zip(&mut stats.collections) {
            (pause.start_ns, pause.elapsed_ns) = (number * long * 100_000_000, 0);
            (pause.in_use_bytes, pause.live_bytes) = (Some(number << 20), Some(number << 19));
            pause.major = number == 4;
        }
    }
    let (_parent, dir) = folder(&small(), &runs);
    let summary = Summary::of(&dir);
    let (setting, charts) = crate::analysis::timeline::timelines(&summary, &summary.works[0]);
    assert_eq!(
        (setting.as_str(), charts.len()),
        ("A=4m", 2),
        "the setting of the fastest configuration"
    );
    assert_eq!(charts[0].x_ticks, charts[1].x_ticks);
    assert!(
        charts
            .iter()
            .all(|chart| chart.series[0].steps && chart.series[1].points.len() == 1)
    );
    // Four values and three steps between them: seven corners.
    let svg = charts[0].svg();
    let line = svg
        .split("<polyline points=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("a line");
    assert_eq!(line.split(' ').count(), 7, "{line}");
}

/// Writes a report for people: see `look` of `report.rs`.
#[test]
#[ignore = "writes files for people to look at"]
fn look() {
    let out = std::path::PathBuf::from(std::env::var("LOOK").expect("LOOK names a folder"));
    let (experiment, runs) = served();
    let (_parent, dir) = folder(&experiment, &runs);
    println!("{}", terminal(&dir));
    std::fs::write(out.join("latency.html"), html(&[dir])).unwrap();
}

#[test]
fn an_empty_folder_has_no_answer() {
    let parent = tempdir().expect("a temporary folder");
    let bare = write(parent.path(), Manifest::new("bare"), &[]);
    assert!(!terminal(&bare).contains("Answer"));
    assert!(html(&[bare]).contains("so there is no answer yet"));
}
