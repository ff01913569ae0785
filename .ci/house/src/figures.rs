//! Figures in sentences, and the tables that they come from.
//!
//! The rule: a figure in a sentence stands in a table of the same page, in a row or a column whose
//! name the paragraph has. So a sentence cannot keep a figure that its table has lost, and each
//! figure has a subject. Literal values (flags, sizes, versions) are code and stand in backquotes.
//!
//! A *figure* is a number with a decimal point, or a whole number before `%`, `times` or a unit of
//! time. A number of a sentence may have fewer digits than that of the table. Lines that begin with
//! a date say where a table comes from; they are no sentences.

use crate::book::Page;

/// The units behind which a whole number is a figure.
const UNITS: [&str; 6] = ["%", "s", "ms", "µs", "ns", "times"];

/// A paragraph or an entry of a list, without code and without the targets of links.
#[derive(Debug, Default, Clone)]
pub struct Paragraph {
    /// The first line, from 1.
    pub line: usize,
    /// The text, its lines joined; code spans have lost their backquotes.
    pub text: String,
    /// The text without code spans.
    pub plain: String,
}

/// A figure of a sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The figure as it is written.
    pub text: String,
    /// The value of the figure.
    pub value: f64,
    /// The digits after the point.
    pub decimals: usize,
}

/// A cell of a table that has numbers, with the names that a paragraph may call it by.
#[derive(Debug, Clone)]
pub struct Source {
    /// The first cell of the row.
    pub row: String,
    /// The heading of the column.
    pub column: String,
    /// The numbers of the cell.
    pub numbers: Vec<f64>,
}

/// The paragraphs and entries of lists of a page. Headings, tables, formulas (indented by four
/// spaces), comments and lines that begin with a date are left out.
pub fn paragraphs(page: &Page) -> Vec<Paragraph> {
    let mut found: Vec<Paragraph> = Vec::new();
    let mut open = false;
    let mut in_list = false;
    for (number, line) in page.prose() {
        let start = line.trim_start();
        let is_item = start.starts_with("* ") || start.starts_with("- ") || numbered(start);
        let is_formula = line.starts_with("    ") && !in_list;
        let is_date = line.starts_with("20") && line.as_bytes().get(4) == Some(&b'-') || line.starts_with("date: ");
        if start.is_empty() || line.starts_with(['#', '|', '<']) || is_formula || is_date {
            open = false;
            in_list &= start.is_empty();
            continue;
        }
        if !open || is_item {
            found.push(Paragraph {
                line: number,
                ..Paragraph::default()
            });
            in_list = is_item;
        }
        open = true;
        let paragraph = found.last_mut().expect("a paragraph is open");
        paragraph.text.push_str(start);
        paragraph.text.push(' ');
    }
    for paragraph in &mut found {
        let text = without_targets(&paragraph.text);
        paragraph.plain = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        paragraph.text = text.replace('`', "");
    }
    found
}

/// Whether a line begins as `1. ` does.
fn numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && rest.starts_with(". ")
}

/// `text` without what stands in parentheses behind the text of a link.
fn without_targets(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        kept.push_str(before);
        kept.push(']');
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    kept + rest
}

/// The figures of a text without code.
pub fn figures(plain: &str) -> Vec<Figure> {
    numbers(plain)
        .into_iter()
        .filter(|(at, number)| {
            let unit = plain[at + number.len()..].trim_start();
            let unit = unit.split(|c: char| c.is_whitespace() || ".,;:()/–".contains(c)).next();
            // The level of an interval is a convention, no measurement.
            let is_level = plain[at + number.len()..].starts_with(" % interval");
            !is_level && (number.contains('.') || unit.is_some_and(|unit| UNITS.contains(&unit)))
        })
        .filter_map(|(_, number)| {
            Some(Figure {
                text: number.to_owned(),
                value: number.replace(',', "").parse().ok()?,
                decimals: number.split_once('.').map_or(0, |(_, digits)| digits.len()),
            })
        })
        .collect()
}

/// The numbers of a text with their places. Numbers that are part of a word are left out, and
/// versions of three parts.
fn numbers(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(|c: char| c.is_ascii_digit()).map(|offset| at + offset) {
        let length = text[start..]
            .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','))
            .unwrap_or(text.len() - start);
        let number = text[start..start + length].trim_end_matches(['.', ',']);
        at = start + length;
        let in_word = text[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if !in_word && number.matches('.').count() <= 1 {
            found.push((start, number));
        }
    }
    found
}

