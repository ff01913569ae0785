//! Tables for the terminal: one for each workload, a line for each configuration, and one for a comparison.
//!
//! Figures are medians; `±` is how far the farthest run lies from the median, in percent of it. No colours and no lines to
//! the sides, so that what is piped into a file or pasted into a report reads the same.

use crate::compare::{Comparison, Figure, Row, Verdict};
use crate::maths::Spread;
use crate::metric::{self, Metric};
use crate::summary::{Group, Summary, Work};
use comfy_table::{Cell, CellAlignment, Table, presets};
use gclab_results::{Axis, ResultsDir};
use std::fmt::Write;

/// The table of a results folder, as wide as the terminal allows when standard output is one.
pub fn render(dir: &ResultsDir) -> String {
    render_within(dir, Table::new().width())
}

/// The table of a results folder in at most `width` columns: what does not fit is left out from the right, and named.
pub fn render_within(dir: &ResultsDir, width: Option<u16>) -> String {
    let mut text = String::new();
    let summary = Summary::of(dir);
    if dir.done() == 0 {
        return format!(
            "{}: no runs yet ({} planned)\n",
            dir.manifest().name,
            dir.manifest().plan.len()
        );
    }
    text.push_str(&render_summary(&summary, width));
    for (index, line) in crate::report::budgets(&summary)
        .into_iter()
        .flat_map(|b| b.text)
        .enumerate()
    {
        let head = if index == 0 {
            "\nWhich collector for which budget?\n"
        } else {
            ""
        };
        let _ = writeln!(text, "{head}{line}");
    }
    for (index, line) in crate::report::advice(&summary)
        .into_iter()
        .flat_map(|a| a.text)
        .enumerate()
    {
        let _ = writeln!(
            text,
            "{}{line}",
            if index == 0 {
                "\nShould collections be parallel?\n"
            } else {
                ""
            }
        );
    }
    for (work, runs) in crate::report::profiles::profiled(dir, &summary) {
        let _ = writeln!(text, "\nheap profiles of {work}");
        for profiled in &runs {
            let _ = writeln!(text, "  {}", crate::report::profiles::line(profiled));
        }
    }
    let (done, planned) = (dir.done(), dir.manifest().plan.len());
    if done < planned {
        let _ = writeln!(text, "\n{done} of {planned} planned runs are done");
    }
    text
}

/// The table of runs that are already grouped; `width` as in [`render_within`].
pub fn render_summary(summary: &Summary<'_>, width: Option<u16>) -> String {
    let mut text = String::new();
    if !summary.fixed.is_empty() {
        let flags: Vec<String> = summary
            .fixed
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let _ = writeln!(text, "in every run: {}\n", flags.join(" "));
    }
    let mut left_out: Vec<String> = Vec::new();
    for (index, work) in summary.works.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        let (table, dropped) = work_table(summary, work, width);
        let _ = writeln!(text, "{}\n{table}", work.title);
        if dropped.len() > left_out.len() {
            left_out = dropped;
        }
        if let Some(note) = disagreement(work) {
            let _ = writeln!(text, "WRONG RESULTS: {note}");
        }
    }
    if summary.most_runs() > 1 {
        text.push_str("\nmedian of the runs that ended well; ± largest deviation from it\n");
    }
    if !left_out.is_empty() {
        let _ = writeln!(text, "no room for: {}; see the report", left_out.join(", "));
    }
    text
}

/// Workloads whose collectors do not agree, with which of them gave which checksum: a text for each.
pub fn disagreements(dir: &ResultsDir) -> Vec<String> {
    let works = Summary::of(dir).works;
    let text = |work: &Work<'_>| Some(format!("{}: {}", work.title, disagreement(work)?));
    works.iter().filter_map(text).collect()
}

/// Which collectors gave which checksum, when they do not agree.
fn disagreement(work: &Work<'_>) -> Option<String> {
    let found = work.disagreement()?;
    let parts: Vec<String> = found
        .iter()
        .map(|(checksum, collectors)| {
            let names: Vec<&str> = collectors.iter().copied().collect();
            format!("checksum {checksum} under {}", names.join(", "))
        })
        .collect();
    Some(parts.join("; "))
}

/// The table of a workload, and the columns that did not fit.
fn work_table(summary: &Summary<'_>, work: &Work<'_>, width: Option<u16>) -> (String, Vec<String>) {
    let has = |m: &&Metric| work.groups.iter().any(|group| group.spread(m).is_some());
    let mut metrics: Vec<&Metric> = metric::TABLE.iter().filter(has).collect();
    let mut left_out = Vec::new();
    loop {
        let text = work_table_of(summary, work, &metrics);
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        match width {
            Some(width) if widest > usize::from(width) && !metrics.is_empty() => {
                left_out.extend(metrics.pop().map(|metric| metric.title.to_owned()));
            }
            _ => return (text, left_out),
        }
    }
}

