//! The figures that only some collectors have: a table for each of these.

use super::runs::{word_cells, word_columns};
use crate::document::{Cell, Column, Look, Part, Section, Table, Topic};
use crate::format::number;
use crate::inference::Spread;
use crate::run::each_facts;
use crate::summary::{Group, Summary};
use std::collections::BTreeSet;

/// The tables, unless no collector has figures of its own.
pub(super) fn section(summary: &Summary<'_>) -> Option<Section> {
    let tables = summary.collectors.iter().filter_map(|collector| {
        let table = table(summary, collector)?;
        Some([Part::Heading((*collector).to_owned()), Part::Table(table)])
    });
    let mut parts: Vec<Part> = tables.flatten().collect();
    if parts.is_empty() {
        return None;
    }
    let note = "The median over the runs that ended well. The name of a figure has its unit. docs/results.md has them \
                as figures of RunStats.";
    parts.push(Part::Note(note.to_owned()));
    Some(Section {
        topic: Topic::OwnFigures,
        text: Vec::new(),
        parts,
    })
}

/// The figures of one collector's configurations, if it has any.
fn table(summary: &Summary<'_>, collector: &str) -> Option<Table> {
    let groups = || {
        let of_work = summary.works.iter();
        let all = of_work.flat_map(|work| work.groups.iter().map(move |group| (work, group)));
        all.filter(|(_, group)| group.configuration.collector == collector)
    };
    let facts = each_facts(groups().flat_map(|(_, group)| group.ok()));
    let names: BTreeSet<&str> = facts.flat_map(|run| run.own()).map(|(name, _)| &**name).collect();
    if names.is_empty() {
        return None;
    }
    let mut columns = vec![Column::words("workload")];
    columns.extend(word_columns(summary));
    columns.extend(names.iter().map(|name| Column::figures(*name)));
    let rows = groups().map(|(work, group)| {
        let mut cells = vec![Cell::word(&work.title)];
        cells.extend(word_cells(summary, group));
        cells.extend(names.iter().map(|name| median(group, name)));
        cells
    });
    Some(Table {
        look: Look::Sortable,
        columns,
        rows: rows.collect(),
    })
}

/// The median of a figure.
fn median(group: &Group<'_>, name: &str) -> Cell {
    let own = group.ok().flat_map(|run| run.own());
    let values = own.filter(|(own, _)| ***own == *name).map(|(_, value)| value);
    Spread::of(values).map_or_else(Cell::absent, |spread| {
        Cell::number(number(spread.median), spread.median)
    })
}
