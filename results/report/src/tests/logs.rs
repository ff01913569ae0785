//! Event logs in reports: their section, their remarks, and that they enter no other section.

use super::synthetic::{self, configurations, opened, run, small, small_runs, write};
use crate::analysis::logs::logged;
use crate::chart::Chart;
use crate::document::{Part, Topic};
use crate::folder::Results;
use crate::render::terminal_within;
use crate::sections::report;
use crate::summary::Summary;
use crate::{csv, html, markdown, untimed_disagreements};
use gclab_eventlog::{Buffer, Interval, Writer, kinds};
use gclab_results::{Manifest, PlannedRun, RunRecord, Status};
use std::fs;
use std::path::Path;
use tempfile::{TempDir, tempdir};

/// A log of GHC 9.x with two capabilities.
const REAL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../core/eventlog/tests/it/fixtures/phases-thr-n2.a.eventlog"
);

/// `small` with a logged run of these of its configurations.
fn with_logs(of: &[usize]) -> (Manifest, Vec<RunRecord>) {
    let (mut manifest, mut runs) = (synthetic::manifest(&small()), small_runs());
    for &configuration in of {
        let position = manifest.plan.len() as u32;
        let planned = PlannedRun::logged(configurations(&small())[configuration].clone(), position);
        let mut run = run(&small(), &planned);
        // A hundred times as slow: statistics that count it as a timed run differ visibly.
        let slower = |seconds: &mut Option<f64>| *seconds = seconds.map(|s| s * 100.0);
        slower(&mut run.wall_seconds);
        slower(&mut run.stats.as_mut().expect("a good run").total_elapsed_seconds);
        manifest.plan.push(planned);
        runs.push(run);
    }
    (manifest, runs)
}

/// A folder with a log for each logged run.
fn folder(logs: &[&[u8]]) -> (TempDir, Results) {
    let parent = tempdir().expect("a temporary folder");
    let (manifest, runs) = with_logs(&(0..logs.len()).collect::<Vec<_>>());
    let dir = write(parent.path(), manifest, &runs);
    for (run, log) in dir.logged().iter().zip(logs) {
        put(&dir.event_log(&run.record.file_stem()), log);
    }
    (parent, dir)
}

fn put(path: &Path, log: &[u8]) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, log).expect("written");
}

fn real() -> Vec<u8> {
    fs::read(REAL).expect("the fixture")
}

/// The text of a section in Markdown.
fn section(dir: &Results) -> String {
    let text = markdown(std::slice::from_ref(dir));
    let from = text.find("### Event logs").expect("a section");
    let length = text[from + 4..].find("\n### ").unwrap_or(text.len() - from - 4);
    text[from..from + 4 + length].to_owned()
}

/// The ids of the timed runs.
fn ids(dir: &Results) -> Vec<String> {
    dir.runs().iter().map(|run| run.id().expect("a name")).collect()
}

#[test]
fn logged_runs_are_in_no_statistic() {
    let log = real();
    let (_parent, with) = folder(&[&log, &log]);
    let with = opened(with.path());
    let parent = tempdir().expect("a temporary folder");
    let without = write(parent.path(), synthetic::manifest(&small()), &small_runs());
    assert_eq!((ids(&with), with.logged().len(), with.done()), (ids(&without), 2, 38));
    let dirs = |dir| csv(std::slice::from_ref(dir));
    assert_eq!(dirs(&with).lines().count(), dirs(&without).lines().count());
    assert_eq!(terminal_within(&with, None), terminal_within(&without, None));
    let topics = |dir: &Results| {
        report(dir)
            .sections
            .iter()
            .map(|section| section.topic)
            .collect::<Vec<_>>()
    };
    let mut others = topics(&with);
    others.retain(|topic| *topic != Topic::EventLogs);
    assert_eq!(others, topics(&without));
    assert!(report(&with).facts.contains(&"2 event logs".to_owned()));
}

/// The figures are those of `gclab events summary`.
#[test]
fn a_log_has_its_pauses_by_both_definitions() {
    let (_parent, dir) = folder(&[&real()]);
    let (summary, damage) =
        gclab_eventlog::Summary::of_file(Path::new(REAL), Interval::default(), false).expect("a whole log");
    assert!(damage.is_none());
    let text = section(&dir);
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| copying A=") || line.starts_with("| two-space"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    assert_eq!(rows.len(), 2, "{text}");
    for (row, (of, pauses)) in rows
        .iter()
        .zip([("the program", &summary.pauses), ("a capability", &summary.cap_pauses)])
    {
        let ms = |ns: u64| format!("{:.3}", ns as f64 / 1e6);
        let [median, _, _, most] = pauses.exceeded_by_one_in([2, 10, 100, 1000]);
        assert_eq!((row[2], row[3]), (of, pauses.count().to_string().as_str()), "{text}");
        let near = |cell: &str, ns: u64| {
            let shown: f64 = cell.parse().expect("a number");
            (shown - ns as f64 / 1e6).abs() <= 0.005 * shown.max(0.1)
        };
        assert!(
            near(row[4], pauses.total_ns()) && near(row[9], pauses.longest_ns()),
            "{row:?}"
        );
        assert!(
            near(row[5], median.expect("enough pauses")),
            "{row:?} {}",
            ms(median.unwrap_or(0))
        );
        assert_eq!(most.is_none(), row[8] == "–", "{row:?}");
    }
    assert!(summary.pauses.count() < summary.cap_pauses.count());
    assert!(text.contains("all capabilities had stopped after "), "{text}");
    assert!(text.contains(&format!(
        "the log is eventlogs/{}.eventlog",
        dir.logged()[0].record.file_stem()
    )));
}

