//! The tables of configurations and of single runs.

use crate::analysis::checksums::disagreement;
use crate::analysis::facts::is_failure;
use crate::analysis::pauses::pause_rows;
use crate::document::{Cell, Column, Look, Part, Runs, Section, Table, Text, Topic};
use crate::folder::{MOST_LISTED, Results, of_planned};
use crate::format::{ABSENT, counted, number};
use crate::inference::Spread;
use crate::metric::{self, Metric};
use crate::run::{Run, Shared, each_facts};
use crate::summary::{Group, Summary, WorkloadRuns};
use gclab_results::{Purpose, shell_line};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The figures in the table of single runs.
const RAW: &[Metric] = &[
    metric::GC_ELAPSED,
    metric::MUT_ELAPSED,
    metric::TOTAL_ELAPSED,
    metric::WALL,
    metric::USER,
    metric::SYSTEM,
    metric::PEAK_IN_USE,
    metric::MAX_RSS,
    metric::MAX_LIVE,
    metric::MAX_PAUSE,
    metric::GCS,
    metric::MAJOR_GCS,
    metric::COPIED,
    metric::ALLOCATED,
    metric::LOAD,
    metric::INVOLUNTARY,
];

/// The columns that identify a configuration: the axes and the collector.
pub(super) fn word_columns(summary: &Summary<'_>) -> Vec<Column> {
    let mut columns: Vec<Column> = summary.axes.iter().map(|axis| Column::words(&axis.flag)).collect();
    columns.push(Column::words("collector"));
    columns
}

/// The cells of [`word_columns`].
pub(super) fn word_cells(summary: &Summary<'_>, group: &Group<'_>) -> Vec<Cell> {
    let axes = summary.axes.iter().map(|axis| Cell::word(group.flag(&axis.flag)));
    axes.chain([Cell::word(&group.configuration.collector)]).collect()
}

/// The metrics that some of the groups have.
fn known_metrics<'g, 'a: 'g>(groups: impl Iterator<Item = &'g Group<'a>> + Clone) -> Vec<Metric> {
    let known = |metric: &&Metric| groups.clone().any(|group| group.spread(metric).is_some());
    metric::TABLE.iter().filter(known).copied().collect()
}

fn runs_cell(group: &Group<'_>) -> Cell {
    let failures = group.failures().into_iter().collect();
    Cell::Runs(group.ok().count(), group.runs.len(), failures)
}

/// A table of configurations for each workload.
pub(super) fn workloads(dir: &Results, summary: &Summary<'_>) -> Section {
    let mut parts = Vec::new();
    for work in &summary.works {
        parts.push(Part::Heading(work.title.clone()));
        parts.push(Part::Table(work_table(dir, summary, work)));
        parts.extend(disagreement(work).map(|note| Part::Caution(format!("WRONG RESULTS: {note}"))));
    }
    Section {
        topic: Topic::Workloads,
        text: Vec::new(),
        parts,
    }
}

fn work_table(dir: &Results, summary: &Summary<'_>, work: &WorkloadRuns<'_>) -> Table {
    let metrics = known_metrics(work.groups.iter());
    let pauses = pause_rows(work);
    let mut columns = word_columns(summary);
    columns.push(Column::words("runs"));
    columns.extend(metrics.iter().map(Column::metric));
    let figures = named_figures(work);
    columns.extend(figures.iter().map(|name| named_column(dir, name)));
    if !pauses.is_empty() {
        columns.push(Column {
            unit: "ms".into(),
            wide_only: true,
            ..Column::figures("median pause")
        });
    }
    let row = |group: &Group<'_>| {
        let mut cells = word_cells(summary, group);
        cells.push(runs_cell(group));
        cells.extend(metrics.iter().map(|metric| Cell::Figure(*metric, group.spread(metric))));
        cells.extend(figures.iter().map(|name| named_figure(group, name)));
        if !pauses.is_empty() {
            let row = pauses.iter().find(|row| std::ptr::eq(row.group, group));
            let median = row.and_then(|row| row.percentiles[0]);
            cells.push(median.map_or_else(Cell::absent, Cell::milliseconds));
        }
        cells
    };
    Table {
        look: Look::Sortable,
        columns,
        rows: work.groups.iter().map(row).collect(),
    }
}

/// The names of the figures that `stats` of the experiment's programs took from their output.
fn named_figures<'a>(work: &WorkloadRuns<'a>) -> BTreeSet<&'a str> {
    let runs = each_facts(work.groups.iter().flat_map(Group::ok));
    let figures = runs.flat_map(|run| run.named());
    figures.map(|(name, _)| &**name).collect()
}

/// The column of such a figure, with the unit that the experiment gives it.
fn named_column(dir: &Results, name: &str) -> Column {
    let mut programs = dir.manifest().programs.iter();
    let unit = programs.find_map(|program| program.unit(name));
    Column {
        unit: unit.unwrap_or_default().to_owned().into(),
        ..Column::figures(name)
    }
}

