//! Results folders: round trips, and the ways in which they can be damaged.

use crate::synthetic::{self, runs, small, write};
use gclab_results::{Configuration, Generation, Manifest, PlannedRun, ResultsDir, ResultsError, RunRecord, Status};
use std::fs;
use std::io::Write;
use std::path::Path;
use tempfile::{TempDir, tempdir};

/// The runs of the small experiment as a folder lists them, without their collections.
fn small_runs() -> Vec<RunRecord> {
    let mut runs = synthetic::small_runs();
    runs.iter_mut().for_each(|run| run.collections = None);
    runs
}

fn written(runs: &[RunRecord]) -> (TempDir, ResultsDir) {
    let parent = tempdir().expect("a temporary folder");
    let dir = write(parent.path(), synthetic::manifest(&small()), runs);
    (parent, dir)
}

fn append_raw(dir: &ResultsDir, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(dir.runs_file())
        .expect("runs.jsonl opens");
    file.write_all(bytes).expect("and can be written");
}

fn message(path: &Path) -> String {
    let error = ResultsDir::open(path).expect_err("this folder is damaged").to_string();
    error.replace(&path.display().to_string(), "DIR")
}

#[test]
fn written_runs_read_back() {
    let runs = small_runs();
    let (_parent, dir) = written(&runs);
    let again = ResultsDir::open(dir.path()).expect("it reads");
    assert_eq!(again.runs(), runs);
    assert_eq!(again.runs(), dir.runs());
    assert_eq!(again.manifest(), dir.manifest());
    assert_eq!(again.torn(), None);
    assert!(again.is_done(&runs[3].id) && !again.is_done("no run"));
}

#[test]
fn the_committed_folder_is_what_the_model_makes() {
    let path = Path::new(super::FIXTURES).join("small");
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        let _ = fs::remove_dir_all(&path);
        write(
            path.parent().expect("below fixtures"),
            synthetic::manifest(&small()),
            &synthetic::small_runs(),
        );
    }
    let dir = ResultsDir::open(&path).unwrap();
    assert_eq!(dir.manifest(), &synthetic::manifest(&small()));
    assert_eq!(dir.runs(), small_runs(), "UPDATE_FIXTURES=1 makes it anew");
}

/// Every key survives, each with a distinct value, and times keep their last bit.
#[test]
fn every_field_survives() {
    let mut run = small_runs().swap_remove(0);
    let stats = run.stats.as_mut().expect("a good run");
    stats.work_balance = Some(0.1 + 0.2);
    stats.par_copied_bytes = Some(u64::MAX);
    stats.capabilities = Some(4);
    stats.cumulative_live_bytes = Some(11);
    stats.max_large_objects_bytes = Some(12);
    stats.gc_cpu_seconds = Some(1.0 / 3.0);
    stats.total_cpu_seconds = Some(f64::MIN_POSITIVE);
    stats.generations = vec![Generation {
        collections: 3,
        par_collections: Some(1),
        cpu_seconds: Some(0.5),
        elapsed_seconds: Some(0.25),
        max_pause_seconds: Some(0.125),
        ..Generation::default()
    }];
    run.host = Some("näme \"with\" \u{1} oddities\n".to_owned());
    run.seed = u64::MAX;
    let (_parent, dir) = written(std::slice::from_ref(&run));
    assert_eq!(ResultsDir::open(dir.path()).expect("it reads").runs(), [run]);
}

#[test]
fn figures_that_were_not_measured_are_not_written() {
    let (_parent, dir) = written(&[RunRecord::default()]);
    let line = fs::read_to_string(dir.runs_file()).expect("a line");
    for absent in ["wall_seconds", "stats", "checksum", "stderr_tail", "null"] {
        assert!(!line.contains(absent), "{absent} in {line}");
    }
}

