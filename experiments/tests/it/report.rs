//! `gclab report` and `gclab compare`.

use std::fs;

use crate::support::{Bench, tiny};

/// A bench with results in the folder `base`.
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
    // A folder in the place of the page stops even root.
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
        markdown.contains("gclab run tiny.toml --out 'a folder' --shard 1/2 --fresh"),
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

#[test]
fn compare_tells_worse_from_same() {
    let bench = measured();
    let same = bench.gclab(&["compare", "base", "base", "--threshold", "3%"]).exits(0);
    assert!(
        same.stdout.contains("identical runs: both folders hold the same runs"),
        "{}",
        same.all()
    );
    // The same runs, each a hundred times as slow: every time of the measured phase is larger.
    fs::create_dir(bench.path().join("slow")).unwrap();
    fs::copy(bench.path().join("base/plan.json"), bench.path().join("slow/plan.json")).unwrap();
    let mut text = String::new();
    for line in fs::read_to_string(bench.path().join("base/runs.jsonl"))
        .unwrap()
        .lines()
    {
        let mut run: gclab_results::RunRecord = serde_json::from_str(line).unwrap();
        // As on a machine on which other guests of its host were busy.
        run.conditions.as_mut().unwrap().disturbances = Some(vec!["steal".to_owned()]);
        let slower = |seconds: &mut Option<f64>| *seconds = seconds.map(|seconds| seconds * 100.0);
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
        text.push_str(&serde_json::to_string(&run).unwrap());
        text.push('\n');
    }
    fs::write(bench.path().join("slow/runs.jsonl"), text).unwrap();
    let worse = bench.gclab(&["compare", "base", "slow"]).exits(1);
    assert!(
        worse.stdout.contains(" worse") && worse.stdout.contains("8 regressions"),
        "{}",
        worse.all()
    );
    let note = "gclab: note: slow: runs were disturbed (steal in 24 of 24); a difference may come from that";
    assert!(worse.stderr.contains(note), "{}", worse.all());
    let history = bench.gclab(&["compare", "--history", "base", "slow"]).exits(1);
    assert!(history.stderr.contains(note), "{}", history.all());
    bench.gclab(&["compare", "slow", "base"]).exits(0);
    let changed = bench
        .gclab(&["compare", "base", "slow", "--only-changed"])
        .exits(1)
        .stdout;
    let is_figure = |line: &&str| line.contains(" worse") || line.contains(" same");
    assert!(
        changed.lines().filter(is_figure).count() < worse.stdout.lines().filter(is_figure).count(),
        "{changed}"
    );
    let json = bench
        .gclab(&["compare", "base", "slow", "--format", "json"])
        .exits(1)
        .stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["regressed"], true, "{json}");
    let markdown = bench
        .gclab(&["compare", "base", "slow", "--format", "markdown"])
        .exits(1)
        .stdout;
    assert!(
        markdown.starts_with("**") && markdown.contains("worse in 8 of 8 configurations, most in "),
        "{markdown}"
    );
    assert!(markdown.contains("\n<details><summary>All "), "{markdown}");
    let github = bench.gclab(&["compare", "base", "slow", "--format", "github"]).exits(1);
    assert_eq!(github.stdout, markdown);
}

/// Copies the results `base` to another folder, with another start; each time is multiplied.
fn copied(bench: &Bench, name: &str, started: &str, factor: f64) {
    let (base, folder) = (bench.path().join("base"), bench.path().join(name));
    fs::create_dir(&folder).unwrap();
    let plan = fs::read_to_string(base.join("plan.json")).unwrap();
    let mut plan: gclab_results::Manifest = serde_json::from_str(&plan).unwrap();
    plan.started = started.to_owned();
    fs::write(folder.join("plan.json"), serde_json::to_string(&plan).unwrap()).unwrap();
    let runs = fs::read_to_string(base.join("runs.jsonl")).unwrap();
    let slower = |line: &str| {
        let mut run: gclab_results::RunRecord = serde_json::from_str(line).unwrap();
        let measured = &mut run.stats.as_mut().unwrap().phases.as_mut().unwrap().measured;
        for time in [
            &mut measured.total_elapsed_seconds,
            &mut measured.gc_cpu_seconds,
            &mut measured.mut_cpu_seconds,
        ] {
            *time = Some(factor * (1.0 + 0.001 * f64::from(run.round)));
        }
        serde_json::to_string(&run).unwrap() + "\n"
    };
    fs::write(folder.join("runs.jsonl"), runs.lines().map(slower).collect::<String>()).unwrap();
}

#[test]
fn a_history_fails_if_its_last_folder_is_worse() {
    let bench = measured();
    for (day, factor) in [(5, 1.02), (1, 1.0), (2, 1.01), (3, 0.99), (4, 1.0), (6, 1.5)] {
        let started = format!("2026-01-0{day}T00:00:00Z");
        copied(&bench, &format!("day{day}"), &started, factor);
    }
    let history = |days: &[&str], options: &[&str]| {
        let names: Vec<String> = days.iter().map(|day| format!("day{day}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        bench.gclab(&[&["compare", "--history"], &names[..], options].concat())
    };
    let worse = history(&["6", "1", "2", "3", "4", "5"], &[]).exits(1).stdout;
    assert!(worse.starts_with("6 folders in the order of their start\n"), "{worse}");
    assert!(worse.contains("is worse than those before it in 24 figures"), "{worse}");
    let same = history(&["1", "2", "3", "4", "5"], &[]).exits(0).stdout;
    assert!(same.contains("is not worse than those before it: 0 better, "), "{same}");
    history(&["6", "5", "4", "3", "2", "1"], &["--order", "given"]).exits(0);
    let markdown = history(&["6", "1", "2", "3", "4", "5"], &["--format", "github"])
        .exits(1)
        .stdout;
    assert!(markdown.starts_with("**The last folder, 6"), "{markdown}");
    let json = history(&["1", "6"], &["--format", "json", "--threshold", "60%"])
        .exits(0)
        .stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["regressed"], &json["better"]), (&false.into(), &0.into()));
    for (words, message) in [
        (&["--history", "day1"][..], "2"),
        (
            &["--history", "day1", "./day1"],
            "--history: ./day1 is given twice; each folder is one point",
        ),
        (&["--history", "day1", "nowhere"], "nowhere"),
        (&["day1", "day2", "--history", "day3", "day4"], "cannot be used with"),
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
        assert_eq!(configuration["against"], "two-space", "{configuration}");
        assert!(
            !configuration["figures"].as_array().unwrap().is_empty(),
            "{configuration}"
        );
    }
    for (words, message) in [
        (
            &["--collector", "nosuch", "--against", "copying"][..],
            "base: no run of the collector `nosuch`; there are: copying, two-space",
        ),
        (&["--collector", "copying", "--against", "copying"], "are both copying"),
        (&["--collector", "copying"], "--against"),
        (&["--against", "copying"], "--collector"),
    ] {
        let done = bench.gclab(&[&["compare", "base"], words].concat()).exits(2);
        assert!(done.stderr.contains(message), "{}", done.all());
    }
}
