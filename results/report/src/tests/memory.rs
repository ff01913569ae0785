//! Which collector for which budget? Reports of experiments whose heaps are multiples of the least
//! heap.

use super::synthetic::{self, Experiment, Noise, fail, write};
use crate::analysis::memory::{Budget, Budgets, Standing, budgets};
use crate::folder::kept;
use crate::markdown;
use crate::render::terminal_within;
use crate::summary::Summary;
use gclab_results::{CollectionRecord, Configuration, Manifest, Minimum, PlannedRun, RunRecord, Status};
use tempfile::tempdir;

const MULTIPLES: [&str; 5] = ["1", "1.5", "2", "3", "6"];

fn experiment() -> Experiment {
    Experiment {
        name: "memory",
        question: "How much memory buys how much time?",
        collectors: vec!["compacting", "copying", "two-space"],
        workloads: vec![
            ("binary_trees", vec!["14"], 24.0, 4.0),
            ("long_list", vec![], 12.0, 2.5),
        ],
        sweep: vec![("M", MULTIPLES.to_vec())],
        repeat: 4,
        seed: 3,
    }
}

/// The reference minimum of a workload.
fn least(workload: &str) -> u64 {
    if workload == "binary_trees" { 10 << 20 } else { 5 << 20 }
}

pub(super) fn manifest() -> Manifest {
    let mut manifest = synthetic::manifest(&experiment());
    manifest.heap = MULTIPLES.iter().map(|text| text.parse().unwrap()).collect();
    manifest.sweep.clear();
    for planned in &mut manifest.plan {
        let multiple: f64 = planned.flags["M"].parse().unwrap();
        let bytes = (multiple * least(&planned.workload) as f64) as u64;
        let configuration = Configuration {
            workload: planned.workload.clone(),
            args: planned.args.clone(),
            collector: planned.collector.clone(),
            flags: [("M".to_owned(), bytes.to_string())].into(),
            ..Configuration::default()
        };
        *planned = PlannedRun {
            heap_multiple: Some(multiple),
            ..PlannedRun::new(configuration, planned.round, planned.position)
        };
    }
    for (workload, args, ..) in experiment().workloads {
        for (collector, factor) in [("compacting", 1.0), ("copying", 1.7), ("two-space", 2.0)] {
            manifest.minima.push(Minimum {
                collector: collector.into(),
                workload: workload.into(),
                args: args.iter().map(|arg| arg.to_string()).collect(),
                minimum_bytes: Some((least(workload) as f64 * factor) as u64),
                probes: 12,
                note: (collector == "copying" && workload == "long_list")
                    .then(|| "not monotone: 8 MiB completes, 9 MiB does not".into()),
                ..Minimum::default()
            });
        }
    }
    manifest
}

/// The seconds of the mutator and of the collector at a multiple of the least heap; `None` where
/// the collector fails.
fn model(collector: &str, multiple: f64) -> Option<(f64, f64)> {
    Some(match collector {
        // At the least heap it collects all the time. Copying needs room for copies, and is fast
        // where it has that room.
        "compacting" => (1.0, 0.5 + 0.6 / (multiple - 0.8)),
        "copying" if multiple >= 2.0 => (1.0, 0.1 + 0.8 / (multiple - 1.0)),
        // At six times the least heap the only difference is noise.
        "two-space" if multiple >= 3.0 => (1.0, 0.02 + 1.2 / (multiple - 1.0)),
        _ => return None,
    })
}

pub(super) fn runs(manifest: &Manifest) -> Vec<RunRecord> {
    let mut noise = Noise::new(5);
    let run = |planned: &PlannedRun| {
        let mut run = synthetic::run(&experiment(), planned);
        let multiple = planned.heap_multiple.unwrap();
        match model(&planned.collector, multiple) {
            None if planned.collector == "two-space" && multiple == 2.0 => fail(&mut run, Status::Timeout, ""),
            None => fail(&mut run, Status::HeapExhausted, "gclab: Heap exhausted;"),
            Some((mutator, gc)) => {
                let factor =
                    if planned.workload == "long_list" { 0.5 } else { 1.0 } * (1.0 + 0.02 * (noise.next() - 0.5));
                let stats = run.stats.as_mut().unwrap();
                stats.mut_elapsed_seconds = Some(mutator * factor);
                stats.gc_elapsed_seconds = Some(gc * factor);
                stats.total_elapsed_seconds = Some((mutator + gc) * factor);
                stats.peak_in_use_bytes = Some((least(&planned.workload) as f64 * multiple * 0.97) as u64);
            }
        }
        run
    };
    manifest.plan.iter().map(run).collect()
}

fn with_budgets<R>(runs: &[RunRecord], look: impl FnOnce(&Budgets) -> R) -> R {
    let runs = kept(runs);
    let summary = Summary::of_runs(&runs, &[]);
    look(&budgets(&summary).expect("heaps are multiples"))
}

