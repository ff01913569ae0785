//! Reports: their content, that no name in them is markup, and that they survive strange data.

use super::synthetic::{self, fail, fixture, opened, small, small_runs, write};
use crate::analysis::answers::{answers, headline};
use crate::analysis::pauses::pause_rows;
use crate::chart::{Chart, Point, Series};
use crate::folder::{Results, kept};
use crate::summary::Summary;
use crate::{csv, html, markdown, profile_page, terminal};
use gclab_results::{Manifest, ResultsDir, RunRecord, Status};
use tempfile::{TempDir, tempdir};

fn folder(runs: &[RunRecord]) -> (TempDir, [Results; 1]) {
    let parent = tempdir().expect("a temporary folder");
    let dir = write(parent.path(), synthetic::manifest(&small()), runs);
    (parent, [dir])
}

/// All three formats. They must not panic, and must not show a figure that is not a number.
fn all_formats(runs: &[RunRecord]) -> String {
    let (_parent, dirs) = folder(runs);
    let html = html(&dirs);
    let everything = format!("{html}{}{}", markdown(&dirs), csv(&dirs));
    for wrong in ["NaN", "inf<", "inf ", "inf\""] {
        assert!(!everything.contains(wrong), "{wrong}");
    }
    html
}

#[test]
fn markdown_of_the_small_experiment() {
    insta::assert_snapshot!(markdown(&[fixture()]));
}

#[test]
fn csv_has_a_row_for_each_run_and_reads_back() {
    let text = csv(&[fixture()]);
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let column = |name: &str| {
        header
            .iter()
            .position(|h| h == name)
            .unwrap_or_else(|| panic!("no column {name}"))
    };
    let rows: Vec<::csv::StringRecord> = reader.records().map(|r| r.expect("a row")).collect();
    assert_eq!(rows.len(), 36);
    for (row, run) in rows.iter().zip(small_runs()) {
        assert_eq!(&row[column("flag_A")], run.flags["A"]);
        assert_eq!(&row[column("outcome")], run.outcome.kind());
        assert_eq!(&row[column("args")], run.args.join(" "));
        let nanoseconds = |seconds: f64| (seconds * 1e9).round() as u64;
        let gc = run.stats.as_ref().and_then(|s| s.gc_elapsed_seconds);
        let read: Option<f64> = row[column("gc_elapsed_seconds")].parse().ok();
        assert_eq!(read.map(nanoseconds), gc.map(nanoseconds));
    }
    assert!(rows.iter().any(|row| &row[column("signal")] == "11"));
}

