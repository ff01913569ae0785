//! A report to paste into an issue: the answer, a table for each workload, the machine in a line,
//! and the command.

use super::text_table::runs;
use crate::document::{Cell, Part, Report, Section, Table, Text, Topic};
use crate::folder::Results;
use crate::format::{ABSENT, median_and_range};
use crate::sections::report;
use std::fmt::Write;

/// The sections whose tables follow the answer, in their order.
const TABLES: [Topic; 5] = [
    Topic::Budgets,
    Topic::LeastHeaps,
    Topic::Sharing,
    Topic::Knee,
    Topic::Latency,
];

/// The report of these folders as GitHub-flavoured Markdown.
pub fn markdown(dirs: &[Results]) -> String {
    let parts: Vec<String> = dirs.iter().map(|dir| folder(&report(dir))).collect();
    parts.join("\n")
}

fn folder(report: &Report) -> String {
    let mut text = format!("## {}\n\n", plain(&report.name));
    for line in report.question.iter().chain(report.sentences()) {
        let _ = writeln!(text, "{}\n", plain(line));
    }
    for caution in &report.cautions {
        let _ = writeln!(text, "- {}", plain(caution));
    }
    for section in TABLES.iter().filter_map(|topic| report.section(*topic)) {
        if section.parts.iter().any(|part| matches!(part, Part::Table(_))) {
            titled(&mut text, section);
        }
    }
    if let Some(section) = report.section(Topic::Workloads) {
        parts(&mut text, &section.parts, "###");
    }
    if report.most_runs > 1 {
        text.push_str("\nMedian (least–greatest) of the runs that ended well.\n");
    }
    let last = [Topic::Shares, Topic::OwnFigures, Topic::EventLogs, Topic::Profiles];
    for section in last.iter().filter_map(|topic| report.section(*topic)) {
        let _ = writeln!(text, "\n### {}", section.topic.title());
        parts(&mut text, &section.parts, "####");
    }
    if let Some(section) = report.section(Topic::Machine) {
        parts(&mut text, &section.parts, "###");
    }
    let command = report.command.replace('\n', " ");
    let _ = writeln!(text, "\nRepeat with (seed {}):\n\n    {command}", report.seed);
    text
}

fn titled(text: &mut String, section: &Section) {
    let _ = writeln!(text, "\n### {}", section.topic.title());
    parts(text, &section.parts, "###");
}

/// The parts that Markdown can show; `heading` is the mark of headings.
fn parts(text: &mut String, parts: &[Part], heading: &str) {
    for part in parts {
        let _ = match part {
            Part::Heading(title) => writeln!(text, "\n{heading} {}", plain(title)),
            Part::Paragraph(line) => writeln!(text, "\n{}", plain(line)),
            Part::Table(content) => writeln!(text, "\n{}", table(content).trim_end()),
            Part::Facts(facts) => {
                let facts: Vec<String> = facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                writeln!(text, "\n{}\n", plain(&facts.join(" · ")))
            }
            Part::Profile(profile) => {
                let _ = writeln!(text, "\n{}: {}", plain(&profile.label), plain(&profile.notes));
                match &profile.peak {
                    Some(peak) => writeln!(text, "\n{}", table(peak).trim_end()),
                    None => Ok(()),
                }
            }
            Part::Subheading(_)
            | Part::Caution(_)
            | Part::Note(_)
            | Part::Legend(_)
            | Part::Charts(_)
            | Part::Forest(_)
            | Part::Runs(_)
            | Part::Details(..)
            | Part::Code(_) => Ok(()),
        };
    }
}

fn table(table: &Table) -> String {
    let heads: Vec<String> = table.columns.iter().map(|column| column.heading()).collect();
    let rule = table
        .columns
        .iter()
        .map(|column| if column.figures { "--:" } else { ":--" });
    let mut text = format!("{}|{}|\n", line(&heads), rule.collect::<Vec<_>>().join("|"));
    for row in &table.rows {
        text.push_str(&line(&row.iter().map(cell).collect::<Vec<_>>()));
    }
    text
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(Text { text, more, .. }) if more.is_empty() => text.clone(),
        Cell::Text(Text { text, more, .. }) if more.starts_with('(') => format!("{text} {more}"),
        Cell::Text(Text { text, more, .. }) => format!("{text} ({more})"),
        Cell::Figure(metric, spread) => {
            spread.map_or_else(|| ABSENT.to_owned(), |spread| median_and_range(metric, &spread))
        }
        Cell::Runs(ok, all, failures) => runs(*ok, *all, failures),
        Cell::Pairs(pairs) => {
            let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            pairs.join("; ")
        }
        Cell::Output(command, _) => command.clone(),
    }
}

fn line(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| plain(cell)).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Text that Markdown shows as it is: on one line, without table borders or markup.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => plain.push(' '),
            '|' | '\\' | '`' | '*' | '[' | ']' | '#' => plain.extend(['\\', c]),
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            c => plain.push(c),
        }
    }
    plain
}
