//! The summary of a run's log has the numbers that the run printed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gclab_core::collector::CollectorList;
use gclab_eventlog::{Merged, check};
use gclab_proof::tier;
use gclab_workloads::{All, WorkloadList};
use serde_json::Value;

use crate::support::Bench;

/// The values that `-t --machine-readable` prints, by key.
fn figures(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split("(\"").skip(1).filter_map(|pair| {
        let (key, rest) = pair.split_once("\", \"")?;
        Some((key.to_owned(), rest.split_once('"')?.0.to_owned()))
    });
    pairs.collect()
}

/// The keys whose values a log determines exactly.
fn is_exact(key: &str) -> bool {
    let exact = [
        "bytes allocated",
        "num_GCs",
        "average_bytes_used",
        "max_bytes_used",
        "num_byte_usage_samples",
        "GC_wall_seconds",
        "work_balance",
        "major_gcs",
        "copied_bytes",
        "max_slop_bytes",
        "par_copied_bytes",
        "cumulative_par_max_copied_bytes",
        "cumulative_par_balanced_copied_bytes",
        "cumulative_live_bytes",
    ];
    exact.contains(&key) || LOOKS.contains(&key) || key.starts_with("gen_") || key.starts_with("sparks_")
}

/// The keys for the time spent in looks at the heap.
const LOOKS: [&str; 4] = [
    "rp_wall_seconds",
    "hc_wall_seconds",
    "check_wall_seconds",
    "inspect_wall_seconds",
];

/// The keys whose values a log has within some microseconds, or some time slices on a busy system.
const NEARLY: [&str; 4] = [
    "init_wall_seconds",
    "mut_wall_seconds",
    "exit_wall_seconds",
    "total_wall_seconds",
];

/// How many seconds these values may differ.
const NEAR: f64 = 0.25;

/// Repeats the run and its log until `far` returns no value that differs by more: a busy machine
/// may interrupt a process between reading the clock and writing the event.
fn until_near(mut far: impl FnMut() -> Option<String>) {
    let begun = Instant::now();
    while let Some(far) = far() {
        assert!(begun.elapsed() < Duration::from_secs(120), "at each time: {far}");
    }
}

/// Runs a workload with a log and checks the log: it keeps every rule, and its summary has the
/// run's numbers. Returns how many were compared.
fn logged(bench: &Bench, workload: &[&str], collector: &str, flags: &[&str]) -> usize {
    let mut compared = 0;
    until_near(|| {
        let far;
        (compared, far) = compared_with_log(bench, workload, collector, flags);
        far
    });
    compared
}

/// How many values were compared, and one that differs by more than [`NEAR`].
fn compared_with_log(bench: &Bench, workload: &[&str], collector: &str, flags: &[&str]) -> (usize, Option<String>) {
    let run = [
        &["exec"],
        workload,
        &[
            "--collector",
            collector,
            "+RTS",
            "-l",
            "-olrun.eventlog",
            "-A64k",
            "-t",
            "--machine-readable",
        ],
        flags,
    ]
    .concat();
    let figures = figures(&bench.gclab(&run).exits(0).stderr);
    let path = bench.path().join("run.eventlog");
    let (complaints, events) = check(&mut Merged::open(&path, false).unwrap()).unwrap();
    let rules: Vec<_> = complaints.rules().iter().map(|rule| (rule.rule, &rule.first)).collect();
    assert!(rules.is_empty() && events > 20, "{run:?}: {events} events, {rules:#?}");
    let summary = bench
        .gclab(&["events", "summary", "run.eventlog", "--json"])
        .exits(0)
        .stdout;
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let summary = summary.as_object().unwrap();
    let (mut compared, mut far) = (0, None);
    for (key, figure) in figures {
        if NEARLY.contains(&key.as_str()) {
            let (found, figure) = (decimal(&summary[&key]), figure.parse::<f64>().unwrap());
            if (found - figure).abs() >= NEAR {
                far = Some(format!("{run:?}: {key} is {found}, expected {figure}"));
            }
            compared += 1;
            continue;
        }
        let Some(found) = summary.get(&key).filter(|_| is_exact(&key)) else {
            continue;
        };
        let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
        // Decimals are numbers in the JSON object.
        let number = |text: &str| text.parse::<f64>().ok();
        let same = found == figure || (number(&found).is_some() && number(&found) == number(&figure));
        assert!(same, "{run:?}: {key} is {found}, expected {figure}");
        compared += 1;
    }
    (compared, far)
}

/// A decimal of a summary.
fn decimal(value: &Value) -> f64 {
    value.as_str().unwrap_or(&value.to_string()).parse().unwrap()
}

