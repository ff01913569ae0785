//! The result of a search as a table.

use std::time::Duration;

use gclab_results::Configuration;
use gclab_sweep::minheap::progress::outcome;
use gclab_sweep::minheap::{Found, SearchError};
use gclab_sweep::text::mebibytes;

use super::questions::Outcome;

/// The table, with the notes and the reference minimum below it.
pub(super) fn result(outcomes: &[Outcome], least: Option<u64>) -> String {
    let (first, _) = &outcomes[0];
    let limit = first.program().runtime.limit_name();
    let header = [
        if first.program().is_own() {
            "collector"
        } else {
            "runtime"
        }
        .to_owned(),
        format!("least {limit}"),
        "over the least".to_owned(),
        "below that".to_owned(),
        "time".to_owned(),
        format!("without {limit}"),
        "probes".to_owned(),
    ];
    let mut rows = vec![header];
    let mut notes = String::new();
    for (question, result) in outcomes {
        rows.push(row(question.configuration(), result, least));
        if let Ok(Found { minimum, .. }) = result
            && let (Some(note), Some(_)) = (&minimum.note, minimum.minimum_bytes)
        {
            notes.push_str(&format!("{}: {note}\n", question.configuration().collector));
        }
    }
    let question = first.configuration();
    let flags: String = question
        .flags
        .iter()
        .map(|(name, value)| format!(" {name}={value}"))
        .collect();
    let mut text = format!("{}{flags}\n", question.work());
    text.push_str(&columns(&rows));
    text.push_str(&notes);
    let holders = |bytes| {
        let at = outcomes.iter().filter(|(_, result)| {
            result
                .as_ref()
                .is_ok_and(|found| found.minimum.minimum_bytes == Some(bytes))
        });
        at.map(|(question, _)| question.configuration().collector.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    match least {
        Some(bytes) => text.push_str(&format!(
            "reference minimum: {} ({bytes} bytes), of {}\n",
            mebibytes(bytes),
            holders(bytes)
        )),
        None => text.push_str("no reference minimum: it completes under none of them\n"),
    }
    text
}

fn row(question: &Configuration, result: &Result<Found, SearchError>, least: Option<u64>) -> [String; 7] {
    let none = || "–".to_owned();
    let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
    let name = question.collector.clone();
    match result {
        Err(error) => [name, error.note(), none(), none(), none(), none(), none()],
        Ok(Found {
            minimum,
            generous,
            wall,
            below,
            ..
        }) => [
            name,
            minimum.minimum_bytes.map_or_else(|| "none".to_owned(), mebibytes),
            minimum
                .minimum_bytes
                .zip(least)
                .map_or_else(none, |(mine, least)| format!("{:.2}", mine as f64 / least as f64)),
            minimum
                .too_small_bytes
                .zip(below.as_ref())
                .map_or_else(none, |(bytes, status)| {
                    format!("{}: {}", mebibytes(bytes), outcome(status))
                }),
            wall.map_or_else(none, seconds),
            seconds(*generous),
            minimum.probes.to_string(),
        ],
    }
}

/// Columns as wide as their cells. A row whose cells are dashes from the third on ends before
/// them, and its text may be wider than the second column.
fn columns(rows: &[[String; 7]]) -> String {
    let long = |row: &[String; 7]| row[2..].iter().all(|cell| cell == "–");
    let width = |column: usize| {
        let fitting = rows.iter().filter(|row| column == 0 || !long(row));
        fitting.map(|row| row[column].chars().count()).max().unwrap_or(0)
    };
    let mut text = String::new();
    for row in rows {
        let cells = if long(row) { &row[..2] } else { &row[..] };
        let line: Vec<String> = cells
            .iter()
            .enumerate()
            .map(|(column, cell)| format!("{cell:0$}", width(column)))
            .collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    text
}
