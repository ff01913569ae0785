//! Should collections be parallel? Reports of sweeps over `-qg` and `-N`.

use super::synthetic::{self, Experiment, Noise, write};
use crate::analysis::parallel::{Advice, Effect, advice};
use crate::folder::kept;
use crate::render::terminal_within;
use crate::summary::Summary;
use crate::{csv, markdown, terminal};
use gclab_results::{Axis, GcThread, RunRecord};
use std::collections::BTreeMap;
use tempfile::tempdir;

/// Two programs on two processors: trees, which two threads copy faster, and a list, which two
/// threads copy slower because one waits for the other.
fn experiment() -> Experiment {
    Experiment {
        name: "parallel",
        question: "Should collections be parallel?",
        collectors: vec!["parallel"],
        workloads: vec![
            ("binary_trees", vec!["14"], 96.0, 2.0),
            ("long_list", vec![], 48.0, 1.5),
        ],
        sweep: vec![
            ("N", vec!["2"]),
            ("A", vec!["1m", "4m"]),
            ("qg", vec!["false", "0", "1"]),
        ],
        repeat: 4,
        seed: 5,
    }
}

/// Shares the collections of a run among two threads. `elapsed` and `cpu` are factors of their
/// elapsed time and their CPU time; `first` is the share of the first thread.
fn share(run: &mut RunRecord, elapsed: f64, cpu: f64, first: f64) {
    let from: Option<u32> = run.flags.get("qg").map_or(Some(0), |qg| qg.parse().ok());
    let stats = run.stats.as_mut().expect("a good run");
    let (mut saved, mut spent) = (0.0, 0.0);
    let mut totals = [GcThread::default(), GcThread::default()];
    let (mut par_elapsed, mut par_shared, mut copied, mut balanced) = (0, 0, 0, 0.0);
    for pause in &mut stats.collections {
        let shares = from.is_some_and(|from| pause.generation >= from);
        let generation = &mut stats.generations[pause.generation as usize];
        let word = match (from, shares) {
            (None, _) | (_, false) => "younger",
            _ => "balanced",
        };
        *generation
            .sharing
            .get_or_insert_default()
            .entry(word.to_owned())
            .or_default() += 1;
        if !shares {
            continue;
        }
        *generation.par_collections.as_mut().expect("counted") += 1;
        let before = pause.elapsed_ns;
        pause.elapsed_ns = (before as f64 * elapsed) as u64;
        saved += (before - pause.elapsed_ns.min(before)) as f64 - (pause.elapsed_ns.saturating_sub(before)) as f64;
        spent += before as f64 * (cpu - 1.0);
        let bytes = pause.copied_bytes.expect("counted");
        let parallel = pause.elapsed_ns / 10 * 9;
        let busy = [first, 1.0 - first].map(|part| part / first);
        for (thread, busy) in totals.iter_mut().zip(busy) {
            thread.copied_bytes += (bytes as f64 * busy * first) as u64;
            thread.work_ns += (parallel as f64 * busy * 0.9) as u64;
            thread.start_ns += (parallel as f64 * 0.02) as u64;
            thread.termination_ns += (parallel as f64 * (0.98 - busy * 0.9)) as u64;
        }
        (par_elapsed, par_shared, copied) = (par_elapsed + pause.elapsed_ns, par_shared + parallel, copied + bytes);
        balanced += bytes as f64 * 2.0 * (1.0 - first);
    }
    let add = |seconds: &mut Option<f64>, ns: f64| *seconds = seconds.map(|s| s + ns * 1e-9);
    add(&mut stats.gc_elapsed_seconds, -saved);
    add(&mut stats.total_elapsed_seconds, -saved);
    add(&mut stats.gc_cpu_seconds, spent);
    add(&mut stats.total_cpu_seconds, spent);
    if copied > 0 {
        stats.gc_threads = Some(totals.to_vec());
        stats.par_copied_bytes = Some(copied);
        stats.work_balance = Some(balanced / copied as f64);
        stats.par_elapsed_seconds = Some(par_elapsed as f64 * 1e-9);
        stats.par_shared_seconds = Some(par_shared as f64 * 1e-9);
    }
    stats.sync_elapsed_seconds = Some(stats.collections.len() as f64 * 900e-9);
    stats.max_sync_seconds = Some(900e-9);
}

