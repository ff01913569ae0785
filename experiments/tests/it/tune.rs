//! `gclab tune`: searching flags of workloads and programs, and what it rejects.

use std::fs;

use gclab_results::ResultsDir;
use serde_json::Value;

use crate::support::{Bench, Done, until};

/// A folder with a script `prog`.
fn with_script(script: &str) -> Bench {
    let bench = Bench::new();
    bench.script("prog", script);
    bench
}

/// A program that looks like an OCaml one and whose time depends on its flags: `s=4M` takes QUICK
/// seconds, `o=400` dies, and everything else takes SLOW.
const DEPENDS: &str = r#"case "$OCAMLRUNPARAM" in
*o=400*) echo "Fatal error: exception Out_of_memory" >&2; exit 2 ;;
*s=4M*) sleep QUICK ;;
*) sleep SLOW ;;
esac
echo done"#;

/// Searches until `is_right` accepts the answer. A busy machine's times may hide the difference, so
/// each search has a program with a larger one.
fn searched(words: &[&str], is_right: impl Fn(&Done) -> bool) -> (Bench, Done) {
    let searches = [("0", "0.03"), ("0.02", "0.2"), ("0.2", "1")];
    let searches = searches.into_iter().map(|(quick, slow)| {
        let bench = with_script(&DEPENDS.replace("QUICK", quick).replace("SLOW", slow));
        let done = bench.gclab(words).exits(0);
        (bench, done)
    });
    let mut wrong = String::new();
    for (bench, done) in searches {
        if is_right(&done) {
            return (bench, done);
        }
        wrong += &done.all();
    }
    panic!("{wrong}");
}

#[test]
fn a_search_finds_the_flag_that_matters() {
    let words = ["tune", "--budget=60", "--runtime=ocaml", "--json", "--", "./prog"];
    let (bench, done) = searched(&words, |done| {
        let answer: Value = serde_json::from_str(&done.stdout).unwrap();
        // Other tests may disturb the runs.
        ["better", "disturbed"].contains(&answer["verdict"].as_str().unwrap())
            && answer["flags"].as_str().unwrap().contains("s=4M")
            && answer["ratio_ci95"][1].as_f64().unwrap() < 0.9
    });
    let answer: Value = serde_json::from_str(&done.stdout).unwrap();
    let tried = answer["tried"].as_array().unwrap();
    assert!(tried.iter().any(|one| one["fate"] == "the default"));
    assert!(
        tried
            .iter()
            .all(|one| !one["flags"].as_str().unwrap().contains("o=400"))
    );
    // The records are an ordinary folder of results, with the completed runs as its plan.
    let results = bench.results();
    assert_eq!(results.runs().len() as u64, answer["runs"].as_u64().unwrap());
    assert_eq!(results.manifest().plan.len(), results.runs().len());
    let failed = results.runs().iter().filter(|run| !run.outcome.is_ok()).count();
    assert!(failed > 0, "a failing setting was tried");
    let folder = results.path().to_str().unwrap().to_owned();
    bench.gclab(&["report", &folder]).exits(0);
}

#[test]
fn an_answer_begins_with_a_sentence_and_shows_failures() {
    let words = ["tune", "--budget=60", "--seed=3", "--runtime=ocaml", "--", "./prog"];
    let (_, done) = searched(&words, |done| {
        let answer = done.stdout.split("\n\n").next().unwrap();
        let is_better = answer.starts_with("Use ") || answer.contains("other programs disturbed");
        is_better && answer.contains("s=4M")
    });
    let answer = done.stdout.split("\n\n").next().unwrap().replace('\n', " ");
    assert!(
        answer.contains("of the default's elapsed time, by 6 new runs of each."),
        "{}",
        done.all()
    );
    let is_recommended = done.stdout.contains("\n\n  env OCAMLRUNPARAM=");
    assert_eq!(is_recommended, answer.starts_with("Use "), "{}", done.all());
    for part in ["(default)", "another input may need", " failed: "] {
        assert!(done.stdout.contains(part), "{part}: {}", done.all());
    }
}

