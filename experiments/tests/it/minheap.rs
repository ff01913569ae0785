//! `gclab minheap`, and experiments whose heaps are multiples of its results.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use gclab_results::{ResultsDir, Status};
use serde_json::Value;

use crate::support::{Bench, exec_of, send, until};

const COLLECTORS: [&str; 4] = ["--collector", "two-space", "--collector", "copying"];

fn search(bench: &Bench, work: &[&str], more: &[&str]) -> Value {
    let words: Vec<&str> = ["minheap"]
        .iter()
        .chain(work)
        .chain(&COLLECTORS)
        .chain(&["--json"])
        .chain(more)
        .copied()
        .collect();
    let done = bench.gclab(&words).exits(0);
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}\n{}", done.all()))
}

/// The files of probes, by folder.
fn probes(bench: &Bench) -> Vec<(PathBuf, String)> {
    let folders = fs::read_dir(bench.path().join("results/minheap")).into_iter().flatten();
    let mut files: Vec<_> = folders
        .map(|folder| folder.unwrap().path().join("runs.jsonl"))
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap_or_default()))
        .collect();
    files.sort();
    files
}

#[test]
fn what_is_found_completes_and_what_is_below_does_not() {
    let bench = Bench::new();
    let work = ["mut_array", "50000", "100000"];
    let found = search(&bench, &work, &["+RTS", "-A1m"]);
    assert_eq!(
        (&found["workload"], &found["flags"]["A"]),
        (&"mut_array".into(), &"1m".into())
    );
    let mut minima = Vec::new();
    for collector in found["collectors"].as_array().unwrap() {
        let name = collector["collector"].as_str().unwrap();
        let least = collector["minimum_bytes"].as_u64().unwrap();
        assert!(least % (1 << 20) == 0 && least > 1 << 20, "{collector}");
        assert_eq!(
            collector["too_small_bytes"].as_u64(),
            Some(least - (1 << 20)),
            "{collector}"
        );
        assert_eq!(collector["too_small_because"], "heap exhausted");
        for (bytes, code) in [(least, 0), (least - (1 << 20), 251)] {
            let heap = format!("-M{bytes}");
            let words = [
                "exec",
                work[0],
                work[1],
                work[2],
                "--collector",
                name,
                "+RTS",
                "-A1m",
                &heap,
            ];
            bench.gclab(&words).exits(code);
        }
        minima.push(least);
    }
    assert_eq!(found["reference_bytes"].as_u64(), minima.iter().min().copied());
    let files = probes(&bench);
    assert_eq!(files.len(), 2, "one for each collector: {files:?}");
    let lines: usize = files.iter().map(|(_, text)| text.lines().count()).sum();
    let said: u64 = found["collectors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["probes"].as_u64().unwrap())
        .sum();
    assert_eq!(lines as u64, said);
    // The second time the answer is known.
    assert_eq!(search(&bench, &work, &["+RTS", "-A1m"]), found);
    assert_eq!(probes(&bench), files);
}

#[test]
fn the_table_has_each_collector_and_the_reference() {
    let bench = Bench::new();
    let words = [
        "minheap",
        "mut_array",
        "50000",
        "100000",
        "--collector",
        "copying",
        "--tolerance",
        "50%",
        "--runs",
        "1",
    ];
    let done = bench.gclab(&words).exits(0);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert!(
        lines[0].starts_with("The least -M of mut_array 50000 100000 is ")
            && lines[0].ends_with(" bytes), under copying."),
        "{}",
        done.all()
    );
    assert!(
        lines[2].starts_with("collector  least ") && lines[3].starts_with("copying "),
        "{}",
        done.all()
    );
    assert!(done.stderr.contains("without -M: ok"), "{}", done.all());
    // Without a name all collectors are searched.
    let all = bench.gclab(&["minheap", "binary_trees", "4", "--runs", "1"]).exits(0);
    let listed = bench.gclab(&["list", "collectors", "--json"]).exits(0);
    let listed: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
    for collector in &listed {
        assert!(
            all.stdout
                .contains(&format!("\n{}", collector["name"].as_str().unwrap())),
            "{}",
            all.all()
        );
    }
}

#[test]
fn a_killed_search_resumes() {
    let bench = Bench::new();
    let work = ["minheap", "long_list", "100000", "150000", "--collector", "copying"];
    let mut kept = String::new();
    for moment in [40, 150, 90, 260, 130] {
        let mut runner = bench.start(&work);
        std::thread::sleep(Duration::from_millis(moment));
        // SIGKILL, which leaves the runner no chance to clean up.
        runner.kill().unwrap();
        runner.wait().unwrap();
        let now = probes(&bench).first().map(|(_, text)| text.clone()).unwrap_or_default();
        let whole = &kept[..kept.rfind('\n').map_or(0, |end| end + 1)];
        assert!(now.starts_with(whole), "what was written stays written");
        kept = now;
    }
    let done = bench.gclab(&work).exits(0);
    let after = probes(&bench)[0].1.clone();
    let whole = &kept[..kept.rfind('\n').map_or(0, |end| end + 1)];
    assert!(after.starts_with(whole));
    let again = bench.gclab(&work).exits(0);
    assert_eq!((again.stdout, probes(&bench)[0].1.clone()), (done.stdout, after));
    assert_eq!(again.stderr, "", "nothing is probed again");
}

#[test]
fn a_stop_by_signal_says_how_to_continue() {
    let bench = Bench::new();
    // Minutes of work.
    let mut command = bench.command(&[
        "minheap",
        "binary_trees",
        "27",
        "--collector",
        "copying",
        "--runs",
        "2",
        "+RTS",
        "-A2m",
    ]);
    let runner = command
        .stderr(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    until("a probe", || exec_of(&runner).is_some());
    send(&runner, "-INT");
    let output = runner.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    let on = "To continue:\n  gclab minheap binary_trees 27 --collector copying --runs 2 +RTS -A2m\n";
    assert!(stderr.contains(on), "{stderr}");
}

#[test]
fn bad_requests_get_one_message_and_status_2() {
    let bench = Bench::new();
    let cases: [(&[&str], &str); 12] = [
        (
            &["binary_tree"],
            "unknown workload `binary_tree`; did you mean `binary_trees`?",
        ),
        (&["binary_trees", "x"], "x"),
        (
            &["binary_trees", "--collector", "copyng"],
            "unknown collector `copyng`; did you mean `copying`?",
        ),
        (&["binary_trees", "+RTS", "-M64m"], "minheap chooses -M itself"),
        (&["binary_trees", "+RTS", "-H64m"], "leave out -M, and -H with a size"),
        (&["binary_trees", "+RTS", "-s"], "has no use in a search"),
        (&["binary_trees", "+RTS", "-A1x"], "1x is not a size"),
        (
            &["binary_trees", "--collector", "two-space", "+RTS", "-O2m"],
            "two-space",
        ),
        (
            &["binary_trees", "--tolerance", "200%"],
            "expected a fraction between 0 and 1",
        ),
        (&["binary_trees", "--runs", "0"], "--runs"),
        (&["binary_trees", "--timeout", "soon"], "a time such as 300s"),
        (&[], "WORKLOAD"),
    ];
    for (words, said) in cases {
        let words: Vec<&str> = ["minheap"].iter().chain(words).copied().collect();
        let done = bench.gclab(&words).exits(2);
        assert!(
            done.stderr.contains(said) && done.stdout.is_empty(),
            "{words:?}\n{}",
            done.all()
        );
    }
    assert!(!bench.path().join("results").exists(), "nothing was begun");
}

/// If the heap has a fixed size, the -M that the search tries is that size.
#[test]
fn a_heap_of_fixed_size_is_found_too() {
    let bench = Bench::new();
    let found = search(
        &bench,
        &["mut_array", "50000", "100000"],
        &["+RTS", "--sizing=fixed", "-A256k"],
    );
    assert_eq!(found["flags"]["sizing"], "fixed");
    assert!(found["reference_bytes"].as_u64().is_some(), "{found}");
    bench.write("fixed.toml", &SIZES.replace("A = ", "sizing = \"fixed\"\nA = "));
    bench.gclab(&["run", "fixed.toml", "--dry-run=commands"]).exits(0);
}

const SIZES: &str = r#"question = "How much memory buys how much time?"
collectors = ["two-space", "copying"]
workloads = [{ name = "long_list", args = [50000, 100000] }, { name = "mut_array", args = [50000, 100000] }]
repeat = 2
heap = [0.5, 1, 3]
[flags]
A = "256k"
"#;

/// The minima come first, all collectors get the same number of bytes, and an exhausted heap is a
/// result.
#[test]
fn an_experiment_in_multiples_of_the_least_heap() {
    let bench = Bench::new();
    bench.write("sizes.toml", SIZES);
    let before = bench.gclab(&["run", "sizes.toml", "--dry-run=commands"]).exits(0);
    assert!(
        before.stdout.contains("  # heap = 0.5\n") && !before.stdout.contains("-M"),
        "{}",
        before.all()
    );
    assert!(
        before
            .stderr
            .contains("before them a search finds the least heap of each of 4 configurations"),
        "{}",
        before.all()
    );
    let ran = bench.gclab(&["run", "sizes.toml"]).exits(0);
    // The heap grows with the live data, so no collector uses three times the least heap.
    let words: Vec<&str> = ran.stdout.split_whitespace().collect();
    let answer = words.join(" ");
    assert!(answer.contains("At 3× memory stays unused (copying uses "), "{answer}");
    let results = bench.results();
    // Other runtimes have no such flag.
    let other = bench.path().join("other");
    fs::create_dir(&other).unwrap();
    for (name, from, to) in [
        ("plan.json", "\n", "\n"),
        ("runs.jsonl", "\"collector\":", "\"runtime\":\"ghc\",\"collector\":"),
    ] {
        let text = fs::read_to_string(results.path().join(name)).unwrap();
        fs::write(other.join(name), text.replace(from, to)).unwrap();
    }
    let said = bench.gclab(&["report", "other"]).exits(0).stdout;
    assert!(
        said.contains("memory stays unused") && !said.contains("sizing"),
        "{said}"
    );
    let manifest = results.manifest();
    assert_eq!(
        (manifest.heap.as_slice(), manifest.minima.len()),
        (&[0.5, 1.0, 3.0][..], 4)
    );
    assert_eq!(results.runs().len(), 2 * 2 * 2 * 3);
    for run in results.runs() {
        let least = manifest.reference(&run.workload, &run.args).unwrap();
        let multiple = run.heap_multiple.unwrap();
        assert_eq!(
            run.flags["M"],
            (multiple * least as f64).round().to_string(),
            "{:?}",
            run.command
        );
        match multiple {
            3.0 => assert_eq!(run.outcome, Status::Ok),
            0.5 => assert_eq!(run.outcome, Status::HeapExhausted),
            _ => {}
        }
        let mine = manifest
            .minima
            .iter()
            .find(|m| (&m.collector, &m.workload) == (&run.collector, &run.workload))
            .unwrap();
        if multiple == 1.0 && mine.minimum_bytes == Some(least) {
            assert_eq!(run.outcome, Status::Ok, "what was found completes");
        }
    }
    let csv = bench
        .gclab(&["report", "--format", "csv", bench.folders()[0].to_str().unwrap()])
        .exits(0)
        .stdout;
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let column = header
        .iter()
        .position(|name| *name == "heap_multiple")
        .expect("a column");
    assert_eq!(
        csv.lines().nth(1).unwrap().split(',').nth(column).unwrap(),
        results.runs()[0].heap_multiple.unwrap().to_string()
    );
    // The same command finds the same plan, and all its runs done.
    let again = bench.gclab(&["run", "sizes.toml"]).exits(0);
    assert!(again.stderr.contains("all 24 runs are done"), "{}", again.all());
    let plan = bench.gclab(&["run", "sizes.toml", "--dry-run=commands"]).exits(0);
    assert!(
        plan.stdout
            .lines()
            .all(|line| line.contains(" -M") && line.contains("  # heap = ")),
        "{}",
        plan.all()
    );
    assert_eq!(bench.folders().len(), 1);
}

#[test]
fn an_interrupted_plan_resumes_with_the_same_minima() {
    let bench = Bench::new();
    bench.write("sizes.toml", SIZES);
    for moment in [80, 400, 900, 300] {
        let mut runner = bench.start(&["run", "sizes.toml"]);
        std::thread::sleep(Duration::from_millis(moment));
        runner.kill().unwrap();
        runner.wait().unwrap();
    }
    bench.gclab(&["run", "sizes.toml"]).exits(0);
    assert_eq!(ResultsDir::open(&bench.folders()[0]).unwrap().runs().len(), 24);
    assert_eq!(bench.folders().len(), 1);
}

#[test]
fn a_multiple_that_is_less_than_any_heap_is_named() {
    let bench = Bench::new();
    bench.write("sizes.toml", &SIZES.replace("0.5", "0.01"));
    let done = bench.gclab(&["run", "sizes.toml"]).exits(2);
    assert!(
        done.stderr.contains("gclab: sizes.toml: `heap`: 0.01 x ")
            && done.stderr.contains("is less than the least -M, 2 MiB"),
        "{}",
        done.all()
    );
    assert!(bench.folders().is_empty());
    // The minima are known now, and a dry run is refused for the same reason.
    let dry = bench.gclab(&["run", "sizes.toml", "--dry-run"]).exits(2);
    assert!(dry.stderr.contains("is less than the least -M, 2 MiB"), "{}", dry.all());
}