pub(super) fn html(manifest: Manifest, runs: &[RunRecord]) -> String {
    let parent = tempdir().expect("a folder");
    crate::html(&[write(parent.path(), manifest, runs)])
}

#[test]
fn the_multiple_is_an_axis_in_the_place_of_bytes() {
    let runs = runs(&manifest());
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let axes: Vec<_> = summary
        .axes
        .iter()
        .map(|axis| (axis.flag.as_str(), axis.values.join(" ")))
        .collect();
    assert_eq!(axes, [("heap", MULTIPLES.join(" "))]);
    let labels: Vec<_> = summary.works[1]
        .groups
        .iter()
        .take(4)
        .map(|group| group.label(&summary.axes))
        .collect();
    assert_eq!(
        labels,
        [
            "compacting heap=1",
            "copying heap=1",
            "two-space heap=1",
            "compacting heap=1.5"
        ]
    );
    assert!(
        summary
            .groups()
            .all(|group| group.runs.len() == 4 && group.configuration.flags.contains_key("M"))
    );
}

#[test]
fn the_fastest_that_completes_everything_is_recommended() {
    with_budgets(&runs(&manifest()), |found| {
        assert_eq!(found.contenders, ["compacting", "copying", "two-space"]);
        let fastest = |budget: &Budget| {
            let mut all: Vec<usize> = budget.best.into_iter().chain(budget.as_good.iter().copied()).collect();
            all.sort();
            all
        };
        let fastest: Vec<Vec<usize>> = found.budgets.iter().map(fastest).collect();
        assert_eq!(fastest, [vec![0], vec![0], vec![1], vec![1], vec![1, 2]]);
        // The best time is that of copying with six times the least heap. The noise is one percent.
        let (mutator, gc) = model("copying", 6.0).unwrap();
        for budget in &found.budgets {
            for (name, standing) in found.contenders.iter().zip(&budget.standings) {
                match (model(name, budget.multiple), standing) {
                    (Some((m, g)), Standing::Completes(ratio)) => {
                        let expected = (m + g) / (mutator + gc);
                        assert!(
                            (ratio.estimate / expected - 1.0).abs() < 0.02,
                            "{name} {}: {ratio:?}",
                            budget.multiple
                        );
                        assert!(
                            ratio
                                .ci95
                                .is_some_and(|ci| ci.low < ratio.estimate && ratio.estimate < ci.high)
                        );
                    }
                    (None, Standing::Fails(works)) => {
                        let why = if name == "two-space" && budget.multiple == 2.0 {
                            "thrashing"
                        } else {
                            "heap exhausted"
                        };
                        let expected = [("binary_trees 14".to_owned(), why), ("long_list".to_owned(), why)];
                        assert_eq!(works, &expected);
                    }
                    other => panic!("{name} {}: {other:?}", budget.multiple),
                }
            }
        }
        insta::assert_snapshot!(found.text.join("\n"));
    });
}

/// A mean over the other workloads would flatter a contender that fails on one.
#[test]
fn a_contender_that_fails_on_one_workload_has_no_time() {
    let mut runs = runs(&manifest());
    let fails = |run: &RunRecord| {
        run.collector == "copying" && run.heap_multiple == Some(6.0) && run.workload == "long_list" && run.round == 2
    };
    let run = runs.iter_mut().find(|run| fails(run)).unwrap();
    fail(run, Status::HeapExhausted, "");
    with_budgets(&runs, |found| {
        let budget = found.budgets.last().unwrap();
        assert_eq!(
            budget.standings[1],
            Standing::Fails(vec![("long_list".into(), "heap exhausted")])
        );
        assert_ne!(budget.best, Some(1));
        assert!(found.text[1].contains("copying more than 6×"), "{}", found.text[1]);
    });
}

#[test]
fn no_contender_completes_or_only_one() {
    let all = runs(&manifest());
    let only = |collector: &str| {
        all.iter()
            .filter(|run| run.collector == collector)
            .cloned()
            .collect::<Vec<_>>()
    };
    with_budgets(&only("two-space"), |found| {
        assert_eq!(
            found.text,
            [
                "From 1× to 2× the least heap: no contender completes any of them. From 3× to 6× the least heap: two-space completes both workloads."
            ]
        );
    });
    let few: Vec<RunRecord> = all.iter().filter(|run| run.round == 0).cloned().collect();
    with_budgets(&few, |found| {
        assert!(
            found.budgets[4].as_good.len() == 2,
            "without intervals every difference may be noise: {:?}",
            found.budgets[4]
        );
    });
    let none = synthetic::small_runs();
    assert!(budgets(&Summary::of_runs(&kept(&none), &[])).is_none());
}

#[test]
fn exhausted_and_thrashing_runs_are_results_and_crashes_are_not() {
    let manifest = manifest();
    let mut runs = runs(&manifest);
    let page = html(manifest.clone(), &runs);
    assert!(
        !page.contains("Failed runs") && !page.contains("did not end well. They enter"),
        "no failure"
    );
    let crash = Status::Crash {
        exit_code: None,
        signal: Some(11),
    };
    fail(&mut runs[7], crash, "last words");
    let page = html(manifest, &runs);
    assert!(
        page.contains("Failed runs") && page.contains(" 1 of 120 runs did not end well")
            || page.contains("1 of 120 runs did not end well")
    );
    assert!(page.contains("last words"));
}