/// The cells with numbers of all tables of a page.
pub fn sources(page: &Page) -> Vec<Source> {
    let mut found = Vec::new();
    let mut heading: Vec<&str> = Vec::new();
    for (_, line) in page.prose() {
        let Some(row) = line.strip_prefix('|') else {
            heading.clear();
            continue;
        };
        let cells: Vec<&str> = row.trim_end().trim_end_matches('|').split('|').map(str::trim).collect();
        if heading.is_empty() {
            heading = cells;
            continue;
        }
        for (place, cell) in cells.iter().enumerate() {
            let numbers = numbers(cell).into_iter();
            let numbers: Vec<f64> = numbers
                .filter_map(|(_, number)| number.replace(',', "").parse().ok())
                .collect();
            if !numbers.is_empty() {
                found.push(Source {
                    row: cells[0].replace(['`', '*'], ""),
                    column: heading.get(place).unwrap_or(&"").replace(['`', '*'], ""),
                    numbers,
                });
            }
        }
    }
    found
}

/// Whether the paragraph has all words of `name`, and there are any.
fn names(paragraph: &str, name: &str) -> bool {
    let paragraph = paragraph.to_lowercase();
    let name = name.to_lowercase();
    let mut words = name
        .split(|c: char| c.is_whitespace() || ",;:()".contains(c))
        .filter(|word| !word.is_empty())
        .peekable();
    words.peek().is_some() && words.all(|word| paragraph.contains(word))
}

/// The figures of a page that no table of the page has under a name of their paragraph: line,
/// figure, and the paragraph's text.
pub fn unfounded(page: &Page) -> Vec<(usize, String, String)> {
    let sources = sources(page);
    let mut found = Vec::new();
    for paragraph in paragraphs(page) {
        for figure in figures(&paragraph.plain) {
            let half = 0.5 * 10_f64.powi(-i32::try_from(figure.decimals).expect("few digits"));
            let founded = sources.iter().any(|source| {
                let has = source
                    .numbers
                    .iter()
                    .any(|number| (number - figure.value).abs() <= half * 1.000_001);
                has && (names(&paragraph.text, &source.row) || names(&paragraph.text, &source.column))
            });
            if !founded {
                found.push((paragraph.line, figure.text, paragraph.text.clone()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page {
            name: "docs/page.md".to_owned(),
            text: text.to_owned(),
        }
    }

    fn wrong(text: &str) -> Vec<String> {
        unfounded(&page(text))
            .into_iter()
            .map(|(_, figure, _)| figure)
            .collect()
    }

    const TABLE: &str = "\n\n| workload | time | CPU time |\n|---|--:|--:|\n| `gcbench` | 0.904 (0.43–3.08) | 92 % |\n";

    #[test]
    fn a_figure_stands_in_a_row_that_its_paragraph_names() {
        assert!(wrong(&format!("For `gcbench` it is 0.90, between 0.43 and 3.1.{TABLE}")).is_empty());
        assert_eq!(wrong(&format!("For `gcbench` it is 0.91.{TABLE}")), ["0.91"]);
        assert_eq!(wrong(&format!("For `long_list` it is 0.90.{TABLE}")), ["0.90"]);
    }

    #[test]
    fn a_column_may_be_named_instead() {
        assert!(wrong(&format!("The CPU time is 92 % of it.{TABLE}")).is_empty());
        assert_eq!(wrong(&format!("The memory is 92 % of it.{TABLE}")), ["92"]);
    }

    #[test]
    fn each_entry_of_a_list_is_a_paragraph() {
        assert_eq!(
            wrong(&format!("* `gcbench` is first\n* 0.90 is next\n  to it{TABLE}")),
            ["0.90"]
        );
    }

    #[test]
    fn counts_versions_code_and_dates_are_no_figures() {
        let text =
            "Two runs of 30, GHC 9.0.2, `-F1.5`, 40 MiB, [x](a.md#1.5).\n\n2026-11-21, rustc 1.95\n\n    f = 1.5\n";
        assert!(wrong(text).is_empty(), "{:?}", wrong(text));
    }

    #[test]
    fn a_range_has_two_figures() {
        let figures = figures("between 5.6 and 6 ms, or 2–3 %, and 4 times");
        let texts: Vec<&str> = figures.iter().map(|figure| figure.text.as_str()).collect();
        assert_eq!(texts, ["5.6", "6", "3", "4"]);
    }
}
