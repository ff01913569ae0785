//! A sweep on a bad day: killed at any moment, a full disk, an unwritable folder, a clock that
//! jumps, several runners in one folder. No run is lost or duplicated, and no failure of the
//! machine is recorded as a program's.
//!
//! Disks are in-memory file systems that only the test's processes see (`unshare --mount`).

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gclab_results::ResultsDir;

use crate::support::{Bench, Done, is_gone, tiny, until};

/// The complete lines of a folder's `runs.jsonl`, and the bytes after them.
fn lines(folder: &Path) -> (String, usize) {
    let text = fs::read_to_string(folder.join("runs.jsonl")).unwrap_or_default();
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    (text[..whole].to_owned(), text.len() - whole)
}

/// Checks that a folder has all planned runs, each once, in order, and successful.
#[track_caller]
fn complete(folder: &Path, runs: usize) {
    let results = ResultsDir::open(folder).unwrap();
    let done: Vec<_> = results.runs().iter().map(|run| &run.id).collect();
    let planned: Vec<_> = results.manifest().plan.iter().map(|run| &run.id).collect();
    assert_eq!(done, planned);
    assert_eq!(done.len(), runs);
    let (text, half) = lines(folder);
    assert_eq!((text.lines().count(), half), (runs, 0), "nothing twice, nothing half");
    let failed = results.runs().iter().find(|run| !run.outcome.is_ok());
    assert!(failed.is_none(), "{failed:?}");
}

fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Repeatedly kills runners of `file`, an experiment with this number of runs, and lets the last
/// one finish.
///
/// Moments counted from the start would mostly fall before the first run. These fall anywhere in a
/// run, while its line is written, and between two runs.
fn killed_again_and_again(bench: &Bench, file: &str, runs: usize) {
    let folder = bench.path().join("out");
    let mut moment = 17_u64;
    let mut kept = String::new();
    for _ in 0..24 {
        let mut runner = bench.start(&["run", file, "--out", "out"]);
        let start = Instant::now();
        while lines(&folder).0.len() == kept.len() && runner.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(120), "no run within two minutes");
            std::thread::sleep(Duration::from_micros(200));
        }
        moment = (moment * 1237 + 59) % 20_011;
        std::thread::sleep(Duration::from_micros(moment));
        kill(&mut runner);
        let (now, _) = lines(&folder);
        assert!(now.starts_with(&kept), "what was written stays written");
        let results = ResultsDir::open(&folder).unwrap();
        let ids: HashSet<_> = results.runs().iter().map(|run| &run.id).collect();
        assert_eq!(
            ids.len(),
            now.lines().count() + usize::from(results.runs().len() > now.lines().count())
        );
        kept = now;
    }
    bench.gclab(&["run", file, "--out", "out"]).exits(0);
    complete(&folder, runs);
}

#[test]
fn killed_at_moments_of_any_phase_of_a_run_it_loses_nothing() {
    let bench = Bench::new();
    let repeat = 12;
    bench.write("tiny.toml", &tiny(repeat));
    killed_again_and_again(&bench, "tiny.toml", 8 * repeat as usize);
}

/// A user's program has more phases than a workload: a preparation, its own processes, output that
/// is read while it runs, and a file with its runtime's statistics.
#[test]
fn killed_at_moments_of_any_phase_of_a_programs_run_it_loses_nothing() {
    let bench = Bench::new();
    let repeat = 24;
    let program = |name: &str, more: &str| {
        let script = "test -e ready || exit 3; seq 300; sleep 0.003 & wait; echo sum=$V";
        format!(
            "[[program]]\nname = \"{name}\"\ncommand = [\"sh\", \"-c\", \"{script}\"]\n\
             prepare = [[\"true\"], [\"touch\", \"ready\"]]\n\
             expect = {{ pattern = 'sum=([0-9]+)' }}\nstats = {{ last = '(300)' }}\n{more}\n"
        )
    };
    let text = format!(
        "repeat = {repeat}\n{}{}",
        program(
            "plain",
            "env = { V = \"7\" }\nsweep = { address-space = [\"1g\", \"2g\"] }"
        ),
        program(
            "other",
            "env = { V = \"8\" }\nruntime = \"ocaml\"\nflags = { s = \"64k\" }"
        ),
    );
    bench.write("programs.toml", &text);
    killed_again_and_again(&bench, "programs.toml", 3 * repeat);
    let results = ResultsDir::open(bench.path().join("out")).unwrap();
    for run in results.runs() {
        let sum = if run.workload == "plain" { "7" } else { "8" };
        assert_eq!(run.checksum.as_deref(), Some(sum), "{run:?}");
        assert_eq!(run.figures.as_ref().unwrap()["last"], 300.0);
    }
}

