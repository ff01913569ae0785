//! The tables of configurations, of individual runs, and of the runs that failed.

use super::common::{Context, rank_cell, word_cells, word_columns};
use crate::document::{Cell, Column, Look, Part, Place, Section, Table, Tone};
use crate::format::{ABSENT, counted, number};
use crate::metric::{self, Metric};
use crate::ranking::{Ranking, settings};
use crate::summary::{Group, Summary, Work};
use gclab_results::inference::Spread;
use gclab_results::{Purpose, ResultsDir, RunRecord, Status, shell_line};
use std::collections::{BTreeMap, BTreeSet};

/// The figures in the table of individual runs.
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

/// The columns of the main table that a terminal shows without `--wide`, after the time.
const NARROW: &[Metric] = &[
    metric::GC_ELAPSED,
    metric::PEAK_IN_USE,
    metric::MAX_PAUSE,
    metric::LATENCY_P99_9,
];

/// Maximum number of runs in the table of all runs, and of failed ones listed on a page.
const MOST_LISTED: usize = 20_000;
const MOST_FAILED: usize = 200;

/// Whether a run failed. If heaps are multiples of the least heap, an exhausted heap or a timeout
/// is a result.
pub(super) fn is_failure(run: &RunRecord) -> bool {
    let by_heap = run.heap_multiple.is_some() && matches!(run.outcome, Status::HeapExhausted | Status::Timeout);
    !run.outcome.is_ok() && !by_heap
}

/// The table of all configurations: their figures, and each time over the best of its workload.
pub(super) fn configurations(of: &Context<'_>) -> Option<Section> {
    let summary = of.summary;
    summary.groups().next()?;
    let time = summary.time_metric();
    let metrics: Vec<Metric> = metric::TABLE
        .iter()
        .copied()
        .filter(|metric| metric != time && summary.has(metric))
        .collect();
    let named: BTreeSet<String> = figures(summary, |run| {
        run.figures.iter().flatten().map(|(name, _)| name.clone()).collect()
    });
    let mut columns = vec![Column::words("workload")];
    columns.extend(word_columns(summary));
    columns.push(Column::words("runs").wide());
    columns.extend([Column::metric(time), Column::words("over the best")]);
    columns.extend(metrics.iter().map(|metric| {
        let column = Column::metric(metric);
        if NARROW.contains(metric) { column } else { column.wide() }
    }));
    columns.extend(named.iter().map(|name| Column::figures(with_unit(of.dir, name))));
    let mut rows = Vec::new();
    for work in &summary.works {
        let works = [work];
        let all = settings(summary, &works);
        let ranking = Ranking::of(time, &all, &works).filter(|_| all.len() > 1 && !work.is_open_loop());
        for (place, group) in all.iter().map(crate::ranking::Contender::group).enumerate() {
            let mut cells = vec![Cell::word(&work.title)];
            cells.extend(word_cells(summary, group));
            cells.push(runs_cell(group));
            cells.push(Cell::spread(time, group.spread(time)));
            let rank = ranking.as_ref().and_then(|ranking| ranking.of_place(place));
            cells.push(match rank {
                Some(rank) => rank_cell(rank),
                None => Cell::text(group.failure().unwrap_or(ABSENT)),
            });
            cells.extend(metrics.iter().map(|metric| Cell::spread(metric, group.spread(metric))));
            cells.extend(
                named
                    .iter()
                    .map(|name| center(group, |run| run.figures.as_ref()?.get(name).copied())),
            );
            rows.push(cells);
        }
    }
    let table = Table {
        columns,
        rows,
        look: Look::Grouped,
        runs: None,
    };
    let note = "Figures are geometric means (least–greatest) of the runs that ended well.";
    Some(Section {
        title: "All configurations",
        place: Place::Table,
        parts: vec![Part::Table(table), Part::Note(note.to_owned())],
        ..Section::default()
    })
}

fn runs_cell(group: &Group<'_>) -> Cell {
    let (ok, all) = (group.ok().count(), group.runs.len());
    let text = if ok == all {
        all.to_string()
    } else {
        format!("{ok}/{all}")
    };
    Cell {
        more: group.failures_text(),
        tone: if ok == all { Tone::Plain } else { Tone::Failed },
        ..Cell::number(text, ok as f64)
    }
}

/// The names of figures that successful runs have.
fn figures(summary: &Summary<'_>, names: impl Fn(&RunRecord) -> Vec<String>) -> BTreeSet<String> {
    let runs = summary.groups().filter_map(|group| group.ok().next());
    runs.flat_map(names).collect()
}

