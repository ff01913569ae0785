//! Tables of plain text, with aligned columns.
//!
//! There are no colours and no lines at the sides: a table that is piped into a file or pasted into
//! a report reads the same.

use unicode_width::UnicodeWidthStr;

/// A table of text; a cell may have several lines.
#[derive(Debug)]
pub(super) struct TextTable {
    /// The first column that is aligned to the right, as are all columns after it.
    right_from: usize,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table without rows; columns from `right_from` on are aligned to the right.
    pub(super) fn new(header: Vec<String>, right_from: usize) -> TextTable {
        TextTable {
            right_from,
            header,
            rows: Vec::new(),
        }
    }

    /// Appends a row.
    pub(super) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// The table as lines without blanks at their ends.
    pub(super) fn text(&self) -> String {
        let all = || std::iter::once(&self.header).chain(&self.rows);
        let width = |column: usize| {
            let cells = all().filter_map(|row| row.get(column));
            let lines = cells.flat_map(|cell| cell.lines());
            lines.map(UnicodeWidthStr::width).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        // Each column has a blank on both sides, and columns are one more blank apart.
        let full = widths.iter().map(|width| width + 2).sum::<usize>() + widths.len().saturating_sub(1);
        let rule = |line: &str| line.repeat(full);
        let mut lines = vec![rule("─")];
        self.add_row(&mut lines, &self.header, &widths);
        lines.push(rule("═"));
        self.rows.iter().for_each(|row| self.add_row(&mut lines, row, &widths));
        lines.push(rule("─"));
        lines.join("\n")
    }

    fn add_row(&self, lines: &mut Vec<String>, row: &[String], widths: &[usize]) {
        let height = row.iter().map(|cell| cell.lines().count()).max().unwrap_or(0).max(1);
        for index in 0..height {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
                let text = cell.lines().nth(index).unwrap_or_default();
                let blanks = " ".repeat(width - text.width());
                let (before, after) = if column < self.right_from {
                    ("", &*blanks)
                } else {
                    (&*blanks, "")
                };
                let gap = if column == 0 { " " } else { "  " };
                line.push_str(&format!("{gap}{before}{text}{after} "));
            }
            lines.push(line.trim_end().to_owned());
        }
    }
}

/// `3`, or `2/3: crash` when not all runs ended well; with the numbers of failures if they are of
/// several kinds.
pub(super) fn runs(ok: usize, all: usize, failures: &[(&'static str, usize)]) -> String {
    match failures {
        [] => all.to_string(),
        [(only, _)] => format!("{ok}/{all}: {only}"),
        several => {
            let counts: Vec<String> = several.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
            format!("{ok}/{all}: {}", counts.join(", "))
        }
    }
}