/// Replaces the noise of the model, which hides every effect, by noise of `amount`.
fn steady(runs: &mut [RunRecord], amount: f64) {
    let mut noise = Noise::new(11);
    let mut firsts: BTreeMap<String, RunRecord> = BTreeMap::new();
    for run in runs {
        let mut flags = run.flags.clone();
        flags.remove("qg");
        flags.remove("N");
        flags.remove("qb");
        let key = format!("{} {flags:?}", run.workload);
        let first = firsts.entry(key).or_insert_with(|| run.clone());
        run.stats = first.stats.clone();
        let stats = run.stats.as_mut().expect("a good run");
        let factor = 1.0 + amount * (noise.next() - 0.5);
        for time in [
            &mut stats.total_elapsed_seconds,
            &mut stats.gc_elapsed_seconds,
            &mut stats.total_cpu_seconds,
        ] {
            *time = time.map(|t| t * factor);
        }
    }
}

/// Trees gain and lists lose.
fn runs() -> Vec<RunRecord> {
    let mut runs = synthetic::runs(&experiment());
    steady(&mut runs, 0.01);
    for run in &mut runs {
        match run.workload.as_str() {
            "binary_trees" => share(run, 0.6, 1.1, 0.55),
            _ => share(run, 1.3, 2.0, 0.97),
        }
    }
    runs
}

fn sweep() -> Vec<Axis> {
    synthetic::manifest(&experiment()).sweep
}

fn with_advice<R>(runs: &[RunRecord], look: impl FnOnce(&Advice<'_>) -> R) -> R {
    let sweep = sweep();
    let runs = kept(runs);
    let summary = Summary::of_runs(&runs, &sweep);
    look(&advice(&summary).expect("the sweep is about it"))
}

fn html(runs: &[RunRecord]) -> String {
    let parent = tempdir().expect("a folder");
    crate::html(&[write(parent.path(), synthetic::manifest(&experiment()), runs)])
}

/// The text of the section of charts: its headings, titles, points and its legend.
fn section(html: &str) -> String {
    let section = html.split("<h2>Parallel collection</h2>").nth(1).expect("the section");
    let section = section.split("<details>").next().expect("its end");
    let mut lines = Vec::new();
    for part in section.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag");
        let is = |name: &str| tag.split(' ').next() == Some(name);
        if (is("h3") || is("title") || is("span") || is("/svg") && !text.trim().is_empty()) && !text.trim().is_empty() {
            lines.push(text.trim().to_owned());
        }
    }
    lines.join("\n")
}

#[test]
fn markdown_of_a_sweep_over_qg() {
    let parent = tempdir().expect("a folder");
    let dir = write(parent.path(), synthetic::manifest(&experiment()), &runs());
    insta::assert_snapshot!(markdown(std::slice::from_ref(&dir)));
    insta::assert_snapshot!(terminal_within(&dir, Some(120)));
}

#[test]
fn charts_of_a_sweep_over_qg() {
    let html = html(&runs());
    insta::assert_snapshot!(section(&super::at_first(&html)));
    assert!(html.contains("How the work was shared") && html.contains("balanced; gen 1: "));
}

#[test]
fn each_best_setting_is_compared_with_the_same_one_switched_off() {
    let runs = runs();
    with_advice(&runs, |advice| {
        assert_eq!(advice.cases.len(), 4);
        for case in &advice.cases {
            assert_eq!(case.base.flag("qg"), "false");
            assert_eq!(case.base.flag("A"), case.on[0].flag("A"));
            assert_eq!(case.on.len(), 2);
            let mean =
                |group: &crate::summary::Group<'_>| group.spread(&crate::metric::TOTAL_ELAPSED).expect("times").mean;
            let ratio = case.time.expect("a ratio").ratio.estimate;
            assert!((ratio - mean(case.on[0]) / mean(case.base)).abs() < 1e-12);
            assert!(mean(case.on[0]) <= mean(case.on[1]), "the best comes first");
        }
        let effects: Vec<(&str, Effect)> = advice
            .cases
            .iter()
            .map(|c| (c.work.title.as_str(), c.time.expect("a time").effect()))
            .collect();
        assert!(
            effects.iter().all(|(title, effect)| *effect
                == if title.starts_with('b') {
                    Effect::Faster
                } else {
                    Effect::Slower
                }),
            "{effects:?}"
        );
        // Geometric means: of all cases, each setting over all of them.
        assert_eq!(advice.candidates.iter().map(|c| c.cases).collect::<Vec<_>>(), [4, 4]);
    });
}

/// The text of the advice, with these factors for all runs.
fn verdict(elapsed: f64, cpu: f64, noise: f64) -> Vec<String> {
    let mut runs = synthetic::runs(&experiment());
    steady(&mut runs, noise);
    runs.iter_mut().for_each(|run| share(run, elapsed, cpu, 0.5));
    with_advice(&runs, |advice| advice.text())
}

