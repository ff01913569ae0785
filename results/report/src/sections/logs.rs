//! The section on event logs.

use crate::analysis::logs::{LINES, Log, Logged, logged};
use crate::chart::Chart;
use crate::document::{Cell, Column, Look, Part, Section, Table, Topic};
use crate::folder::Results;
use crate::format::counted;
use crate::summary::Summary;
use gclab_core::stats::Pauses;

/// The most configurations whose charts are drawn: two charts take some twenty kilobytes.
const MOST_DRAWN: usize = 60;

/// The columns of percentiles: all but one in so many pauses are at most this long.
const PERCENTILES: [(&str, u64); 4] = [("median ms", 2), ("90% ms", 10), ("99% ms", 100), ("99.9% ms", 1000)];

const NOTE: &str = "Each event log has a run of its own, which enters no figure of the other sections. A pause of the \
     program begins when all capabilities have stopped, and ends with the collection; GHC's -s counts these. A pause \
     of a capability begins when it stops, and ends when it is resumed, so that waiting for the other ones belongs to \
     it; ThreadScope draws these. Percentiles are observed pauses (nearest rank). gclab events summary prints all \
     figures of a log.";

const CHARTS: &str = "Utilisation is the share of a window of time in which the program could run: MMU is that of the \
     worst window of each length, BMU that of the worst window of this length or of any greater one. MMU is 0 % up to \
     the longest pause. The right end is the whole run. Allocation is the sum of all capabilities, as of their \
     collections. Each chart has a scale of its own.";

/// The event logs of a folder, if it has any.
pub(super) fn logs(dir: &Results, summary: &Summary<'_>) -> Option<Section> {
    let works = logged(dir, summary);
    if works.is_empty() {
        return None;
    }
    let lines = LINES.iter().map(|&name| name.to_owned()).enumerate();
    let mut parts = vec![
        Part::Note(NOTE.to_owned()),
        Part::Note(CHARTS.to_owned()),
        Part::Legend(lines.collect()),
    ];
    let mut drawn = 0;
    for (title, runs) in works {
        let mut rows = Vec::new();
        let mut below = Vec::new();
        for logged in &runs {
            // One log at a time is in memory.
            let log = logged.read();
            drawn += 1;
            if let Ok(log) = &log {
                rows.extend(pause_rows(logged, log));
                let charts = if drawn <= MOST_DRAWN {
                    charts(&title, logged, log)
                } else {
                    Vec::new()
                };
                if !charts.is_empty() {
                    below.push(Part::Charts(charts));
                }
            }
            below.push(Part::Paragraph(remarks(logged, log.as_ref())));
        }
        parts.push(Part::Heading(title));
        if !rows.is_empty() {
            parts.push(Part::Table(pause_table(rows)));
        }
        parts.extend(below);
    }
    if let Some(hidden @ 1..) = drawn.checked_sub(MOST_DRAWN) {
        parts.push(Part::Note(format!(
            "{} more have no charts here.",
            counted(hidden, "log")
        )));
    }
    Some(Section {
        topic: Topic::EventLogs,
        text: Vec::new(),
        parts,
    })
}

fn charts(title: &str, logged: &Logged<'_>, log: &Log) -> Vec<Chart> {
    let charts = [log.utilisation(&logged.label), log.allocation(&logged.label)];
    let about = |chart: Chart| Chart {
        about: title.to_owned(),
        ..chart
    };
    charts.into_iter().flatten().map(about).collect()
}

/// The file of a log, and remarks on it.
fn remarks(logged: &Logged<'_>, log: Result<&Log, &String>) -> String {
    let mut remarks = Vec::new();
    if !logged.run.outcome.is_ok() {
        remarks.push(format!("the run ended as {}", logged.run.outcome));
    }
    match log {
        Ok(log) => {
            remarks.extend(log.remarks.iter().cloned());
            remarks.push(format!("the log is {}", logged.file));
        }
        Err(problem) => remarks.push(format!("no figures: {problem}")),
    }
    format!("{}: {}.", logged.label, remarks.join("; "))
}

/// A row for the pauses of the program, and one for those of capabilities.
fn pause_rows(logged: &Logged<'_>, log: &Log) -> Vec<Vec<Cell>> {
    let row = |of: &str, pauses: &Pauses| {
        let mut cells = vec![
            Cell::word(&logged.label),
            Cell::text(of),
            Cell::number(pauses.count().to_string(), pauses.count() as f64),
            Cell::milliseconds(pauses.total_ns()),
        ];
        let percentiles = pauses.exceeded_by_one_in(PERCENTILES.map(|(_, rarer)| rarer));
        cells.extend(
            percentiles
                .into_iter()
                .map(|length| length.map_or_else(Cell::absent, Cell::milliseconds)),
        );
        cells.push(Cell::milliseconds(pauses.longest_ns()));
        cells
    };
    let both = [("the program", &log.pauses), ("a capability", &log.cap_pauses)];
    let some = both.into_iter().filter(|(_, pauses)| pauses.count() > 0);
    some.map(|(of, pauses)| row(of, pauses)).collect()
}

fn pause_table(rows: Vec<Vec<Cell>>) -> Table {
    let mut columns = ["configuration", "pauses of"].map(Column::words).to_vec();
    columns.extend(["pauses", "in all ms"].map(Column::figures));
    columns.extend(PERCENTILES.map(|(title, _)| Column::figures(title)));
    columns.push(Column::figures("longest ms"));
    Table {
        look: Look::Sortable,
        columns,
        rows,
    }
}
