//! The section on the lower bound of the cost of garbage collection.

use super::answers::collectors;
use super::runs::{word_cells, word_columns};
use crate::analysis::overhead::{COSTS, WorkOverheads, charts, overheads};
use crate::document::{Cell, Column, Look, Part, Section, Table, Topic};
use crate::format;
use crate::inference::RUNS_FOR_OVERHEAD;
use crate::summary::Summary;

/// The section, where a workload has two configurations or more.
pub(super) fn section(summary: &Summary<'_>) -> Option<Section> {
    let found = overheads(summary);
    if found.is_empty() {
        return None;
    }
    let note = format!(
        "The cost of each configuration over the least cost without collections that any configuration of the workload \
         shows: what collection costs at least (lower-bound overhead, LBO). Barriers, allocation and disturbed caches are \
         not told from the program, so the true cost is higher. Elapsed time hides work that other threads do; CPU time \
         does not. A further configuration can only raise these figures, so compare them within one experiment. Intervals \
         by resamples, from {RUNS_FOR_OVERHEAD} runs on. A configuration with a failed run takes no part. A runtime that \
         tells only the elapsed time of its collections takes part in that cost alone."
    );
    let mut parts = vec![Part::Note(note)];
    if summary.axes.len() == 1 {
        parts.push(collectors(summary));
    }
    for of_work in &found {
        parts.push(Part::Heading(of_work.work.title.clone()));
        parts.push(Part::Paragraph(baselines(summary, of_work)));
        let table = Part::Table(table(summary, of_work));
        match charts(summary, of_work) {
            charts if charts.is_empty() => parts.push(table),
            charts => parts.extend([Part::Charts(charts), Part::Details("Figures", vec![table])]),
        }
    }
    Some(Section {
        topic: Topic::Overhead,
        text: Vec::new(),
        parts,
    })
}

/// The configurations whose costs without collections are the baselines.
fn baselines(summary: &Summary<'_>, of_work: &WorkOverheads<'_>) -> String {
    let of_cost = |(cost, (name, total, _)): (usize, &(&str, crate::metric::Metric, _))| {
        let (group, least) = of_work.baseline(cost)?;
        Some(format!(
            "{} of {} without collections, by {}",
            total.unit.text_with_unit(least),
            name,
            group.label(&summary.axes)
        ))
    };
    let texts: Vec<String> = COSTS.iter().enumerate().filter_map(of_cost).collect();
    format!("The least costs: {}.", texts.join("; "))
}

fn table(summary: &Summary<'_>, of_work: &WorkOverheads<'_>) -> Table {
    let mut columns = word_columns(summary);
    columns.extend(COSTS.iter().map(|(name, ..)| Column::figures(*name)));
    let row = |(index, group): (usize, &&crate::summary::Group<'_>)| {
        let mut cells = word_cells(summary, group);
        cells.extend((0..COSTS.len()).map(|cost| {
            let ratio = of_work.overhead(cost, index);
            ratio.map_or_else(
                || Cell::text(format::ABSENT),
                |ratio| Cell::number(format::ratio(ratio), ratio.estimate),
            )
        }));
        cells
    };
    Table {
        look: Look::Sortable,
        columns,
        rows: of_work.groups.iter().enumerate().map(row).collect(),
    }
}