#[test]
fn times_that_are_not_numbers_come_back_as_absent() {
    let mut run = small_runs().swap_remove(0);
    run.wall_seconds = Some(f64::NAN);
    run.stats.as_mut().expect("a good run").gc_cpu_seconds = Some(f64::INFINITY);
    let (_parent, dir) = written(&[run]);
    let again = ResultsDir::open(dir.path()).expect("it reads");
    assert_eq!(again.runs()[0].wall_seconds, None);
    assert_eq!(again.runs()[0].stats.as_ref().and_then(|s| s.gc_cpu_seconds), None);
}

#[test]
fn every_outcome_survives() {
    let crash = |exit_code, signal| Status::Crash { exit_code, signal };
    let outcomes = [
        Status::Ok,
        Status::HeapExhausted,
        Status::Usage,
        crash(Some(101), None),
        crash(None, Some(9)),
        crash(None, None),
        Status::Timeout,
    ];
    for outcome in outcomes {
        let text = serde_json::to_string(&outcome).expect("JSON");
        assert_eq!(serde_json::from_str::<Status>(&text).expect("reads"), outcome, "{text}");
    }
}

/// The process was killed while it wrote a line: no earlier run is lost, and the folder can be
/// continued.
#[test]
fn a_torn_last_line_costs_only_itself() {
    let runs = small_runs();
    let (_parent, dir) = written(&runs[..2]);
    let line = fs::read(dir.runs_file()).expect("two lines");
    let first = line.iter().position(|&b| b == b'\n').expect("a line end") + 1;
    for cut in first + 1..line.len() - 1 {
        fs::write(dir.runs_file(), &line[..cut]).expect("can be written");
        let mut again = ResultsDir::open(dir.path()).unwrap_or_else(|e| panic!("cut at {cut}: {e}"));
        assert_eq!(again.runs(), &runs[..1], "cut at {cut}");
        assert_eq!(
            again.torn().map(|t| (t.line, t.bytes)),
            Some((2, cut - first)),
            "cut at {cut}"
        );
        if cut % 97 == 0 || cut == first + 1 {
            again.append_run(runs[1].clone()).expect("it goes on");
            assert_eq!(again.torn(), None);
            assert_eq!(fs::read(dir.runs_file()).expect("two lines"), line, "cut at {cut}");
        }
    }
}

/// Only the newline is missing: the run is complete and counts.
#[test]
fn a_whole_line_without_its_end_counts() {
    let runs = small_runs();
    let (_parent, dir) = written(&runs[..2]);
    let all = fs::read(dir.runs_file()).expect("two lines");
    fs::write(dir.runs_file(), &all[..all.len() - 1]).expect("can be written");
    let mut again = ResultsDir::open(dir.path()).expect("it reads");
    assert_eq!((again.runs().len(), again.torn()), (2, None));
    again.append_run(runs[2].clone()).expect("it goes on");
    assert_eq!(ResultsDir::open(dir.path()).expect("it reads").runs(), &runs[..3]);
}

/// The disk fills up while a line is written: the error says so, and no run is lost when the folder
/// is continued later.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_costs_only_the_line() {
    let runs = small_runs();
    let (_parent, mut dir) = written(&[]);
    std::os::unix::fs::symlink("/dev/full", dir.runs_file()).expect("a link");
    let error = dir
        .append_run(runs[0].clone())
        .expect_err("/dev/full is full")
        .to_string();
    assert!(
        error.contains("runs.jsonl: cannot add a line to: No space left"),
        "{error}"
    );
    assert!(dir.runs().is_empty() && !dir.is_done(&runs[0].id));
    fs::remove_file(dir.runs_file()).expect("the link goes");
    // Half of the line had been written when the disk filled up.
    fs::write(dir.runs_file(), "{\"schema\": 1, \"gcl").expect("can be written");
    dir.append_run(runs[0].clone()).expect("there is room again");
    assert_eq!(ResultsDir::open(dir.path()).expect("it reads").runs(), &runs[..1]);
}

