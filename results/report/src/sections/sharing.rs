//! The table of how collections were shared among threads.

use super::runs::{word_cells, word_columns};
use crate::analysis::parallel::{decisions, is_on, time_shares};
use crate::document::{Cell, Column, Look, Table};
use crate::format::ABSENT;
use crate::metric::{self, Metric};
use crate::summary::{Group, Summary};

const METRICS: [Metric; 6] = [
    metric::GCS,
    metric::PAR_GCS,
    metric::WORK_BALANCE,
    metric::SEQUENTIAL,
    metric::SYNC,
    metric::MAX_SYNC,
];

/// The configurations whose collections could be shared.
pub(super) fn table(summary: &Summary<'_>) -> Table {
    let mut columns = vec![Column::words("workload")];
    columns.extend(word_columns(summary));
    columns.extend(METRICS.iter().map(Column::metric));
    columns.extend(["at work %", "waking %", "idle %", "ending %"].map(Column::figures));
    columns.push(Column::figures("how, in all runs"));
    let row = |title: &str, group: &Group<'_>| {
        let mut cells = vec![Cell::word(title)];
        cells.extend(word_cells(summary, group));
        cells.extend(METRICS.iter().map(|metric| Cell::Figure(*metric, group.spread(metric))));
        match time_shares(group) {
            Some(shares) => cells.extend(shares.map(Cell::percent)),
            None => cells.extend((0..4).map(|_| Cell::absent())),
        }
        cells.push(Cell::text(decisions(group).unwrap_or_else(|| ABSENT.to_owned())));
        cells
    };
    let mut rows = Vec::new();
    for work in &summary.works {
        let groups = work.groups.iter().filter(|group| is_on(group));
        rows.extend(groups.map(|group| row(&work.title, group)));
    }
    Table {
        look: Look::Sortable,
        columns,
        rows,
    }
}
