//! `gclab minheap -- COMMAND`: the least memory of the user's own program.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use super::with_script;
use crate::support::{send, until};

/// Stands in for a program that needs 64 MiB of address space, and fails as OCaml's do if it has
/// less. Each run adds a line to `runs`.
const NEEDS_64_MIB: &str = "echo run >> runs\nlimit=$(ulimit -v)\n\
    [ \"$limit\" != unlimited ] && [ $limit -lt 65536 ] && { echo 'Fatal error: exception Out_of_memory' >&2; exit 2; }\n\
    echo fine";

#[test]
fn the_least_limit_of_a_program_is_found_once() {
    let bench = with_script(NEEDS_64_MIB);
    let words = ["minheap", "--runtime", "ocaml", "--json", "--", "./prog", "a word"];
    let done = bench.gclab(&words).exits(0);
    let found: Value = serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}\n{}", done.all()));
    assert_eq!(found["command"], serde_json::json!(["./prog", "a word"]));
    assert_eq!(found["limit"], "address-space");
    assert_eq!(found["reference_bytes"], 64 << 20);
    let found = &found["collectors"][0];
    assert_eq!(found["minimum_bytes"], 64 << 20, "{}", done.all());
    assert_eq!(found["too_small_because"], "heap exhausted", "{}", done.all());
    assert!(found["too_small_bytes"].as_u64() < found["minimum_bytes"].as_u64());
    let folder = bench.path().join(found["folder"].as_str().unwrap());
    let probes = fs::read_to_string(folder.join("runs.jsonl")).unwrap();
    assert!(probes.lines().count() as u64 >= found["probes"].as_u64().unwrap());
    // The second search gets all its answers from the first one's probes.
    let runs = || fs::read_to_string(bench.path().join("runs")).unwrap();
    let before = runs();
    let again = bench.gclab(&words).exits(0);
    assert_eq!((again.stdout, runs()), (done.stdout, before));
    // A table for people.
    let table = bench.gclab(&["minheap", "--runtime", "ocaml", "--", "./prog", "a word"]);
    let table = table.exits(0).stdout;
    for part in [
        "The least address-space of prog is 64 MiB (67108864 bytes).",
        "runtime  least ",
        "ocaml    64 MiB",
    ] {
        assert!(table.contains(part), "{part}\n{table}");
    }
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    // Another program is another search.
    super::script_at(&bench, "prog", &NEEDS_64_MIB.replace("65536", "32768"));
    let other = bench.gclab(&words).exits(0);
    let other: Value = serde_json::from_str(&other.stdout).unwrap();
    assert_eq!(other["reference_bytes"], 32 << 20);
}

/// Stands in for a small OCaml program with a major heap of 1 MiB, where the search starts. The
/// system kills a process that does not fit.
#[test]
fn a_program_that_the_system_kills_below_its_limit_has_a_minimum() {
    let script = "echo 'minor_words: 1' >&2; echo 'top_heap_words: 131072' >&2\n\
        limit=$(ulimit -v)\n[ \"$limit\" != unlimited ] && [ $limit -lt 32768 ] && kill -SEGV $$\n\
        [ \"$limit\" != unlimited ] && [ $limit -lt 65536 ] && \
        { echo 'cannot allocate TLS data structures for initial thread' >&2; exit 127; }\necho fine";
    let bench = with_script(script);
    let words = ["minheap", "--runs", "1", "--runtime", "ocaml", "--json", "--", "./prog"];
    let done = bench.gclab(&words).exits(0);
    let found: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(found["reference_bytes"], 64 << 20, "{}", done.all());
    assert_eq!(found["collectors"][0]["too_small_because"], "heap exhausted");
    // Without a limit, ending like this is a crash.
    super::script_at(&bench, "prog", "kill -SEGV $$");
    let crash = bench.gclab(&words).exits(1);
    assert!(crash.stderr.contains("crash (signal 11)"), "{}", crash.all());
}

#[test]
fn a_program_that_fails_without_a_limit_has_no_minimum() {
    let bench = with_script("echo broken >&2; exit 3");
    let done = bench.gclab(&["minheap", "--", "./prog"]).exits(1);
    assert!(done.stderr.contains("gclab: none: "), "{}", done.all());
    assert!(done.stdout.starts_with("No least "), "{}", done.all());
}

#[test]
fn a_stop_by_signal_says_how_to_continue() {
    let bench = with_script("touch began; exec sleep 600");
    let mut command = bench.command(&["minheap", "--runs", "2", "--runtime=ocaml", "--", "./prog", "a word"]);
    let runner = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    until("a run", || bench.path().join("began").exists());
    send(&runner, "-INT");
    let output = runner.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    let on = "To continue:\n  gclab minheap --runs 2 --runtime=ocaml -- ./prog 'a word'\n";
    assert!(stderr.contains(on), "{stderr}");
}

#[test]
fn wrong_requests_are_refused() {
    let bench = with_script(NEEDS_64_MIB);
    for (words, said) in [
        (&["--", "./nowhere"][..], "./nowhere: no program of this name"),
        (
            &["--runtime", "gch", "--", "./prog"],
            "--runtime: unknown runtime `gch`; runtimes: ghc, ocaml, jvm, none",
        ),
        (&["binary_trees", "--", "./prog"], "cannot be used with"),
        (&["--collector", "copying", "--", "./prog"], "cannot be used with"),
        (&["binary_trees", "--runtime", "ocaml"], "cannot be used with"),
        (
            &["+RTS", "-A1m", "-RTS", "--", "./prog"],
            "flags between +RTS and -RTS before `--` are for gclab's workloads",
        ),
        (
            &["--runtime", "jvm", "--", "./prog", "-Xms8m"],
            "minheap chooses the Xmx of the program itself: leave out -Xms8m",
        ),
    ] {
        let words: Vec<&str> = ["minheap"].iter().chain(words).copied().collect();
        let done = bench.gclab(&words).exits(2);
        assert!(
            done.stderr.contains(said) && done.stdout.is_empty(),
            "{words:?}\n{}",
            done.all()
        );
    }
    assert!(!bench.path().join("results").exists(), "nothing was begun");
    assert!(!bench.path().join("runs").exists(), "the program did not run");
}