/// The name of a figure of `stats`, with the unit that the experiment gives it.
fn with_unit(dir: &ResultsDir, name: &str) -> String {
    let mut programs = dir.manifest().programs.iter();
    let unit = programs.find_map(|program| program.unit(name)).unwrap_or_default();
    format!("{name} {unit}").trim_end().to_owned()
}

/// The centre of a figure over the successful runs.
fn center(group: &Group<'_>, value: impl Fn(&RunRecord) -> Option<f64>) -> Cell {
    centered(group.ok().filter_map(value).collect())
}

fn centered(values: Vec<f64>) -> Cell {
    let decimals = |value: &f64| number(*value).split_once('.').map_or(0, |(_, decimals)| decimals.len());
    // A mean is hardly more precise than the runs.
    let most = values.iter().map(decimals).max().unwrap_or(0) + 2;
    let scale = 10_f64.powi(most as i32);
    let spread = Spread::of(values);
    spread.map_or_else(Cell::absent, |spread| {
        Cell::number(number((spread.center * scale).round() / scale), spread.center)
    })
}

/// The measures of collection, the mutator's shares of performance counters, and the figures that
/// only some collectors have.
pub(super) fn measures(of: &Context<'_>) -> Option<Section> {
    let summary = of.summary;
    let known = |metrics: &mut dyn Iterator<Item = Metric>| -> Vec<Metric> {
        metrics.filter(|metric| summary.has(metric)).collect()
    };
    let measures = known(&mut metric::MEASURES.iter().copied());
    let mut shares = known(&mut metric::MUTATOR_SHARES.iter().copied());
    // Multiplexed counters count only part of the time.
    let is_scaled = |group: &Group<'_>| {
        group
            .spread(&metric::COUNTED_AT_PAUSES)
            .is_some_and(|share| share.min < 1.0)
    };
    if !shares.is_empty() && summary.groups().any(is_scaled) {
        shares.push(metric::COUNTED_AT_PAUSES);
    }
    let mut parts = Vec::new();
    if !measures.is_empty() {
        let note = "Rates are bytes in a second of the mutator's CPU time. The survival rate is the share of the allocated \
             bytes that minor collections copied; mark/cons is the bytes copied by all collections, over those allocated. \
             Mean residency is the live data after major collections. Mean in use is the space-time integral over the time \
             of the run. Slop and fragmentation are memory in use that holds no closure.";
        parts.extend([
            Part::Table(figure_table(summary, &measures)),
            Part::Note(note.to_owned()),
        ]);
    }
    if !shares.is_empty() {
        let note = "The mutator's part of all that a performance counter counted from the making of the heap to the end of \
             the run; the rest belongs to collections.";
        parts.extend([
            Part::Heading("Misses of the mutator and of collections".to_owned()),
            Part::Table(figure_table(summary, &shares)),
            Part::Note(note.to_owned()),
        ]);
    }
    for name in &summary.names {
        parts.extend(own_figures(summary, name).into_iter().flatten());
    }
    (!parts.is_empty()).then(|| Section {
        title: "Measures of collection",
        place: Place::Detail,
        parts,
        ..Section::default()
    })
}

/// A row for each configuration with these figures.
fn figure_table(summary: &Summary<'_>, metrics: &[Metric]) -> Table {
    let mut columns = vec![Column::words("workload")];
    columns.extend(word_columns(summary));
    columns.extend(metrics.iter().map(Column::metric));
    let row = |work: &Work<'_>, group: &Group<'_>| {
        let mut cells = vec![Cell::word(&work.title)];
        cells.extend(word_cells(summary, group));
        cells.extend(metrics.iter().map(|metric| Cell::spread(metric, group.spread(metric))));
        cells
    };
    let works = summary.works.iter();
    let rows = works.flat_map(|work| work.groups.iter().map(move |group| row(work, group)));
    Table {
        rows: rows.collect(),
        columns,
        ..Table::default()
    }
}

/// The figures that only one collector has, if it has any.
fn own_figures(summary: &Summary<'_>, name: &str) -> Option<[Part; 2]> {
    let groups = || {
        let all = summary
            .works
            .iter()
            .flat_map(|work| work.groups.iter().map(move |group| (work, group)));
        all.filter(|(_, group)| group.name == name)
    };
    fn own(run: &RunRecord) -> Option<&BTreeMap<String, u64>> {
        run.stats.as_ref()?.figures.as_ref()
    }
    let runs = groups().filter_map(|(_, group)| group.ok().next());
    let names: BTreeSet<String> = runs.filter_map(own).flat_map(BTreeMap::keys).cloned().collect();
    let mut columns = vec![Column::words("workload")];
    columns.extend(word_columns(summary));
    columns.extend(names.iter().map(Column::figures));
    let rows = groups().map(|(work, group)| {
        let mut cells = vec![Cell::word(&work.title)];
        cells.extend(word_cells(summary, group));
        cells.extend(
            names
                .iter()
                .map(|name| center(group, |run| Some(*own(run)?.get(name)? as f64))),
        );
        cells
    });
    let table = Table {
        rows: rows.collect(),
        columns,
        ..Table::default()
    };
    (!names.is_empty()).then(|| [Part::Heading(format!("Figures of {name}")), Part::Table(table)])
}

