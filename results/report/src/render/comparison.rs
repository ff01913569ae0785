//! A comparison as text: a row for each figure that is judged, and the configurations that cannot
//! be compared.

use super::text_table::TextTable;
use crate::analysis::compare::{Comparison, Figure, Row, Verdict};
use crate::format::{ABSENT, counted};
use std::fmt::Write;

/// The comparison as a table, with remarks above and below it.
pub fn comparison(comparison: &Comparison) -> String {
    let mut text = String::new();
    for caution in &comparison.cautions {
        let _ = writeln!(text, "caution: {caution}");
    }
    if comparison.rows.is_empty() {
        text.push_str("the two have no configuration in common\n");
    } else {
        let _ = writeln!(text, "{}", table(&comparison.rows));
    }
    for row in &comparison.rows {
        if let Some(note) = &row.note {
            let _ = writeln!(text, "{}: {note}", row.configuration);
        }
    }
    for (place, list) in [("base", &comparison.only_base), ("new one", &comparison.only_new)] {
        for configuration in list {
            let _ = writeln!(text, "only in the {place}: {configuration}");
        }
    }
    let count = |verdict| comparison.rows.iter().filter(|row| row.verdict == verdict).count();
    let _ = writeln!(
        text,
        "{}: {}, {}, {} same, {} unclear (threshold {} %)",
        counted(comparison.rows.len(), "configuration"),
        counted(count(Verdict::Regression), "regression"),
        counted(count(Verdict::Improvement), "improvement"),
        count(Verdict::Same),
        count(Verdict::Unclear),
        (comparison.threshold * 1e4).round() / 1e2,
    );
    text
}

fn table(rows: &[Row]) -> String {
    let header = [
        "configuration",
        "figure",
        "base",
        "new",
        "new/base",
        "95 % interval",
        "verdict",
    ];
    let mut table = TextTable::new(header.map(str::to_owned).to_vec(), 2);
    for row in rows {
        let mut name = row.configuration.to_string();
        if row.note.is_some() {
            let mut cells = vec![std::mem::take(&mut name), "outcome (below)".to_owned()];
            cells.resize(header.len() - 1, String::new());
            cells.push(row.verdict.to_string());
            table.push(cells);
        }
        for figure in &row.figures {
            table.push(figure_cells(std::mem::take(&mut name), figure));
        }
    }
    table.text()
}

fn figure_cells(name: String, figure: &Figure) -> Vec<String> {
    let unit = figure.metric.unit;
    let ratio = figure
        .ratio
        .map_or_else(|| ABSENT.to_owned(), |r| format!("{:.3}", r.estimate));
    let interval = figure.ratio.and_then(|r| r.ci95);
    let interval = interval.map_or_else(
        || "not enough data".to_owned(),
        |i| format!("{:.3} to {:.3}", i.low, i.high),
    );
    vec![
        name,
        figure.metric.heading(),
        unit.text(figure.base.mean),
        unit.text(figure.new.mean),
        ratio,
        interval,
        figure.verdict.to_string(),
    ]
}
