//! Tables in HTML. A long one has its first rows as markup, and all rows as compact data: the
//! page's script shows them in parts, so that the page stays small and quick.

use super::data::{json, shown};
use super::html::Page;
use crate::document::{Cell, Column, Look, Runs, Table, Text};
use crate::format::ABSENT;

/// A table with more rows is long.
const LONG: usize = 300;

/// The rows of a long table that are markup.
const FIRST: usize = 20;

impl Page {
    /// A table of any length.
    pub(super) fn any_table(&mut self, table: &Table) -> &mut Page {
        if table.rows.len() <= LONG || table.look == Look::Answers {
            self.markup("<div class=\"wide\">");
            self.table(table);
        } else {
            self.markup("<div class=\"wide long\">");
            self.rows_of_table(table, FIRST);
            self.more_rows(table, FIRST);
            self.data(&json(table, None));
        }
        self.markup("</div>\n")
    }

    /// The table of all runs, with the data that belong to the marks of charts.
    pub(super) fn runs(&mut self, runs: &Runs) -> &mut Page {
        let table = &runs.table;
        self.markup("<div class=\"wide long runs\">");
        let first = if table.rows.len() <= LONG { LONG } else { FIRST };
        self.rows_of_table(table, first);
        self.more_rows(table, first);
        self.data(&json(table, Some(runs)));
        self.markup("</div>\n")
    }

    /// A word for readers without scripts.
    fn more_rows(&mut self, table: &Table, first: usize) {
        if table.rows.len() > first {
            let note = format!(
                "These are the first {first} of {} rows. The others need scripts; gclab report --format csv prints all runs.",
                table.rows.len()
            );
            self.element("<noscript><p class=\"note\">", &note, "</p></noscript>");
        }
    }

    /// Data for the page's script. They hold no markup: `<` is escaped.
    fn data(&mut self, json: &str) {
        self.markup("<script type=\"application/json\">");
        self.0.push_str(&json.replace('<', "\\u003c"));
        self.markup("</script>");
    }

    pub(super) fn table(&mut self, table: &Table) {
        self.rows_of_table(table, table.rows.len());
    }

    /// A table with its first rows.
    fn rows_of_table(&mut self, table: &Table, first: usize) {
        self.markup(match table.look {
            Look::Sortable => "<table class=\"sortable\">\n<thead><tr>",
            Look::Answers => "<table class=\"answers\">\n<thead><tr>",
            Look::Fixed => "<table>\n<thead><tr>",
        });
        let right = |column: &Column| column.figures && table.look != Look::Answers;
        for column in &table.columns {
            self.markup("<th scope=\"col\"");
            self.markup(if right(column) { " class=\"n\">" } else { ">" });
            // A button can be reached and pressed by keyboard.
            match table.look {
                Look::Sortable => self.element("<button type=\"button\">", &column.heading(), "</button></th>"),
                _ => self.element("", &column.heading(), "</th>"),
            };
        }
        self.markup("</tr></thead>\n<tbody>\n");
        for row in table.rows.iter().take(first) {
            self.markup("<tr>");
            for (column, cell) in table.columns.iter().zip(row) {
                self.markup(if right(column) { "<td class=\"n\"" } else { "<td" });
                // On a narrow page the cells stand below each other, each after its heading.
                if table.look == Look::Answers {
                    self.element(" data-label=\"", &column.heading(), "\"");
                }
                self.cell(cell);
                self.markup("</td>");
            }
            self.markup("</tr>\n");
        }
        self.markup("</tbody></table>");
    }

    /// The rest of a `<td` tag, and the content of the cell.
    fn cell(&mut self, cell: &Cell) {
        match cell {
            Cell::Text(text) => self.text_cell(text),
            Cell::Figure(_, None) => {
                self.element(">", ABSENT, "");
            }
            Cell::Figure(..) | Cell::Runs(..) => self.text_cell(&shown(cell)),
            Cell::Pairs(pairs) => {
                self.markup(">");
                for (name, value) in pairs {
                    self.element("<span>", name, "</span>");
                    self.element("<span class=\"v\">", value, "</span>");
                }
                if pairs.is_empty() {
                    self.text(ABSENT);
                }
            }
            Cell::Output(command, stderr) if command.is_empty() && stderr.is_empty() => {
                self.element(">", ABSENT, "");
            }
            Cell::Output(command, stderr) => {
                self.element("><details><summary>show</summary><pre>", command, "");
                if !stderr.is_empty() {
                    self.element("\n", stderr, "");
                }
                self.markup("</pre></details>");
            }
        }
    }

    fn text_cell(&mut self, cell: &Text) {
        if cell.failed {
            self.markup(" data-failed");
        }
        if let Some(sort) = cell.sort {
            self.element(" data-sort=\"", &sort.to_string(), "\"");
        }
        self.markup(">");
        if cell.strong {
            self.element("<strong>", &cell.text, "</strong>");
        } else {
            self.text(&cell.text);
        }
        if !cell.more.is_empty() {
            self.element("<small>", &cell.more, "</small>");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric;

    /// A long table has its cells as data, with the same keys and marks.
    #[test]
    fn long_tables_have_the_same_keys_as_short_ones() {
        let spread = crate::inference::Spread::of([1.0, 2.0, 9.0]).expect("values");
        let row = |word: &str| {
            vec![
                Cell::word(word),
                Cell::text("a name"),
                Cell::Figure(metric::TOTAL_ELAPSED, Some(spread)),
                Cell::Runs(2, 3, vec![("crash", 1)]),
            ]
        };
        let table = |rows: usize| Table {
            look: Look::Sortable,
            columns: vec![
                Column::words("A"),
                Column::words("name"),
                Column::metric(&metric::TOTAL_ELAPSED),
                Column::words("runs"),
            ],
            rows: (0..rows).map(|at| row(if at == 0 { "16m" } else { "4m" })).collect(),
        };
        let mut short = Page(String::new());
        short.any_table(&table(2));
        let mut long = Page(String::new());
        long.any_table(&table(400));
        let (short, long) = (short.0, long.0);
        assert!(
            short.contains("<td data-sort=\"16777216\">16m</td><td>a name</td>"),
            "{short}"
        );
        let data = long.split("<script type=\"application/json\">").nth(1).expect("data");
        let data: serde_json::Value =
            serde_json::from_str(data.split("</script>").next().expect("an end")).expect("JSON");
        let words = |column: usize| data["columns"][column]["words"].clone();
        assert_eq!(
            words(0),
            serde_json::json!([["16m", "", 16_777_216.0, 0], ["4m", "", 4_194_304.0, 0]])
        );
        assert_eq!(words(1), serde_json::json!(["a name"]));
        assert_eq!(words(2), serde_json::json!([["2.000", "(1.000–9.000)", 2.0, 0]]));
        assert_eq!(words(3), serde_json::json!([["2/3", "1 crash", 2.0, 1]]));
    }
}