#[test]
fn a_power_cut_leaves_zeros() {
    let runs = small_runs();
    let (_parent, dir) = written(&runs[..1]);
    append_raw(&dir, &[0; 100]);
    let again = ResultsDir::open(dir.path()).expect("it reads");
    assert_eq!((again.runs().len(), again.torn().map(|t| t.bytes)), (1, Some(100)));
}

#[test]
fn damage_elsewhere_names_file_and_line() {
    let runs = small_runs();
    let (_parent, dir) = written(&runs[..1]);
    append_raw(&dir, b"{\"gclab\": \"0.1.0\"}\n");
    insta::assert_snapshot!(message(dir.path()), @"DIR/runs.jsonl:2: column 18: not what gclab writes: missing field `command`");

    let (_parent, dir) = written(&runs[..1]);
    append_raw(&dir, b"{\"gclab\n");
    insta::assert_snapshot!(message(dir.path()), @"DIR/runs.jsonl:2: column 7: not what gclab writes: EOF while parsing a string");

    let (_parent, dir) = written(&runs[..1]);
    append_raw(&dir, b"\n\xff\xfe\n");
    insta::assert_snapshot!(message(dir.path()), @"DIR/runs.jsonl:3: not UTF-8 text: invalid utf-8 sequence of 1 bytes from index 0");

    let (_parent, dir) = written(&[]);
    fs::write(dir.path().join("plan.json"), "{\n  \"gclab\": 7\n}\n").expect("can be written");
    insta::assert_snapshot!(message(dir.path()), @"DIR/plan.json:2: column 12: not what gclab writes: invalid type: integer `7`, expected a string");
}

#[test]
fn one_run_with_two_results_is_an_error_and_a_copy_is_not() {
    let mut runs = small_runs();
    let (_parent, dir) = written(&runs[..2]);
    append_raw(&dir, serde_json::to_string(&runs[1]).expect("JSON").as_bytes());
    append_raw(&dir, b"\n");
    assert_eq!(ResultsDir::open(dir.path()).expect("it reads").runs().len(), 2);
    runs[1].wall_seconds = Some(9.0);
    append_raw(&dir, serde_json::to_string(&runs[1]).expect("JSON").as_bytes());
    append_raw(&dir, b"\n");
    let text = message(dir.path()).replace(&runs[1].id, "ID");
    insta::assert_snapshot!(text, @"DIR/runs.jsonl:4: run ID is already on line 2, with other figures");
}

#[test]
fn keys_of_later_versions_are_ignored() {
    let runs = small_runs();
    let (_parent, dir) = written(&[]);
    let line = serde_json::to_string(&runs[0])
        .expect("JSON")
        .replacen('{', "{\"energy_joules\":12.5,", 1);
    append_raw(&dir, format!("{line}\n").as_bytes());
    assert_eq!(ResultsDir::open(dir.path()).expect("it reads").runs(), &runs[..1]);
}

#[test]
fn folders_without_a_plan_and_folders_with_one() {
    let parent = tempdir().expect("a temporary folder");
    insta::assert_snapshot!(message(parent.path()), @"DIR: not a results folder: it has no plan.json");
    let dir = ResultsDir::create(parent.path().join("a/b"), Manifest::new("b")).expect("made with those above it");
    assert!(matches!(
        ResultsDir::create(dir.path(), Manifest::new("b")),
        Err(ResultsError::Exists { .. })
    ));
    assert_eq!(ResultsDir::open(dir.path()).expect("empty is fine").runs(), []);
    fs::write(parent.path().join("file"), "").expect("a file");
    let error = ResultsDir::create(parent.path().join("file"), Manifest::new("x")).expect_err("a file is in the way");
    assert!(error.to_string().contains("cannot make the folder"), "{error}");
}

