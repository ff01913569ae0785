//! The first minutes with gclab: help, names instead of paths, the grid of a sweep, all collectors.

use std::collections::BTreeSet;
use std::fs;

use gclab_results::ResultsDir;

use crate::support::{Bench, Done, tiny, until};

#[test]
fn help_completions_and_a_manual_page() {
    let bench = Bench::new();
    let help = bench.gclab(&["help", "run"]).exits(0).stdout;
    assert!(help.contains("--repeat <N>"), "{help}");
    let list = bench.gclab(&["list"]).exits(0).stdout;
    for name in ["collectors", "two-space", "binary_trees", "-A", "gclab list collectors"] {
        assert!(list.contains(name), "{name}: {list}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = bench.gclab(&["completions", shell]).exits(0).stdout;
        assert!(script.contains("gclab") && script.contains("minheap"), "{shell}");
    }
    let page = bench.gclab(&["man"]).exits(0).stdout;
    assert!(page.contains(".TH gclab 1") && page.contains("minheap"), "{page}");
    let page = bench.gclab(&["man", "heap", "dump"]).exits(0).stdout;
    assert!(page.contains("at\\-gc"), "{page}");
    let wrong = bench.gclab(&["man", "wombat"]).exits(2).stderr;
    assert!(
        wrong.contains("gclab has no command `wombat`; it has: exec, run"),
        "{wrong}"
    );
    let json = bench.gclab(&["list", "collectors", "--json"]).exits(0).stdout;
    assert!(json.contains("\"sizing\"") && !json.contains("\"-"), "{json}");
}

#[test]
fn the_name_of_an_experiment_stands_for_its_newest_folder() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(1));
    let none = bench.gclab(&["report", "tiny"]).exits(2).stderr;
    assert!(
        none.contains("tiny: no such folder; there are none in results/runs yet"),
        "{none}"
    );
    bench.gclab(&["run", "tiny.toml"]).exits(0);
    bench
        .gclab(&["run", "tiny.toml", "--out", "results/runs/after"])
        .exits(0);
    let by_name = bench.gclab(&["report", "tiny", "--format", "csv"]).exits(0).stdout;
    let by_path = bench
        .gclab(&["report", "results/runs/tiny", "--format", "csv"])
        .exits(0)
        .stdout;
    assert!(by_name.lines().count() == 9 && by_name == by_path);
    let html = bench.gclab(&["report", "tiny"]).exits(0);
    assert!(html.stderr.contains("results/runs/tiny-2"), "{}", html.all());
    let compared = bench.gclab(&["compare", "tiny", "after"]);
    assert!(matches!(compared.code, Some(0 | 1)), "{}", compared.all());
    let wrong = bench.gclab(&["compare", "tiny", "before"]).exits(2).stderr;
    assert!(
        wrong.contains("before: no such folder; in results/runs there are: tiny-2"),
        "{wrong}"
    );
}

#[test]
fn a_dry_run_shows_the_grid_and_measures_its_time() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(5));
    let done = bench.gclab(&["run", "tiny.toml", "--dry-run"]).exits(0);
    assert!(bench.folders().is_empty() && !bench.path().join("results").exists());
    let rows: Vec<&str> = done.stdout.lines().collect();
    for row in [
        "question    Does it work?",
        "collectors  two-space  copying",
        "flags       F=1.5",
        "sweep       A = 64k 1m",
    ] {
        assert!(rows.contains(&row), "{row}: {}", done.all());
    }
    let grid = rows.iter().filter(|row| row.contains(" A="));
    let grid: Vec<Vec<&str>> = grid.map(|row| row.split_whitespace().collect()).collect();
    let names: Vec<String> = grid.iter().map(|row| row[..row.len() - 2].join(" ")).collect();
    assert_eq!(
        names,
        [
            "binary_trees 6 A=64k",
            "binary_trees 6 A=1m",
            "long_list 100 1000 A=64k",
            "long_list 100 1000 A=1m"
        ]
    );
    let seconds = grid.iter().flat_map(|row| &row[row.len() - 2..]);
    assert!(
        seconds
            .into_iter()
            .all(|text| text.parse::<f64>().is_ok_and(|s| s > 0.0)),
        "{}",
        done.all()
    );
    assert!(
        done.stderr.contains("40 runs in 5 rounds") && done.stderr.contains("by one run of each of 8 configurations"),
        "{}",
        done.all()
    );
    bench.gclab(&["run", "tiny.toml", "--repeat", "1"]).exits(0);
    let known = bench.gclab(&["run", "tiny.toml", "--dry-run"]).exits(0).stderr;
    assert!(known.contains("by earlier runs"), "{known}");
}

