//! A document to paste into an issue: the answer, its tables, the machine in a line, and the
//! command.

use crate::document::Cell;
use crate::document::{Column, Document, Look, Part, Place, Table};
use gclab_core::stats::render::is_unprintable;
use std::fmt::Write;

/// A comment on GitHub has at most 65,536 characters. This leaves room for a few words around it.
const MOST: usize = 64_000;

/// The documents as GitHub-flavoured Markdown.
pub fn markdown(documents: &[Document]) -> String {
    documents.iter().map(document).collect::<Vec<_>>().join("\n")
}

fn document(document: &Document) -> String {
    let mut answer = document.answer.iter();
    let mut text = format!("**{}**\n\n", plain(answer.next().unwrap_or(&document.name)));
    for line in document.question.iter().chain(answer) {
        let _ = writeln!(text, "{}\n", plain(line));
    }
    let facts: Vec<String> = std::iter::once(&document.name)
        .chain(&document.facts)
        .cloned()
        .collect();
    let _ = writeln!(text, "{}\n", plain(&facts.join(" · ")));
    for caution in &document.cautions {
        let _ = writeln!(text, "- {}", plain(caution));
    }
    for section in document.sections.iter().filter(|section| section.place != Place::Page) {
        let mut inside = String::new();
        parts(&mut inside, &section.parts);
        if inside.trim().is_empty() {
            continue;
        }
        let folded = section.place == Place::Detail;
        let begin = match folded {
            // GitHub reads markup inside only after an empty line.
            true => format!("\n<details><summary>{}</summary>\n", plain(section.title)),
            false => format!("\n### {}\n", plain(section.title)),
        };
        if text.len() + begin.len() + inside.len() > MOST {
            let _ = writeln!(
                text,
                "\n{} does not fit into a comment; `gclab` prints it without `--format`.",
                plain(section.title)
            );
            continue;
        }
        text.push_str(&begin);
        text.push_str(&inside);
        if folded {
            text.push_str("\n</details>\n");
        }
    }
    if !document.command.is_empty() {
        let _ = writeln!(text, "\nRepeat with:\n\n    {}", document.command.replace('\n', " "));
    }
    text
}

/// The parts that Markdown can show.
fn parts(text: &mut String, parts: &[Part]) {
    for part in parts {
        let _ = match part {
            Part::Heading(title) => writeln!(text, "\n#### {}", plain(title)),
            Part::Paragraph(line) => writeln!(text, "\n{}", plain(line)),
            Part::Table(content) => write!(text, "\n{}", table(content)),
            Part::Facts(facts) => {
                let facts: Vec<String> = facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                writeln!(text, "\n{}", plain(&facts.join(" · ")))
            }
            Part::Profile(_, peak) => write!(text, "\n{}", table(peak)),
            Part::Note(_) | Part::Legend(_) | Part::Charts(_) | Part::Forest(_) | Part::Details(..) | Part::Code(_) => {
                Ok(())
            }
        };
    }
}

fn table(table: &Table) -> String {
    let shown: Vec<usize> = (0..table.columns.len())
        .filter(|at| table.look == Look::Answers || !table.columns[*at].wide)
        .collect();
    let columns: Vec<&Column> = shown.iter().map(|at| &table.columns[*at]).collect();
    let line = |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let rule = columns.iter().map(|column| if column.figures { "--:" } else { ":--" });
    let mut text = line(&mut columns.iter().map(|column| plain(&column.title)));
    let _ = writeln!(text, "|{}|", rule.collect::<Vec<_>>().join("|"));
    for row in &table.rows {
        text.push_str(&line(&mut shown.iter().map(|at| cell(&row[*at]))));
    }
    text
}

fn cell(cell: &Cell) -> String {
    plain(&if cell.folded.is_empty() {
        cell.line()
    } else {
        cell.folded.replace('\n', " ")
    })
}

/// Text that Markdown shows verbatim, in a table cell.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '\\' | '`' | '*' | '[' | ']' | '#' | '_' | '~' | '@' => plain.extend(['\\', c]),
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '\n' | '\r' | '\t' => plain.push(' '),
            c if is_unprintable(c) => plain.push('\u{fffd}'),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn names_cannot_become_markup() {
        assert_eq!(
            plain("a|b <script> @all `x`\n\u{1b}[2J\u{2028}#\u{202e}"),
            "a\\|b &lt;script&gt; \\@all \\`x\\` \u{fffd}\\[2J\u{fffd}\\#\u{fffd}"
        );
    }
}
