//! `gclab run`: a sweep, from its file to its report.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use gclab_results::{ResultsDir, Status};

use crate::support::{Bench, tiny};

#[test]
fn a_sweep_does_each_run_of_its_plan_once_and_reports() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(2));
    let done = bench.gclab(&["run", "tiny.toml"]).exits(0);
    assert!(
        done.stdout.contains("binary_trees 6") && done.stdout.contains("two-space"),
        "{}",
        done.all()
    );
    let results = bench.results();
    let name = results.path().file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("tiny-20"), "{name}");
    let ids: Vec<_> = results.runs().iter().map(|run| run.id.clone()).collect();
    let planned: Vec<_> = results.manifest().plan.iter().map(|run| run.id.clone()).collect();
    assert_eq!((ids.len(), &ids), (16, &planned), "in the plan's order");
    for run in results.runs() {
        assert_eq!(run.outcome, Status::Ok);
        assert!(
            run.checksum.is_some()
                && run.stats.is_some()
                && run.max_rss_bytes > Some(1 << 20)
                && run.wall_seconds > Some(0.0)
        );
        assert_eq!(run.flags.keys().collect::<Vec<_>>(), ["A", "F"]);
    }
    let page = fs::read_to_string(results.path().join("report.html")).unwrap();
    assert!(page.contains("Does it work?") && page.contains("</html>"));
    assert!(
        !page.contains("src=\"http") && !page.contains("href=\"http"),
        "nothing is loaded"
    );
}

/// A sweep stops after whole rounds, as soon as its times are as precise as its file requests; the
/// same command again does nothing, and the report says why runs are missing.
#[test]
fn a_sweep_ends_when_its_times_are_precise() {
    let bench = Bench::new();
    let file = r#"
        collectors = ["copying", "two-space"]
        workloads  = [{ name = "binary_trees", args = [6] }]
        repeat     = 500
        precision  = "95%"
    "#;
    bench.write("precise.toml", file);
    let done = bench.gclab(&["run", "precise.toml", "--out", "out"]).exits(0);
    assert!(done.all().contains("have the requested precision"), "{}", done.all());
    let runs = || ResultsDir::open(bench.path().join("out")).unwrap().runs().len();
    let first = runs();
    assert!((10..1000).contains(&first) && first.is_multiple_of(2), "{first}");
    bench.gclab(&["run", "precise.toml", "--out", "out"]).exits(0);
    assert_eq!(runs(), first);
    let page = fs::read_to_string(bench.path().join("out/report.html")).unwrap();
    let ends = "The experiment ends when the 95 % interval of each mean time reaches at most 95 % to either side";
    assert!(page.contains(ends), "the caution");
    bench.write("wrong.toml", &file.replace("95%", "2"));
    let wrong = bench.gclab(&["run", "wrong.toml"]).exits(2);
    assert!(wrong.stderr.contains("is not a valid share"), "{}", wrong.all());
}

#[test]
fn latency_can_be_compared() {
    let bench = Bench::new();
    let file = r#"
        question   = "Who is late?"
        collectors = ["copying"]
        workloads  = [{ name = "binary_trees", args = [6] }, { name = "server", args = [2, 1000, 100, 0] }]
        repeat     = 2
    "#;
    bench.write("late.toml", file);
    let done = bench.gclab(&["run", "late.toml", "--out", "out"]).exits(0);
    assert!(
        done.stdout.contains("of requests are answered within"),
        "{}",
        done.all()
    );
    let csv = bench.gclab(&["report", "out", "--format", "csv"]).exits(0).stdout;
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| {
        rows[0]
            .iter()
            .position(|head| *head == name)
            .unwrap_or_else(|| panic!("no {name}"))
    };
    let (workload, p99, max) = (
        column("workload"),
        column("latency_p99_seconds"),
        column("latency_max_seconds"),
    );
    assert_eq!(rows.len(), 5);
    for row in &rows[1..] {
        let figures = [row[p99], row[max]].map(|text| text.parse::<f64>().ok());
        match row[workload] {
            "server" => assert!(
                figures[0] > Some(0.0) && figures[1] >= figures[0] && figures[1] < Some(600.0),
                "{row:?}"
            ),
            _ => assert_eq!(figures, [None, None]),
        }
    }
    let markdown = bench.gclab(&["report", "out", "--format", "markdown"]).exits(0).stdout;
    assert_eq!(markdown.matches("latency 99.9 % ms").count(), 1, "{markdown}");
    bench.gclab(&["run", "late.toml", "--out", "again"]).exits(0);
    let compared = bench.gclab(&["compare", "out", "again", "--all"]);
    assert!(compared.stdout.contains("latency 99.9 %"), "{}", compared.all());
}