/// The kernel kills a run's first process along with its runner. The folder's next runner ends the
/// processes that it had started, before its own first run.
#[test]
fn what_a_killed_runner_leaves_behind_ends_before_the_next_run() {
    let bench = Bench::new();
    let script = "echo $$ > shell; sleep 600 & echo $! > child; test -e second || wait";
    bench.write(
        "orphan.toml",
        &format!("repeat = 2\n[[program]]\nname = \"orphan\"\ncommand = [\"sh\", \"-c\", \"{script}\"]\n"),
    );
    let words = ["run", "orphan.toml", "--out", "out"];
    let mut runner = bench.start(&words);
    let child = || fs::read_to_string(bench.path().join("child")).unwrap_or_default();
    until("a run", || child().ends_with('\n'));
    let first = child();
    let shell = fs::read_to_string(bench.path().join("shell")).unwrap();
    let note = bench.path().join("out/.scratch/group");
    let is_noted = |text: String| text.split_whitespace().next() == Some(shell.trim());
    until("the note of its group", || {
        fs::read_to_string(&note).is_ok_and(is_noted)
    });
    kill(&mut runner);
    until("the end of the first process", || is_gone(&shell));
    assert!(!is_gone(&first), "the test has nothing to show");
    bench.write("second", "");
    let done = bench.gclab(&words).exits(0);
    until("the end of what was left", || is_gone(&first));
    assert!(
        done.stderr.contains("note: killed 1 process of a run"),
        "{}",
        done.all()
    );
    let again = bench.gclab(&["run", "orphan.toml", "--out", "out"]).exits(0);
    assert!(!again.stderr.contains("note: killed"), "{}", again.all());
}

/// Runs a shell script as root in its own mount namespace; `None`, with a message, if that is not
/// allowed.
fn with_disk(bench: &Bench, script: &str) -> Option<Done> {
    let allowed = Command::new("unshare")
        .args(["--mount", "sh", "-c", "mount -t tmpfs none /mnt"])
        .stderr(Stdio::null())
        .status();
    if !allowed.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: this user may not mount a file system (unshare --mount)");
        return None;
    }
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &format!("mkdir disk\n{script}")]);
    command.env("GCLAB", env!("CARGO_BIN_EXE_gclab")).env_remove("GCLABRTS");
    Some(Done::of(command.current_dir(bench.path()).stdin(Stdio::null())))
}