fn work_table_of(summary: &Summary<'_>, work: &Work<'_>, metrics: &[&Metric]) -> String {
    let mut header: Vec<String> = summary.axes.iter().map(|axis: &Axis| axis.flag.clone()).collect();
    header.extend(["collector".to_owned(), "runs".to_owned()]);
    let first_figure = header.len();
    // The unit has a line of its own: narrower columns.
    header.extend(
        metrics
            .iter()
            .map(|metric| format!("{}\n{}", metric.title, metric.unit.name())),
    );
    let mut table = bare_table(&header);
    for group in &work.groups {
        let mut row: Vec<Cell> = summary
            .axes
            .iter()
            .map(|axis| Cell::new(group.flag(&axis.flag)))
            .collect();
        row.push(Cell::new(&group.configuration.collector));
        row.push(Cell::new(runs_text(group)));
        row.extend(
            metrics
                .iter()
                .map(|metric| Cell::new(cell(metric, group.spread(metric)))),
        );
        table.add_row(row);
    }
    align_right(&mut table, first_figure);
    lines_trimmed(&table)
}

/// `3`, or `2/3: crash` when not all of them ended well.
pub fn runs_text(group: &Group<'_>) -> String {
    let (ok, all, failures) = (group.ok().count(), group.runs.len(), group.failures());
    match failures.keys().next() {
        None => all.to_string(),
        Some(only) if failures.len() == 1 => format!("{ok}/{all}: {only}"),
        Some(_) => format!("{ok}/{all}: {}", group.failures_text()),
    }
}

/// `0.412 ±3%`, or `–` for what no run has.
pub fn cell(metric: &Metric, spread: Option<Spread>) -> String {
    let Some(spread) = spread else {
        return "–".to_owned();
    };
    let median = metric.unit.text(spread.median);
    match spread.largest_deviation() {
        Some(deviation) if spread.n > 1 && spread.min < spread.max => {
            format!("{median} ±{}", percent(deviation))
        }
        _ => median,
    }
}

/// A share as a percentage: whole, or `<1%`.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 0.95 {
        "<1%".to_owned()
    } else {
        format!("{percent:.0}%")
    }
}

/// A comparison: a line for each figure that is judged, and what cannot be compared.
pub fn comparison(comparison: &Comparison) -> String {
    let mut text = String::new();
    for caution in &comparison.cautions {
        let _ = writeln!(text, "caution: {caution}");
    }
    let header = [
        "configuration",
        "figure",
        "base",
        "new",
        "new/base",
        "95 % interval",
        "verdict",
    ];
    let mut table = bare_table(&header.map(str::to_owned));
    for row in &comparison.rows {
        comparison_rows(&mut table, row);
    }
    align_right(&mut table, 2);
    if comparison.rows.is_empty() {
        text.push_str("the two have no configuration in common\n");
    } else {
        let _ = writeln!(text, "{}", lines_trimmed(&table));
    }
    for row in &comparison.rows {
        if let Some(note) = &row.note {
            let _ = writeln!(text, "{}: {note}", row.configuration);
        }
    }
    for (which, list) in [("base", &comparison.only_base), ("new one", &comparison.only_new)] {
        for configuration in list {
            let _ = writeln!(text, "only in the {which}: {configuration}");
        }
    }
    let count = |verdict| comparison.rows.iter().filter(|row| row.verdict == verdict).count();
    let _ = writeln!(
        text,
        "{} configurations: {} regressions, {} improvements, {} same, {} unclear (threshold {} %)",
        comparison.rows.len(),
        count(Verdict::Regression),
        count(Verdict::Improvement),
        count(Verdict::Same),
        count(Verdict::Unclear),
        (comparison.threshold * 1e4).round() / 1e2,
    );
    text
}

fn comparison_rows(table: &mut Table, row: &Row) {
    let name = row.configuration.to_string();
    if row.note.is_some() {
        let blank = String::new;
        let verdict = row.verdict.to_string();
        table.add_row([
            name.clone(),
            "outcome (below)".to_owned(),
            blank(),
            blank(),
            blank(),
            blank(),
            verdict,
        ]);
    }
    for (index, figure) in row.figures.iter().enumerate() {
        let first = index == 0 && row.note.is_none();
        let name = if first { name.clone() } else { String::new() };
        table.add_row(figure_cells(name, figure));
    }
}

fn figure_cells(name: String, figure: &Figure) -> [String; 7] {
    let unit = figure.metric.unit;
    let ratio = figure.ratio.map_or("–".to_owned(), |r| format!("{:.3}", r.estimate));
    let interval = figure.ratio.and_then(|r| r.ci95);
    let interval = interval.map_or("not enough data".to_owned(), |i| {
        format!("{:.3} to {:.3}", i.low, i.high)
    });
    [
        name,
        figure.metric.heading(),
        unit.text(figure.base.mean),
        unit.text(figure.new.mean),
        ratio,
        interval,
        figure.verdict.to_string(),
    ]
}

fn bare_table(header: &[String]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY.row_separator(comfy_table::LineStyle::none()));
    table.force_no_tty();
    table.set_header(header);
    table
}

fn align_right(table: &mut Table, from: usize) {
    for column in table.column_iter_mut().skip(from) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// The table without blanks at the ends of its lines.
fn lines_trimmed(table: &Table) -> String {
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}
