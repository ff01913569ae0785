//! `gclab report` and `gclab compare`.

use std::fs;

use gclab_results::{Manifest, ResultsDir, RunRecord};

use crate::support::{Bench, tiny};

/// A bench with results in `base`.
fn measured() -> Bench {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(3));
    bench.gclab(&["run", "tiny.toml", "--out", "base"]).exits(0);
    bench
}

#[test]
fn every_format() {
    let bench = measured();
    let csv = bench.gclab(&["report", "base", "--format", "csv"]).exits(0).stdout;
    assert_eq!(csv.lines().count(), 1 + 24);
    let markdown = bench.gclab(&["report", "--format", "markdown", "base"]).exits(0).stdout;
    assert!(
        markdown.contains("| copying |") && markdown.contains("Does it work?"),
        "{markdown}"
    );
    fs::remove_file(bench.path().join("base/report.html")).unwrap();
    let page = bench.gclab(&["report", "base", "--format", "html"]).exits(0).stdout;
    assert_eq!(page, fs::read_to_string(bench.path().join("base/report.html")).unwrap());
    assert!(page.starts_with("<!"), "{}", &page[..40]);
    let table = bench.gclab(&["report", "base"]).exits(0);
    assert!(
        table.stdout.contains("two-space") && table.stderr.contains("base/report.html"),
        "{}",
        table.all()
    );
}

#[test]
fn a_page_that_cannot_be_written_costs_no_table() {
    let bench = measured();
    // A folder in the page's place stops even root.
    fs::remove_file(bench.path().join("base/report.html")).unwrap();
    fs::create_dir_all(bench.path().join("base/report.html/x")).unwrap();
    let table = bench.gclab(&["report", "base"]).exits(2);
    assert!(table.stdout.contains("two-space"), "{}", table.all());
    assert!(
        table
            .stderr
            .starts_with("gclab: base/report.html: cannot write the report: ")
            && table.stderr.lines().count() == 1,
        "{}",
        table.all()
    );
    let page = bench.gclab(&["report", "base", "--format", "html"]).exits(2);
    assert!(page.stdout.contains("</html>"), "{}", page.all());
    let markdown = bench.gclab(&["report", "base", "--format", "markdown"]).exits(0);
    assert_eq!(markdown.stderr, "");
    let run = bench.gclab(&["run", "tiny.toml", "--out", "base"]).exits(1);
    assert!(
        run.stdout.contains("two-space") && run.stderr.contains("base/report.html: cannot write the report: "),
        "{}",
        run.all()
    );
}

#[test]
fn the_command_that_repeats_an_experiment_has_what_was_given() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(2));
    bench
        .gclab(&["run", "--shard", "1/2", "tiny.toml", "--out", "a folder"])
        .exits(0);
    let markdown = bench
        .gclab(&["report", "a folder", "--format", "markdown"])
        .exits(0)
        .stdout;
    assert!(
        markdown.contains("gclab run --shard 1/2 tiny.toml --out 'a folder' --fresh"),
        "{markdown}"
    );
}

#[test]
fn no_results_no_report() {
    let bench = measured();
    for words in [
        &["report", "nowhere"][..],
        &["report", "."],
        &["report"],
        &["report", "base", "--format", "pdf"],
        &["compare", "base", "nowhere"],
        &["compare", "base"],
    ] {
        let done = bench.gclab(words).exits(2);
        assert_eq!(done.stdout, "", "{words:?}");
    }
    fs::write(bench.path().join("base/runs.jsonl"), "{\"what\": 1}\n{}\n").unwrap();
    let done = bench.gclab(&["report", "base"]).exits(2);
    assert!(done.stderr.contains("runs.jsonl:1:"), "{}", done.all());
}

/// Copies the results `base` to another folder, changing each run.
fn copied(bench: &Bench, name: &str, started: Option<&str>, change: impl Fn(&mut RunRecord)) {
    let (base, folder) = (bench.path().join("base"), bench.path().join(name));
    fs::create_dir(&folder).unwrap();
    let plan = fs::read_to_string(base.join("plan.json")).unwrap();
    let mut plan: Manifest = serde_json::from_str(&plan).unwrap();
    if let Some(started) = started {
        plan.started = started.to_owned();
    }
    fs::write(folder.join("plan.json"), serde_json::to_string(&plan).unwrap()).unwrap();
    let runs = fs::read_to_string(base.join("runs.jsonl")).unwrap();
    let changed = |line: &str| {
        let mut run: RunRecord = serde_json::from_str(line).unwrap();
        // The machine may be busy, which does not matter to these tests.
        run.conditions.as_mut().unwrap().disturbances = None;
        change(&mut run);
        serde_json::to_string(&run).unwrap() + "\n"
    };
    fs::write(folder.join("runs.jsonl"), runs.lines().map(changed).collect::<String>()).unwrap();
}

