//! A report for the terminal: a table for each workload, with a row for each configuration.
//!
//! Figures are medians; `±` is the distance of the farthest run from the median, in percent of it.

use super::text_table::{TextTable, runs};
use crate::document::{Cell, Column, Part, Report, Table, Topic};
use crate::format::{ABSENT, median_and_deviation};
use crate::sections::report;
use gclab_results::ResultsDir;
use std::fmt::Write;
use terminal_size::{Width, terminal_size_of};

/// The report of a results folder, as wide as the terminal if standard output is one.
pub fn terminal(dir: &ResultsDir) -> String {
    let width = terminal_size_of(std::io::stdout()).map(|(Width(width), _)| usize::from(width));
    terminal_within(dir, width)
}

/// The report of a results folder in at most `width` columns. Columns that do not fit are left out
/// from the right, and named below.
pub(crate) fn terminal_within(dir: &ResultsDir, width: Option<usize>) -> String {
    let report = report(dir);
    if report.done == 0 {
        return format!("{}: no runs yet ({} planned)\n", report.name, report.planned);
    }
    let mut text = String::new();
    workloads(&mut text, &report, width);
    for section in [Topic::Budgets, Topic::Sharing]
        .iter()
        .filter_map(|topic| report.section(*topic))
    {
        let _ = writeln!(text, "\n{}", section.topic.title());
        section.text.iter().for_each(|line| {
            let _ = writeln!(text, "{line}");
        });
    }
    if let Some(section) = report.section(Topic::Profiles) {
        for part in &section.parts {
            let _ = match part {
                Part::Heading(work) => writeln!(text, "\n{} of {work}", section.topic.title()),
                Part::Profile(profile) => writeln!(text, "  {}", profile.line),
                _ => Ok(()),
            };
        }
    }
    if report.done < report.planned {
        let _ = writeln!(text, "\n{} of {} planned runs are done", report.done, report.planned);
    }
    text
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
        text.push_str("\nmedian of the runs that ended well; ± largest deviation from it\n");
    }
    if !left_out.is_empty() {
        let _ = writeln!(text, "no room for: {}; see the report", left_out.join(", "));
    }
}

/// The table with as many columns of figures as fit, and the titles of the others.
fn table_within(table: &Table, width: Option<usize>) -> (String, Vec<String>) {
    let mut shown: Vec<usize> = (0..table.columns.len())
        .filter(|at| !table.columns[*at].wide_only)
        .collect();
    let mut left_out = Vec::new();
    loop {
        let text = table_of(table, &shown);
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        let last = shown.last().map(|at| &table.columns[*at]);
        match (width, last) {
            (Some(width), Some(column)) if widest > width && column.figures => {
                left_out.push(column.title.clone());
                shown.pop();
            }
            _ => return (text, left_out),
        }
    }
}

fn table_of(table: &Table, shown: &[usize]) -> String {
    let columns: Vec<&Column> = shown.iter().map(|at| &table.columns[*at]).collect();
    // The unit has a line of its own, which makes columns narrower.
    let heading = |column: &&Column| match column.figures {
        true => format!("{}\n{}", column.title, column.unit),
        false => column.title.clone(),
    };
    let words = columns.iter().filter(|column| !column.figures).count();
    let mut text = TextTable::new(columns.iter().map(heading).collect(), words);
    for row in &table.rows {
        text.push(shown.iter().map(|at| cell(&row[*at])).collect());
    }
    text.text()
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.text.clone(),
        Cell::Figure(metric, spread) => {
            spread.map_or_else(|| ABSENT.to_owned(), |spread| median_and_deviation(metric, &spread))
        }
        Cell::Runs(ok, all, failures) => runs(*ok, *all, failures),
        Cell::Pairs(_) | Cell::Output(..) => String::new(),
    }
}
