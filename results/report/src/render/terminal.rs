//! A document for the terminal: the answer first, then the tables that answer the question, as
//! wide as the terminal or 80 columns. `--wide` shows all columns.

use crate::document::{Cell, Column, Document, Look, Part, Place, Table};
use gclab_core::stats::render::is_unprintable;
use std::collections::BTreeSet;
use std::fmt::Write;
use terminal_size::{Width, terminal_size_of};
use unicode_width::UnicodeWidthStr;

/// The width if standard output is not a terminal, and the maximum width of text.
const COLUMNS: usize = 80;

/// The widths of cells in a narrow table, whose words wrap: the first width at which the table fits
/// is used.
const LETTERS: [usize; 4] = [200, 34, 26, 20];

/// The units that stay on the line of their number.
const UNITS: [&str; 8] = ["%", "s", "ms", "µs", "B", "KiB", "MiB", "GiB"];

/// A document as text. With `wide`, all columns and all tables are shown, however wide.
pub fn terminal(document: &Document, wide: bool) -> String {
    let size = terminal_size_of(std::io::stdout()).map(|(Width(width), _)| usize::from(width));
    within(document, (!wide).then(|| size.unwrap_or(COLUMNS).max(40)))
}

/// A document in at most `width` columns.
pub(crate) fn within(document: &Document, width: Option<usize>) -> String {
    let mut text = String::new();
    for sentence in &document.answer {
        let _ = writeln!(text, "{}", indented(sentence, "", width));
    }
    if let Some(command) = &document.best {
        let _ = writeln!(text, "  {}", visible(command));
    }
    let mut left_out = BTreeSet::new();
    let is_shown =
        |place: Place| matches!(place, Place::Answer | Place::Table) || place == Place::Detail && width.is_none();
    for section in document.sections.iter().filter(|section| is_shown(section.place)) {
        for part in &section.parts {
            let _ = match part {
                Part::Table(table) | Part::Profile(_, table) if !table.rows.is_empty() => {
                    for (title, table) in split(table) {
                        let (lines, dropped) = table_within(&table, width);
                        left_out.extend(dropped);
                        let title = title.map_or_else(String::new, |title| indented(&title, "", width) + "\n");
                        let _ = writeln!(text, "\n{title}{lines}");
                    }
                    Ok(())
                }
                Part::Paragraph(line) if width.is_none() => writeln!(text, "\n{}", indented(line, "", width)),
                Part::Heading(title) if width.is_none() => writeln!(text, "\n{}", indented(title, "", width)),
                _ => Ok(()),
            };
        }
    }
    if !document.facts.is_empty() {
        let name = std::iter::once(&document.name)
            .chain(&document.facts)
            .cloned()
            .collect::<Vec<_>>()
            .join(" · ");
        let _ = writeln!(text, "\n{}", indented(&name, "", width));
    }
    for caution in &document.cautions {
        let _ = writeln!(text, "{}", indented(&format!("caution: {caution}"), "  ", width));
    }
    if !left_out.is_empty() {
        let _ = writeln!(
            text,
            "--wide also shows {}.",
            crate::format::short_list(&left_out.into_iter().collect::<Vec<_>>(), 4)
        );
    }
    text
}

/// Text on one line without forbidden characters: a name cannot control the terminal.
fn visible(text: &str) -> String {
    text.chars()
        .map(|c| match c.is_control() || is_unprintable(c) {
            true => '\u{fffd}',
            false => c,
        })
        .collect()
}

/// Text in lines of at most 80 columns.
pub fn wrapped(text: &str) -> String {
    indented(text, "", None)
}

/// A cell of a table in lines of at most `most` columns, if its words allow it.
pub fn folded(cell: &str, most: usize) -> Vec<String> {
    broken(&visible(cell), "", most)
}

/// Text in lines of at most `width` columns and at most [`COLUMNS`]; all but the first start with
/// `indent`.
fn indented(text: &str, indent: &str, width: Option<usize>) -> String {
    let most = width.unwrap_or(COLUMNS).min(COLUMNS);
    broken(&visible(text), indent, most).join("\n")
}

/// Text in lines of at most `most` columns, if its words allow it.
fn broken(text: &str, indent: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words(text) {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= most => {
                line.push(' ');
                line.push_str(&word);
            }
            Some(_) => lines.push(format!("{indent}{word}")),
            None => lines.push(word),
        }
    }
    lines
}