/// The same runs, a hundred times slower: every time in the measured phase is larger.
fn slower(run: &mut RunRecord) {
    let factor = 100.0 * (1.0 + 0.001 * f64::from(run.round));
    let slower = |seconds: &mut Option<f64>| *seconds = seconds.map(|seconds| seconds * factor);
    slower(&mut run.wall_seconds);
    let measured = &mut run.stats.as_mut().unwrap().phases.as_mut().unwrap().measured;
    [
        &mut measured.total_elapsed_seconds,
        &mut measured.total_cpu_seconds,
        &mut measured.gc_elapsed_seconds,
        &mut measured.gc_cpu_seconds,
        &mut measured.mut_elapsed_seconds,
        &mut measured.mut_cpu_seconds,
    ]
    .into_iter()
    .for_each(slower);
}

#[test]
fn compare_tells_worse_from_same() {
    let bench = measured();
    copied(&bench, "quiet", None, |_| {});
    copied(&bench, "slow", None, slower);
    copied(&bench, "disturbed", None, |run| {
        slower(run);
        run.conditions.as_mut().unwrap().disturbances = Some(vec!["steal".to_owned()]);
    });
    let compare = |words: &[&str], code: i32| bench.gclab(&[&["compare"], words].concat()).exits(code).stdout;
    let same = compare(&["base", "base", "--threshold", "3%"], 0);
    assert!(same.starts_with("Identical runs: both hold the same runs"), "{same}");
    let worse = compare(&["quiet", "slow"], 1);
    assert!(worse.starts_with("Worse in 8 of 8 configurations: "), "{worse}");
    compare(&["slow", "quiet"], 0);
    // Other guests of the machine were busy in all runs, so nothing is called slower.
    let disturbed = compare(&["quiet", "disturbed"], 0);
    assert!(
        disturbed.starts_with("Disturbed in 8 of 8 configurations: "),
        "{disturbed}"
    );
    let all = compare(&["quiet", "slow", "--all"], 1);
    assert!(all.lines().count() > worse.lines().count(), "{all}");
    let json: serde_json::Value = serde_json::from_str(&compare(&["quiet", "slow", "--format", "json"], 1)).unwrap();
    assert_eq!(json["regressed"], true, "{json}");
    let markdown = compare(&["quiet", "slow", "--format", "markdown"], 1);
    assert!(markdown.starts_with("**Worse in 8 of 8 configurations"), "{markdown}");
    assert_eq!(compare(&["quiet", "slow", "--format", "github"], 1), markdown);
}

/// Makes a run look like one on a machine of another speed.
fn at_speed(factor: f64) -> impl Fn(&mut RunRecord) {
    move |run| {
        let noise = factor * (1.0 + 0.001 * f64::from(run.round));
        let measured = &mut run.stats.as_mut().unwrap().phases.as_mut().unwrap().measured;
        for time in [
            &mut measured.total_elapsed_seconds,
            &mut measured.gc_cpu_seconds,
            &mut measured.mut_cpu_seconds,
        ] {
            *time = Some(noise);
        }
    }
}

