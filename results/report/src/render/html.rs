//! A document as one self-contained HTML file.
//!
//! All text goes through [`Page::text`], which escapes it. Markup is `&'static str`, so it comes
//! from this program. The only other markup is in charts, which escape their own text. The page has
//! the data of its charts and long tables as JSON, for its scripts.

use crate::chart::{Chart, Stack, View, escape, swatch};
use crate::document::{Cell, Column, Document, Look, Part, Place, Section, Table, Tone};
use crate::format::{ABSENT, counted};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The style of all pages. Dark colours apply if the system or the reader chose them.
pub(super) const STYLE: &str = concat!(
    include_str!("assets/page.css"),
    "@media screen and (prefers-color-scheme: dark) { :root:not([data-theme=light]) { ",
    include_str!("assets/dark.css"),
    "} }\n@media screen { :root[data-theme=dark] { ",
    include_str!("assets/dark.css"),
    "} }\n"
);
pub(super) const SCRIPT: &str = include_str!("assets/page.js");

/// Rules only for documents.
const OWN_STYLE: &str = include_str!("assets/report/report.css");

/// The scripts of documents; each uses the ones before it.
const OWN_SCRIPTS: [&str; 4] = [
    include_str!("assets/report/tables.js"),
    include_str!("assets/report/runs.js"),
    include_str!("assets/report/charts.js"),
    include_str!("assets/report/view.js"),
];

/// A table with more rows is long: its first rows are markup, and all rows are data.
const LONG: usize = 40;

/// How many rows of a long table are markup.
const FIRST: usize = 8;

/// The documents as one HTML file.
pub fn html(documents: &[Document]) -> String {
    let names: Vec<&str> = documents.iter().map(|document| document.name.as_str()).collect();
    let mut page = Page::begin(&format!("{}: gclab", names.join(", ")), OWN_STYLE);
    for (number, document) in documents.iter().enumerate() {
        page.document(document, number);
    }
    page.markup("<footer>Written by gclab ").text(env!("CARGO_PKG_VERSION"));
    page.markup("; all figures follow from plan.json, runs.jsonl and the event logs.</footer>\n<script>\n");
    page.markup(SCRIPT);
    for script in OWN_SCRIPTS {
        page.markup(script);
    }
    page.markup("</script>\n</body>\n</html>\n");
    page.0
}

/// A page that grows at its end.
#[derive(Default)]
pub(super) struct Page(pub(super) String);

impl Page {
    /// The start of a page, up to its body; `style` has rules for this kind of page.
    pub(super) fn begin(title: &str, style: &'static str) -> Page {
        let mut page = Page::default();
        page.markup(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"generator\" content=\"gclab ",
        );
        page.text(env!("CARGO_PKG_VERSION")).markup("\">\n<title>").text(title);
        page.markup("</title>\n<style>\n")
            .markup(STYLE)
            .markup(style)
            .markup("</style>\n</head>\n<body>\n");
        page
    }

    /// Appends markup.
    pub(super) fn markup(&mut self, markup: &'static str) -> &mut Page {
        self.0.push_str(markup);
        self
    }

    /// Appends text, escaped.
    pub(super) fn text(&mut self, text: &str) -> &mut Page {
        self.0.push_str(&escape(text));
        self
    }

    /// Appends a chart or a swatch, which is SVG that escapes its own text, or data without markup.
    pub(super) fn svg(&mut self, svg: &str) -> &mut Page {
        self.0.push_str(svg);
        self
    }

    /// Appends text between two tags.
    pub(super) fn element(&mut self, open: &'static str, text: &str, close: &'static str) -> &mut Page {
        self.markup(open).text(text).markup(close)
    }

    /// Appends a collapsed list of cautions, if there are any.
    pub(super) fn cautions(&mut self, cautions: &[String]) {
        let Some(first) = cautions.first() else { return };
        let more = match cautions.len() {
            1 => String::new(),
            n => format!(" ({} more)", n - 1),
        };
        self.element(
            "<details class=\"cautions\"><summary>",
            &format!("{first}{more}"),
            "</summary><ul>",
        );
        for caution in cautions {
            self.element("<li>", caution, "</li>");
        }
        self.markup("</ul></details>\n");
    }

