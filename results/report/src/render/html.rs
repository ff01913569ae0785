//! A report as one HTML file that loads nothing from anywhere.
//!
//! All text goes through [`Page::text`], which escapes it. Markup is `&'static str`, so it is a
//! part of this program. The only other markup is that of charts, which escape their own text.

use crate::chart::{Stack, View, escape, swatch};
use crate::document::{Cell, Column, Look, Part, Profile, Report, Section, Table, Text, Topic};
use crate::format::{ABSENT, median_then_range};
use crate::sections::report;
use gclab_results::ResultsDir;

pub(super) const STYLE: &str = include_str!("assets/page.css");
pub(super) const SCRIPT: &str = include_str!("assets/page.js");

/// The most heap profiles that are drawn: each takes some twenty kilobytes.
const MOST_PROFILES: usize = 60;

/// The report of these folders as one HTML file.
pub fn html(dirs: &[ResultsDir]) -> String {
    let reports: Vec<Report> = dirs.iter().map(report).collect();
    let names: Vec<&str> = reports.iter().map(|report| report.name.as_str()).collect();
    let version = env!("CARGO_PKG_VERSION");
    let mut page = Page::default();
    page.markup(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"generator\" content=\"gclab ",
    );
    page.text(version).markup("\">\n<title>").text(&names.join(", "));
    page.markup(": gclab report</title>\n<style>\n")
        .markup(STYLE)
        .markup("</style>\n</head>\n<body>\n");
    for (number, report) in reports.iter().enumerate() {
        page.report(report, number);
    }
    page.markup("<footer>Written by gclab ").text(version);
    page.markup(
        " from plan.json, runs.jsonl and the event logs; all figures follow from these files.</footer>\n<script>\n",
    );
    page.markup(SCRIPT).markup("</script>\n</body>\n</html>\n");
    page.0
}

/// A page that grows at its end.
#[derive(Default)]
pub(super) struct Page(pub(super) String);

impl Page {
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

    /// Appends a chart or a swatch, which is SVG that escapes its own text.
    pub(super) fn svg(&mut self, svg: &str) -> &mut Page {
        self.0.push_str(svg);
        self
    }

    /// Appends text between two tags.
    pub(super) fn element(&mut self, open: &'static str, text: &str, close: &'static str) -> &mut Page {
        self.markup(open).text(text).markup(close)
    }

    /// The report of a folder. Its sections have ids, which differ from report to report.
    fn report(&mut self, report: &Report, number: usize) {
        let id = |title: &str| match number {
            0 => slug(title),
            number => format!("{}-{}", slug(title), number + 1),
        };
        self.element("\n<article id=\"", &id("report"), "\">\n<header>\n");
        self.element("<div class=\"name\">gclab experiment: ", &report.name, "</div>\n");
        let title = report.question.as_ref().unwrap_or(&report.name);
        self.element("<h1>", title, "</h1>\n");
        let mut facts = report.facts.join(" · ");
        if !report.fixed.is_empty() {
            let fixed: Vec<String> = report
                .fixed
                .iter()
                .map(|(name, value)| format!("{name} = {value}"))
                .collect();
            facts.push_str(&format!(" · in every run: {}", fixed.join(", ")));
        }
        self.element("<div class=\"facts\">", &facts, "</div>\n</header>\n");
        if !report.cautions.is_empty() {
            self.markup("<ul class=\"cautions\">");
            for caution in &report.cautions {
                self.element("<li>", caution, "</li>");
            }
            self.markup("</ul>\n");
        }
        let others: Vec<&Section> = report.sections.iter().filter(|section| is_on_page(section)).collect();
        self.contents(
            std::iter::once("Answer").chain(others.iter().map(|section| section.topic.title())),
            id,
        );
        self.heading(&id("Answer"), "Answer");
        let answers: Vec<&Section> = report.answers().collect();
        for section in &answers {
            if answers.len() > 1 {
                self.element("<h3 id=\"", &id(section.topic.title()), "\">").element(
                    "",
                    section.topic.title(),
                    "</h3>\n",
                );
            }
            for (index, line) in section.text.iter().enumerate() {
                let open = if index == 0 { "<p class=\"headline\">" } else { "<p>" };
                self.element(open, line, "</p>\n");
            }
            self.parts(&section.parts);
        }
        self.markup("</section>\n");
        for section in others {
            self.heading(&id(section.topic.title()), section.topic.title());
            section.text.iter().for_each(|line| {
                self.element("<p class=\"note\">", line, "</p>\n");
            });
            match section.topic {
                Topic::Profiles => self.profiles(&section.parts),
                _ => self.parts(&section.parts),
            }
            self.markup("</section>\n");
        }
        self.markup("</article>\n");
    }

    /// The beginning of a section.
    fn heading(&mut self, id: &str, title: &str) {
        self.element("\n<section id=\"", id, "\">\n<h2>")
            .element("", title, "</h2>\n");
    }

