//! A report for the terminal: a table for each workload, with a row for each configuration, and the
//! answer at the end, where a reader sees it first.
//!
//! Figures are medians with the least and the greatest run.

use super::text_table::{TextTable, runs};
use crate::document::{Cell, Column, Part, Report, Table, Topic};
use crate::folder::Results;
use crate::format::{ABSENT, counted, median_and_range};
use crate::inference::Spread;
use crate::sections::brief;
use std::fmt::Write;
use terminal_size::{Width, terminal_size_of};
use unicode_width::UnicodeWidthStr;

/// Longer lines are hard to read.
const PARAGRAPH: usize = 100;

/// The units that stay on the line of their number.
const UNITS: [&str; 8] = ["%", "s", "ms", "µs", "B", "KiB", "MiB", "GiB"];

/// The report of a results folder, as wide as the terminal if standard output is one.
pub fn terminal(dir: &Results) -> String {
    tables_of(&brief(dir))
}

/// A report, as wide as the terminal if standard output is one.
pub(super) fn tables_of(report: &Report) -> String {
    let width = terminal_size_of(std::io::stdout()).map(|(Width(width), _)| usize::from(width));
    within(report, width)
}

/// The report of a results folder in at most `width` columns.
#[cfg(test)]
pub(crate) fn terminal_within(dir: &Results, width: Option<usize>) -> String {
    within(&brief(dir), width)
}

/// A report in at most `width` columns. Columns that do not fit are left out from the right, and
/// named below.
fn within(report: &Report, width: Option<usize>) -> String {
    if report.done == 0 {
        return format!("{}: no runs yet ({} planned)\n", report.name, report.planned);
    }
    let mut text = String::new();
    workloads(&mut text, report, width);
    if report.done < report.planned {
        let _ = writeln!(text, "\n{} of {} planned runs are done", report.done, report.planned);
    }
    answer(&mut text, report, width);
    text
}

/// The sentences of the answer, each as a paragraph with its first line at the margin.
fn answer(text: &mut String, report: &Report, width: Option<usize>) {
    let mut sentences = report.sentences().peekable();
    match report.most_runs {
        // A part of a sweep may have no timed runs: the bands of profiles are all it can tell.
        0 if sentences.peek().is_none() => return,
        0 => text.push_str("\nAnswer\n"),
        most => {
            let runs = match report.least_runs {
                least if least < most => format!("{least} to {}", counted(most, "run")),
                _ => counted(most, "run"),
            };
            let _ = writeln!(text, "\nAnswer ({runs} of each configuration)");
        }
    }
    for caution in report
        .cautions
        .iter()
        .filter(|caution| caution.starts_with("Wrong results"))
    {
        let _ = writeln!(text, "{}", wrapped(caution, width));
    }
    for sentence in sentences {
        let _ = writeln!(text, "{}", wrapped(sentence, width));
    }
}

/// Text in lines of at most `width` columns and at most [`PARAGRAPH`], indented by two.
fn wrapped(text: &str, width: Option<usize>) -> String {
    let most = width.unwrap_or(PARAGRAPH).clamp(40, PARAGRAPH);
    let mut lines: Vec<String> = Vec::new();
    for word in words(text) {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= most => {
                line.push(' ');
                line.push_str(&word);
            }
            // The first line says where a paragraph begins.
            Some(_) => lines.push(format!("    {word}")),
            None => lines.push(format!("  {word}")),
        }
    }
    lines.join("\n")
}