/// A log of two pauses of ten milliseconds, a hundred apart, in a run of a second; each capability
/// allocates.
fn two_pauses() -> Vec<u8> {
    const MS: u64 = 1_000_000;
    let kinds = [
        &kinds::GC_START,
        &kinds::GC_END,
        &kinds::GC_STATS_GHC,
        &kinds::HEAP_ALLOCATED,
    ];
    let mut log = Writer::new(Vec::new(), kinds).expect("a log");
    for cap in 0..2_u16 {
        let mut buffer = Buffer::new(Some(cap));
        for (start, end) in [(100, 110), (210, 220)] {
            // The second capability waits for three milliseconds until the first one stops.
            let stop = start * MS - u64::from(cap) * 3 * MS;
            buffer.event(&kinds::GC_START, stop, &[]).expect("an event");
            if cap == 0 {
                let mut figures = vec![0.into(); kinds::GC_STATS_GHC.fields.len()];
                figures[0] = 1.into();
                buffer
                    .event(&kinds::GC_STATS_GHC, start * MS + 1, &figures)
                    .expect("an event");
            }
            let allocated = [0.into(), (start << 20).into()];
            buffer
                .event(&kinds::HEAP_ALLOCATED, end * MS - 1, &allocated)
                .expect("an event");
            buffer.event(&kinds::GC_END, end * MS, &[]).expect("an event");
        }
        let allocated = [0.into(), (300_u64 << 20).into()];
        buffer
            .event(&kinds::HEAP_ALLOCATED, 1000 * MS, &allocated)
            .expect("an event");
        log.block(&mut buffer, 1000 * MS).expect("a block");
    }
    log.finish().expect("a log")
}

#[test]
fn curves_are_those_of_the_definitions() {
    let (_parent, dir) = folder(&[&two_pauses()]);
    let works = logged(&dir, &Summary::of(&dir));
    let log = works[0].1[0].read().expect("a log");
    let chart = log.utilisation("x").expect("pauses");
    let value = |series: usize, ms: f64| {
        let point = chart.series[series]
            .points
            .iter()
            .find(|point| (point.x - ms).abs() < 1e-9);
        point.and_then(|point| point.y).expect("a point").0
    };
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 0.05, "{value} {expected}");
    // The longest pause, a round window, and the whole run.
    near(value(0, 10.0), 0.0);
    near(value(1, 10.0), 0.0);
    near(value(0, 100.0), 90.0);
    near(value(1, 100.0), 100.0 * 100.0 / 120.0);
    near(value(0, 1000.0), 98.0);
    near(value(1, 1000.0), 98.0);
    // The second capability stops for 13 ms.
    near(value(2, 100.0), 87.0);
    let at_least = |series: &[crate::chart::Point]| series.windows(2).all(|two| two[0].y <= two[1].y);
    assert!(!at_least(&chart.series[0].points) && at_least(&chart.series[1].points));
    let chart: Chart = log.allocation("x").expect("figures");
    let points: Vec<(f64, f64)> = chart.series[0]
        .points
        .iter()
        .filter_map(|point| Some((point.x, point.y?.0)))
        .collect();
    assert_eq!(points.first(), Some(&(0.0, 0.0)));
    assert_eq!(points.last(), Some(&(1.0, 600.0)));
    assert!(
        points.iter().any(|(x, y)| (x - 0.11).abs() < 1e-6 && *y == 200.0),
        "{points:?}"
    );
}

#[test]
fn a_missing_log_and_damaged_ones_are_remarks() {
    let whole = real();
    let cut = &whole[..whole.len() / 2];
    let (_parent, dir) = folder(&[&whole, cut, b"not a log at all", b"", &whole]);
    fs::remove_file(dir.event_log(&dir.logged()[4].record.file_stem())).expect("it was there");
    let text = section(&dir);
    for remark in [
        "the figures are those of the log up to its damage: ",
        "no figures: there is no file eventlogs/",
    ] {
        assert_eq!(text.matches(remark).count(), 1, "{remark}: {text}");
    }
    assert_eq!(text.matches("no figures: ").count(), 3, "{text}");
    // Two rows for the whole log and for the half.
    assert_eq!(text.matches("| the program |").count(), 2, "{text}");
    let page = html(std::slice::from_ref(&dir));
    assert!(page.contains("<h2>Event logs") && page.matches("utilisation, %</title>").count() == 2);
}

#[test]
fn a_failed_run_says_so_beside_its_log() {
    let parent = tempdir().expect("a temporary folder");
    let (manifest, mut runs) = with_logs(&[0]);
    let last = runs.last_mut().expect("the logged run");
    synthetic::fail(last, Status::Timeout, "killed");
    let dir = write(parent.path(), manifest, &runs);
    put(&dir.event_log(&dir.logged()[0].record.file_stem()), &real());
    assert!(section(&dir).contains("the run ended as timeout; "));
    let failed = report(&dir);
    let failed = failed.section(Topic::Failed).expect("a failed run");
    let Some(Part::Table(table)) = failed.parts.first() else {
        panic!("a table")
    };
    assert!(format!("{:?}", table.rows).contains("\"event log\""));
}

#[test]
fn a_log_that_changes_the_program_is_told_first() {
    let parent = tempdir().expect("a temporary folder");
    let (manifest, mut runs) = with_logs(&[0]);
    runs.last_mut().expect("the logged run").checksum = Some("666".to_owned());
    let dir = write(parent.path(), manifest, &runs);
    let notes = untimed_disagreements(&dir);
    assert!(
        notes.len() == 1 && notes[0].ends_with("with an event log: checksum 666, but another one without the log"),
        "{notes:?}"
    );
}