    /// Links to the sections.
    fn contents<'t>(&mut self, titles: impl Iterator<Item = &'t str>, id: impl Fn(&str) -> String) {
        self.markup("<nav aria-label=\"Contents\">");
        for title in titles {
            self.element("<a href=\"#", &id(title), "\">")
                .element("", title, "</a> ");
        }
        self.markup("</nav>\n");
    }

    fn parts(&mut self, parts: &[Part]) {
        parts.iter().for_each(|part| self.part(part));
    }

    /// The parts of the section on heap profiles, as far as they are drawn.
    fn profiles(&mut self, parts: &[Part]) {
        let mut seen = 0;
        for part in parts {
            let is_profile = matches!(part, Part::Profile(_));
            seen += usize::from(is_profile);
            if seen < MOST_PROFILES || seen == MOST_PROFILES && is_profile {
                self.part(part);
            }
        }
        if let Some(hidden @ 1..) = seen.checked_sub(MOST_PROFILES) {
            let note = format!("{hidden} more profiles are not drawn; their files are in the folder.");
            self.element("<p class=\"note\">", &note, "</p>\n");
        }
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Heading(text) => self.element("<h3>", text, "</h3>\n"),
            Part::Subheading(text) => self.element("<h4>", text, "</h4>\n"),
            Part::Paragraph(text) => self.element("<p>", text, "</p>\n"),
            Part::Note(text) => self.element("<p class=\"note\">", text, "</p>\n"),
            Part::Code(text) => self.element("<pre>", text, "</pre>\n"),
            // All cautions stand at the head of the page.
            Part::Caution(_) => self,
            Part::Legend(styles) => {
                self.markup("<div class=\"legend\">");
                for (style, name) in styles {
                    self.markup("<span>").svg(&swatch(*style)).text(name).markup("</span>");
                }
                self.markup("</div>\n")
            }
            Part::Charts(charts) => {
                self.markup("<div class=\"charts\">");
                charts.iter().for_each(|chart| {
                    self.svg(&chart.svg());
                });
                self.markup("</div>\n")
            }
            Part::Forest(forest) => {
                self.markup("<div class=\"charts\">");
                self.svg(&forest.svg()).markup("</div>\n")
            }
            Part::Table(table) => {
                self.markup("<div class=\"wide\">");
                self.table(table);
                self.markup("</div>\n")
            }
            Part::Facts(facts) => {
                self.markup("<div class=\"wide\"><table class=\"facts-table\"><tbody>");
                for (name, value) in facts {
                    self.element("<tr><th scope=\"row\">", name, "</th>")
                        .element("<td>", value, "</td></tr>");
                }
                self.markup("</tbody></table></div>\n")
            }
            Part::Details(summary, parts) => {
                self.element("<details><summary>", summary, "</summary>\n");
                self.parts(parts);
                self.markup("</details>\n")
            }
            Part::Profile(profile) => self.profile(profile),
        };
    }

    fn profile(&mut self, profile: &Profile) -> &mut Page {
        self.markup("<div class=\"profile\">\n");
        match &profile.chart {
            Some(chart) => self.svg(&chart.svg()),
            None => self.element("<h4>", &profile.label, "</h4>"),
        };
        self.markup("\n<div>\n");
        profile.peak.iter().for_each(|peak| self.table(peak));
        self.element("<p class=\"note\">", &profile.notes, "");
        if let Some(file) = &profile.file {
            self.element("; the whole profile is in ", file, "");
        }
        self.markup("</p>\n");
        profile.chart.iter().for_each(|chart| self.views(chart));
        self.markup("</div>\n</div>\n")
    }

    /// The other views of a stack, which a reader has to open.
    pub(super) fn views(&mut self, chart: &Stack) {
        for (view, name) in [(View::Shares, "Shares"), (View::Lines, "A line for each band")] {
            self.element("<details class=\"views\"><summary>", name, "</summary>\n");
            self.svg(&chart.as_view(view).svg()).markup("</details>\n");
        }
    }

    fn table(&mut self, table: &Table) {
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
        for row in &table.rows {
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
            Cell::Figure(metric, Some(spread)) => {
                let (text, more) = median_then_range(metric, spread);
                self.text_cell(&Text {
                    text,
                    more,
                    sort: Some(spread.median),
                    ..Text::default()
                });
            }
            Cell::Figure(_, None) => {
                self.element(">", ABSENT, "");
            }
            Cell::Runs(ok, all, failures) => {
                let counts: Vec<String> = failures.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
                self.text_cell(&Text {
                    text: if failures.is_empty() {
                        all.to_string()
                    } else {
                        format!("{ok}/{all}")
                    },
                    more: counts.join(", "),
                    sort: Some(*ok as f64),
                    failed: !failures.is_empty(),
                    ..Text::default()
                });
            }
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

/// Whether a section has a place of its own on the page. The tables of workloads are one table
/// there.
fn is_on_page(section: &Section) -> bool {
    !section.topic.is_answer() && section.topic != Topic::Workloads
}

/// A title as an id: its letters and figures in lower case, joined by hyphens.
fn slug(title: &str) -> String {
    let words = title
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}