    /// Data for the page's scripts, without markup: `<` is escaped.
    pub(super) fn data(&mut self, json: &Value) -> &mut Page {
        self.markup("<script type=\"application/json\">");
        self.svg(&json.to_string().replace('<', "\\u003c")).markup("</script>")
    }

    /// A document. The ids of its sections are unique on the page.
    fn document(&mut self, document: &Document, number: usize) {
        let id = |title: &str| match number {
            0 => slug(title),
            number => format!("{}-{}", slug(title), number + 1),
        };
        self.element("\n<article id=\"", &id("report"), "\">\n<header>\n");
        let headline = document.answer.first().map_or(document.name.as_str(), String::as_str);
        self.element("<h1 class=\"headline\">", headline, "</h1>\n");
        if let Some(question) = &document.question {
            self.element("<div class=\"question\">", question, "</div>\n");
        }
        let facts: Vec<String> = std::iter::once(&document.name)
            .chain(&document.facts)
            .cloned()
            .collect();
        self.element("<div class=\"facts\">", &facts.join(" · "), "</div>\n</header>\n");
        self.answer(document);
        self.cautions(&document.cautions);
        self.markup("<nav aria-label=\"Contents\">");
        let in_body = |part: &&Part| first_chart(document).is_none_or(|first| !is_part(part, first));
        // A section of sentences is in the headline as a whole.
        let sections = || {
            document
                .sections
                .iter()
                .filter(|section| section.parts.iter().any(|part| in_body(&part)))
        };
        for section in sections() {
            self.element("<a href=\"#", &id(section.title), "\">")
                .element("", section.title, "</a> ");
        }
        self.markup("</nav>\n");
        for section in sections() {
            let is_open = matches!(section.place, Place::Answer | Place::Table);
            self.element(
                if is_open {
                    "\n<section id=\""
                } else {
                    "\n<section class=\"folded\" id=\""
                },
                &id(section.title),
                "\">",
            );
            match is_open {
                true => self.element("<h2>", section.title, "</h2>\n"),
                false => self.element("<details><summary><h2>", section.title, "</h2></summary>\n"),
            };
            self.parts(section.parts.iter().filter(in_body));
            self.markup(if is_open {
                "</section>\n"
            } else {
                "</details></section>\n"
            });
        }
        self.markup("</article>\n");
    }

    /// The other sentences of the answer, beside the chart that answers the question.
    fn answer(&mut self, document: &Document) {
        let first = first_chart(document);
        if document.answer.len() < 2 && document.best.is_none() && first.is_none() {
            return;
        }
        self.markup("<section class=\"answer\">\n<div>");
        for sentence in document.answer.iter().skip(1) {
            self.element("<p>", sentence, "</p>\n");
        }
        if let Some(command) = &document.best {
            self.element("<pre>", command, "</pre>\n");
        }
        self.markup("</div>\n");
        if let Some((legend, charts)) = first {
            self.markup("<div>");
            self.parts(legend.into_iter().chain([charts]));
            self.markup("</div>\n");
        }
        self.markup("</section>\n");
    }

