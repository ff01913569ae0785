//! The result of a search for people.

use std::time::Duration;

use gclab_report::{short_list, wrapped};
use gclab_results::Configuration;
use gclab_sweep::minheap::progress::outcome;
use gclab_sweep::minheap::{Found, SearchError};
use gclab_sweep::text::mebibytes;

use super::questions::Outcome;

/// The answer in a sentence, the table, and the notes.
pub(super) fn result(outcomes: &[Outcome], least: Option<u64>) -> String {
    let (first, _) = &outcomes[0];
    let is_own = first.program().is_own();
    let kind = if is_own { "collector" } else { "runtime" };
    let header = [kind, "least", "ratio", "below that", "time", "without limit"];
    let mut rows = vec![header.map(str::to_owned)];
    let mut notes = String::new();
    for (question, result) in outcomes {
        rows.push(row(question.configuration(), result, least));
        if let Ok(Found { minimum, .. }) = result
            && let (Some(note), Some(_)) = (&minimum.note, minimum.minimum_bytes)
        {
            let note = format!("{}: {note}", question.configuration().collector);
            notes.push_str(&format!("{}\n", wrapped(&note)));
        }
    }
    let question = first.configuration();
    let flags: Vec<String> = question
        .flags
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let with = if flags.is_empty() { "" } else { " with " };
    let of = format!(
        "least {} of {}{with}{}",
        first.program().runtime.limit_name(),
        question.work(),
        flags.join(" ")
    );
    let holders = |bytes| {
        let has_it =
            |result: &Result<Found, _>| matches!(result, Ok(found) if found.minimum.minimum_bytes == Some(bytes));
        let all = outcomes.iter().filter(|(_, result)| has_it(result));
        all.map(|(question, _)| question.configuration().collector.as_str())
            .collect::<Vec<_>>()
    };
    let answer = match least {
        Some(bytes) => {
            let under = match is_own {
                true => format!(", under {}", short_list(&holders(bytes), 3)),
                false => String::new(),
            };
            format!("The {of} is {} ({bytes} bytes){under}.", mebibytes(bytes))
        }
        None => format!("No {of} was found."),
    };
    format!("{}\n\n{}{notes}", wrapped(&answer), columns(&rows))
}

fn row(question: &Configuration, result: &Result<Found, SearchError>, least: Option<u64>) -> [String; 6] {
    let none = || "–".to_owned();
    let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
    let name = question.collector.clone();
    match result {
        Err(error) => [name, error.note(), none(), none(), none(), none()],
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
        ],
    }
}

/// Columns as wide as their cells. A row whose cells are dashes from the third on ends before
/// them, and its text may be wider than the second column.
fn columns(rows: &[[String; 6]]) -> String {
    let long = |row: &[String; 6]| row[2..].iter().all(|cell| cell == "–");
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