#[test]
fn a_run_can_be_repeated_by_its_recorded_command() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(1));
    bench.gclab(&["run", "tiny.toml"]).exits(0);
    for run in bench.results().runs() {
        let words: Vec<&str> = run.command[1..].iter().map(String::as_str).collect();
        let line = format!("{} checksum={}\n", run.workload, run.checksum.as_ref().unwrap());
        assert_eq!(bench.gclab(&words).exits(0).stdout, line);
    }
}

#[test]
fn a_complete_sweep_is_shown_and_not_added_to() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(1));
    let first = bench.gclab(&["run", "tiny.toml"]).exits(0);
    let file = bench.results().runs_file();
    let before = fs::read(&file).unwrap();
    let again = bench.gclab(&["run", "tiny.toml"]).exits(0);
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(again.stdout, first.stdout);
    assert_eq!(bench.folders().len(), 1);
    // Another question does not make another plan.
    bench.write("tiny.toml", &tiny(1).replace("Does it work?", "Does it still?"));
    bench.gclab(&["run", "tiny.toml"]).exits(0);
    assert_eq!(bench.folders().len(), 1);
}

#[test]
fn fresh_and_other_plans_have_other_folders() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(1));
    bench.gclab(&["run", "tiny.toml"]).exits(0);
    bench.gclab(&["run", "tiny.toml", "--fresh"]).exits(0);
    assert_eq!(bench.folders().len(), 2);
    for change in [
        ("seed = 7", "seed = 8"),
        ("F = 1.5", "F = 2"),
        ("repeat = 1", "repeat = 1\ntimeout = \"9s\""),
    ] {
        bench.write("tiny.toml", &tiny(1).replace(change.0, change.1));
        let before = bench.folders().len();
        bench.gclab(&["run", "tiny.toml"]).exits(0);
        assert_eq!(bench.folders().len(), before + 1, "{change:?}");
    }
    // Back to the first plan: the newest folder with that plan, and no new one.
    bench.write("tiny.toml", &tiny(1));
    let newest = bench.gclab(&["run", "tiny.toml"]).exits(0);
    assert!(
        newest
            .stderr
            .contains(bench.folders()[1].file_name().unwrap().to_str().unwrap()),
        "{}",
        newest.all()
    );
    assert_eq!(bench.folders().len(), 5);
}

#[test]
fn out_names_the_folder() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(1));
    bench.gclab(&["run", "tiny.toml", "--out", "here/x"]).exits(0);
    assert_eq!(ResultsDir::open(bench.path().join("here/x")).unwrap().runs().len(), 8);
    assert!(bench.folders().is_empty());
    bench.gclab(&["run", "tiny.toml", "--out", "here/x"]).exits(0);
    let taken = bench
        .gclab(&["run", "tiny.toml", "--out", "here/x", "--fresh"])
        .exits(2);
    assert!(taken.stderr.contains("already holds results"), "{}", taken.all());
    bench.write("tiny.toml", &tiny(2));
    let other = bench.gclab(&["run", "tiny.toml", "--out", "here/x"]).exits(2);
    assert!(other.stderr.contains("holds another plan"), "{}", other.all());
    // A file in its place used to give `File exists (os error 17)`.
    for fresh in [&[][..], &["--fresh"]] {
        let words = [&["run", "tiny.toml", "--out", "tiny.toml"], fresh].concat();
        let file = bench.gclab(&words).exits(2);
        assert!(
            file.stderr.contains("tiny.toml: is not a folder; --out names a folder"),
            "{}",
            file.all()
        );
    }
    assert_eq!(fs::read_to_string(bench.path().join("tiny.toml")).unwrap(), tiny(2));
    let foreign = bench.gclab(&["run", "tiny.toml", "--out", "here"]).exits(2);
    assert!(foreign.stderr.contains("is not empty"), "{}", foreign.all());
}

#[test]
fn a_dry_run_prints_commands_and_does_nothing() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(2));
    let done = bench.gclab(&["run", "tiny.toml", "--dry-run=commands"]).exits(0);
    assert!(bench.folders().is_empty());
    assert!(done.stderr.contains("16 runs in 2 rounds"), "{}", done.all());
    let commands: BTreeSet<&str> = done.stdout.lines().collect();
    assert_eq!((done.stdout.lines().count(), commands.len()), (16, 8));
    assert!(
        commands.contains("gclab exec binary_trees 6 --collector two-space +RTS -A64k -F1.5"),
        "{}",
        done.all()
    );
    // After earlier runs there is an estimate.
    bench.gclab(&["run", "tiny.toml"]).exits(0);
    let done = bench
        .gclab(&["run", "tiny.toml", "--dry-run=commands", "--fresh"])
        .exits(0);
    assert!(done.stderr.contains("by earlier runs"), "{}", done.all());
}

