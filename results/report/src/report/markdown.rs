//! A report to paste into an issue: the answer, a table for each workload, the machine in a line, and the command.

use super::memory::{deaths_text, minima, standing_text, times};
use super::profiles::{self, Profiled, bytes_text, time_text};
use super::{
    Advice, Budgets, advice, answers, budgets, cautions, environment, headline, pause_rows, ratio_text, with_range,
};
use crate::metric::{self, Metric};
use crate::summary::{Summary, Work};
use crate::table;
use gclab_results::{Axis, ResultsDir, shell_line};
use std::fmt::Write;

/// The folders as GitHub-flavoured markdown.
pub fn markdown(dirs: &[ResultsDir]) -> String {
    let parts: Vec<String> = dirs.iter().map(folder).collect();
    parts.join("\n")
}

fn folder(dir: &ResultsDir) -> String {
    let (manifest, summary) = (dir.manifest(), Summary::of(dir));
    let mut text = format!("## {}\n\n", plain(&manifest.name));
    if let Some(question) = &manifest.question {
        let _ = writeln!(text, "{}\n", plain(question));
    }
    let _ = writeln!(text, "{}\n", plain(&headline(&answers(&summary))));
    let budgets = budgets(&summary);
    for line in budgets.iter().flat_map(|budgets| &budgets.text) {
        let _ = writeln!(text, "{}\n", plain(line));
    }
    let advice = advice(&summary);
    for line in advice.iter().flat_map(|advice| &advice.text) {
        let _ = writeln!(text, "{}\n", plain(line));
    }
    for caution in cautions(dir, &summary) {
        let _ = writeln!(text, "- {}", plain(&caution));
    }
    if let Some(budgets) = &budgets {
        text.push_str("\n### Which collector for which budget?\n\n");
        text.push_str(&budget_table(budgets, summary.works.len()));
        text.push_str("\n### Least heaps\n\n");
        text.push_str(&minima_table(dir));
    }
    if let Some(advice) = &advice {
        text.push_str("\n### Should collections be parallel?\n\n");
        text.push_str(&advice_table(advice));
    }
    for work in &summary.works {
        let _ = writeln!(text, "\n### {}\n", plain(&work.title));
        text.push_str(&work_table(&summary, work));
    }
    if summary.most_runs() > 1 {
        text.push_str("\nMedian (least–greatest) of the runs that ended well.\n");
    }
    text.push_str(&heap_profiles(dir, &summary));
    let facts: Vec<String> = environment(dir)
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let _ = writeln!(text, "\n{}\n", plain(&facts.join(" · ")));
    let _ = writeln!(
        text,
        "Repeat with (seed {}):\n\n    {}",
        manifest.seed,
        shell_line(&manifest.command).replace('\n', " ")
    );
    text
}

/// The peaks of all heap profiles; nothing without any.
fn heap_profiles(dir: &ResultsDir, summary: &Summary<'_>) -> String {
    let works = profiles::profiled(dir, summary);
    let mut text = String::new();
    if !works.is_empty() {
        text.push_str("\n### Heap profiles\n\nRuns of their own, in no figure above: what was in the heap at the census with the most bytes.\n");
    }
    for (title, runs) in &works {
        let _ = writeln!(text, "\n#### {}", plain(title));
        runs.iter().for_each(|run| text.push_str(&heap_profile(run)));
    }
    text
}

fn heap_profile(profiled: &Profiled<'_>) -> String {
    let mut text = format!("\n{}: {}", plain(&profiled.label), plain(&profiled.notes()));
    let Some((peak, rows)) = profiled.peak() else {
        return text + "\n";
    };
    let _ = writeln!(text, "\n");
    let head = [
        format!("after {}", time_text(peak.seconds)),
        "bytes".to_owned(),
        "%".to_owned(),
    ];
    let _ = writeln!(text, "{}|:--|--:|--:|", line(&head));
    for row in rows {
        text.push_str(&line(&[
            row.name,
            bytes_text(row.bytes),
            metric::Unit::Percent.text(row.share),
        ]));
    }
    text
}

