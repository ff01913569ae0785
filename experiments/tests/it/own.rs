//! A program with its own lists (`examples/own_workload.rs`) does everything that `gclab` does.

use std::path::PathBuf;
use std::process::Command;

use gclab_results::Status;

use crate::support::Bench;

/// An example, which cargo builds along with the tests.
pub(crate) fn program(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(
        program.exists(),
        "{}: run the tests with cargo test, which builds examples",
        program.display()
    );
    program
}

fn own(bench: &Bench, words: &[&str]) -> std::process::Output {
    Command::new(program("own_workload"))
        .args(words)
        .current_dir(bench.path())
        .output()
        .unwrap()
}

#[test]
fn its_workload_is_listed_run_and_swept() {
    let bench = Bench::new();
    let list = own(&bench, &["list", "workloads"]);
    let list = String::from_utf8(list.stdout).unwrap();
    assert!(list.starts_with("rings "), "{list}");
    let ran = own(&bench, &["exec", "rings", "1000", "--collector", "two-space"]);
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), "rings checksum=499500\n");
    bench.write(
        "own.toml",
        "collectors = [\"two-space\", \"copying\"]\nworkloads = [{ name = \"rings\", args = [5000] }, { name = \"rings\", args = [6] }]\nrepeat = 2\n[flags]\nA = \"64k\"\n",
    );
    // The runs of a sweep use the program that sweeps; otherwise `rings` would be unknown.
    let swept = own(&bench, &["run", "own.toml"]);
    assert!(swept.status.success(), "{swept:?}");
    let results = bench.results();
    assert_eq!(results.runs().len(), 8);
    assert!(results.runs().iter().all(|run| run.outcome == Status::Ok));
    bench.gclab(&["run", "own.toml"]).exits(2);
}

#[test]
fn a_panic_is_a_crash_and_never_a_result() {
    let bench = Bench::new();
    let ran = own(&bench, &["exec", "rings", "13", "--record", "r.json"]);
    assert_eq!((ran.status.code(), ran.stdout.as_slice()), (Some(101), &b""[..]));
    assert!(String::from_utf8(ran.stderr).unwrap().contains("unlucky"));
    assert_eq!(std::fs::read_to_string(bench.path().join("r.json")).unwrap(), "");
    // As after an uncaught exception in GHC, all requested output is complete.
    let flags = ["exec", "rings", "13", "+RTS", "-sout.txt", "-l", "-hT", "-i0"];
    assert_eq!(own(&bench, &flags).status.code(), Some(101));
    let text = std::fs::read_to_string(bench.path().join("out.txt")).unwrap();
    assert!(text.contains("Total   time"), "{text}");
    bench.gclab(&["events", "check", "rings.eventlog"]).exits(0);
    let shown = bench.gclab(&["profile", "show", "rings.hp"]).exits(0).all();
    assert!(!shown.contains("cut off"), "{shown}");
    bench.write("own.toml", "collectors = [\"copying\"]\nworkloads = [{ name = \"rings\", args = [13] }, { name = \"rings\", args = [14] }]\nrepeat = 1\n");
    let swept = own(&bench, &["run", "own.toml"]);
    let stderr = String::from_utf8(swept.stderr).unwrap();
    assert_eq!(swept.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("crash: 1 of 2 runs; the first, crash (exit status 101): gclab exec rings 13")
            && stderr.contains("unlucky"),
        "{stderr}"
    );
    assert_eq!(
        bench.results().runs().iter().filter(|run| run.outcome.is_ok()).count(),
        1,
        "the other run was done"
    );
}