#[test]
fn the_recommendation_follows_the_interval() {
    assert!(verdict(0.6, 1.1, 0.01)[0].starts_with("Yes, with -qg0: the total time is 0."));
    assert!(
        verdict(1.4, 1.1, 0.01)[0]
            .starts_with("No, leave it off: even with -qg1, the best setting, the total time is 1.")
    );
    let same = &verdict(1.0, 2.0, 0.02)[0];
    assert!(same.starts_with("It makes no difference at ±5 %: with "), "{same}");
    assert!(same.contains("It costs CPU time, so leave it off"), "{same}");
    let same = &verdict(1.0, 1.0, 0.02)[0];
    assert!(same.ends_with("It may be on or off."), "{same}");
}

/// An interval that contains 1 and reaches far from it shows neither a difference nor that there is
/// none.
#[test]
fn noise_is_not_called_no_difference() {
    let text = verdict(1.0, 1.0, 0.8);
    assert!(
        text[0].starts_with("These runs cannot tell whether it helps: with ")
            && text[0].contains("; about ")
            && text[0].ends_with('.'),
        "{text:?}"
    );
    assert!(text[1].contains("cannot tell it from -qg"), "{text:?}");
    let mut runs = synthetic::runs(&experiment());
    steady(&mut runs, 0.8);
    runs.iter_mut().for_each(|run| share(run, 1.0, 1.0, 0.5));
    with_advice(&runs, |advice| {
        for case in &advice.cases {
            let verdict = case.verdict();
            assert!(verdict.starts_with("cannot tell; about "), "{verdict}");
        }
    });
}

#[test]
fn two_runs_are_too_few_and_no_shared_collection_is_nothing_to_turn_on() {
    let mut few = runs();
    few.retain(|run| run.round < 2);
    with_advice(&few, |advice| {
        assert!(
            advice.text()[0].starts_with("Too few runs to say"),
            "{:?}",
            advice.text()
        );
        assert!(
            advice
                .cases
                .iter()
                .all(|case| case.time.is_some_and(|time| time.effect() == Effect::TooFewRuns))
        );
    });
    let mut none = runs();
    for generation in none
        .iter_mut()
        .flat_map(|run| &mut run.stats.as_mut().expect("good").generations)
    {
        generation.par_collections = Some(0);
        generation.sharing = Some(BTreeMap::from([("too little".to_owned(), 3)]));
    }
    with_advice(&none, |advice| {
        assert_eq!(advice.text().len(), 1);
        assert!(
            advice.text()[0]
                .starts_with("No collection was shared among threads (binary_trees 14 A=1m: gen 0: 12 too little"),
            "{:?}",
            advice.text()
        );
    });
}

#[test]
fn a_setting_that_failed_is_not_recommended() {
    let mut runs = runs();
    let failed = runs
        .iter_mut()
        .find(|run| run.workload == "binary_trees" && run.flags["qg"] == "0" && run.flags["A"] == "1m");
    synthetic::fail(failed.expect("a run"), gclab_results::Status::Timeout, "");
    with_advice(&runs, |advice| {
        assert_eq!((advice.cases[0].best().as_str(), advice.cases[0].on.len()), ("-qg1", 1));
    });
    assert!(section(&html(&runs)).contains("GC speed-up"));
}

/// Without runs in which it is off, one capability is the base. With three numbers of capabilities
/// the charts are curves.
#[test]
fn a_sweep_over_n_is_a_curve_over_one_capability() {
    let curve = Experiment {
        sweep: vec![("N", vec!["1", "2", "4"]), ("A", vec!["1m"])],
        ..experiment()
    };
    let mut runs = synthetic::runs(&curve);
    steady(&mut runs, 0.01);
    for run in &mut runs {
        match run.flags["N"].as_str() {
            "1" => {}
            "2" => share(run, 0.6, 1.1, 0.5),
            _ => share(run, 0.4, 1.2, 0.5),
        }
    }
    let sweep = synthetic::manifest(&curve).sweep;
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &sweep);
    let advice = advice(&summary).expect("collections were shared");
    assert_eq!(advice.cases.len(), 4);
    assert!(
        advice
            .cases
            .iter()
            .all(|case| case.base.flag("N") == "1" && case.time.is_some_and(|time| time.effect() == Effect::Faster))
    );
    assert!(
        advice.text()[0].contains("default -qg") && advice.text()[0].contains("of that of the base"),
        "{:?}",
        advice.text()
    );
    let parent = tempdir().expect("a folder");
    let html = crate::html(&[write(parent.path(), synthetic::manifest(&curve), &runs)]);
    assert!(html.contains("Speed-up is the time of one capability"));
    let charts = html.split("<h2>Parallel collection</h2>").nth(1).expect("the section");
    assert!(charts.contains("GC speed-up") && charts.contains("<polyline"));
    assert!(section(&html).contains("parallel N=4: 2."), "{}", section(&html));
}