#[test]
fn html_has_the_question_the_answer_and_the_runs() {
    let html = html(&[fixture()]);
    for wanted in [
        "How large should the allocation area be?",
        "Imaginary 3000",
        "gclab run experiments/small.toml --fresh",
        "A = [&quot;1m&quot;",
        "heap exhausted",
        "crash (signal 11)",
        "panicked at &lt;somewhere&gt;",
        "4 of 36 runs did not end well",
        "Total time, ms",
        "GC time, ms",
        "Mutator time, ms",
        "Peak heap, MiB",
        "Pauses, ms: A=16m",
        "seed 7",
    ] {
        assert!(html.contains(wanted), "{wanted}");
    }
    // One chart over both, 2 workloads x (4 figures + 3 distributions + 2 overheads), the drift.
    // All but the last one, which has figures below 0, have another one with the other scale.
    let others = html.matches(r#"<template><svg class="chart other""#).count();
    assert_eq!((html.matches(r#"<svg class="chart""#).count(), others), (20, 19));
    // The configuration without a good run is crossed out in each of its four charts.
    let title = "<title>two-space A=16m: 3 heap exhausted</title><path";
    assert_eq!(html.matches(title).count(), 2 * 4);
}

#[test]
fn html_needs_no_network() {
    let html = html(&[fixture()]);
    let without_namespace = html.replace("http://www.w3.org/2000/svg", "");
    for loads in ["http:", "https:", "src=", "@import", "url(", "<link"] {
        assert!(!without_namespace.contains(loads), "{loads}");
    }
}

/// The name of a workload, a flag or a machine must not get markup or scripts into the page.
#[test]
fn hostile_names_stay_text() {
    let hostile = "</script><script>alert(1)</script><img src=x onerror='alert(2)'>\"&amp;|`\n";
    let parent = tempdir().expect("a temporary folder");
    let mut manifest = synthetic::manifest(&small());
    let mut runs = small_runs();
    for run in &mut runs {
        run.id.push_str(hostile);
        run.workload = format!("{}{hostile}", run.workload);
        run.collector = format!("{}{hostile}", run.collector);
        run.args.push(hostile.to_owned());
        run.command.push(hostile.to_owned());
        let a = run.flags.remove("A").expect("a flag");
        run.flags.insert(hostile.to_owned(), format!("{a}{hostile}"));
        run.checksum = run.checksum.as_ref().map(|_| hostile.to_owned());
        run.stderr_tail = Some(hostile.to_owned());
    }
    manifest.question = Some(hostile.to_owned());
    manifest.experiment = hostile.to_owned();
    manifest.command.push(hostile.to_owned());
    manifest.machine.cpu = Some(hostile.to_owned());
    manifest.machine.warnings.push(hostile.to_owned());
    manifest.started = hostile.to_owned();
    for planned in &mut manifest.plan {
        planned.workload = hostile.to_owned();
        planned.id = format!("{}{hostile}", planned.id);
    }
    let mut dir = ResultsDir::create(parent.path().join("hostile"), manifest).expect("made");
    runs.iter().for_each(|run| dir.append_run(run).expect("a line"));
    let dirs = [opened(dir.path())];
    let html = html(&dirs);
    assert_eq!(
        html.matches("<script").count(),
        2,
        "only the page's own script, and the data of the runs"
    );
    assert_eq!(html.matches("</script").count(), 2);
    assert!(!html.contains("<img"));
    assert!(html.contains("&lt;script&gt;alert(1)"));
    let markdown = markdown(&dirs);
    let outside_code = markdown.lines().filter(|line| !line.starts_with("    "));
    assert!(
        outside_code
            .clone()
            .all(|line| !line.contains("<script") && !line.contains("<img"))
    );
    let cells = outside_code
        .filter(|line| line.starts_with("| "))
        .map(|line| line.replace("\\|", "").matches('|').count());
    let mut counts: Vec<usize> = cells.collect();
    counts.dedup();
    assert_eq!(counts.len(), 1, "a name with a bar does not make a column: {counts:?}");
    assert_eq!(
        ::csv::Reader::from_reader(csv(&dirs).as_bytes())
            .records()
            .filter(|r| r.is_ok())
            .count(),
        36
    );
    assert!(terminal(&dirs[0]).contains("alert"));
}

#[test]
fn nothing_one_run_and_only_failures() {
    let html = all_formats(&[]);
    assert!(
        html.contains("No configuration has a run that ended well") && html.contains("0 of 36 planned runs are done")
    );

    let one = small_runs()
        .into_iter()
        .find(|run| run.outcome.is_ok())
        .expect("a good run");
    let html = all_formats(std::slice::from_ref(&one));
    assert!(html.contains("1 run of each configuration: too few for any interval"));
    assert!(html.contains("One collector ran"));

    let mut runs = small_runs();
    runs.iter_mut()
        .for_each(|run| fail(run, Status::HeapExhausted, "none left"));
    let html = all_formats(&runs);
    assert!(html.contains("36 of 36 runs did not end well") && html.contains("No good run of this workload has times"));

    let parent = tempdir().expect("a temporary folder");
    let bare = write(parent.path(), Manifest::new("bare"), &[]);
    assert!(crate::html(&[bare]).contains("bare"));
}

#[test]
fn times_of_zero_and_times_that_are_no_numbers() {
    let mut runs = small_runs();
    for run in &mut runs {
        run.wall_seconds = Some(f64::NAN);
        if let Some(s) = &mut run.stats {
            (s.gc_elapsed_seconds, s.mut_elapsed_seconds) = (Some(0.0), Some(f64::INFINITY));
            (s.total_elapsed_seconds, s.peak_in_use_bytes) = (Some(0.0), Some(0));
            s.collections
                .iter_mut()
                .for_each(|p| (p.elapsed_ns, p.sync_ns) = (0, None));
        }
    }
    all_formats(&runs);
    runs.iter_mut().for_each(|run| run.stats = None);
    all_formats(&runs);
}

#[test]
fn wrong_results_come_first() {
    let mut runs = small_runs();
    runs[0].checksum = Some("666".to_owned());
    assert!(all_formats(&runs).contains("Wrong results: "));
}

#[test]
fn a_torn_line_is_reported() {
    let (_parent, [dir]) = folder(&small_runs());
    let text = std::fs::read_to_string(dir.runs_file()).expect("lines");
    std::fs::write(dir.runs_file(), &text[..text.len() - 40]).expect("can be written");
    let html = html(&[opened(dir.path())]);
    assert!(html.contains("Line 36 of runs.jsonl was not written to its end"));
}

#[test]
fn the_answer_follows_from_the_runs() {
    let dir = fixture();
    let summary = Summary::of(&dir);
    let answers = answers(&summary);
    assert_eq!(answers.len(), 2);
    for answer in &answers {
        let fastest = answer.fastest.as_ref().expect("a time");
        let metric = fastest.metric;
        let good = answer.work.groups.iter().filter(|g| g.failures().is_empty());
        let means = good.filter_map(|g| g.spread(metric)).map(|s| s.mean);
        assert_eq!(means.clone().reduce(f64::min), Some(fastest.spread.mean));
        let slowest = answer.slowest.as_ref().expect("another configuration");
        assert_eq!(means.reduce(f64::max), Some(slowest.best.spread.mean));
        // Values and ratios are of one kind.
        let ratio = slowest.ratio.expect("a ratio").estimate;
        assert!((ratio - slowest.best.spread.mean / fastest.spread.mean).abs() < 1e-12);
        assert_eq!(answer.alternatives.len(), 1);
        assert_ne!(
            answer.alternatives[0].best.group.configuration.collector,
            fastest.group.configuration.collector
        );
    }
    // Two of three runs were the fastest of all, but the third one crashed.
    let fastest = answers[0].fastest.as_ref().expect("a time");
    let crashed = summary.works[0].groups[0].spread(fastest.metric);
    assert!(crashed.expect("two good runs").mean < fastest.spread.mean);
    let expected = "Fastest of 2 workloads, each collector at its best setting: copying on 2. \
                    The lead over the next collector is more than noise on 2 of 2.";
    assert_eq!(headline(&summary, &answers), [expected]);
}

#[test]
fn pauses_are_pooled_over_good_runs() {
    let dir = fixture();
    let summary = Summary::of(&dir);
    let rows = pause_rows(&summary.works[0]);
    let row = &rows[0];
    assert_eq!(row.group.label(&summary.axes), "copying A=1m");
    // 24 collections in each of the two good runs.
    assert_eq!(row.count, 48);
    assert_eq!(row.percentiles[0], Some(row.sorted[23]));
    assert_eq!(row.percentiles[3], None);
    // 99 % of 48 pauses would be the longest one.
    assert_eq!(row.percentiles[2], None);
    assert_eq!(
        row.longest_of_runs.expect("pauses").max,
        *row.sorted.last().expect("pauses") as f64 / 1e9
    );
    // No percentile exceeds the longest pause of the table, which is that of the pool. The longest
    // pauses of the runs differ.
    let rows: Vec<_> = summary.works.iter().flat_map(pause_rows).collect();
    assert!(
        rows.iter()
            .filter_map(|row| row.longest_of_runs)
            .any(|of| of.median < of.max)
    );
    for row in rows {
        let longest = row.longest.expect("pauses");
        assert_eq!(Some(&longest), row.sorted.last());
        assert!(row.percentiles.iter().flatten().all(|p| *p <= longest));
    }
}

/// A run with very many collections has percentiles in its record, and no single pauses.
#[test]
fn pauses_that_are_not_recorded_singly_have_percentiles() {
    let mut runs = small_runs();
    let cell = runs
        .iter()
        .find(|run| run.outcome.is_ok())
        .expect("a good run")
        .cell
        .clone();
    let mut round = 0;
    for run in runs.iter_mut().filter(|run| run.cell == cell) {
        let stats = run.stats.get_or_insert_default();
        stats.collections.clear();
        stats.collections_absent = Some("too many".to_owned());
        round += 1;
        stats.pauses = Some(gclab_results::Pauses {
            count: 1000,
            p50_ns: Some(round * 1_000_000),
            max_ns: Some(round * 7_000_000),
            ..gclab_results::Pauses::default()
        });
    }
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let rows: Vec<_> = summary.works.iter().flat_map(pause_rows).collect();
    let row = rows.iter().find(|row| row.sorted.is_empty()).expect("a row");
    let good = row.group.ok().count() as u64;
    assert_eq!((row.count as u64, row.longest), (1000 * good, Some(good * 7_000_000)));
    assert_eq!(row.percentiles[3], None);
    assert!(row.percentiles[0].is_some_and(|median| median > 0));
    all_formats(&runs);
}

/// A table that sorts does so by keyboard, too: each of its headings is a button.
#[test]
fn headings_that_sort_are_buttons() {
    let profile = "JOB \"a\"\nDATE \"b\"\nSAMPLE_UNIT \"seconds\"\nVALUE_UNIT \"bytes\"\n\
                   BEGIN_SAMPLE 0.5\nband\t7\nEND_SAMPLE 0.5\n";
    let profile = gclab_hp::Profile::read(profile.as_bytes(), "x.hp").expect("a profile");
    for page in [html(&[fixture()]), profile_page("x.hp", &profile)] {
        let tables: Vec<&str> = page.split("<table class=\"sortable\">").skip(1).collect();
        assert!(!tables.is_empty());
        for table in tables {
            let head = table.split_once("</thead>").expect("a head").0;
            let headings: Vec<&str> = head.split("<th ").skip(1).collect();
            assert!(!headings.is_empty());
            assert!(
                headings
                    .iter()
                    .all(|heading| heading.contains("><button type=\"button\">")),
                "{head}"
            );
        }
    }
}

/// The sweep and the report both see a debug build; one warning is enough.
#[test]
fn a_debug_build_is_warned_of_once() {
    let mut manifest = synthetic::manifest(&small());
    manifest.build.profile = Some("debug".to_owned());
    for warnings in [&[][..], &["a debug build: its times say nothing about speed"]] {
        manifest.machine.warnings = warnings.iter().map(|&warning| warning.to_owned()).collect();
        let parent = tempdir().expect("a temporary folder");
        let dir = write(parent.path(), manifest.clone(), &small_runs());
        assert_eq!(html(&[dir]).matches("debug build").count(), 1, "{warnings:?}");
    }
}

/// Pauses that lie together stop a program for longer than each of them: the report has the least
/// utilisation of a few windows as figures and as a chart.
#[test]
fn pauses_have_the_utilisation_between_them() {
    let mut runs = small_runs();
    let good = runs.iter().find(|run| run.outcome.is_ok()).expect("a good run");
    let (cell, work) = (good.cell.clone(), good.workload.clone());
    let mut shares = [0.25, 0.35, 0.30].into_iter().cycle();
    for run in runs.iter_mut().filter(|run| run.cell == cell) {
        let share = shares.next().unwrap_or_default();
        let of_windows = [("1 ms", 0.0), ("10 ms", share), ("100 ms", 0.8)];
        let stats = run.stats.get_or_insert_default();
        stats.pauses = Some(gclab_results::Pauses {
            least_utilisation: Some(of_windows.map(|(window, share)| (window.to_owned(), share)).into()),
            ..gclab_results::Pauses::default()
        });
    }
    let page = all_formats(&runs);
    let (_parent, dirs) = folder(&runs);
    let csv = csv(&dirs);
    let after = page
        .split_once("<summary>Minimum mutator utilisation")
        .expect("the part")
        .1;
    let details = after.split_once("</details>").expect("an end").0;
    assert!(
        details.contains("% in 10 ms<") && details.contains("% in 100 ms<"),
        "{details}"
    );
    assert!(!details.contains("% in 1000 ms<"), "no run is as long: {details}");
    assert!(details.contains("30.0<small>(25.0–35.0)</small>"), "{details}");
    assert!(details.contains("<svg") && details.contains(&work), "{details}");
    assert!(
        csv.contains("least_utilisation_10_ms") && csv.contains(",0.25,"),
        "{csv}"
    );
}

#[test]
fn a_line_does_not_cross_a_missing_point() {
    let point = |x: f64, y: Option<f64>| Point {
        x,
        y: y.map(|v| (v, v, v)),
        tip: "<tip>".to_owned(),
        ..Point::default()
    };
    let points = vec![
        point(1.0, Some(1.0)),
        point(2.0, Some(2.0)),
        point(3.0, None),
        point(4.0, Some(1.0)),
        point(5.0, Some(3.0)),
    ];
    let series = Series {
        style: 0,
        points,
        marks: true,
        joined: true,
        ..Series::default()
    };
    let svg = Chart {
        title: "a < b".to_owned(),
        series: vec![series],
        ..Chart::default()
    }
    .svg();
    assert_eq!(svg.matches("<polyline").count(), 2);
    assert_eq!(svg.matches("<circle").count(), 4);
    assert!(svg.contains("a &lt; b") && svg.contains("&lt;tip&gt;") && !svg.contains("<tip>"));
    assert!(Chart::default().svg().ends_with("</svg>"), "an empty chart is a chart");
}

/// Writes reports for people: `LOOK=folder cargo test -p gclab-report -- --ignored look`.
#[test]
#[ignore = "writes files for people to look at"]
fn look() {
    let out = std::path::PathBuf::from(std::env::var("LOOK").expect("LOOK names a folder"));
    let parent = tempdir().unwrap();
    let small = write(parent.path(), synthetic::manifest(&small()), &small_runs());
    let large = write(
        parent.path(),
        synthetic::manifest(&synthetic::large()),
        &synthetic::runs(&synthetic::large()),
    );
    println!("{}", terminal(&small));
    println!("{}", terminal(&large));
    println!("{}", markdown(std::slice::from_ref(&small)));
    let mut none = synthetic::large();
    none.name = "collectors";
    none.sweep.clear();
    let none = write(parent.path(), synthetic::manifest(&none), &synthetic::runs(&none));
    let mut bools = synthetic::large();
    bools.name = "bools";
    bools.sweep = vec![("qg", vec!["false", "0", "1"])];
    let bools = write(parent.path(), synthetic::manifest(&bools), &synthetic::runs(&bools));
    std::fs::write(out.join("more.html"), html(&[none, bools])).unwrap();
    let many = write(
        parent.path(),
        synthetic::manifest(&synthetic::many()),
        &synthetic::runs(&synthetic::many()),
    );
    assert!(many.runs().len() > 10_000, "{} runs", many.runs().len());
    std::fs::write(out.join("many.html"), html(std::slice::from_ref(&many))).unwrap();
    let (manifest, runs) = synthetic::profiled();
    let profiles = parent.path().join("profiles");
    let profiled = write(&profiles, manifest, &runs);
    std::fs::write(out.join("profiles.html"), html(&[profiled])).unwrap();
    std::fs::write(out.join("small.html"), html(&[small])).unwrap();
    std::fs::write(out.join("large.html"), html(&[large])).unwrap();
}

/// One workload and two collectors: the sentence names the one with the least mean time first.
#[test]
fn a_duel_names_the_faster_collector_first() {
    let mut runs = small_runs();
    let work = runs[0].workload.clone();
    runs.retain(|run| run.workload == work);
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let answers = answers(&summary);
    let label = |group: &crate::summary::Group<'_>| group.label(&summary.axes);
    let fastest = label(answers[0].fastest.as_ref().expect("a time").group);
    let next = label(answers[0].alternatives[0].best.group);
    let sentence = headline(&summary, &answers).remove(0);
    assert!(
        sentence.starts_with(&format!("{fastest} is the fastest on ")),
        "{sentence}"
    );
    assert!(sentence.contains(&format!("; {next} takes ")), "{sentence}");
}