/// Times over the best that anybody has at any budget; where a contender dies, on what and of what.
fn budget_table(budgets: &Budgets, works: usize) -> String {
    let mut header = vec!["heap, over the least".to_owned()];
    header.extend(budgets.contenders.iter().cloned());
    let mut text = format!("{}|{}|\n", line(&header), vec!["--:"; header.len()].join("|"));
    for budget in &budgets.budgets {
        let mut cells = vec![times(budget.multiple)];
        cells.extend(budget.standings.iter().map(|standing| {
            let why = deaths_text(standing, works);
            let why = if why.is_empty() { why } else { format!(" ({why})") };
            format!("{}{why}", standing_text(standing, works))
        }));
        text.push_str(&line(&cells));
    }
    text
}

fn minima_table(dir: &ResultsDir) -> String {
    let (contenders, rows) = minima(dir.manifest());
    let mut header = vec!["workload".to_owned()];
    header.extend(contenders);
    let mut text = format!("{}|:--|{}|\n", line(&header), vec!["--:"; header.len() - 1].join("|"));
    for row in &rows {
        let cells: Vec<String> = std::iter::once(row.work.clone()).chain(row.cells.clone()).collect();
        text.push_str(&line(&cells));
    }
    for note in rows.iter().flat_map(|row| &row.notes) {
        let _ = writeln!(text, "\n{}", plain(note));
    }
    text
}

fn advice_table(advice: &Advice<'_>) -> String {
    let header = [
        "workload",
        "setting",
        "best",
        "time, over that without",
        "GC time",
        "CPU time",
        "verdict",
    ];
    let mut text = format!("{}|{}|\n", line(&header.map(str::to_owned)), [":--"; 7].join("|"));
    for case in &advice.cases {
        let ratio = |ratio: &Option<_>| ratio.as_ref().map_or("–".to_owned(), ratio_text);
        text.push_str(&line(&[
            case.work.title.clone(),
            case.setting.clone(),
            case.best(),
            ratio(&case.time),
            ratio(&case.gc),
            ratio(&case.cpu),
            case.call.text().to_owned(),
        ]));
    }
    text
}

fn work_table(summary: &Summary<'_>, work: &Work<'_>) -> String {
    let columns: Vec<&Metric> = metric::TABLE
        .iter()
        .filter(|m| work.groups.iter().any(|g| g.spread(m).is_some()))
        .collect();
    let pauses = pause_rows(work);
    let mut header: Vec<String> = summary.axes.iter().map(|axis: &Axis| axis.flag.clone()).collect();
    let words = header.len() + 2;
    header.extend(["collector".to_owned(), "runs".to_owned()]);
    header.extend(columns.iter().map(|m| m.heading()));
    if !pauses.is_empty() {
        header.push("median pause ms".to_owned());
    }
    let rule: Vec<&str> = (0..header.len())
        .map(|i| if i < words { ":--" } else { "--:" })
        .collect();
    let mut text = format!("{}|{}|\n", line(&header), rule.join("|"));
    for group in &work.groups {
        let mut cells: Vec<String> = summary
            .axes
            .iter()
            .map(|axis| group.flag(&axis.flag).to_owned())
            .collect();
        cells.extend([group.configuration.collector.clone(), table::runs_text(group)]);
        cells.extend(
            columns
                .iter()
                .map(|m| group.spread(m).map_or("–".to_owned(), |s| with_range(m, &s))),
        );
        if !pauses.is_empty() {
            let row = pauses.iter().find(|row| std::ptr::eq(row.group, group));
            let median = row.and_then(|row| row.percentiles[0]);
            cells.push(median.map_or("–".to_owned(), |ns| metric::Unit::Milliseconds.text(ns as f64 * 1e-9)));
        }
        text.push_str(&line(&cells));
    }
    text
}

fn line(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| plain(cell)).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Text that markdown shows as it is: on one line, no table borders, no markup.
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