/// The words of a text; a number and its unit count as one, and so do a ratio and its interval.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let unit = word.trim_end_matches([',', '.', ';', ':', ')']);
        let is_unit =
            |number: &str| UNITS.contains(&unit) && number.ends_with(|c: char| c.is_ascii_digit() || c == ')');
        match words.last_mut() {
            Some(number) if is_unit(number) || number.ends_with('×') && word.starts_with('(') => {
                number.push(' ');
                number.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// The tables that a table becomes in text: for a grouped table, one for each value of the first
/// column, with that value as the title.
fn split(table: &Table) -> Vec<(Option<String>, Table)> {
    if table.look != Look::Grouped {
        let whole = Table {
            columns: table.columns.clone(),
            rows: table.rows.clone(),
            ..Table::default()
        };
        return vec![(None, whole)];
    }
    let mut parts: Vec<(Option<String>, Table)> = Vec::new();
    for row in &table.rows {
        let (title, rest) = (row[0].text.clone(), row[1..].to_vec());
        match parts.last_mut() {
            Some((Some(last), part)) if *last == title => part.rows.push(rest),
            _ => parts.push((
                Some(title),
                Table {
                    columns: table.columns[1..].to_vec(),
                    rows: vec![rest],
                    ..Table::default()
                },
            )),
        }
    }
    parts
}

/// The table with the columns that fit, and the titles of the others. In a narrow table, cells have
/// their second part only if it fits.
fn table_within(table: &Table, width: Option<usize>) -> (String, Vec<String>) {
    let Some(width) = width else {
        let all: Vec<usize> = (0..table.columns.len()).collect();
        return (lines(table, &all, |cell| vec![cell.line()]), Vec::new());
    };
    let mut shown: Vec<usize> = (0..table.columns.len()).filter(|at| !table.columns[*at].wide).collect();
    let mut dropped: Vec<String> = table
        .columns
        .iter()
        .filter(|column| column.wide)
        .map(|column| column.title.clone())
        .collect();
    let full = |cell: &Cell| {
        if cell.value.is_some() && cell.more.starts_with('(') {
            cell.text.clone()
        } else {
            cell.line()
        }
    };
    loop {
        for most in LETTERS {
            let of_cell = |cell: &Cell| -> Vec<String> {
                let words = broken(&full(cell), "", most).into_iter();
                words.map(|line| crate::format::shortened(&line, most)).collect()
            };
            let text = lines(table, &shown, of_cell);
            if text.lines().all(|line| line.width() <= width) || shown.len() < 2 {
                return (text, dropped);
            }
        }
        dropped.extend(shown.pop().map(|at| table.columns[at].title.clone()));
    }
}

/// The table with these columns, aligned. `text` has the lines of a cell.
fn lines(table: &Table, shown: &[usize], text: impl Fn(&Cell) -> Vec<String>) -> String {
    let columns: Vec<&Column> = shown.iter().map(|at| &table.columns[*at]).collect();
    let mut all: Vec<Vec<String>> = vec![columns.iter().map(|column| visible(&column.title)).collect()];
    for row in &table.rows {
        let cells: Vec<Vec<String>> = shown.iter().map(|at| text(&row[*at])).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |at: usize| {
            cells
                .iter()
                .map(move |cell| cell.get(at).map_or_else(String::new, |text| visible(text)))
        };
        all.extend((0..height).map(|at| line(at).collect()));
    }
    let widths: Vec<usize> = (0..columns.len())
        .map(|at| all.iter().map(|row| row[at].width()).max().unwrap_or(0))
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(at, cell)| {
            let blanks = " ".repeat(widths[at] - cell.width());
            if columns[at].figures {
                format!("{blanks}{cell}")
            } else {
                format!("{cell}{blanks}")
            }
        });
        format!("  {}", cells.collect::<Vec<_>>().join("  "))
            .trim_end()
            .to_owned()
    };
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(look: Look) -> Table {
        let columns = vec![
            Column::words("workload"),
            Column::words("A"),
            Column::figures("total s"),
            Column::figures("peak MiB").wide(),
        ];
        let row = |work: &str, time: &str| {
            let spread = Cell {
                more: "(1.0–2.0)".to_owned(),
                ..Cell::number(time, 1.0)
            };
            vec![Cell::word(work), Cell::word("1m"), spread, Cell::word("3")]
        };
        Table {
            columns,
            rows: vec![row("one", "1.5"), row("two", "1.25")],
            look,
            runs: None,
        }
    }

    #[test]
    fn a_narrow_table_drops_columns_and_names_them() {
        let (text, dropped) = table_within(&table(Look::Sortable), Some(80));
        assert_eq!(
            text,
            "  workload  A   total s\n  one       1m      1.5\n  two       1m     1.25"
        );
        assert_eq!(dropped, ["peak MiB"]);
        assert_eq!(
            table_within(&table(Look::Sortable), Some(16)).1,
            ["peak MiB", "total s"]
        );
        let (wide, dropped) = table_within(&table(Look::Sortable), None);
        assert!(
            wide.contains("1.5 (1.0–2.0)") && wide.contains("peak MiB") && dropped.is_empty(),
            "{wide}"
        );
    }

    /// A name without spaces is cut in the middle.
    #[test]
    fn long_cells_of_a_narrow_table_go_on_in_the_next_line() {
        let columns = vec![Column::words("fastest"), Column::words("the next takes")];
        let long = "copying A=4m: 1.59× (1.43–1.76), and others";
        let rows = vec![
            vec![Cell::text("one"), Cell::text(long)],
            vec![Cell::text("x".repeat(21)), Cell::absent()],
        ];
        let table = Table {
            columns,
            rows,
            ..Table::default()
        };
        let (text, _) = table_within(&table, Some(44));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "  fastest               the next takes",
                "  one                   copying A=4m:",
                "                        1.59× (1.43–1.76),",
                "                        and others",
                "  xxxxxx…xxxxxxxxxxxxx  –",
            ]
        );
    }

    #[test]
    fn the_title_of_a_group_wraps() {
        let mut grouped = table(Look::Grouped);
        grouped.rows[0][0] = Cell::word("work of many words ".repeat(9));
        let document = Document {
            sections: vec![crate::document::Section {
                place: Place::Answer,
                parts: vec![Part::Table(grouped)],
                ..Default::default()
            }],
            ..Document::default()
        };
        let text = within(&document, Some(60));
        assert!(text.lines().all(|line| line.width() <= 60), "{text}");
    }

    #[test]
    fn a_grouped_table_is_one_for_each_workload() {
        let titles: Vec<Option<String>> = split(&table(Look::Grouped))
            .into_iter()
            .map(|(title, _)| title)
            .collect();
        assert_eq!(titles, [Some("one".to_owned()), Some("two".to_owned())]);
    }

    #[test]
    fn a_name_cannot_drive_the_terminal() {
        assert_eq!(visible("a\u{1b}[2Jb"), "a\u{fffd}[2Jb");
    }
}