/// If no flag has an effect, the answer must not call one better.
#[test]
fn flags_without_effect_leave_the_default_as_good() {
    // Noise may look like a small gain and, since the program is so short, like a larger one on a
    // busy machine.
    let is_right = ["0.01", "0.1", "0.5"].into_iter().any(|seconds| {
        let bench = with_script(&format!("sleep {seconds}; echo done"));
        let words = ["tune", "--budget=40", "--runtime=ocaml", "--json", "--", "./prog"];
        let done = bench.gclab(&words).exits(0);
        let answer: Value = serde_json::from_str(&done.stdout).unwrap();
        answer["verdict"] != "better" || answer["ratio"].as_f64().unwrap() > 0.8
    });
    assert!(is_right, "flags without effect are said to be better each time");
}

#[test]
fn the_last_words_of_a_program_that_fails_at_once_are_lines() {
    let bench = with_script("echo 'no such input' >&2; exit 3");
    let expected = "./prog fails with its default flags: crash (exit status 3)\n    no such input\n";
    for runtime in ["ocaml", "ghc"] {
        let runtime = format!("--runtime={runtime}");
        let done = bench.gclab(&["tune", &runtime, "--", "./prog"]).exits(1);
        assert_eq!(done.stdout, expected);
    }
}

#[test]
fn an_interrupted_search_resumes_where_it_stopped() {
    // The ninth run waits until the search has been killed.
    let script = "echo \"$OCAMLRUNPARAM\" >> runs\n\
        test $(wc -l < runs) -le 8 || until test -e go; do sleep 0.02; done\necho done";
    let bench = with_script(script);
    let words = ["tune", "--budget=40", "--runtime=ocaml", "--json", "--", "./prog"];
    let mut child = bench.start(&words);
    let count = || fs::read_to_string(bench.path().join("runs")).map_or(0, |text| text.lines().count());
    until("the ninth run", || count() == 9);
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = ResultsDir::open(&bench.folders()[0]).unwrap().runs().len();
    assert!(kept >= 6, "only {kept} runs were kept");
    bench.open_gate();
    let done = bench.gclab(&words).exits(0);
    assert!(
        done.stderr.contains(&format!("{kept} runs are there")),
        "{}",
        done.all()
    );
    let results = bench.results();
    let answer: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(
        results.runs().len() as u64,
        answer["runs"].as_u64().unwrap(),
        "{}",
        done.all()
    );
    // The killed run is the only one that ran twice.
    assert!(
        count() <= results.runs().len() + 1,
        "{} of {}",
        count(),
        results.runs().len()
    );
}

#[test]
fn a_workload_is_tuned_over_flags_and_collectors() {
    let bench = Bench::new();
    let listed = bench.gclab(&["tune", "binary_trees", "6", "--dry-run"]).exits(0);
    for setting in ["\n  (default)\n", "--collector two-space -A64m", "-A512k -F1.5 -G3"] {
        assert!(listed.stdout.contains(setting), "{setting}: {}", listed.all());
    }
    assert!(!listed.stdout.contains("two-space -G3"), "{}", listed.all());
    assert!(bench.folders().is_empty(), "a dry run leaves nothing");
    let words = [
        "tune",
        "binary_trees",
        "6",
        "--goal=memory",
        "--limit=time=10s",
        "--budget=30",
        "--json",
    ];
    let done = bench.gclab(&words).exits(0);
    let answer: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(
        (&answer["goal"], &answer["limits"][0]),
        (&"memory".into(), &"time=10000ms".into())
    );
}

/// If no setting meets a limit, the answer says so and recommends none.
#[test]
fn a_limit_that_nothing_meets_is_reported() {
    let bench = with_script("sleep 0.02; echo done");
    let words = [
        "tune",
        "--budget=24",
        "--limit=time=1ms",
        "--runtime=ocaml",
        "--",
        "./prog",
    ];
    let done = bench.gclab(&words).exits(0);
    let is_said = done.stdout.contains("keeps the limit: elapsed time at most 1.00 ms");
    assert!(is_said || done.stdout.contains("every other setting"), "{}", done.all());
    assert!(!done.stdout.contains("  env OCAMLRUNPARAM"), "{}", done.all());
}

