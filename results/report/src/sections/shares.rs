//! The table of what performance counters counted in the mutator and in collections, of runs that
//! read them at each pause.

use super::runs::{word_cells, word_columns};
use crate::document::{Cell, Column, Look, Part, Section, Table, Topic};
use crate::metric::{COUNTED_AT_PAUSES, MUTATOR_SHARES, Metric};
use crate::summary::{Group, Summary};

/// The table, unless no run has a share.
pub(super) fn section(summary: &Summary<'_>) -> Option<Section> {
    let known = |metric: &&Metric| summary.groups().any(|group| group.spread(metric).is_some());
    let mut metrics: Vec<&Metric> = MUTATOR_SHARES.iter().filter(known).collect();
    if metrics.is_empty() {
        return None;
    }
    // Counters that share registers count for a part of the time.
    let is_scaled = |group: &Group<'_>| group.spread(&COUNTED_AT_PAUSES).is_some_and(|share| share.min < 1.0);
    if summary.groups().any(is_scaled) {
        metrics.push(&COUNTED_AT_PAUSES);
    }
    let mut columns = vec![Column::words("workload")];
    columns.extend(word_columns(summary));
    columns.extend(metrics.iter().map(|metric| Column::metric(metric)));
    let works = summary.works.iter();
    let rows = works.flat_map(|work| {
        work.groups.iter().map(|group| {
            let mut cells = vec![Cell::word(&work.title)];
            cells.extend(word_cells(summary, group));
            cells.extend(
                metrics
                    .iter()
                    .map(|metric| Cell::Figure(**metric, group.spread(metric))),
            );
            cells
        })
    });
    let table = Table {
        look: Look::Sortable,
        columns,
        rows: rows.collect(),
    };
    let meaning = "Each run read its performance counters at its pauses. A figure is the part that fell to the mutator, of \
                   all that the counter counted from the making of the heap to the end of the run; the rest fell to \
                   collections. Counters that share registers count for a part of the time, and are scaled; the column \
                   of that part is there if a counter did so. docs/measures.md says what the counters do not see.";
    Some(Section {
        topic: Topic::Shares,
        text: Vec::new(),
        parts: vec![Part::Paragraph(meaning.to_owned()), Part::Table(table)],
    })
}
