//! The runner, with shell scripts as children, so that each way of ending really happens.

use std::fs;
use std::path::PathBuf;

use gclab_results::{Manifest, RunRecord, Status};

use super::fixed::{SweepEnd, sweep};
use super::*;
use crate::run::Combination;
use crate::runtime::Setting;

/// A folder with a plan, and a program that behaves as the workload's name says.
struct Bench {
    folder: tempfile::TempDir,
    program: PathBuf,
    plan: Vec<Run>,
}

/// Stands in for `gclab exec WORKLOAD --collector NAME --record FILE`. Each call appends a line to
/// `started` in its folder.
const SCRIPT: &str = r#"#!/bin/sh
workload=$2; collector=$4; record=$6
echo "$workload" >> "$(dirname "$0")/started"
sum=42
[ "$collector" = wrong ] && sum=43
line() { echo "{\"schema\":1,\"gclab\":\"x\",\"id\":\"x\",\"cell\":\"x\",\"collector\":\"$collector\",\"workload\":\"$workload\",\"args\":[],\"flags\":{},\"command\":[],\"round\":0,\"position\":0,\"seed\":0,\"outcome\":{\"status\":\"$1\"},\"checksum\":\"$sum\",\"max_rss_bytes\":4096}" > "$record"; }
case $workload in
  good) line ok; echo "good checksum=$sum";;
  full) line heap-exhausted; echo "Heap exhausted" >&2; exit 251;;
  mute) exit 0;;
  panic) echo "thread panicked" >&2; exit 101;;
  segfault) kill -SEGV $$;;
  refused) exit 2;;
  slow) sleep 1000;;
esac
"#;

impl Bench {
    fn new(collectors: &[&str], workloads: &[&str], repeat: u32) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("gclab");
        write_program(&program, SCRIPT);
        let mut manifest = Manifest::new("fake");
        let mut plan = Vec::new();
        for round in 0..repeat {
            for workload in workloads {
                for collector in collectors {
                    let combination = Combination::of_workload(workload, &[], collector, Setting::new());
                    plan.push(Run::new(&combination, round, plan.len() as u32));
                }
            }
        }
        manifest.plan = plan.iter().map(|run| run.planned.clone()).collect();
        ResultsDir::create(folder.path().join("results"), manifest).unwrap();
        Bench { folder, program, plan }
    }

    fn open(&self) -> ResultsDir {
        ResultsDir::open(self.folder.path().join("results")).unwrap()
    }

    fn sweep(&self, timeout: Duration) -> Vec<RunRecord> {
        let (end, runs) = self.sweep_to_any_end(timeout);
        assert_eq!(end, SweepEnd::Complete);
        runs
    }

    fn sweep_to_any_end(&self, timeout: Duration) -> (SweepEnd, Vec<RunRecord>) {
        let stop = Stop::listen().unwrap();
        let mut dir = self.open();
        let swept = sweep(
            &mut dir,
            &self.plan,
            &Sweep {
                program: &self.program,
                timeout,
                stop: &stop,
                environment: Environment::default(),
            },
            None,
        )
        .unwrap();
        // The runs on disk rather than those in memory.
        (swept, self.open().runs().to_vec())
    }

    fn started(&self) -> usize {
        fs::read_to_string(self.folder.path().join("started"))
            .unwrap_or_default()
            .lines()
            .count()
    }
}

/// Longer than any run takes, even on a busy machine.
const LONG: Duration = Duration::from_secs(600);

#[test]
fn each_end_has_its_own_outcome() {
    let bench = Bench::new(&["any"], &["good", "full", "mute", "panic", "segfault", "refused"], 1);
    let runs = bench.sweep(LONG);
    let crash = |exit_code, signal| Status::Crash { exit_code, signal };
    let expected = [
        ("good", Status::Ok),
        ("full", Status::HeapExhausted),
        ("mute", crash(Some(0), None)),
        ("panic", crash(Some(101), None)),
        ("segfault", crash(None, Some(libc::SIGSEGV))),
        ("refused", Status::Usage),
    ];
    assert_eq!(runs.len(), expected.len());
    for (run, (workload, status)) in runs.iter().zip(expected) {
        assert_eq!((run.workload.as_str(), &run.outcome), (workload, &status));
    }
    assert!(runs[3].stderr_tail.as_deref().unwrap().contains("thread panicked"));
    assert!(
        runs.iter()
            .all(|run| run.wall_seconds.is_some_and(|seconds| seconds > 0.0))
    );
    let resident: Vec<_> = runs.iter().map(|run| run.max_rss_bytes).collect();
    assert_eq!(resident[..2], [Some(4096); 2], "the runs' own figures");
}