/// Counts do not depend on the machine, so one that differs fails. Times of a few milliseconds are
/// not judged here.
#[test]
fn a_published_folder_is_measured_again_and_compared() {
    let bench = measured();
    let agreeing = |done: &str| -> String {
        let line = done.lines().find(|line| line.contains("outcomes and counts"));
        line.unwrap_or_default()
            .split_whitespace()
            .skip(3)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let again = bench.gclab(&["reproduce", "base", "--out", "again"]);
    assert_eq!(agreeing(&again.stdout), "48 0 0", "{}", again.all());
    assert_eq!(ResultsDir::open(bench.path().join("again")).unwrap().done(), 24);
    copied(&bench, "wrong", None, |run| {
        let phases = run.stats.as_mut().and_then(|stats| stats.phases.as_mut()).unwrap();
        phases.measured.allocated_bytes = phases.measured.allocated_bytes.map(|bytes| 2 * bytes);
    });
    let wrong = bench.gclab(&["reproduce", "wrong", "--out", "again"]).exits(1);
    assert_eq!(agreeing(&wrong.stdout), "40 8 0", "{}", wrong.all());
    assert!(wrong.stdout.contains("  allocated  "), "{}", wrong.all());
    let unknown = bench.gclab(&["reproduce", "nothing"]).exits(2);
    assert_eq!(
        unknown.stderr,
        "gclab: nothing: no such folder; pages are found from the top of a checkout of gclab\n"
    );
}

/// One command repeats all figures of a page.
#[test]
fn every_folder_of_a_page_is_repeated() {
    let bench = measured();
    fs::create_dir_all(bench.path().join("results/reference")).unwrap();
    for name in ["results/reference/one", "results/reference/two"] {
        copied(&bench, name, None, |_| {});
    }
    bench.write(
        "page.md",
        "[1](../results/reference/one), [2](../results/reference/two)\n",
    );
    let page = ["reproduce", "page.md", "--fresh", "--repeat", "1"];
    let done = bench.gclab(&page);
    let compared = done.stdout.lines().filter(|line| line.contains("outcomes and counts"));
    assert_eq!(compared.count(), 2, "{}", done.all());
    // The plan of one now has the workload of a program of somebody's own.
    let plan = bench.path().join("results/reference/two/plan.json");
    let text = fs::read_to_string(&plan).unwrap();
    fs::write(&plan, text.replace("\"binary_trees\"", "\"quads\"")).unwrap();
    let said = "results/reference/two: `quads` is another program's workload; that program repeats it";
    let done = bench.gclab(&page);
    assert!(
        done.stderr.contains(&format!("note: not repeated: {said}")),
        "{}",
        done.all()
    );
    let compared = done.stdout.lines().filter(|line| line.contains("outcomes and counts"));
    assert_eq!(compared.count(), 1, "{}", done.all());
    let alone = bench.gclab(&["reproduce", "two"]).exits(2).stderr;
    assert!(alone.starts_with(&format!("gclab: {said}")), "{alone}");
    let refused = bench.gclab(&[&page[..], &["--out", "x"]].concat()).exits(2).stderr;
    assert!(
        refused.contains("results/reference/one, results/reference/two"),
        "{refused}"
    );
}

#[test]
fn a_history_fails_if_its_last_folder_is_worse() {
    let bench = measured();
    for (day, factor) in [(5, 1.02), (1, 1.0), (2, 1.01), (3, 0.99), (4, 1.0), (6, 1.5)] {
        let started = format!("2026-01-0{day}T00:00:00Z");
        copied(&bench, &format!("day{day}"), Some(&started), at_speed(factor));
    }
    let history = |days: &[&str], options: &[&str]| {
        let names: Vec<String> = days.iter().map(|day| format!("day{day}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        bench.gclab(&[&["compare", "--history"], &names[..], options].concat())
    };
    let worse = history(&["6", "1", "2", "3", "4", "5"], &[]).exits(1).stdout;
    assert!(
        worse.starts_with("The last folder, 6") && worse.contains("is worse in 24 figures"),
        "{worse}"
    );
    let same = history(&["1", "2", "3", "4", "5"], &[]).exits(0).stdout;
    assert!(same.contains("was not shown to be worse"), "{same}");
    history(&["6", "5", "4", "3", "2", "1"], &["--order", "given"]).exits(0);
    let markdown = history(&["6", "1", "2", "3", "4", "5"], &["--format", "github"])
        .exits(1)
        .stdout;
    assert!(markdown.starts_with("**The last folder, 6"), "{markdown}");
    let json = history(&["1", "6"], &["--format", "json", "--threshold", "60%"])
        .exits(0)
        .stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["regressed"], false);
    for (words, message) in [
        (&["--history", "day1"][..], "2"),
        (
            &["--history", "day1", "./day1"],
            "--history: ./day1 is given twice; each folder is one point",
        ),
        (&["--history", "day1", "nowhere"], "nowhere"),
        (&["day1", "day2", "--order", "given"], "--history"),
    ] {
        let done = bench.gclab(&[&["compare"], words].concat()).exits(2);
        assert!(done.stderr.contains(message), "{}", done.all());
    }
}

#[test]
fn compare_has_two_collectors_of_one_folder() {
    let bench = measured();
    let json = bench.gclab(&[
        "compare",
        "base",
        "--collector",
        "copying",
        "--against",
        "two-space",
        "--format",
        "json",
    ]);
    assert!(matches!(json.code, Some(0 | 1)), "{}", json.all());
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    for configuration in json["configurations"].as_array().unwrap() {
        assert_eq!(configuration["collector"], "copying", "{configuration}");
        assert!(
            !configuration["figures"].as_array().unwrap().is_empty(),
            "{configuration}"
        );
    }
    for (words, message) in [
        (
            &["--collector", "nosuch", "--against", "copying"][..],
            "base: no run of the collector `nosuch`; collectors: copying, two-space",
        ),
        (
            &["--collector", "copying", "--against", "copying"],
            "both sides are copying",
        ),
        (&["--collector", "copying"], "--against"),
        (&["--against", "copying"], "--collector"),
    ] {
        let done = bench.gclab(&[&["compare", "base"], words].concat()).exits(2);
        assert!(done.stderr.contains(message), "{}", done.all());
    }
}
