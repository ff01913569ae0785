//! The tables of the report: pauses, configurations, single runs and the plan, as rows of cells that can be sorted.

use super::{parallel, pauses, time_metric, with_range};
use crate::maths::Spread;
use crate::metric::{self, Metric, Unit};
use crate::summary::{Group, Summary};
use crate::table::runs_text;
use gclab_results::{ResultsDir, RunRecord};
use minijinja::{Value, context};

/// Figures of the table of single runs, beside the words.
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

/// A table cell: text, what stands small below it, and the number to sort by.
struct Cell {
    text: String,
    more: String,
    sort: Option<f64>,
    failed: bool,
}

impl Cell {
    fn word(text: impl Into<String>) -> Cell {
        let text = text.into();
        Cell {
            sort: crate::summary::number(&text),
            text,
            more: String::new(),
            failed: false,
        }
    }

    fn number(text: String, sort: f64) -> Cell {
        Cell {
            text,
            more: String::new(),
            sort: Some(sort),
            failed: false,
        }
    }

    /// The median, and below it the range of the runs.
    fn spread(metric: &Metric, spread: &Spread) -> Cell {
        let text = with_range(metric, spread);
        let (median, range) = text.split_once(' ').unwrap_or((&text, ""));
        Cell {
            text: median.to_owned(),
            more: range.to_owned(),
            sort: Some(spread.median),
            failed: false,
        }
    }

    fn missing() -> Cell {
        Cell::word("–")
    }
}

impl From<Cell> for Value {
    fn from(cell: Cell) -> Value {
        context! { text => cell.text, more => cell.more, sort => cell.sort, failed => cell.failed }
    }
}

pub(super) fn pause_table(summary: &Summary<'_>, rows: &[pauses::PauseRow<'_>]) -> Value {
    let mut header = words(summary);
    header.push("pauses".to_owned());
    header.extend(pauses::PERCENTILES.iter().map(|p| {
        if *p == 50.0 {
            "median ms".to_owned()
        } else {
            format!("{p}% ms")
        }
    }));
    header.push("longest ms".to_owned());
    let body: Vec<Vec<Cell>> = rows
        .iter()
        .map(|row| {
            let mut cells = word_cells(summary, row.group);
            cells.push(Cell::number(row.count.to_string(), row.count as f64));
            cells.extend(
                row.percentiles
                    .iter()
                    .map(|p| p.map_or_else(Cell::missing, milliseconds)),
            );
            cells.push(
                row.longest
                    .map_or_else(Cell::missing, |s| Cell::spread(&metric::MAX_PAUSE, &s)),
            );
            cells
        })
        .collect();
    table(header, body, summary.axes.len() + 1)
}

fn milliseconds(nanoseconds: u64) -> Cell {
    let seconds = nanoseconds as f64 * 1e-9;
    Cell::number(Unit::Milliseconds.text(seconds), seconds)
}

/// The columns that say which configuration a row is about: the axes and the collector.
fn words(summary: &Summary<'_>) -> Vec<String> {
    let mut header: Vec<String> = summary.axes.iter().map(|axis| axis.flag.clone()).collect();
    header.push("collector".to_owned());
    header
}

fn word_cells(summary: &Summary<'_>, group: &Group<'_>) -> Vec<Cell> {
    let mut cells: Vec<Cell> = summary
        .axes
        .iter()
        .map(|axis| Cell::word(group.flag(&axis.flag)))
        .collect();
    cells.push(Cell::word(&group.configuration.collector));
    cells
}

fn table(header: Vec<String>, rows: Vec<Vec<Cell>>, words: usize) -> Value {
    let rows: Vec<Vec<Value>> = rows
        .into_iter()
        .map(|row| row.into_iter().map(Value::from).collect())
        .collect();
    context! { header, rows, words }
}

pub(super) fn configuration_table(summary: &Summary<'_>) -> Value {
    let has = |m: &&Metric| summary.groups().any(|group| group.spread(m).is_some());
    let columns: Vec<&Metric> = metric::TABLE.iter().filter(has).collect();
    let time = time_metric(summary);
    let mut header = vec!["workload".to_owned()];
    header.extend(words(summary));
    header.push("runs".to_owned());
    header.extend(columns.iter().map(|m| m.heading()));
    header.push(format!("mean {}, 95 %", time.heading()));
    let rows = summary.works.iter().flat_map(|work| {
        let columns = &columns;
        work.groups.iter().map(move |group| {
            let mut cells = vec![Cell::word(&work.title)];
            cells.extend(word_cells(summary, group));
            cells.push(runs_cell(group));
            cells.extend(
                columns
                    .iter()
                    .map(|m| group.spread(m).map_or_else(Cell::missing, |s| Cell::spread(m, &s))),
            );
            let interval = group.spread(time).and_then(|s| Some((s.mean, s.ci95?)));
            cells.push(interval.map_or_else(Cell::missing, |(mean, ci)| {
                let text = |value| time.unit.text(value);
                let more = format!("({}–{})", text(ci.low), text(ci.high));
                Cell {
                    more,
                    ..Cell::number(text(mean), mean)
                }
            }));
            cells
        })
    });
    let rows = rows.collect();
    table(header, rows, summary.axes.len() + 3)
}