#[test]
fn a_run_past_its_time_is_killed_and_the_sweep_continues() {
    // If the machine is so busy that the good run also reaches the limit, the next limit is longer.
    let limits = [400, 4_000, 40_000, 120_000].map(Duration::from_millis);
    let outcomes = limits.map(|limit| {
        move || {
            let bench = Bench::new(&["any"], &["slow", "good"], 1);
            let runs = bench.sweep(limit);
            runs.iter().map(|run| run.outcome.clone()).collect::<Vec<_>>()
        }
    });
    let all_late = [Status::Timeout, Status::Timeout];
    let outcomes = outcomes
        .iter()
        .map(|outcomes| outcomes())
        .find(|outcomes| *outcomes != all_late);
    assert_eq!(outcomes.as_deref(), Some(&[Status::Timeout, Status::Ok][..]));
}

#[test]
fn runs_that_are_done_are_not_repeated() {
    let bench = Bench::new(&["one", "two"], &["good"], 3);
    let first = bench.sweep(LONG);
    assert_eq!((first.len(), bench.started()), (6, 6));
    assert_eq!(bench.sweep(LONG), first);
    assert_eq!(bench.started(), 6);
    // As after the machine crashed: one line lost, one cut short.
    let file = bench.open().runs_file();
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&file, format!("{}\n{}", lines[..4].join("\n"), &lines[4][..20])).unwrap();
    let again = bench.sweep(LONG);
    assert_eq!((again.len(), bench.started()), (6, 8));
    assert_eq!(again[..4], first[..4], "the whole lines are unchanged");
}

/// However much times scatter, they can reach this precision after the pilot. A second sweep does
/// nothing.
#[test]
fn a_sweep_ends_when_its_times_are_precise() {
    let bench = Bench::new(&["one", "two"], &["good"], 40);
    let path = bench.open().path().join("plan.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen('{', "{\"precision\": 1e6,", 1)).unwrap();
    assert_eq!(bench.open().manifest().precision, Some(1e6));
    let (end, runs) = bench.sweep_to_any_end(LONG);
    assert_eq!(end, SweepEnd::Precise);
    assert_eq!(runs.len(), 2 * precision::PILOT);
    let started = bench.started();
    assert_eq!(bench.sweep_to_any_end(LONG), (SweepEnd::Precise, runs));
    assert_eq!(bench.started(), started);
}

#[test]
fn lines_of_other_runs_do_not_count_for_the_plan() {
    let bench = Bench::new(&["one", "two"], &["good"], 3);
    bench.sweep(LONG);
    let file = bench.open().runs_file();
    let text = fs::read_to_string(&file).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let id = bench.open().manifest().plan[2].id.clone();
    let line = lines.iter_mut().find(|line| line.contains(&id)).unwrap();
    *line = line.replace(&id, "ffffffffffffffff-0");
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    let dir = bench.open();
    assert_eq!((dir.done(), dir.strays()), (5, vec!["ffffffffffffffff-0"]));
    assert_eq!(bench.sweep(LONG).len(), 7);
    assert_eq!((bench.open().done(), bench.started()), (6, 7));
}

#[test]
fn a_deleted_file_of_runs_is_not_recreated() {
    let bench = Bench::new(&["one"], &["good"], 2);
    bench.sweep(LONG);
    let mut dir = bench.open();
    let run = dir.runs()[0].clone();
    fs::remove_file(dir.runs_file()).unwrap();
    let error = dir.append_run(run).unwrap_err().to_string();
    assert!(
        error.contains("runs.jsonl: cannot add a line to: No such file"),
        "{error}"
    );
    assert!(!dir.runs_file().exists());
}

#[test]
fn nothing_is_left_behind_but_the_results() {
    let bench = Bench::new(&["one"], &["good", "panic"], 1);
    bench.sweep(LONG);
    let mut names: Vec<_> = fs::read_dir(bench.folder.path().join("results"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["plan.json", "runs.jsonl"]);
}