#[test]
fn shards_together_are_the_whole() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(3));
    bench.gclab(&["run", "tiny.toml", "--out", "whole"]).exits(0);
    for part in ["1/3", "2/3", "3/3"] {
        bench
            .gclab(&["run", "tiny.toml", "--shard", part, "--out", &part.replace('/', "of")])
            .exits(0);
    }
    let open = |name: &str| ResultsDir::open(bench.path().join(name)).unwrap();
    let whole: BTreeMap<_, _> = open("whole")
        .runs()
        .iter()
        .map(|run| (run.id.clone(), run.position))
        .collect();
    let mut parts = BTreeMap::new();
    for name in ["1of3", "2of3", "3of3"] {
        let dir = open(name);
        assert_eq!(dir.runs().len(), 8, "two of six groups of four");
        parts.extend(dir.runs().iter().map(|run| (run.id.clone(), run.position)));
    }
    assert_eq!(parts, whole);
    let all = bench
        .gclab(&["report", "1of3", "2of3", "3of3", "--format", "csv"])
        .exits(0)
        .stdout;
    assert_eq!(all.lines().count(), 1 + 24);
    // Joined, each configuration has its three runs in one table.
    let table = bench
        .gclab(&["report", "1of3", "2of3", "3of3", "--wide"])
        .exits(0)
        .stdout;
    let rows = table
        .lines()
        .filter(|line| line.starts_with("  64k ") || line.starts_with("  1m "));
    assert_eq!(
        rows.map(|row| row.split_whitespace().nth(2)).collect::<Vec<_>>(),
        [Some("3"); 8],
        "{table}"
    );
    let none = bench.gclab(&["run", "tiny.toml", "--shard", "7/7"]).exits(2);
    assert!(none.stderr.contains("only 6 groups"), "{}", none.all());
}

#[test]
fn exhausted_heaps_are_results_and_crashes_are_not() {
    let bench = Bench::new();
    let file = |args: &str, m: &str| {
        format!(
            "collectors = [\"copying\"]\nworkloads = [{{ name = \"long_list\", args = [{args}] }}]\nrepeat = 2\n[sweep]\nM = [{m}]\n"
        )
    };
    bench.write("m.toml", &file("200000, 0", "\"2m\", \"64m\""));
    let done = bench.gclab(&["run", "m.toml"]).exits(0);
    assert!(done.stdout.contains("heap exhausted"), "{}", done.all());
    let results = bench.results();
    let ends: Vec<_> = results
        .runs()
        .iter()
        .map(|run| (run.flags["M"].as_str(), run.outcome.clone(), run.checksum.is_some()))
        .collect();
    for (limit, outcome, checksum) in ends {
        let expected = if limit == "2m" {
            (Status::HeapExhausted, false)
        } else {
            (Status::Ok, true)
        };
        assert_eq!((outcome, checksum), expected, "{limit}");
    }
    // A run past its time limit is killed and reported, and makes the sweep fail.
    bench.write(
        "slow.toml",
        "collectors = [\"copying\"]\nworkloads = [\"binary_trees\"]\nrepeat = 1\ntimeout = \"50ms\"\n",
    );
    let slow = bench.gclab(&["run", "slow.toml"]).exits(1);
    assert!(slow.stderr.contains("timeout: 1 of 1 runs"), "{}", slow.all());
}

#[test]
fn a_wrong_file_is_shown_with_its_line() {
    let bench = Bench::new();
    bench.write("wrong.toml", &tiny(1).replace("\"copying\"", "\"coyping\""));
    let done = bench.gclab(&["run", "wrong.toml"]).exits(2);
    for part in [
        "wrong.toml:2:28",
        "collectors = [\"two-space\", \"coyping\"]",
        "did you mean `copying`?",
    ] {
        assert!(done.stderr.contains(part), "{part}\n{}", done.all());
    }
    assert_eq!(done.stdout, "");
    assert!(bench.folders().is_empty());
    bench.gclab(&["run", "missing.toml"]).exits(2);
    bench.gclab(&["run", "."]).exits(2);
}

