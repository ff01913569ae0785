//! Shards run by the scripts of `gclab emit` add up to the runs of a single runner.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use gclab_results::ResultsDir;

use crate::support::{Bench, Done, tiny};

/// Runs a task of an array as Slurm would: in bash, with the shard's number.
fn task(bench: &Bench, script: &str, shard: u32) -> Done {
    let mut command = Command::new("bash");
    command.arg(bench.path().join(script)).current_dir("/");
    Done::of(command.env("SLURM_ARRAY_TASK_ID", shard.to_string()))
}

/// Writes a script for three shards of `tiny.toml`.
fn emitted(bench: &Bench) -> String {
    bench.write("tiny.toml", &tiny(3));
    let script = bench.gclab(&["emit", "tiny.toml", "--shards", "3"]).exits(0).stdout;
    bench.write("script", &script);
    script
}

#[test]
fn the_tasks_of_an_array_are_the_whole_sweep() {
    let bench = Bench::new();
    emitted(&bench);
    for shard in [2, 1, 3] {
        task(&bench, "script", shard).exits(0);
    }
    // A task that is restarted finds its shard complete.
    let again = task(&bench, "script", 2).exits(0);
    assert!(again.stderr.contains("all 8 runs are done"), "{}", again.all());
    let folder = |shard: u32| format!("results/shards/tiny/{shard}-of-3");
    let folders = [1, 2, 3].map(folder);
    let open = |folder: &String| ResultsDir::open(bench.path().join(folder)).unwrap();
    let joined = ResultsDir::join(folders.iter().map(open).collect());
    assert_eq!(joined.len(), 1, "the shards of one plan are one folder");
    bench.gclab(&["run", "tiny.toml", "--out", "single"]).exits(0);
    let ids = |results: &ResultsDir| results.runs().iter().map(|run| run.id.clone()).collect::<BTreeSet<_>>();
    assert_eq!(ids(&joined[0]), ids(&open(&"single".to_owned())));
    for shards in [&folders.each_ref().map(String::as_str)[..], &["results/shards/tiny"]] {
        let csv = bench
            .gclab(&[&["report", "--format", "csv"], shards].concat())
            .exits(0)
            .stdout;
        assert_eq!(csv.lines().count(), 1 + 24);
        let status = bench.gclab(&[&["status"], shards].concat()).exits(0).stdout;
        assert!(status.contains("24 of 24 runs; 3 of 3 rounds whole"), "{status}");
    }
    let same = bench.gclab(&["compare", "results/shards/tiny", "single"]);
    assert!(matches!(same.code, Some(0 | 1)), "{}", same.all());
    let several = bench.gclab(&["report", "results"]).exits(2).stderr;
    assert!(several.contains("no plan.json"), "{several}");
}

#[test]
fn another_executable_at_the_same_path_is_refused() {
    let bench = Bench::new();
    let script = emitted(&bench);
    let other = bench.path().join("gclab");
    fs::write(&other, "#!/bin/sh\n").unwrap();
    let path = env!("CARGO_BIN_EXE_gclab");
    assert!(script.contains(path), "the script names the gclab that made it");
    bench.write("script", &script.replace(path, &other.display().to_string()));
    let refused = task(&bench, "script", 1).exits(2);
    assert!(
        refused
            .stderr
            .contains("is not the gclab that this script was made with"),
        "{}",
        refused.all()
    );
}

#[test]
fn a_wrong_request_has_one_message() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(2));
    for (words, expected) in [
        (
            &["emit", "tiny.toml", "--shards", "5"][..],
            "gclab: --shards 5: the plan has only 4 groups of round and workload, and a shard takes whole groups: at most --shards 4\n",
        ),
        (
            &["emit", "tiny.toml", "--shards", "0"],
            "invalid value '0' for '--shards <N>'",
        ),
        (&["emit", "none.toml", "--shards", "2"], "none.toml"),
    ] {
        let refused = bench.gclab(words).exits(2);
        assert!(refused.stderr.contains(expected), "{}", refused.all());
        assert_eq!(refused.stdout, "");
    }
}

/// Neither names nor options become commands of the script or lines on the terminal.
#[test]
fn names_with_line_breaks_stay_names() {
    let bench = Bench::new();
    let name = "nl\ntouch PWNED\n.toml";
    bench.write(
        name,
        "collectors = [\"copying\"]\nworkloads = [\"gcbench\"]\nrepeat = 2\n",
    );
    let out = "x\ntouch PWNED";
    let script = bench
        .gclab(&["emit", name, "--shards", "2", "--out", out])
        .exits(0)
        .stdout;
    assert!(!script.lines().any(|line| line.starts_with("touch")), "{script}");
    bench.write(
        "odd.toml",
        "repeat = 1\n[[program]]\nname = \"p\"\ncommand = [\"true\", \"a\\nb\\u001b[31m\\u202e\"]\n",
    );
    let done = bench.gclab(&["run", "odd.toml", "--dry-run=commands"]).exits(0);
    assert!(!done.stdout.contains(['\u{1b}', '\u{202e}']), "{}", done.all());
    assert!(done.stdout.contains(r"true $'a\nb\u001b[31m"), "{}", done.all());
    bench.write(
        "env.toml",
        "repeat = 1\n[[program]]\nname = \"p\"\ncommand = [\"true\"]\nsweep = { \"env.W\" = [\"b\\u001b[31m\\u202e\"] }\n",
    );
    bench.gclab(&["run", "env.toml", "--out", "odd"]).exits(0);
    let table = bench.gclab(&["report", "odd", "--format", "csv"]).exits(0).stdout;
    assert!(
        !table.contains(['\u{1b}', '\u{202e}']) && table.contains(r"b\u001b[31m\u202e"),
        "{table}"
    );
    let dump = ["heap", "dump", "long_list", "10", "-o", "x.heapsnapshot"];
    bench.gclab(&dump).exits(0);
    let names = fs::read_to_string(bench.path().join("x.heapsnapshot")).unwrap();
    bench.write("x.heapsnapshot", &names.replace("Cell", "Ce\u{202e}\u{9b}ll"));
    let page = ["heap", "analyse", "x.heapsnapshot", "--html", "x.html", "--csv", "x"];
    bench.gclab(&page).exits(0);
    for file in ["x.html", "x/heap_graph_class.csv"] {
        let text = fs::read_to_string(bench.path().join(file)).unwrap();
        assert!(!text.contains(['\u{9b}', '\u{202e}']), "{file}");
    }
    let json = bench
        .gclab(&["heap", "analyse", "x.heapsnapshot", "--json"])
        .exits(0)
        .stdout;
    assert!(
        !json.contains(['\u{9b}', '\u{202e}']) && json.contains(r"Ce\u202e\u009bll"),
        "{json}"
    );
    let unknown = bench.gclab(&["heap", "x\u{202e}y\u{1b}[31m"]).exits(2);
    assert!(!unknown.stderr.contains(['\u{1b}', '\u{202e}']), "{}", unknown.all());
    assert!(unknown.stderr.contains(r"x\u202ey"), "{}", unknown.all());
    let endless = bench.gclab(&["plan", "/dev/zero"]).exits(2);
    assert!(endless.stderr.contains("is longer than 16 MiB"), "{}", endless.all());
}
