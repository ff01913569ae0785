//! Event logs of an experiment: their runs, their files, and the report.

use std::fs;

use gclab_eventlog::{Interval, Summary};
use gclab_results::{ResultsDir, RunRecord, Status};

use crate::support::Bench;

/// Two collectors and two settings of two workloads, twice: 16 timed runs; four logs of hash_churn,
/// and none of gcbench.
const FILE: &str = r#"
question   = "How do the pauses lie together?"
collectors = ["two-space", "copying"]
workloads  = [{ name = "hash_churn", args = [64, 256, 20000] }, { name = "gcbench", args = [6, 8, 100], eventlog = false }]
eventlog   = true
repeat     = 2
[sweep]
A = ["64k", "128k"]
"#;
const TIMED: usize = 16;
const LOGGED: usize = 4;

fn done(file: &str) -> (Bench, ResultsDir) {
    let bench = Bench::new();
    bench.write("x.toml", file);
    bench.gclab(&["run", "x.toml", "--out", "out"]).exits(0);
    let results = ResultsDir::open(bench.path().join("out")).unwrap();
    (bench, results)
}

fn log(results: &ResultsDir, run: &RunRecord) -> Summary {
    let path = results.event_log(&run.file_stem());
    let (summary, damage) = Summary::of_file(&path, Interval::default(), true).unwrap();
    assert!(damage.is_none(), "{damage:?}");
    summary
}

#[test]
fn a_log_is_one_run_of_each_configuration_and_in_no_statistic() {
    let (bench, results) = done(FILE);
    assert_eq!((results.runs().len(), results.logged().len()), (TIMED, LOGGED));
    assert!(results.runs().iter().all(|run| run.eventlog.is_none()));
    let mut logs: Vec<String> = fs::read_dir(bench.path().join("out/eventlogs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let stems = results
        .logged()
        .iter()
        .map(|run| format!("{}.eventlog", run.file_stem()));
    let mut expected: Vec<String> = stems.collect();
    logs.sort();
    expected.sort();
    assert_eq!(logs, expected);
    assert!(!bench.path().join("out/.scratch").exists());
    for run in results.logged() {
        assert_eq!((&run.outcome, run.workload.as_str()), (&Status::Ok, "hash_churn"));
        assert_eq!(run.command.last().map(String::as_str), Some("-l"), "{:?}", run.command);
        let (summary, stats) = (log(&results, run), run.stats.as_ref().unwrap());
        assert_eq!(summary.collections, stats.gcs);
        assert_eq!(summary.allocated, stats.allocated_bytes);
    }
    let csv = bench.gclab(&["report", "out", "--format", "csv"]).exits(0).stdout;
    assert_eq!(csv.lines().count(), 1 + TIMED);
    // A table with two rows for each log, or one if both are equal, and two charts on the page.
    let text = bench.gclab(&["report", "out", "--format", "markdown"]).exits(0).stdout;
    for kind in ["the program", "a capability"] {
        let rows = text.lines().filter(|line| line.contains(&format!("| {kind} |")));
        let count = rows.count();
        assert!(count == LOGGED || kind == "a capability" && count < LOGGED, "{text}");
    }
    let page = fs::read_to_string(bench.path().join("out/report.html")).unwrap();
    for chart in ["utilisation, %</title>", "allocated, MiB</title>"] {
        assert_eq!(page.matches(chart).count(), LOGGED, "{chart}");
    }
}

#[test]
fn the_plan_says_which_runs_have_logs() {
    let bench = Bench::new();
    bench.write("x.toml", FILE);
    let plan = bench.gclab(&["run", "x.toml", "--dry-run=commands"]).exits(0);
    let (logged, timed): (Vec<&str>, Vec<&str>) =
        plan.stdout.lines().partition(|line| line.ends_with(" -l  # event log"));
    assert_eq!((timed.len(), logged.len()), (TIMED, LOGGED), "{}", plan.stdout);
    assert!(
        plan.stderr.starts_with("16 runs in 2 rounds (") && plan.stderr.contains("), and 4 event logs: "),
        "{}",
        plan.stderr
    );
}

/// A log whose line is missing is written again in full.
#[test]
fn resumes_with_the_missing_logs() {
    let (bench, results) = done(FILE);
    let file = results.runs_file();
    let text = fs::read_to_string(&file).unwrap();
    let kept: String = text.split_inclusive('\n').take(TIMED + 1).collect();
    fs::write(&file, &kept).unwrap();
    for run in &results.logged()[1..] {
        fs::write(results.event_log(&run.file_stem()), "half").unwrap();
    }
    let again = bench.gclab(&["run", "x.toml", "--out", "out"]).exits(0);
    assert!(
        again.stderr.contains("continuing, 17 of 20 runs are done"),
        "{}",
        again.all()
    );
    let results = ResultsDir::open(bench.path().join("out")).unwrap();
    assert_eq!(results.logged().len(), LOGGED);
    assert!(
        results
            .logged()
            .iter()
            .all(|run| log(&results, run).collections > Some(0))
    );
}

/// A run that exhausted its heap has a log up to its end.
#[test]
fn a_log_of_a_heap_that_ran_out() {
    let file = r#"
        collectors = ["copying"]
        workloads  = [{ name = "long_list", args = [100000, 200000], eventlog = true }]
        repeat     = 1
        [flags]
        M = "4m"
        A = "64k"
    "#;
    let (bench, results) = done(file);
    let run = &results.logged()[0];
    assert_eq!(run.outcome, Status::HeapExhausted);
    let shown = bench.gclab(&["report", "out", "--format", "markdown"]).exits(0).stdout;
    assert!(
        shown.contains("the run ended as heap exhausted; ") && shown.contains("| the program |"),
        "{shown}"
    );
}

#[test]
fn the_parts_of_a_plan_keep_their_logs() {
    let bench = Bench::new();
    bench.write("x.toml", FILE);
    // The groups are four of rounds and workloads, then the logs of hash_churn.
    for part in 1..=5 {
        let (shard, out) = (format!("{part}/5"), format!("part{part}"));
        bench
            .gclab(&["run", "x.toml", "--shard", &shard, "--out", &out])
            .exits(0);
    }
    let fifth = ResultsDir::open(bench.path().join("part5")).unwrap();
    assert_eq!((fifth.runs().len(), fifth.logged().len()), (0, LOGGED));
    let words = [
        "report", "part1", "part2", "part3", "part4", "part5", "--format", "markdown",
    ];
    let all = bench.gclab(&words).exits(0).stdout;
    assert!(
        all.matches("| the program |").count() == LOGGED && !all.contains("no figures"),
        "{all}"
    );
    let alone = bench
        .gclab(&["report", "part5", "--format", "markdown"])
        .exits(0)
        .stdout;
    assert!(alone.contains("| copying A=64k | the program |"), "{alone}");
}
