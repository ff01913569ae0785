//! Interrupted sweeps: no run is lost or repeated, however and whenever the runner ends.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use gclab_results::ResultsDir;

use crate::support::{Bench, exec_of, gated, is_gone, send, tiny, until};

fn lines(bench: &Bench) -> usize {
    let text = |folder: &std::path::PathBuf| fs::read_to_string(folder.join("runs.jsonl")).unwrap_or_default();
    bench.folders().first().map_or(0, |folder| text(folder).lines().count())
}

/// Checks that all runs of the plan are there, each once and in order, and that earlier lines are
/// unchanged.
#[track_caller]
fn complete(bench: &Bench, runs: usize) {
    let results = bench.results();
    let done: Vec<_> = results.runs().iter().map(|run| &run.id).collect();
    let planned: Vec<_> = results.manifest().plan.iter().map(|run| &run.id).collect();
    assert_eq!(done, planned);
    assert_eq!(done.len(), runs);
    assert!(results.runs().iter().all(|run| run.outcome.is_ok()));
    assert!(!results.path().join(".scratch").exists());
}

#[test]
fn killed_at_random_moments_it_resumes_each_time() {
    let bench = Bench::new();
    let repeat = 12;
    bench.write("tiny.toml", &tiny(repeat));
    // Moments from a fixed congruential sequence: irregular, but the same in every test run.
    let mut moment = 17_u64;
    let mut kept = String::new();
    for round in 0..12 {
        let mut runner = bench.start(&["run", "tiny.toml"]);
        moment = (moment * 137 + 59) % 211;
        std::thread::sleep(Duration::from_millis(moment));
        send(&runner, if round % 3 == 2 { "-TERM" } else { "-KILL" });
        runner.wait().unwrap();
        let now = bench
            .folders()
            .first()
            .map(|folder| fs::read_to_string(folder.join("runs.jsonl")).unwrap_or_default())
            .unwrap_or_default();
        // A kill may leave half a line at the end, which the next runner removes; complete lines
        // stay.
        let whole = &kept[..kept.rfind('\n').map_or(0, |end| end + 1)];
        assert!(now.starts_with(whole), "what was written stays written");
        kept = now;
    }
    bench.gclab(&["run", "tiny.toml"]).exits(0);
    complete(&bench, 8 * repeat as usize);
}

#[test]
fn what_a_runner_killed_before_its_plan_was_written_leaves_is_removed() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(1));
    let runs = bench.path().join("results/runs");
    // What a kill leaves before the lock, before the plan, before the plan's rename, and before the
    // folder's rename.
    for (process, files) in [
        ("1", &[][..]),
        ("2", &[".lock"]),
        ("3", &[".lock", "plan.json.new"]),
        ("4", &[".lock", "plan.json"]),
    ] {
        let folder = runs.join(format!(".begun-{process}"));
        fs::create_dir_all(&folder).unwrap();
        for file in files {
            fs::write(folder.join(file), "{").unwrap();
        }
    }
    let alive = runs.join(".begun-5");
    fs::create_dir(&alive).unwrap();
    let lock = fs::File::create(alive.join(".lock")).unwrap();
    lock.lock().unwrap();
    bench.gclab(&["run", "tiny.toml"]).exits(0);
    complete(&bench, 8);
    let hidden = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.unwrap().path();
        (path != bench.folders()[0]).then_some(path)
    };
    let left: Vec<_> = fs::read_dir(&runs).unwrap().filter_map(hidden).collect();
    assert_eq!(left, [alive], "what is locked is somebody's");
}

#[test]
fn a_folder_that_was_given_is_taken_over_from_a_runner_killed_before_its_plan_was_written() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(1));
    fs::create_dir(bench.path().join("out")).unwrap();
    bench.write("out/.lock", "process 1");
    bench.write("out/plan.json.new", "{ \"schema\"");
    bench.gclab(&["run", "tiny.toml", "--out", "out"]).exits(0);
    assert_eq!(ResultsDir::open(bench.path().join("out")).unwrap().runs().len(), 8);
    assert!(!bench.path().join("out/plan.json.new").exists());
}

