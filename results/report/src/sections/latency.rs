//! The section on the latency of requests.

use super::answers::collectors;
use super::runs::{word_cells, word_columns};
use crate::analysis::answers::{LatencyRow, METERED, PERCENTILES, latency_chart, latency_rows, latency_sentence};
use crate::analysis::panels::{MOST_PANELS, by_other_axes};
use crate::chart::Chart;
use crate::document::{Cell, Column, Look, Part, Section, Table, Topic};
use crate::metric;
use crate::summary::{Summary, WorkloadRuns};
use gclab_results::Axis;

/// The latency of the workloads that answer requests, if any does.
pub(super) fn latency(summary: &Summary<'_>) -> Option<Section> {
    let works: Vec<(&WorkloadRuns<'_>, Vec<LatencyRow<'_>>)> = summary
        .works
        .iter()
        .map(|work| (work, latency_rows(work)))
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    if works.is_empty() {
        return None;
    }
    let mut parts = vec![collectors(summary)];
    for (work, rows) in &works {
        parts.push(Part::Heading(work.title.clone()));
        parts.push(Part::Charts(charts(summary, work, rows)));
        parts.push(Part::Table(table(summary, rows)));
        if let Some(table) = metered_table(summary, rows) {
            parts.push(Part::Paragraph(METERED_NOTE.to_owned()));
            parts.push(Part::Table(table));
        }
    }
    let note = "Marks are medians of the runs, bands reach from the least to the greatest run. A percentile is absent where \
         no request could exceed it because there were too few. In an open loop the latency of a request counts from the \
         time at which it was to start, so a pause delays all requests that fall into it.";
    parts.push(Part::Note(note.to_owned()));
    Some(Section {
        topic: Topic::Latency,
        text: works
            .iter()
            .filter_map(|(work, rows)| latency_sentence(summary, work, rows))
            .collect(),
        parts,
    })
}

/// A chart for each setting, with a line for each collector; with one collector all settings are in
/// the table alone from the seventh on.
fn charts(summary: &Summary<'_>, work: &WorkloadRuns<'_>, rows: &[LatencyRow<'_>]) -> Vec<Chart> {
    let axes: Vec<&Axis> = summary.axes.iter().collect();
    let charts = by_other_axes(work, &axes).into_iter().map(|(heading, groups)| {
        let mine: Vec<&LatencyRow<'_>> = rows
            .iter()
            .filter(|row| groups.iter().any(|group| std::ptr::eq(*group, row.group)))
            .collect();
        let colon = if heading.is_empty() { "" } else { ": " };
        latency_chart(&work.title, &format!("Latency, ms{colon}{heading}"), summary, &mine)
    });
    let mut charts: Vec<Chart> = charts.filter(|chart| chart.dots() > 1).take(MOST_PANELS).collect();
    // One scale, so that settings can be compared by eye.
    let highest = charts.iter().map(Chart::highest).fold(0.0, f64::max);
    let lowest = charts.iter().map(Chart::lowest).fold(f64::INFINITY, f64::min);
    for chart in charts.iter_mut().filter(|_| lowest.is_finite()) {
        (chart.y_min, chart.y_max) = (lowest, highest);
    }
    charts
}

const METERED_NOTE: &str = "Metered latency of the closed loop, in ms: the latency counts from the start that a request \
     would have had, if the starts in a window around it were even. The wider the window, the longer the queue behind a \
     pause.";

/// The metered latency of closed loops; `None` if no run has any.
fn metered_table(summary: &Summary<'_>, rows: &[LatencyRow<'_>]) -> Option<Table> {
    let is_known = |at: &usize| rows.iter().any(|row| row.metered[*at].is_some());
    let known: Vec<usize> = (0..METERED.len()).filter(is_known).collect();
    let mut columns = word_columns(summary);
    columns.extend(known.iter().map(|&at| Column::figures(METERED[at].0)));
    let row = |row: &LatencyRow<'_>| {
        let mut cells = word_cells(summary, row.group);
        cells.extend(known.iter().map(|&at| Cell::Figure(METERED[at].1, row.metered[at])));
        cells
    };
    (!known.is_empty()).then(|| Table {
        look: Look::Sortable,
        columns,
        rows: rows.iter().map(row).collect(),
    })
}

fn table(summary: &Summary<'_>, rows: &[LatencyRow<'_>]) -> Table {
    let mut columns = word_columns(summary);
    columns.push(Column::figures("requests"));
    let known: Vec<usize> = (0..PERCENTILES.len())
        .filter(|&at| rows.iter().any(|row| row.percentiles[at].is_some()))
        .collect();
    columns.extend(
        known
            .iter()
            .map(|&at| Column::figures(format!("{} % ms", PERCENTILES[at].0))),
    );
    columns.push(Column::figures("longest ms"));
    let row = |row: &LatencyRow<'_>| {
        let mut cells = word_cells(summary, row.group);
        cells.push(Cell::number(row.requests.to_string(), row.requests as f64));
        cells.extend(
            known
                .iter()
                .map(|&at| Cell::Figure(PERCENTILES[at].1, row.percentiles[at])),
        );
        cells.push(Cell::Figure(metric::LATENCY_MAX, row.longest));
        cells
    };
    Table {
        look: Look::Sortable,
        columns,
        rows: rows.iter().map(row).collect(),
    }
}