/// The words of a text; a number and its unit are one.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let unit = word.trim_end_matches([',', '.', ';', ':', ')']);
        match words.last_mut() {
            Some(number) if UNITS.contains(&unit) && number.ends_with(|c: char| c.is_ascii_digit() || c == ')') => {
                number.push(' ');
                number.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

fn workloads(text: &mut String, report: &Report, width: Option<usize>) {
    if !report.fixed.is_empty() {
        let flags: Vec<String> = report
            .fixed
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let _ = writeln!(text, "in every run: {}\n", flags.join(" "));
    }
    let mut left_out: Vec<String> = Vec::new();
    let parts = report
        .section(Topic::Workloads)
        .map_or(&[][..], |section| &section.parts);
    for (index, part) in parts.iter().enumerate() {
        let _ = match part {
            Part::Heading(work) => writeln!(text, "{}{work}", if index > 0 { "\n" } else { "" }),
            Part::Table(content) => {
                let (table, dropped) = table_within(content, width);
                if dropped.len() > left_out.len() {
                    left_out = dropped;
                }
                writeln!(text, "{table}")
            }
            Part::Caution(caution) => writeln!(text, "{caution}"),
            _ => Ok(()),
        };
    }
    if report.most_runs > 1 {
        text.push_str("\nmedian (least–greatest) of the runs that ended well\n");
    }
    if !left_out.is_empty() {
        let _ = writeln!(text, "no room for: {}; see the report", left_out.join(", "));
    }
}

/// The table with as many columns of figures as fit, and the titles of the others. If not all fit
/// with their ranges, only the first one has its range.
fn table_within(table: &Table, width: Option<usize>) -> (String, Vec<String>) {
    let mut shown: Vec<usize> = (0..table.columns.len())
        .filter(|at| !table.columns[*at].wide_only)
        .collect();
    let mut left_out = Vec::new();
    let mut ranges = usize::MAX;
    loop {
        let text = table_of(table, &shown, ranges);
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        let last = shown.last().map(|at| &table.columns[*at]);
        match (width, last) {
            (Some(width), Some(_)) if widest > width && ranges > 1 => ranges = 1,
            (Some(width), Some(column)) if widest > width && column.figures => {
                left_out.push(column.title.clone());
                shown.pop();
            }
            _ => return (text, left_out),
        }
    }
}

/// The table with these columns; the first `ranges` figures of a row have their ranges.
fn table_of(table: &Table, shown: &[usize], ranges: usize) -> String {
    let columns: Vec<&Column> = shown.iter().map(|at| &table.columns[*at]).collect();
    // The unit has a line of its own, which makes columns narrower.
    let heading = |column: &&Column| match column.figures {
        true => format!("{}\n{}", column.title, column.unit),
        false => column.title.clone(),
    };
    let words = columns.iter().filter(|column| !column.figures).count();
    let mut text = TextTable::new(columns.iter().map(heading).collect(), words);
    for row in &table.rows {
        let mut figures = 0;
        let cells = shown.iter().map(|at| {
            let is_figure = matches!(row[*at], Cell::Figure(..));
            figures += usize::from(is_figure);
            cell(&row[*at], figures <= ranges)
        });
        text.push(cells.collect());
    }
    text.text()
}

fn cell(cell: &Cell, range: bool) -> String {
    match cell {
        Cell::Text(text) => text.text.clone(),
        Cell::Figure(metric, spread) => {
            let text = |spread: &Spread| match range {
                true => median_and_range(metric, spread),
                false => metric.unit.text(spread.median),
            };
            spread.as_ref().map_or_else(|| ABSENT.to_owned(), text)
        }
        Cell::Runs(ok, all, failures) => runs(*ok, *all, failures),
        Cell::Pairs(_) | Cell::Output(..) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_its_unit_stay_together() {
        let text = "hash_churn takes at most 3.0 MiB after 35.925 ms: ByteArray 62.1 %, Entry 33.7 %, MutArray 4.2 %.";
        for width in 40..100 {
            let lines = wrapped(text, Some(width));
            assert!(lines.lines().all(|line| line.width() <= width), "{lines}");
            for line in lines.lines() {
                let first = line.split_whitespace().next().unwrap_or_default();
                assert!(!["%,", "%.", "MiB", "ms:"].contains(&first), "{lines}");
            }
        }
    }
}