/// The median of such a figure.
fn named_figure(group: &Group<'_>, name: &str) -> Cell {
    let values = group
        .ok()
        .flat_map(|run| run.named())
        .filter(|(own, _)| ***own == *name);
    let values = values.map(|(_, value)| value);
    Spread::of(values).map_or_else(Cell::absent, |spread| {
        Cell::number(number(spread.median), spread.median)
    })
}

/// One table of all configurations, and one of all runs.
pub(super) fn configurations(dir: &Results, summary: &Summary<'_>) -> Section {
    let note = "Median (least–greatest) of the runs that ended well. The last column is the mean with its 95 % interval \
         (Student's t), from three runs on. Click a heading to sort.";
    Section {
        topic: Topic::Configurations,
        text: Vec::new(),
        parts: vec![
            Part::Table(configuration_table(summary)),
            Part::Note(note.to_owned()),
            Part::Details("Measures of collection", measures(summary)),
            Part::Details("All runs", all_runs(dir, summary)),
        ],
    }
}

fn configuration_table(summary: &Summary<'_>) -> Table {
    let metrics = known_metrics(summary.groups().collect::<Vec<_>>().into_iter());
    let time = summary.time_metric();
    let mut columns = vec![Column::words("workload")];
    columns.extend(word_columns(summary));
    columns.push(Column::words("runs"));
    columns.extend(metrics.iter().map(Column::metric));
    columns.push(Column::figures(format!("mean {}, 95 %", time.heading())));
    let row = |work: &WorkloadRuns<'_>, group: &Group<'_>| {
        let mut cells = vec![Cell::word(&work.title)];
        cells.extend(word_cells(summary, group));
        cells.push(runs_cell(group));
        cells.extend(metrics.iter().map(|metric| Cell::Figure(*metric, group.spread(metric))));
        let mean = group.spread(time).and_then(|s| Some((s.mean, s.ci95?)));
        cells.push(mean.map_or_else(Cell::absent, |(mean, ci)| {
            let text = |value| time.unit.text(value);
            Cell::Text(Text {
                text: text(mean),
                more: format!("({}–{})", text(ci.low), text(ci.high)),
                sort: Some(mean),
                ..Text::default()
            })
        }));
        cells
    };
    let rows = summary
        .works
        .iter()
        .flat_map(|work| work.groups.iter().map(move |group| row(work, group)))
        .collect();
    Table {
        look: Look::Sortable,
        columns,
        rows,
    }
}

/// The measures of collection, which `docs/measures.md` explains.
fn measures(summary: &Summary<'_>) -> Vec<Part> {
    let known = |metric: &Metric| summary.groups().any(|group| group.spread(metric).is_some());
    let metrics: Vec<Metric> = metric::measures().filter(known).collect();
    let mut columns = vec![Column::words("workload")];
    columns.extend(word_columns(summary));
    columns.extend(metrics.iter().map(Column::metric));
    let row = |work: &WorkloadRuns<'_>, group: &Group<'_>| {
        let mut cells = vec![Cell::word(&work.title)];
        cells.extend(word_cells(summary, group));
        cells.extend(metrics.iter().map(|metric| Cell::Figure(*metric, group.spread(metric))));
        cells
    };
    let works = summary.works.iter();
    let rows = works.flat_map(|work| work.groups.iter().map(move |group| row(work, group)));
    let note = "Rates are bytes in a second of the mutator's CPU time. The survival rate is the share of the allocated \
         bytes that minor collections copied; mark/cons is the bytes copied by all collections, over those allocated. \
         Mean residency is the live data after major collections. Mean in use is the space-time integral over the time \
         of the run. Slop and fragmentation are memory in use that holds no closure. docs/measures.md has the formulas.";
    vec![
        Part::Table(Table {
            look: Look::Sortable,
            columns,
            rows: rows.collect(),
        }),
        Part::Note(note.to_owned()),
    ]
}

fn run_columns(summary: &Summary<'_>) -> Vec<Column> {
    let mut columns = ["order", "round", "workload"].map(Column::words).to_vec();
    columns.extend(word_columns(summary));
    columns
}

/// The cells of [`run_columns`] for the run with these facts.
fn run_cells(summary: &Summary<'_>, run: &Shared, position: u32, number: u32) -> Vec<Cell> {
    let group = Group::empty(run);
    let mut cells = vec![
        Cell::word(position.to_string()),
        Cell::word(round(run, number)),
        Cell::word(group.configuration.work()),
    ];
    cells.extend(word_cells(summary, &group));
    cells
}

/// The round of a timed run, or the purpose of another one.
fn round(run: &Shared, number: u32) -> String {
    match run.purpose() {
        Purpose::Times => number.to_string(),
        purpose => purpose.to_string(),
    }
}

