//! The parts of a comment on GitHub: tables, parts that a reader opens, and the limit of its
//! length.

/// The most characters of a comment are 65,536. This leaves room for a few words around it.
const MOST: usize = 64_000;

/// Text of a comment as it grows.
#[derive(Debug, Default)]
pub(super) struct Comment {
    text: String,
}

/// A table: its head, for each column whether it holds figures, and its rows.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    /// The headings.
    pub(super) head: &'a [&'a str],
    /// The first column that is aligned to the right.
    pub(super) right_from: usize,
    /// The first column after it that is aligned to the left again.
    pub(super) left_from: usize,
    /// The rows; each has as many cells as the head.
    pub(super) rows: Vec<Vec<String>>,
}

impl Comment {
    /// Appends a paragraph that has markup.
    pub(super) fn paragraph(&mut self, markup: &str) {
        self.text.push_str(markup);
        self.text.push_str("\n\n");
    }

    /// Appends a list; nothing without an item.
    pub(super) fn list(&mut self, lines: &[String]) {
        for line in lines {
            self.text.push_str(&format!("- {}\n", plain(line)));
        }
        if !lines.is_empty() {
            self.text.push('\n');
        }
    }

    /// Appends a table; nothing without a row. Rows that would make the comment too long are left
    /// out, and counted.
    pub(super) fn table(&mut self, table: &Rows<'_>) {
        if table.rows.is_empty() {
            return;
        }
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| plain(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let head: Vec<String> = table.head.iter().map(|title| (*title).to_owned()).collect();
        let rule = (0..head.len()).map(|column| {
            if (table.right_from..table.left_from).contains(&column) {
                "--:"
            } else {
                ":--"
            }
        });
        self.text.push_str(&line(&head));
        self.text
            .push_str(&format!("|{}|\n", rule.collect::<Vec<_>>().join("|")));
        let mut left_out = 0;
        for row in &table.rows {
            let row = line(row);
            if left_out > 0 || self.text.len() + row.len() > MOST {
                left_out += 1;
            } else {
                self.text.push_str(&row);
            }
        }
        self.text.push('\n');
        if left_out > 0 {
            self.paragraph(&format!(
                "{left_out} more rows do not fit into a comment; the command without `--format` prints them."
            ));
        }
    }

    /// Appends a part that a reader opens; nothing if `fill` adds nothing. GitHub reads markup in
    /// it after an empty line only.
    pub(super) fn details(&mut self, summary: &str, fill: impl FnOnce(&mut Comment)) {
        let (before, opening) = (
            self.text.len(),
            format!("<details><summary>{}</summary>\n\n", html(summary)),
        );
        self.text.push_str(&opening);
        fill(self);
        if self.text.len() == before + opening.len() {
            self.text.truncate(before);
        } else {
            self.text.push_str("</details>\n\n");
        }
    }

    /// The whole text.
    pub(super) fn text(self) -> String {
        format!("{}\n", self.text.trim_end())
    }
}

/// Text within HTML, where Markdown's marks mean nothing.
fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Text that Markdown shows as it is, in a cell of a table.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '\\' | '`' | '*' | '[' | ']' | '#' | '_' | '~' | '@' => plain.extend(['\\', c]),
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '\n' | '\r' => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: usize) -> Rows<'static> {
        Rows {
            head: &["name", "figure", "note"],
            right_from: 1,
            left_from: 2,
            rows: vec![vec!["a|b <c>".to_owned(), "1".to_owned(), "*x*\ny".to_owned()]; count],
        }
    }

    #[test]
    fn cells_are_shown_as_they_are() {
        let mut comment = Comment::default();
        comment.table(&rows(1));
        assert_eq!(
            comment.text(),
            "| name | figure | note |\n|:--|--:|:--|\n| a\\|b &lt;c&gt; | 1 | \\*x\\* y |\n"
        );
    }

    #[test]
    fn an_empty_part_is_left_out() {
        let mut comment = Comment::default();
        comment.details("nothing", |inside| inside.table(&rows(0)));
        comment.details("one <row>", |inside| inside.table(&rows(1)));
        let text = comment.text();
        assert!(
            text.starts_with("<details><summary>one &lt;row&gt;</summary>\n\n| name |"),
            "{text}"
        );
        assert!(text.ends_with("y |\n\n</details>\n"), "{text}");
    }

    #[test]
    fn a_comment_is_no_longer_than_github_takes() {
        let mut comment = Comment::default();
        comment.details("many", |inside| inside.table(&rows(10_000)));
        let text = comment.text();
        assert!(text.len() < 65_536 && text.len() > 60_000, "{}", text.len());
        assert!(text.contains(" more rows do not fit into a comment"));
        assert!(text.ends_with("</details>\n"));
    }
}