#[test]
fn a_stop_by_signal_says_how_to_continue() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let bench = Bench::new();
        bench.write("gated.toml", &gated(3, 8, "true"));
        let runner = bench
            .command(&["run", "gated.toml"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        until("three runs", || lines(&bench) == 3);
        send(&runner, signal);
        let output = runner.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(
            stderr.contains("3 of 8 runs are done and kept. To continue:\n  gclab run gated.toml\n"),
            "{stderr}"
        );
        assert_eq!(lines(&bench), 3);
        bench.open_gate();
        let again = bench.gclab(&["run", "gated.toml"]).exits(0);
        assert!(
            again.stderr.contains("continuing, 3 of 8 runs are done"),
            "{}",
            again.all()
        );
        complete(&bench, 8);
    }
}

#[test]
fn a_killed_runner_takes_its_child_with_it() {
    let bench = Bench::new();
    // It serves until it is killed.
    bench.write(
        "long.toml",
        "collectors = [\"copying\"]\nworkloads = [{ name = \"server\", args = [1, 1000000000, 200, 0] }]\nrepeat = 1\n",
    );
    let mut runner = bench.start(&["run", "long.toml"]);
    until("a child", || exec_of(&runner).is_some());
    let child = exec_of(&runner).unwrap();
    send(&runner, "-KILL");
    assert_eq!(runner.wait().unwrap().signal(), Some(9));
    until("the child's end", || is_gone(&child));
    assert_eq!(lines(&bench), 0, "a run that was not finished is not recorded");
}

#[test]
fn one_runner_at_a_time() {
    let bench = Bench::new();
    bench.write("gated.toml", &gated(1, 3, "true"));
    let mut first = bench.start(&["run", "gated.toml"]);
    until("a run", || lines(&bench) == 1);
    let second = bench.gclab(&["run", "gated.toml"]);
    send(&first, "-TERM");
    first.wait().unwrap();
    assert_eq!(second.code, Some(2), "{}", second.all());
    assert!(
        second
            .stderr
            .contains(&format!("process {} is writing to this folder", first.id())),
        "{}",
        second.all()
    );
}

#[test]
fn another_build_does_not_resume() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(1));
    bench.gclab(&["run", "tiny.toml"]).exits(0);
    let path = bench.results().path().to_owned();
    let plan = fs::read_to_string(path.join("plan.json")).unwrap();
    let executable = ResultsDir::open(&path)
        .unwrap()
        .manifest()
        .build
        .executable
        .clone()
        .unwrap();
    fs::write(path.join("plan.json"), plan.replace(&executable, "0123456789abcdef")).unwrap();
    // Complete: shown with a warning.
    let shown = bench.gclab(&["run", "tiny.toml"]).exits(0);
    assert!(
        shown
            .stderr
            .contains("these results come from the debug build 0123456789abcdef")
            && shown.stderr.contains("--fresh measures again"),
        "{}",
        shown.all()
    );
    // Unfinished: refused.
    let runs = fs::read_to_string(path.join("runs.jsonl")).unwrap();
    let half: Vec<&str> = runs.split_inclusive('\n').take(4).collect();
    fs::write(path.join("runs.jsonl"), half.concat()).unwrap();
    let refused = bench.gclab(&["run", "tiny.toml"]).exits(2);
    assert!(
        refused.stderr.contains("results of the two cannot be compared"),
        "{}",
        refused.all()
    );
    assert_eq!(lines(&bench), 4);
    bench.gclab(&["run", "tiny.toml", "--fresh"]).exits(0);
    assert_eq!(bench.folders().len(), 2);
}

#[test]
fn a_torn_line_is_cut_off_and_its_run_done_again() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(1));
    bench.gclab(&["run", "tiny.toml"]).exits(0);
    let file = bench.results().runs_file();
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, &text[..text.len() - 40]).unwrap();
    let done = bench.gclab(&["run", "tiny.toml"]).exits(0);
    assert!(
        done.stderr.contains("line 8 of runs.jsonl was cut short"),
        "{}",
        done.all()
    );
    complete(&bench, 8);
}