/// The table of all runs, and a word on those that it does not list.
fn all_runs(dir: &Results, summary: &Summary<'_>) -> Vec<Part> {
    let runs = listed(dir.runs());
    let mut lines: HashMap<*const Shared, String> = HashMap::new();
    let command = |run: &Run| {
        let line = lines.entry(Arc::as_ptr(&run.facts.shared));
        line.or_insert_with(|| shell_line(&run.command)).clone()
    };
    let mut parts = vec![Part::Runs(Runs {
        table: run_table(dir, summary),
        cells: runs.iter().map(|run| run.cell.clone()).collect(),
        commands: runs.iter().map(command).collect(),
    })];
    parts.extend(unlisted(dir.runs().len(), "run", "gclab report --format csv"));
    parts
}

/// The runs that a table lists.
fn listed(runs: &[Run]) -> &[Run] {
    &runs[..runs.len().min(MOST_LISTED)]
}

/// A word on runs that a table does not list, if there are any.
fn unlisted(all: usize, what: &str, command: &str) -> Option<Part> {
    let note = || {
        format!(
            "The first {MOST_LISTED} of {}; {command} prints all.",
            counted(all, what)
        )
    };
    (all > MOST_LISTED).then(|| Part::Note(note()))
}

/// The most failed runs that a page shows with their output.
const MOST_FAILED: usize = 1000;

fn run_table(dir: &Results, summary: &Summary<'_>) -> Table {
    let known = |metric: &&Metric| dir.runs().iter().any(|run| metric.of(run).is_some());
    let metrics: Vec<&Metric> = RAW.iter().filter(known).collect();
    let mut columns = run_columns(summary);
    columns.extend(["outcome", "checksum"].map(Column::words));
    columns.extend(metrics.iter().map(|metric| Column::metric(metric)));
    let row = |run: &Run| {
        let mut cells = run_cells(summary, run, run.position, run.round);
        cells.push(outcome(run));
        cells.push(Cell::word(run.checksum().unwrap_or(ABSENT)));
        cells.extend(metrics.iter().map(|metric| {
            let value = metric.of(run).filter(|value| value.is_finite());
            value.map_or_else(Cell::absent, |value| Cell::number(metric.unit.text(value), value))
        }));
        cells
    };
    Table {
        look: Look::Sortable,
        columns,
        rows: listed(dir.runs()).iter().map(row).collect(),
    }
}

fn outcome(run: &Run) -> Cell {
    Cell::Text(Text {
        text: run.outcome().to_string(),
        failed: !run.outcome().is_ok(),
        ..Text::default()
    })
}

/// The planned runs in their order.
pub(super) fn plan(dir: &Results, summary: &Summary<'_>) -> Vec<Part> {
    let mut columns = run_columns(summary);
    columns.push(Column::words("id"));
    let rows = dir.first_planned().iter().map(|planned| {
        let facts = of_planned(planned, dir.manifest().seed);
        let mut cells = run_cells(summary, &facts, planned.position, planned.round);
        cells.push(Cell::text(&planned.id));
        cells
    });
    let mut parts = vec![Part::Table(Table {
        look: Look::Sortable,
        columns,
        rows: rows.collect(),
    })];
    parts.extend(unlisted(dir.planned(), "planned run", "gclab plan"));
    parts
}

/// The runs that failed, if any did.
pub(super) fn failed(dir: &Results, summary: &Summary<'_>) -> Option<Section> {
    let titles = [
        "Workload",
        "Configuration",
        "Round, profile or log",
        "Outcome",
        "After",
        "Command and its output",
    ];
    let row = |run: &Run| {
        let wall = metric::WALL.of(run).filter(|seconds| seconds.is_finite());
        let stderr = match run.record() {
            Ok(record) => record.stderr_tail.unwrap_or_default(),
            Err(error) => error.to_string(),
        };
        vec![
            Cell::text(run.configuration.work()),
            Cell::text(Group::empty(run).label(&summary.axes)),
            Cell::text(round(run, run.round)),
            outcome(run),
            wall.map_or_else(Cell::absent, |wall| Cell::text(metric::WALL.unit.text_with_unit(wall))),
            Cell::Output(shell_line(&run.command), stderr),
        ]
    };
    let failed = || dir.all_runs().filter(|run| is_failure(run));
    let rows: Vec<Vec<Cell>> = failed().take(MOST_FAILED).map(row).collect();
    if rows.is_empty() {
        return None;
    }
    let more = failed().skip(MOST_FAILED).count();
    let table = Table {
        look: Look::Fixed,
        columns: titles.map(Column::words).to_vec(),
        rows,
    };
    let more_failed = || {
        let more = counted(more, "more run");
        Part::Paragraph(format!(
            "{more} failed; gclab report --format csv has the outcomes of all."
        ))
    };
    Some(Section {
        topic: Topic::Failed,
        text: Vec::new(),
        parts: [Some(Part::Table(table)), (more > 0).then(more_failed)]
            .into_iter()
            .flatten()
            .collect(),
    })
}