#[test]
fn a_reader_who_has_gone_away_does_not_stop_a_sweep() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(1));
    let mut runner = bench
        .command(&["run", "tiny.toml"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop((runner.stdout.take(), runner.stderr.take()));
    assert_eq!(runner.wait().unwrap().code(), Some(0));
    assert_eq!(bench.results().runs().len(), 8);
}

/// The machine that runs the tests may be busy, so the file is at fault: it has more threads than
/// any machine of ours.
#[test]
fn a_strict_sweep_refuses_a_machine_that_is_too_small() {
    let bench = Bench::new();
    let file = r#"
        collectors = ["parallel"]
        workloads  = [{ name = "binary_trees", args = [6] }]
        repeat     = 1
        [flags]
        N = 250
    "#;
    bench.write("threads.toml", file);
    let refused = bench
        .gclab(&["run", "threads.toml", "--strict", "--out", "out"])
        .exits(2);
    assert!(
        refused
            .stderr
            .contains("--strict: this machine is not fit to measure on now:\n")
            && refused
                .stderr
                .contains("the file asks for 250 threads, and the process may use "),
        "{}",
        refused.all()
    );
    assert!(!bench.path().join("out").exists(), "nothing ran");
    let warned = bench.gclab(&["run", "threads.toml", "--out", "out"]).exits(0);
    assert!(
        warned.stderr.contains("gclab: note: ") && warned.stderr.contains("the file asks for 250 threads"),
        "{}",
        warned.all()
    );
    let results = ResultsDir::open(bench.path().join("out")).unwrap();
    let warnings = &results.manifest().machine.warnings;
    assert!(warnings.iter().any(|text| text.contains("250 threads")), "{warnings:?}");
}

/// Each run has its conditions, and the counters listed by the folder.
#[test]
fn runs_have_conditions_and_counters() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(1));
    bench.gclab(&["run", "tiny.toml", "--out", "out"]).exits(0);
    let results = ResultsDir::open(bench.path().join("out")).unwrap();
    let machine = &results.manifest().machine;
    assert!(
        machine.counters_absent.is_some() || machine.counters.len() == 7,
        "{machine:?}"
    );
    for run in results.runs() {
        let conditions = run.conditions.as_ref().unwrap();
        assert!(
            conditions.others_cpu_seconds.is_some(),
            "every kernel counts: {conditions:?}"
        );
        assert_eq!(conditions.machine_changes, None);
        let counters = serde_json::to_value(run.counters.clone().unwrap_or_default()).unwrap();
        let there: BTreeSet<&str> = counters.as_object().unwrap().keys().map(String::as_str).collect();
        // A short run may end before the counters that share registers get their turn.
        let shares = |name: &&str| ["instructions", "cycles", "llc_misses", "dtlb_misses"].contains(name);
        let named = machine.counters.iter().map(String::as_str);
        let named: BTreeSet<&str> = named.filter(|name| !shares(name)).collect();
        assert!(named.is_subset(&there), "{there:?} {named:?}");
    }
    let page = fs::read_to_string(bench.path().join("out/report.html")).unwrap();
    assert!(
        page.contains("<h2>Environment") || page.contains("Environment</"),
        "the section"
    );
}

/// A folder started under another kernel is continued with a note, and its later runs say so.
#[test]
fn a_folder_of_another_kernel_is_told_apart_or_refused() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(1));
    bench.gclab(&["run", "tiny.toml", "--out", "out"]).exits(0);
    let plan = bench.path().join("out/plan.json");
    let mut manifest: gclab_results::Manifest = serde_json::from_str(&fs::read_to_string(&plan).unwrap()).unwrap();
    let kernel = manifest.machine.kernel.replace("Linux 2.6".to_owned()).unwrap();
    fs::write(&plan, serde_json::to_string(&manifest).unwrap()).unwrap();
    let lines = bench.path().join("out/runs.jsonl");
    let text = fs::read_to_string(&lines).unwrap();
    let first: String = text.lines().take(3).map(|line| format!("{line}\n")).collect();
    fs::write(&lines, &first).unwrap();
    let strict = bench.gclab(&["run", "tiny.toml", "--out", "out", "--strict"]).exits(2);
    assert!(strict.stderr.contains("--strict: "), "{}", strict.all());
    assert_eq!(fs::read_to_string(&lines).unwrap(), first, "nothing ran");
    let done = bench.gclab(&["run", "tiny.toml", "--out", "out"]).exits(0);
    let note = format!("out: it was started on another machine, or this one has changed: kernel is now {kernel};");
    assert!(done.stderr.contains(&note), "{}", done.all());
    let results = ResultsDir::open(bench.path().join("out")).unwrap();
    let changed = |run: &gclab_results::RunRecord| run.conditions.as_ref().unwrap().machine_changes.clone();
    assert!(results.runs()[..3].iter().all(|run| changed(run).is_none()));
    let later: Vec<_> = results.runs()[3..].iter().map(changed).collect();
    assert!(!later.is_empty());
    for changes in later {
        assert_eq!(changes, Some(BTreeMap::from([("kernel".to_owned(), kernel.clone())])));
    }
    let report = bench.gclab(&["report", "out", "--format", "markdown"]).exits(0).stdout;
    assert!(
        report.contains("starting with number 3, ran on another machine"),
        "{report}"
    );
}