#[test]
fn markdown_of_a_sweep_over_heaps() {
    let manifest = manifest();
    let runs = runs(&manifest);
    let parent = tempdir().expect("a folder");
    let dirs = [write(parent.path(), manifest, &runs)];
    let text = markdown(&dirs);
    let part = text.split("### binary").next().unwrap();
    insta::assert_snapshot!(part);
    let table = terminal_within(&dirs[0], None);
    let answer = table
        .split("\nAnswer (4 runs of each configuration)\n")
        .nth(1)
        .expect("an answer");
    assert!(
        answer.starts_with("  From 1× to 1.5× the least heap: only compacting"),
        "{answer}"
    );
}

#[test]
fn curves_of_time_and_space() {
    let manifest = manifest();
    let runs = runs(&manifest);
    let page = super::at_first(&html(manifest, &runs));
    let section = page
        .split("<h2>Time against memory</h2>")
        .nth(1)
        .unwrap()
        .split("</section>")
        .next()
        .unwrap();
    assert_eq!(
        section.matches(r#"<svg class="chart""#).count(),
        6,
        "three for each workload"
    );
    for title in ["Total time, over the best", "GC time, s", "Peak heap, MiB"] {
        assert_eq!(section.matches(&format!(": {title}</title>")).count(), 2, "{title}");
    }
    // Each chart has bands of three collectors, and crosses: copying at two multiples, two-space at
    // three.
    assert_eq!(section.matches(r#"fill-opacity="0.16""#).count(), 6 * 3);
    assert_eq!(section.matches("4 heap exhausted</title><path").count(), 6 * 4);
    // Crosses at one multiple stand one above the other and share their reason.
    assert_eq!(section.matches(">heap exhausted</text>").count(), 6 * 2);
    assert_eq!(section.matches(">thrashing</text>").count(), 6);
    assert!(section.contains("<title>two-space at 2×: 4 timeout</title>"));
    assert!(
        !page.contains("<h2>Time and memory</h2>"),
        "the curves have all its figures"
    );
    for wrong in ["NaN", "inf"] {
        assert!(!section.contains(wrong), "{wrong}");
    }
}

/// Each collector has one chart, all at the same budget: that of the fastest configuration.
#[test]
fn memory_over_time() {
    let manifest = manifest();
    let mut runs = runs(&manifest);
    for run in &mut runs {
        let collections = run.stats.iter_mut().flat_map(|stats| &mut stats.collections);
        for (number, pause) in collections.enumerate() {
            pause.slop_bytes = Some(1 << 20);
            pause.in_use_bytes = Some((8 + number as u64) << 20);
        }
        // The collection at the end of a run is not the program's: nothing is alive in it.
        for collections in run.stats.iter_mut().map(|stats| &mut stats.collections) {
            let last = collections.last().cloned().unwrap_or_default();
            collections.push(CollectionRecord {
                cause: Some("final".to_owned()),
                major: true,
                in_use_bytes: Some(700 << 20),
                live_bytes: Some(600 << 20),
                ..last
            });
        }
    }
    let page = super::at_first(&html(manifest.clone(), &runs));
    let section = page
        .split("<h2>Memory over time</h2>")
        .nth(1)
        .unwrap()
        .split("</section>")
        .next()
        .unwrap();
    assert!(!section.contains("live 600"), "of the collection at the end: {section}");
    assert!(!section.contains(">800</text>"), "the axis has room for it: {section}");
    for (work, collectors) in [("binary_trees 14", 3), ("long_list", 3)] {
        let part = section
            .split(&format!("<h3>{work}, heap=6</h3>"))
            .nth(1)
            .unwrap()
            .split("<h3>")
            .next()
            .unwrap();
        assert_eq!(part.matches(": memory, MiB</title>").count(), collectors, "{work}");
        assert_eq!(part.matches("<polyline").count(), collectors, "in use");
        assert!(part.matches("<title>live ").count() >= collectors, "{work}");
    }
    // Without these figures there is no section.
    for pause in runs
        .iter_mut()
        .flat_map(|run| run.stats.iter_mut())
        .flat_map(|stats| &mut stats.collections)
    {
        pause.in_use_bytes = None;
    }
    assert!(!html(manifest, &runs).contains("Memory over time"));
}

/// Writes a report for people: `LOOK=folder cargo test -p gclab-report -- --ignored look`.
#[test]
#[ignore = "writes a file for people to look at"]
fn look_at_curves() {
    let out = std::path::PathBuf::from(std::env::var("LOOK").expect("LOOK names a folder"));
    let manifest = manifest();
    let runs = runs(&manifest);
    std::fs::write(out.join("memory.html"), html(manifest, &runs)).unwrap();
}