/// The table of all runs.
pub(super) fn all(of: &Context<'_>) -> Option<Section> {
    let summary = of.summary;
    let runs = &of.dir.runs()[..of.dir.runs().len().min(MOST_LISTED)];
    let metrics: Vec<&Metric> = RAW
        .iter()
        .filter(|metric| runs.iter().any(|run| metric.of(run).is_some()))
        .collect();
    let mut columns = ["order", "round", "workload"].map(Column::words).to_vec();
    columns.extend(word_columns(summary));
    columns.extend(["outcome", "checksum"].map(Column::words));
    columns.extend(metrics.iter().map(|metric| Column::metric(metric)));
    let row = |run: &RunRecord| {
        let group = Group::empty(run);
        let words = [
            run.position.to_string(),
            run.round.to_string(),
            run.configuration.work(),
        ];
        let mut cells = words.map(Cell::word).to_vec();
        cells.extend(word_cells(summary, &group));
        cells.push(outcome(run));
        cells.push(Cell::word(run.checksum.as_deref().unwrap_or(ABSENT)));
        cells.extend(metrics.iter().map(|metric| Cell::figure(metric, metric.of(run))));
        cells
    };
    let table = Table {
        columns,
        rows: runs.iter().map(row).collect(),
        runs: Some(
            runs.iter()
                .map(|run| (run.cell.clone(), shell_line(&run.command)))
                .collect(),
        ),
        look: Look::Sortable,
    };
    let mut parts = vec![Part::Table(table)];
    if of.dir.runs().len() > MOST_LISTED {
        let note = format!(
            "The first {MOST_LISTED} of {}; gclab report --format csv prints all.",
            counted(of.dir.runs().len(), "run")
        );
        parts.push(Part::Note(note));
    }
    (!runs.is_empty()).then(|| Section {
        title: "All runs",
        parts,
        ..Section::default()
    })
}

fn outcome(run: &RunRecord) -> Cell {
    Cell {
        tone: if run.outcome.is_ok() { Tone::Plain } else { Tone::Failed },
        ..Cell::text(run.outcome.to_string())
    }
}

/// The runs that failed, if any did.
pub(super) fn failed(of: &Context<'_>) -> Option<Section> {
    let columns = [
        "workload",
        "configuration",
        "round",
        "outcome",
        "after",
        "command and output",
    ]
    .map(Column::words);
    let row = |run: &RunRecord| {
        let stderr = run.stderr_tail.as_deref().unwrap_or_default();
        let round = match run.purpose() {
            Purpose::Times => run.round.to_string(),
            purpose => purpose.to_string(),
        };
        let wall = metric::WALL.of(run).filter(|seconds| seconds.is_finite());
        vec![
            Cell::text(run.configuration.work()),
            Cell::text(of.summary.label(&Group::empty(run), &[])),
            Cell::text(round),
            outcome(run),
            wall.map_or_else(Cell::absent, |wall| Cell::text(metric::WALL.unit.text_with_unit(wall))),
            Cell {
                folded: format!("{}\n{stderr}", shell_line(&run.command)).trim_end().to_owned(),
                ..Cell::text("show")
            },
        ]
    };
    let failed: Vec<&RunRecord> = of.dir.all_runs().filter(|run| is_failure(run)).collect();
    let rows: Vec<Vec<Cell>> = failed.iter().take(MOST_FAILED).map(|run| row(run)).collect();
    let mut parts = vec![Part::Table(Table {
        columns: columns.to_vec(),
        rows,
        ..Table::default()
    })];
    if let Some(more @ 1..) = failed.len().checked_sub(MOST_FAILED) {
        parts.push(Part::Paragraph(format!(
            "{} failed; gclab report --format csv has the outcomes of all.",
            counted(more, "more run")
        )));
    }
    (!failed.is_empty()).then(|| Section {
        title: "Failed runs",
        parts,
        ..Section::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_have_two_decimals_more_than_the_runs() {
        let text = |values: &[f64]| centered(values.to_vec()).text;
        assert_eq!(text(&[50.0, 52.0, 51.0]), "50.99");
        assert_eq!(text(&[90.0, 90.0]), "90");
        assert_eq!(text(&[0.001, 0.002]), "0.00141");
        assert_eq!(text(&[]), ABSENT);
    }
}