#[track_caller]
fn refused(bench: &Bench, words: &[&str], parts: &[&str]) {
    let done = bench.gclab(words).exits(2);
    for part in parts {
        assert!(done.stderr.contains(part), "{part}: {}", done.all());
    }
    assert!(bench.folders().is_empty(), "{}", done.all());
}

#[test]
fn wrong_requests_are_refused() {
    let bench = with_script("echo done");
    refused(&bench, &["tune"], &["WORKLOAD"]);
    refused(
        &bench,
        &["tune", "binary_tree"],
        &["unknown workload `binary_tree`", "binary_trees"],
    );
    refused(&bench, &["tune", "binary_trees", "many"], &["many", "depth"]);
    refused(
        &bench,
        &["tune", "--goal=speed", "binary_trees"],
        &["speed", "time, pause or memory"],
    );
    refused(
        &bench,
        &["tune", "--limit=pause=2g", "binary_trees"],
        &["`2g` is not a valid time for pause", "10ms"],
    );
    refused(
        &bench,
        &["tune", "--limit=memory=10", "binary_trees"],
        &["`10` is not a valid size", "512m"],
    );
    refused(&bench, &["tune", "--limit=speed=3s", "binary_trees"], &["memory=2g"]);
    refused(&bench, &["tune", "--budget=3", "binary_trees"], &["at least 24"]);
    refused(
        &bench,
        &["tune", "--", "./absent"],
        &["./absent: no program of this name"],
    );
    refused(
        &bench,
        &["tune", "--", "./prog"],
        &["gclab cannot tell its runtime", "--runtime ghc"],
    );
    let gclab = env!("CARGO_BIN_EXE_gclab");
    refused(
        &bench,
        &["tune", "--", gclab, "exec", "binary_trees", "8", "--collector=copying"],
        &["tuned by their names", "gclab tune binary_trees 8"],
    );
    refused(
        &bench,
        &["tune", "--runtime=ocmal", "--", "./prog"],
        &["unknown runtime `ocmal`", "ocaml"],
    );
    // It passes GHC's flags on, though a GHC program would take them itself.
    refused(
        &bench,
        &["tune", "--runtime=ghc", "--", "./prog"],
        &["program prog", "ghc runtime"],
    );
}

#[test]
fn a_goal_that_the_runtime_does_not_report_is_refused() {
    let bench = with_script("echo done");
    let done = bench
        .gclab(&["tune", "--goal=pause", "--runtime=ocaml", "--", "./prog"])
        .exits(2);
    assert!(
        done.stderr.contains("its runs do not report the longest pause"),
        "{}",
        done.all()
    );
    let failing = with_script("echo broken >&2; exit 7");
    let done = failing.gclab(&["tune", "--runtime=ocaml", "--", "./prog"]).exits(1);
    let is_said = done
        .stdout
        .starts_with("./prog fails with its default flags: crash (exit status 7)");
    assert!(is_said && done.stdout.contains("broken"), "{}", done.all());
}

/// A workload runs under gclab, so asking for another runtime would have no effect. The same goes
/// for an experiment file, which gives its programs' runtimes.
#[test]
fn a_runtime_is_of_a_command_alone() {
    let bench = Bench::new();
    bench.write("tiny.toml", "workloads = [\"gcbench\"]\n");
    for words in [
        &["tune", "gcbench", "--dry-run"][..],
        &["minheap", "gcbench"],
        &["run", "tiny.toml", "--dry-run=commands"],
    ] {
        let refused = bench.gclab(&[words, &["--runtime", "ghc"]].concat()).exits(2);
        let names = |word: &str| refused.stderr.lines().next().is_some_and(|line| line.contains(word));
        assert!(names("cannot be used with") && names("--runtime"), "{}", refused.all());
        assert_eq!(refused.stdout, "");
    }
}