#[test]
fn a_full_disk_is_an_error_and_no_run_is_blamed_for_it() {
    for (size, moment) in [("72k", "soon"), ("100k", "later"), ("132k", "still later")] {
        let bench = Bench::new();
        bench.write("tiny.toml", &tiny(6));
        let script = format!(
            "mount -t tmpfs -o size={size} none disk
            \"$GCLAB\" run tiny.toml --out disk/out 2> first.txt; echo $? > first
            cp disk/out/runs.jsonl first.jsonl
            mount -o remount,size=16m disk
            \"$GCLAB\" run tiny.toml --out disk/out > second.txt 2>&1; echo $? > second
            cp -r disk/out out"
        );
        let Some(done) = with_disk(&bench, &script) else { return };
        let text = |name: &str| fs::read_to_string(bench.path().join(name)).unwrap_or_default();
        assert_eq!(text("first"), "1\n", "{moment}: {}{}", done.all(), text("first.txt"));
        assert!(
            text("first.txt").contains("No space left on device") && text("first.txt").contains("To continue:"),
            "{moment}: {}",
            text("first.txt")
        );
        assert_eq!(text("second"), "0\n", "{moment}: {}", text("second.txt"));
        complete(&bench.path().join("out"), 48);
        let first = text("first.jsonl");
        let whole = &first[..first.rfind('\n').map_or(0, |end| end + 1)];
        assert!(lines(&bench.path().join("out")).0.starts_with(whole), "{moment}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_is_refused_and_can_be_read() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(1));
    let script = "mount -t tmpfs -o size=16m none disk
        \"$GCLAB\" run tiny.toml --out disk/out > begun.txt 2>&1
        head -n 3 disk/out/runs.jsonl > half; cp half disk/out/runs.jsonl
        mount -o remount,ro disk
        \"$GCLAB\" run tiny.toml --out disk/out 2> refused.txt; echo $? > refused
        \"$GCLAB\" run tiny.toml --out disk/new 2> new.txt; echo $? > new
        \"$GCLAB\" report disk/out --format csv > table.csv 2> read.txt; echo $? > read
        mount -o remount,rw disk
        \"$GCLAB\" run tiny.toml --out disk/out > again.txt 2>&1
        cp -r disk/out all";
    let Some(done) = with_disk(&bench, script) else { return };
    let text = |name: &str| fs::read_to_string(bench.path().join(name)).unwrap_or_default();
    for (name, folder) in [("refused", "disk/out"), ("new", "disk/new")] {
        let message = text(&format!("{name}.txt"));
        assert_eq!(text(name), "2\n", "{}{message}", done.all());
        assert!(
            message.contains(&format!("gclab: {folder}: ")) && message.contains("Read-only file system"),
            "{message}"
        );
    }
    assert_eq!(text("read"), "0\n", "{}", text("read.txt"));
    assert_eq!(text("table.csv").lines().count(), 1 + 3);
    complete(&bench.path().join("all"), 8);
}

/// The library that changes the time of day for a process, if it is installed (Debian: faketime).
fn faketime() -> Option<String> {
    let places = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
    ];
    let library = |place: &str| format!("{place}/faketime/libfaketime.so.1");
    let found = places.map(library).into_iter().find(|path| Path::new(path).exists());
    if found.is_none() {
        eprintln!("SKIPPED: libfaketime is not installed here");
    }
    found
}

#[test]
fn a_clock_that_jumps_changes_no_figure_and_no_folder() {
    let Some(library) = faketime() else { return };
    // On a busy machine the sweep may end before the first jump.
    until("jumps between runs", || years_of_a_sweep(&library) >= 3);
}

/// Sweeps while the clock jumps, and kills the runner; another one continues. Returns the number of
/// years in which runs started.
fn years_of_a_sweep(library: &str) -> usize {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(6));
    let now = bench.path().join("now");
    let start = |offset: &str| {
        fs::write(&now, offset).unwrap();
        bench
            .command(&["run", "tiny.toml"])
            .env("LD_PRELOAD", library)
            .env("FAKETIME_TIMESTAMP_FILE", &now)
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut runner = start("+0d");
    let done = || {
        bench
            .folders()
            .first()
            .map_or(0, |folder| lines(folder).0.lines().count())
    };
    // Ten years back, ten years ahead, while runs start and end.
    for (at_least, offset) in [(3, "-3650d"), (9, "+3650d"), (15, "-1d")] {
        while done() < at_least && runner.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        // The file appears complete, so that the library never reads half a time.
        fs::write(bench.path().join("next"), offset).unwrap();
        fs::rename(bench.path().join("next"), &now).unwrap();
    }
    while done() < 20 && runner.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    kill(&mut runner);
    // For the next runner, the folder that it continues was made in the future.
    assert!(start("-7300d").wait().unwrap().success());
    let folders = bench.folders();
    assert_eq!(folders.len(), 1, "{folders:?}");
    complete(&folders[0], 48);
    let results = ResultsDir::open(&folders[0]).unwrap();
    let years: HashSet<_> = results
        .runs()
        .iter()
        .map(|run| run.started.as_ref().unwrap()[..4].to_owned())
        .collect();
    for run in results.runs() {
        let wall = run.wall_seconds.unwrap();
        assert!((1e-4..1000.0).contains(&wall), "{wall} s");
    }
    years.len()
}

#[test]
fn of_runners_that_start_at_once_one_works_and_the_others_are_refused() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(6));
    let start = || {
        let mut command = bench.command(&["run", "tiny.toml", "--out", "out"]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let runners: Vec<Child> = (0..4).map(|_| start()).collect();
    let outputs: Vec<_> = runners
        .into_iter()
        .map(|runner| runner.wait_with_output().unwrap())
        .collect();
    let mut worked = 0;
    for output in outputs {
        let stderr = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(0) => worked += 1,
            code => {
                assert_eq!(code, Some(2), "{stderr}");
                assert!(stderr.contains("is writing to this folder"), "{stderr}");
            }
        }
    }
    assert!(worked >= 1);
    complete(&bench.path().join("out"), 48);
}

/// The CPU time, in seconds, of a process that has ended and was not waited for, without its
/// children.
fn own_seconds(runner: &mut Child) -> f64 {
    let stat = format!("/proc/{}/stat", runner.id());
    let start = Instant::now();
    loop {
        let text = fs::read_to_string(&stat).unwrap();
        let (_, fields) = text.rsplit_once(") ").unwrap();
        let fields: Vec<&str> = fields.split(' ').collect();
        if fields[0] == "Z" {
            runner.wait().unwrap();
            // utime and stime, in hundredths of a second (proc(5)).
            return (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0;
        }
        assert!(start.elapsed() < Duration::from_secs(600), "the sweep does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The CPU time of the runner itself, for 200 runs more than another sweep's 20: start-up cancels
/// out, and reporting the additional runs costs little. A run takes half a millisecond or so, and
/// more on a busy machine, so the bound is generous.
#[test]
fn the_runner_takes_some_milliseconds_of_cpu_for_a_run_at_most() {
    let bench = Bench::new();
    let seconds = |repeat: u32| {
        let name = format!("true{repeat}");
        bench.write(
            &format!("{name}.toml"),
            &format!("repeat = {repeat}\n[[program]]\nname = \"true\"\nruntime = \"none\"\ncommand = [\"true\"]\n"),
        );
        let mut runner = bench.start(&["run", &format!("{name}.toml"), "--out", &name]);
        let seconds = own_seconds(&mut runner);
        assert_eq!(
            ResultsDir::open(bench.path().join(&name)).unwrap().runs().len(),
            repeat as usize
        );
        seconds
    };
    let (few, many) = (seconds(20), seconds(220));
    let each = (many - few) / 200.0;
    eprintln!("{:.3} ms of CPU for a run, beyond its own", each * 1e3);
    // An unoptimised build is slower.
    let bound = if cfg!(debug_assertions) { 40e-3 } else { 10e-3 };
    assert!(each < bound, "{few} s for 20 runs, {many} s for 220");
}