/// The collections are kept beside the runs, in few bytes, and a line without a run is ignored.
#[test]
fn collections_are_in_a_file_of_their_own() {
    let runs = runs(&small());
    let (_parent, dir) = written(&runs[..2]);
    let again = ResultsDir::open(dir.path()).expect("it reads");
    assert!(again.runs().iter().all(|run| run.collections.is_none()));
    let collections = again.collections().expect("they read");
    for run in &runs[..2] {
        assert_eq!(run.collections.as_ref(), collections.get(&run.id));
    }
    let file = dir.path().join("collections.jsonl");
    let whole = fs::read(&file).expect("the file is there");
    let count: usize = collections.values().map(gclab_results::Collections::len).sum();
    assert!(
        whole.len() <= 60 * count + 2 * 200,
        "{} bytes, {count} collections",
        whole.len()
    );
    assert!(fs::metadata(dir.runs_file()).expect("lines").len() < 2 * 5000);

    // A run that was killed while its line was written is done again, and a line of another plan is
    // unknown.
    fs::write(&file, &whole[..whole.len() - 40]).expect("cut");
    let mut dir = ResultsDir::open(dir.path()).expect("it reads");
    dir.append_run(runs[2].clone()).expect("a line");
    let found = dir.collections().expect("they read");
    assert_eq!(found.len(), 2);
    assert!(found.contains_key(&runs[0].id) && found.contains_key(&runs[2].id));
}

/// Shards of one plan: (shard, rounds, processor).
fn part(parent: &Path, shard: Option<&str>, rounds: &[u32], cpu: &str) -> ResultsDir {
    let mut manifest = Manifest::new("x");
    manifest.shard = shard.map(str::to_owned);
    manifest.machine.cpu = Some(cpu.to_owned());
    let planned = rounds
        .iter()
        .map(|&round| PlannedRun::new(Configuration::default(), round, round));
    manifest.plan = planned.collect();
    let plan = manifest.plan.clone();
    let path = parent.join(format!(
        "{}-{rounds:?}-{cpu}",
        shard.unwrap_or("all").replace('/', "of")
    ));
    if !path.exists() {
        let mut dir = ResultsDir::create(&path, manifest).expect("a new folder");
        for run in &plan {
            dir.append_run(RunRecord::planned(run, 1)).expect("a line");
        }
    }
    ResultsDir::open(path).expect("a folder of results")
}

#[test]
fn parts_of_one_plan_are_joined_in_its_order_and_count_once() {
    let parent = tempdir().expect("a folder");
    let part = |shard, rounds: &[u32], cpu| part(parent.path(), shard, rounds, cpu);
    let rounds = |dir: &ResultsDir| dir.runs().iter().map(|run| run.round).collect::<Vec<_>>();
    let second = || part(Some("2/2"), &[1, 3], "a");
    let joined = ResultsDir::join(vec![second(), part(Some("1/2"), &[0, 2], "a"), second()]);
    assert_eq!(joined.len(), 1);
    assert_eq!((rounds(&joined[0]), joined[0].done()), (vec![0, 1, 2, 3], 4));
    assert_eq!(joined[0].manifest().shard.as_deref(), Some("1/2 and 2/2"));
    assert_eq!(joined[0].manifest().plan.len(), 4);

    let apart = vec![second(), part(Some("1/2"), &[0], "b"), part(None, &[0], "a")];
    assert_eq!(ResultsDir::join(apart).len(), 3);
}

#[test]
fn an_event_log_is_in_the_part_that_has_it() {
    let parent = tempdir().expect("a folder");
    let parts = ["1/2", "2/2"].map(|shard| part(parent.path(), Some(shard), &[], "a"));
    let second = parts[1].event_log("x");
    let first = parts[0].path().to_owned();
    fs::create_dir_all(second.parent().expect("a folder")).expect("made");
    fs::write(&second, "").expect("written");
    let joined = ResultsDir::join(parts.into());
    assert_eq!(joined[0].event_log("x"), second);
    assert!(joined[0].event_log("y").starts_with(first));
}