    fn parts<'p>(&mut self, parts: impl IntoIterator<Item = &'p Part>) {
        parts.into_iter().for_each(|part| self.part(part));
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Heading(text) => self.element("<h3>", text, "</h3>\n"),
            Part::Paragraph(text) => self.element("<p>", text, "</p>\n"),
            Part::Note(text) => self.element("<p class=\"note\">", text, "</p>\n"),
            Part::Code(text) => self.element("<pre>", text, "</pre>\n"),
            Part::Legend(styles) => {
                self.markup("<div class=\"legend\">");
                for (style, name) in styles {
                    self.element("<span data-s=\"", &style.to_string(), "\">");
                    self.svg(&swatch(*style)).text(name).markup("</span>");
                }
                self.markup("</div>\n")
            }
            Part::Charts(charts) => {
                self.markup("<div class=\"charts\">");
                charts.iter().for_each(|chart| {
                    self.svg(&chart.svg());
                });
                self.data(&charts.iter().map(Chart::data).collect()).markup("</div>\n")
            }
            Part::Forest(forest) => {
                self.markup("<div class=\"charts\">");
                self.svg(&forest.svg()).markup("</div>\n")
            }
            Part::Table(table) => self.table(table),
            Part::Facts(facts) => {
                self.markup("<div class=\"wide\"><table class=\"facts-table\"><tbody>");
                for (name, value) in facts {
                    self.element("<tr><th scope=\"row\">", name, "</th>");
                    self.element("<td>", value, "</td></tr>");
                }
                self.markup("</tbody></table></div>\n")
            }
            Part::Details(summary, parts) => {
                self.element("<details><summary>", summary, "</summary>\n");
                self.parts(parts);
                self.markup("</details>\n")
            }
            Part::Profile(chart, peak) => {
                self.markup("<div class=\"profile\">\n")
                    .svg(&chart.svg())
                    .markup("\n<div>\n");
                self.table(peak);
                self.views(chart);
                self.markup("</div>\n</div>\n")
            }
        };
    }

    /// The other views of a stack, collapsed.
    pub(super) fn views(&mut self, chart: &Stack) {
        for (view, name) in [(View::Shares, "Shares"), (View::Lines, "A line for each band")] {
            self.element("<details class=\"views\"><summary>", name, "</summary>\n");
            self.svg(&chart.as_view(view).svg()).markup("</details>\n");
        }
    }

    /// A table of any length. The table of all runs always includes its data, which charts' marks
    /// refer to.
    fn table(&mut self, table: &Table) -> &mut Page {
        let is_long = table.look != Look::Answers && table.rows.len() > LONG || table.runs.is_some();
        self.markup(match (is_long, table.runs.is_some()) {
            (_, true) => "<div class=\"wide long runs\">",
            (true, false) => "<div class=\"wide long\">",
            (false, false) => "<div class=\"wide\">",
        });
        let first = if is_long { FIRST } else { table.rows.len() };
        self.rows(table, first);
        if is_long {
            if table.rows.len() > first {
                let note = format!(
                    "These are the first {first} of {}. The others need scripts.",
                    counted(table.rows.len(), "row")
                );
                self.element("<noscript><p class=\"note\">", &note, "</p></noscript>");
            }
            self.data(&table_data(table));
        }
        self.markup("</div>\n")
    }

    /// A table with its first rows.
    fn rows(&mut self, table: &Table, first: usize) {
        let is_answer = table.look == Look::Answers;
        self.markup(if is_answer {
            "<table class=\"answers\">\n<thead><tr>"
        } else {
            "<table class=\"sortable\">\n<thead><tr>"
        });
        let right = |column: &Column| column.figures && !is_answer;
        for column in &table.columns {
            self.markup(if right(column) {
                "<th scope=\"col\" class=\"n\">"
            } else {
                "<th scope=\"col\">"
            });
            // A button can be reached and pressed by keyboard.
            match is_answer {
                true => self.element("", &column.title, "</th>"),
                false => self.element("<button type=\"button\">", &column.title, "</button></th>"),
            };
        }
        self.markup("</tr></thead>\n<tbody>\n");
        for row in table.rows.iter().take(first) {
            self.markup("<tr>");
            for (column, cell) in table.columns.iter().zip(row) {
                self.markup(if right(column) { "<td class=\"n\"" } else { "<td" });
                // On a narrow page the cells are stacked, each after its heading.
                if is_answer {
                    self.element(" data-label=\"", &column.title, "\"");
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
        if cell.tone == Tone::Failed {
            self.markup(" data-failed");
        }
        if let Some(value) = cell.value {
            self.element(" data-sort=\"", &value.to_string(), "\"");
        }
        self.markup(">");
        if !cell.folded.is_empty() {
            self.element("<details><summary>", &cell.text, "</summary>");
            self.element("<pre>", &cell.folded, "</pre></details>");
        } else if cell.tone == Tone::Strong {
            self.element("<strong>", &cell.text, "</strong>");
        } else {
            self.text(&cell.text);
        }
        if !cell.more.is_empty() {
            self.element("<small>", &cell.more, "</small>");
        }
    }
}

/// The chart that answers the question, with its legend: the first one of the first answering
/// section that has any.
fn first_chart(document: &Document) -> Option<(Option<&Part>, &Part)> {
    let answers = document
        .sections
        .iter()
        .filter(|section| section.place == Place::Answer);
    let find = |section: &'_ Section| {
        section.parts.iter().position(|part| match part {
            Part::Charts(charts) => matches!(&charts[..], [chart] if chart.wide),
            Part::Forest(_) => true,
            _ => false,
        })
    };
    for section in answers {
        if let Some(at) = find(section) {
            let legend = at
                .checked_sub(1)
                .map(|at| &section.parts[at])
                .filter(|part| matches!(part, Part::Legend(_)));
            return Some((legend, &section.parts[at]));
        }
    }
    None
}

/// Whether a part is the first chart or its legend.
fn is_part(part: &Part, (legend, chart): (Option<&Part>, &Part)) -> bool {
    std::ptr::eq(part, chart) || legend.is_some_and(|legend| std::ptr::eq(part, legend))
}

/// A table as compact data, from which the page's script makes rows. A column of plain numbers is
/// one text, separated by spaces. Any other column lists each distinct cell once, and for each row
/// the number of its cell: most columns have few distinct ones.
fn table_data(table: &Table) -> Value {
    let columns = table.columns.iter().enumerate().map(|(at, column)| {
        let mut data = column_data(table.rows.iter().map(|row| &row[at]));
        data["title"] = column.title.as_str().into();
        data["right"] = column.figures.into();
        data
    });
    let mut all = json!({ "rows": table.rows.len(), "columns": columns.collect::<Vec<_>>() });
    if let Some(runs) = &table.runs {
        let words = |of: fn(&(String, String)) -> &String| {
            let cells: Vec<Cell> = runs.iter().map(|run| Cell::text(of(run))).collect();
            column_data(cells.iter())
        };
        all["cells"] = words(|(cell, _)| cell);
        all["commands"] = words(|(_, command)| command);
    }
    all
}

/// The cells of a column.
fn column_data<'c>(all: impl Iterator<Item = &'c Cell> + Clone) -> Value {
    let is_figure = |cell: &Cell| {
        let number = cell.text == ABSENT || cell.text.parse::<f64>().is_ok_and(f64::is_finite);
        number && cell.more.is_empty() && cell.folded.is_empty() && cell.tone == Tone::Plain
    };
    if all.clone().all(is_figure) {
        let texts: Vec<&str> = all.map(|cell| cell.text.as_str()).collect();
        return json!({ "figures": texts.join(" ") });
    }
    let mut places: HashMap<(&str, &str, &str), usize> = HashMap::new();
    let mut words: Vec<Value> = Vec::new();
    let mut at: Vec<String> = Vec::new();
    for cell in all {
        let key = (cell.text.as_str(), cell.more.as_str(), cell.folded.as_str());
        let place = *places.entry(key).or_insert_with(|| {
            words.push(match (cell.value, cell.tone) {
                (None, Tone::Plain) if cell.more.is_empty() && cell.folded.is_empty() => cell.text.as_str().into(),
                _ => json!([
                    cell.text,
                    cell.more,
                    cell.value,
                    u8::from(cell.tone == Tone::Failed),
                    cell.folded
                ]),
            });
            words.len() - 1
        });
        at.push(place.to_string());
    }
    json!({ "words": words, "at": at.join(" ") })
}

/// A title as an id: its letters and figures in lower case, joined by hyphens.
fn slug(title: &str) -> String {
    let words = title
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}
