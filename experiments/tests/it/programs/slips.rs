//! Slips in a `[[program]]` that are legal, but reported.

use std::fs;
use std::io::Write;

use super::{runs, with_script};
use crate::support::Bench;

#[test]
fn a_pattern_that_matches_in_no_run_is_reported() {
    let bench = with_script("echo 'gc=12 steps=3'");
    let file =
        |stats: &str| format!("repeat = 2\n[[program]]\nname = \"p\"\ncommand = [\"./prog\"]\nstats = {{ {stats} }}\n");
    bench.write(
        "st.toml",
        &file("gcs = 'gc=([0-9]+)', steps = 'steps=([0-9]+)', typo = 'step=([0-9]+)'"),
    );
    let done = bench.gclab(&["run", "st.toml"]).exits(0);
    let note = "gclab: note: program p: `typo` of `stats` matches in the output of none of its runs: step=([0-9]+)";
    assert_eq!(done.stderr.matches("of `stats`").count(), 1, "{}", done.all());
    assert!(done.stderr.contains(note), "{}", done.all());
    bench.write("st.toml", &file("gcs = 'gc=([0-9]+)', steps = 'steps=([0-9]+)'"));
    let done = bench.gclab(&["run", "st.toml"]).exits(0);
    assert!(!done.stderr.contains("of `stats`"), "{}", done.all());
}

#[test]
fn a_place_that_no_axis_fills_is_reported() {
    let bench = with_script("true");
    let file = |sweep: &str| {
        format!(
            "repeat = 1\n[[program]]\nname = \"p\"\ncommand = [\"./prog\", \"{{a}}\", \"{{b}}\", \"{{}}\"]\n{sweep}"
        )
    };
    bench.write("arg.toml", &file("sweep = { \"args.a\" = [1, 2] }\n"));
    let done = bench.gclab(&["run", "arg.toml"]).exits(0);
    let note = "program p: no axis `args.b` fills {b}, so the program gets it as written";
    assert!(done.stderr.contains(note), "{}", done.all());
    // Without swept arguments, braces belong to the program.
    bench.write("own.toml", &file(""));
    let done = bench.gclab(&["run", "own.toml"]).exits(0);
    assert!(!done.stderr.contains("no axis"), "{}", done.all());
}

/// `^` and `$` match the ends of the output; the page on programs says how to make them match the
/// ends of a line.
#[test]
fn a_pattern_of_a_whole_line_needs_its_flag() {
    let bench = with_script("echo begin; echo sum=42");
    let file = |name: &str, pattern: &str| {
        format!("[[program]]\nname = \"{name}\"\ncommand = [\"./prog\"]\nexpect = {{ pattern = '{pattern}' }}\n")
    };
    let text = format!(
        "repeat = 1\n{}{}",
        file("line", "(?m)^sum=([0-9]+)$"),
        file("whole", "^sum=([0-9]+)$")
    );
    bench.write("ends.toml", &text);
    bench.gclab(&["run", "ends.toml"]).exits(1);
    for run in runs(&bench, "ends") {
        assert_eq!(run.outcome.is_ok(), run.workload == "line", "{run:?}");
    }
}

/// Like `minheap` and `tune`.
#[test]
fn run_of_a_command_tells_its_runtime_from_its_file() {
    // A shell, followed by the mark of OCaml's executables.
    let bench = Bench::new();
    let prog = bench.path().join("prog");
    fs::copy("/bin/sh", &prog).unwrap();
    let mut shell = fs::OpenOptions::new().append(true).open(&prog).unwrap();
    shell.write_all(b"OCAMLRUNPARAM").unwrap();
    drop(shell);
    let script = "echo \"minor_words: 1024\" >&2; echo \"promoted_words: 8\" >&2";
    bench
        .gclab(&["run", "--repeat", "1", "--", "./prog", "-c", script])
        .exits(0);
    let run = runs(&bench, "prog").remove(0);
    assert_eq!(run.runtime.as_deref(), Some("ocaml"));
    assert_eq!(run.stats.unwrap().copied_bytes, Some(64));
    bench
        .gclab(&[
            "run",
            "--repeat",
            "1",
            "--runtime",
            "none",
            "--out",
            "plain",
            "--",
            "./prog",
            "-c",
            script,
        ])
        .exits(0);
    let plain = gclab_results::ResultsDir::open(bench.path().join("plain")).unwrap();
    assert_eq!(plain.runs()[0].runtime.as_deref(), Some("none"));
}