#[test]
fn the_command_line_sets_the_number_of_runs() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(5));
    bench.gclab(&["run", "tiny.toml", "--repeat", "2"]).exits(0);
    let results = bench.results();
    assert_eq!((results.runs().len(), results.manifest().repeat), (16, 2));
    assert!(results.manifest().command.join(" ").contains("--repeat 2"));
    let done = bench.gclab(&["run", "tiny.toml", "--repeat", "2"]).exits(0);
    assert!(done.stderr.contains("all 16 runs are done"), "{}", done.all());
    bench.gclab(&["run", "tiny.toml", "--repeat", "0"]).exits(2);
}

#[test]
fn all_collectors_are_those_that_honour_the_flags() {
    let bench = Bench::new();
    let plan = |flags: &str| {
        let text = format!("collectors = \"all\"\nworkloads = [\"binary_trees\"]\nrepeat = 1\n[flags]\n{flags}\n");
        bench.write("all.toml", &text);
        let done = bench.gclab(&["run", "all.toml", "--dry-run=commands"]);
        let collectors: BTreeSet<String> = done
            .stdout
            .lines()
            .filter_map(|line| line.split_once("--collector ")?.1.split(' ').next().map(str::to_owned))
            .collect();
        (collectors.into_iter().collect::<Vec<_>>().join(" "), done)
    };
    assert_eq!(
        plan("A = \"1m\"").0,
        "compacting concurrent copying gen-immix immix lxr mark-sweep nonmoving ocaml parallel sticky-immix two-space"
    );
    let (old, done) = plan("O = \"1m\"");
    assert_eq!(
        old,
        "compacting concurrent copying gen-immix lxr nonmoving parallel sticky-immix"
    );
    assert!(
        done.stderr
            .contains("left out of `collectors`: -O1m: the two-space collector does not honour"),
        "{}",
        done.all()
    );
    bench.write(
        "some.toml",
        "collectors = \"copying\"\nworkloads = [\"binary_trees\"]\n",
    );
    let one = bench.gclab(&["run", "some.toml"]).exits(2).stderr;
    assert!(one.contains("collectors = [\"copying\"]"), "{one}");
}

#[test]
fn a_build_that_is_replaced_is_not_mixed_in() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(6));
    let program = bench.copy_of_gclab("gclab");
    let mut command = std::process::Command::new(&program);
    command.args(["run", "tiny.toml"]).current_dir(bench.path());
    let mut runner = command
        .stderr(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // Once a run is done, the build is replaced with another program.
    until("a run", || !bench.folders().is_empty() && bench.results().done() > 0);
    fs::write(bench.path().join("other"), "#!/bin/sh\nexit 3\n").unwrap();
    fs::rename(bench.path().join("other"), &program).unwrap();
    assert!(runner.wait().unwrap().success());
    let results = bench.results();
    assert_eq!(results.runs().len(), 48);
    assert!(results.runs().iter().all(|run| run.outcome.is_ok()));
    assert!(results.runs().iter().all(|run| run.command[0] == "gclab"));
}