/// How collections were shared, in the configurations where they could be.
pub(super) fn sharing_table(summary: &Summary<'_>) -> Value {
    const COLUMNS: [&Metric; 6] = [
        &metric::GCS,
        &metric::PAR_GCS,
        &metric::WORK_BALANCE,
        &metric::SEQUENTIAL,
        &metric::SYNC,
        &metric::MAX_SYNC,
    ];
    let mut header = vec!["workload".to_owned()];
    header.extend(words(summary));
    header.extend(COLUMNS.iter().map(|m| m.heading()));
    header.extend(["at work %", "waking %", "idle %", "ending %", "how, in all runs"].map(str::to_owned));
    let on = |work: &'_ crate::summary::Work<'_>| {
        let groups = work.groups.iter().filter(|group| parallel::is_on(group));
        let row = |group: &Group<'_>| {
            let mut cells = vec![Cell::word(&work.title)];
            cells.extend(word_cells(summary, group));
            let figure = |m: &&Metric| group.spread(m).map_or_else(Cell::missing, |s| Cell::spread(m, &s));
            cells.extend(COLUMNS.iter().map(figure));
            match parallel::time_shares(group) {
                Some(shares) => cells.extend(shares.map(|s| Cell::number(Unit::Percent.text(s), s))),
                None => cells.extend((0..4).map(|_| Cell::missing())),
            }
            cells.push(Cell {
                sort: None,
                ..Cell::word(parallel::decisions(group).unwrap_or_else(|| "–".to_owned()))
            });
            cells
        };
        groups.map(row).collect::<Vec<_>>()
    };
    table(
        header,
        summary.works.iter().flat_map(on).collect(),
        summary.axes.len() + 2,
    )
}

/// How many of the runs ended well, and below it how the others ended.
fn runs_cell(group: &Group<'_>) -> Cell {
    let (text, more) = (runs_text(group), group.failures_text());
    let text = text.split(':').next().unwrap_or_default().to_owned();
    let ok = group.ok().count();
    Cell {
        text,
        failed: !more.is_empty(),
        more,
        sort: Some(ok as f64),
    }
}

fn run_words(summary: &Summary<'_>, run: &RunRecord) -> Vec<Cell> {
    let round = run.profile_flags.clone().unwrap_or_else(|| run.round.to_string());
    let mut cells = vec![Cell::word(run.position.to_string()), Cell::word(round)];
    let group = Group::empty(run);
    cells.push(Cell::word(group.configuration.work()));
    cells.extend(word_cells(summary, &group));
    cells
}

fn run_header(summary: &Summary<'_>) -> Vec<String> {
    let mut header: Vec<String> = ["order", "round", "workload"].map(str::to_owned).to_vec();
    header.extend(words(summary));
    header
}

pub(super) fn raw_table(dir: &ResultsDir, summary: &Summary<'_>) -> Value {
    let columns: Vec<&Metric> = RAW
        .iter()
        .filter(|m| dir.runs().iter().any(|run| (m.of)(run).is_some()))
        .collect();
    let mut header = run_header(summary);
    header.extend(["outcome".to_owned(), "checksum".to_owned()]);
    header.extend(columns.iter().map(|m| m.heading()));
    let rows = dir.runs().iter().map(|run| {
        let mut cells = run_words(summary, run);
        cells.push(Cell {
            failed: !run.outcome.is_ok(),
            ..Cell::word(run.outcome.to_string())
        });
        cells.push(Cell::word(run.checksum.clone().unwrap_or_else(|| "–".to_owned())));
        cells.extend(columns.iter().map(|m| {
            let value = (m.of)(run).filter(|v| v.is_finite());
            value.map_or_else(Cell::missing, |value| Cell::number(m.unit.text(value), value))
        }));
        cells
    });
    table(header, rows.collect(), summary.axes.len() + 6)
}

pub(super) fn plan_table(dir: &ResultsDir, summary: &Summary<'_>) -> Value {
    let mut header = run_header(summary);
    header.push("id".to_owned());
    let rows = dir.manifest().plan.iter().map(|planned| {
        let run = RunRecord::planned(planned, dir.manifest().seed);
        let mut cells = run_words(summary, &run);
        cells.push(Cell {
            sort: None,
            ..Cell::word(&planned.id)
        });
        cells
    });
    table(header, rows.collect(), summary.axes.len() + 5)
}