#[test]
fn mut_of_a_log_spans_the_sessions_of_all_threads() {
    let bench = Bench::new();
    let run = [
        "exec",
        "server",
        "+RTS",
        "-l",
        "-olrun.eventlog",
        "-N2",
        "-t",
        "--machine-readable",
    ];
    until_near(|| {
        let figures = figures(&bench.gclab(&run).exits(0).stderr);
        let summary = ["events", "summary", "run.eventlog", "--json"];
        let summary: Value = serde_json::from_str(&bench.gclab(&summary).exits(0).stdout).unwrap();
        let (found, expected) = (
            decimal(&summary["mut_wall_seconds"]),
            figures["mut_wall_seconds"].parse::<f64>().unwrap(),
        );
        ((found - expected).abs() >= NEAR).then(|| format!("{found}, expected {expected}"))
    });
}

#[test]
fn every_log_keeps_the_rules_and_has_the_figures_of_its_run() {
    let bench = Bench::new();
    for (place, collector) in gclab_collectors::All::descriptions().into_iter().enumerate() {
        for (number, workload) in All::descriptions().into_iter().enumerate() {
            let words = [&[workload.name], workload.test.args].concat();
            for threads in tier::rows(&["-N1", "-N2"], place + number) {
                let compared = logged(&bench, &words, collector.name, &[threads]);
                assert!(compared >= 16, "{compared} figures of {words:?} were compared");
            }
        }
    }
}

/// Names and elapsed times of the lines of `-s`, such as `GC time`.
fn times(text: &str) -> Vec<(String, f64)> {
    let lines = text.lines().filter_map(|line| {
        let (name, rest) = line.trim().split_once(" ")?;
        let elapsed = rest.trim().strip_prefix("time")?.split_once('(')?.1;
        let elapsed = elapsed.trim().trim_start_matches('~').strip_suffix("s elapsed)")?;
        Some((name.to_owned(), elapsed.parse().ok()?))
    });
    lines.collect()
}

/// MUT used to include the time of censuses, which had no line of their own.
#[test]
fn a_summary_has_the_lines_of_the_text_of_its_run_also_with_censuses() {
    let bench = Bench::new();
    let once = |collector: &str, flags: &[&str], expected: &str| {
        let run = [
            &["exec", "gcbench", "12", "10", "20000", "--collector", collector, "+RTS"],
            &["-A256k", "-l", "-olrun.eventlog", "-s"][..],
            flags,
        ];
        let said = bench.gclab(&run.concat()).exits(0).stderr;
        let summary = bench.gclab(&["events", "summary", "run.eventlog"]).exits(0).stdout;
        let (theirs, ours) = (times(&said), times(&summary));
        let names = |times: &[(String, f64)]| times.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>().join(" ");
        let (case, expected) = (
            format!("{run:?}: {said}{summary}"),
            format!("INIT MUT GC {expected}EXIT Total"),
        );
        // This line is a percentage.
        let theirs: Vec<_> = theirs.into_iter().filter(|(name, _)| name != "%GC").collect();
        assert_eq!((names(&theirs), names(&ours)), (expected.clone(), expected), "{case}");
        let mut far = None;
        for ((name, theirs), (_, ours)) in theirs.iter().zip(&ours) {
            let difference = (theirs - ours).abs();
            let is_near = ["INIT", "MUT", "EXIT", "Total"].contains(&&name[..]);
            assert!(is_near || difference == 0.0, "{name}: {case}");
            if difference >= NEAR {
                far = Some(format!("{name}: {case}"));
            }
        }
        let start = |text: &str, what: &str| text.lines().find(|line| line.starts_with(what)).map(str::to_owned);
        assert!(start(&summary, "  TASKS: ").is_some(), "{case}");
        assert_eq!(start(&summary, "  SPARKS: "), start(&said, "  SPARKS: "), "{case}");
        far
    };
    let with = |collector: &str, flags: &[&str], expected: &str| until_near(|| once(collector, flags, expected));
    with("copying", &[], "");
    for (collector, flags, expected) in [
        ("copying", &["-hT", "-i0"][..], "RP PROF "),
        ("two-space", &["-hc", "-i0"], "RP PROF "),
        ("compacting", &["-hb", "-i0"], "RP PROF "),
        ("parallel", &["-hT", "-i0", "-N2"], "RP PROF "),
        ("parallel", &["-hr", "-i0", "-N2"], "RP PROF "),
        ("copying", &["-hT", "-i0", "-DS"], "RP PROF CHECK "),
        ("two-space", &["-DS"], "CHECK "),
    ] {
        with(collector, flags, expected);
        // Exact to the microsecond.
        logged(&bench, &["gcbench", "12", "10", "20000"], collector, flags);
    }
}