#[test]
fn lines_of_other_runs_are_reported() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(3));
    for part in ["1/2", "2/2"] {
        bench
            .gclab(&["run", "tiny.toml", "--shard", part, "--out", &part[..1]])
            .exits(0);
    }
    let lines = |part: &str| fs::read_to_string(bench.path().join(part).join("runs.jsonl")).unwrap();
    let own: Vec<String> = lines("1").lines().take(4).map(|line| format!("{line}\n")).collect();
    let all = lines("1").lines().count();
    fs::write(bench.path().join("1/runs.jsonl"), own.concat() + &lines("2")).unwrap();
    let report = bench.gclab(&["report", "1", "--format", "markdown"]).exits(0);
    assert!(report.stderr.contains("are not part of this plan"), "{}", report.all());
    let done = bench
        .gclab(&["run", "tiny.toml", "--shard", "1/2", "--out", "1"])
        .exits(0);
    assert!(
        done.stderr.contains(&format!("continuing, 4 of {all} runs are done"))
            && done.stderr.contains("are not part of this plan"),
        "{}",
        done.all()
    );
    assert_eq!(ResultsDir::open(bench.path().join("1")).unwrap().done(), all);
}

#[test]
fn a_hidden_name_is_refused_and_loses_nothing() {
    let bench = Bench::new();
    bench.write(".begun-1.toml", &tiny(1));
    let refused = bench.gclab(&["run", ".begun-1.toml"]).exits(2).stderr;
    assert!(refused.contains("begins with a dot"), "{refused}");
    // A folder that only looks like an unfinished runner's stays.
    let kept = bench.path().join("results/runs/.begun-mine");
    fs::create_dir_all(&kept).unwrap();
    bench.write("tiny.toml", &tiny(1));
    bench.gclab(&["run", "tiny.toml"]).exits(0);
    assert!(kept.is_dir());
}

/// A message quotes its input, but fits on a screen.
#[test]
fn messages_fit_a_screen() {
    let bench = Bench::new();
    let message = |done: Done| {
        let text = done.exits(2).stderr;
        assert!(
            text.chars().count() < 6000,
            "{} characters: {}",
            text.len(),
            &text[..3000]
        );
        text
    };
    let names = "\"wombat\", ".repeat(9_000);
    bench.write(
        "names.toml",
        &format!("collectors = [\"copying\"]\nworkloads = [{names}]\n"),
    );
    let names = message(bench.gclab(&["run", "names.toml"]));
    assert!(
        names.contains("unknown workload \"wombat\"") && names.contains("names.toml:2"),
        "{names}"
    );
    bench.write("deep.toml", &format!("collectors = {}", "[".repeat(200_000)));
    message(bench.gclab(&["run", "deep.toml"]));
    bench.write(
        "long.toml",
        &format!("collectors = [\"{}\"]\nworkloads = [\"x\"]\n", "é".repeat(500_000)),
    );
    message(bench.gclab(&["run", "long.toml"]));
    message(bench.gclab(&["exec", &"x".repeat(100_000)]));
    message(bench.gclab(&["exec", "binary_trees", "+RTS", &format!("-{}", "Q".repeat(100_000))]));
}

/// The number of values is checked before anything that takes time for each value.
#[test]
fn a_sweep_of_too_many_runs_is_refused() {
    let bench = Bench::new();
    let list = |values: usize, value: &dyn Fn(usize) -> String| (0..values).map(value).collect::<Vec<_>>().join(", ");
    let sizes = list(1001, &|n| (8192 + n * 8).to_string());
    let factors = list(1000, &|n| format!("{}", 1.5 + n as f64 / 2.0));
    let file = format!(
        "collectors = [\"copying\"]\nworkloads = [\"binary_trees\"]\nrepeat = 1\n[sweep]\nA = [{sizes}]\nF = [{factors}]\n"
    );
    bench.write("most.toml", &file);
    let refused = bench.gclab(&["run", "most.toml", "--dry-run=commands"]).exits(2).stderr;
    assert!(refused.contains("this sweep has 1001000 runs"), "{refused}");
}