/// As in parallel.toml: one capability, two capabilities with and without parallel collection, and
/// load balancing at one size only. Programs with two threads gain by the second capability itself,
/// which must not be credited to the collector.
#[test]
fn the_base_has_parallel_collection_off_and_a_rare_setting_is_not_recommended() {
    let part = |sweep| Experiment { sweep, ..experiment() };
    let parts = [
        part(vec![("N", vec!["1"]), ("A", vec!["1m", "4m"])]),
        experiment(),
        part(vec![
            ("N", vec!["2"]),
            ("A", vec!["4m"]),
            ("qg", vec!["0"]),
            ("qb", vec!["false"]),
        ]),
    ];
    let mut runs: Vec<RunRecord> = parts.iter().flat_map(synthetic::runs).collect();
    // A configuration has the same noise however its collections are shared. Those with -qb take it
    // from the first configuration with the same -A.
    steady(&mut runs, 0.01);
    for run in &mut runs {
        let balanced = !run.flags.contains_key("qb");
        if run.flags["N"] == "2" {
            share(run, if balanced { 0.7 } else { 0.5 }, 1.1, 0.5);
        } else {
            let stats = run.stats.as_mut().expect("a good run");
            stats.total_elapsed_seconds = stats.total_elapsed_seconds.map(|t| t * 1.9);
        }
    }
    let sweep = [
        sweep(),
        vec![Axis {
            flag: "qb".to_owned(),
            values: vec!["false".to_owned()],
        }],
    ]
    .concat();
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &sweep);
    let advice = advice(&summary).expect("the sweep is about it");
    let cases: Vec<(&str, &str, String)> = advice
        .cases
        .iter()
        .map(|case| {
            (
                case.work.title.split(' ').next().unwrap_or_default(),
                case.setting.as_str(),
                case.best(),
            )
        })
        .collect();
    let case = |work, setting, best: &str| (work, setting, best.to_owned());
    assert_eq!(
        cases,
        [
            case("binary_trees", "N=2 A=1m", "-qg0"),
            case("binary_trees", "N=2 A=4m", "-qg0 -qb"),
            case("long_list", "N=2 A=1m", "-qg0"),
            case("long_list", "N=2 A=4m", "-qg0 -qb"),
        ]
    );
    assert!(
        advice
            .cases
            .iter()
            .all(|case| case.base.flag("N") == "2" && case.base.flag("qg") == "false")
    );
    let words: Vec<&str> = advice
        .candidates
        .iter()
        .map(|candidate| candidate.words.as_str())
        .collect();
    assert_eq!(words, ["-qg0", "-qg1"]);
    assert!(
        advice.candidates[0].time.ratio.estimate > 0.8,
        "{:?}",
        advice.candidates[0].time
    );
    assert!(advice.text()[0].starts_with("Yes, with -qg0: ") && advice.text()[0].contains(" of that without,"));
}

#[test]
fn other_sweeps_have_no_advice() {
    let dir = synthetic::fixture();
    assert!(advice(&Summary::of(&dir)).is_none());
    assert!(!crate::html(&[synthetic::fixture()]).contains("collections be parallel"));
    assert!(!terminal(&dir).contains("parallel"));
}

#[test]
fn csv_has_the_figures() {
    let parent = tempdir().expect("a folder");
    let text = csv(&[write(parent.path(), synthetic::manifest(&experiment()), &runs())]);
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let rows: Vec<::csv::StringRecord> = reader.records().map(|r| r.expect("a row")).collect();
    let number = |row: &::csv::StringRecord, name: &str| -> Option<f64> {
        row[header
            .iter()
            .position(|h| h == name)
            .unwrap_or_else(|| panic!("no column {name}"))]
        .parse()
        .ok()
    };
    for row in &rows {
        let on = number(row, "flag_qg").is_some();
        assert_eq!(number(row, "par_gcs").is_some_and(|n| n > 0.0), on);
        assert_eq!(number(row, "work_balance").is_some(), on);
        let sequential = number(row, "sequential_share");
        assert!(
            sequential.is_none_or(|share| (share - 0.1).abs() < 1e-3) && sequential.is_some() == on,
            "{sequential:?}"
        );
        assert!(
            number(row, "sync_elapsed_seconds").is_some_and(|s| s > 0.0)
                && number(row, "max_sync_seconds") == Some(9e-7)
        );
    }
}

/// Writes a report for people: `LOOK=folder cargo test -p gclab-report -- --ignored look`.
#[test]
#[ignore = "writes files for people to look at"]
fn look() {
    let out = std::path::PathBuf::from(std::env::var("LOOK").expect("LOOK names a folder"));
    std::fs::write(out.join("parallel.html"), html(&runs())).unwrap();
}
