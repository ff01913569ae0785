//! A report as one HTML file that loads nothing from anywhere.
//!
//! All text goes through [`Page::text`], which escapes it. Markup is `&'static str`, so it is a
//! part of this program. The only other markup is that of charts, which escape their own text.

use super::terminal::tables_of;
use crate::chart::{Stack, View, escape, swatch};
use crate::document::{Part, Profile, Report, Section, Topic};
use crate::folder::Results;
use crate::sections::report;

/// The rules of all pages. The dark colours hold where the system or the reader chose them.
pub(super) const STYLE: &str = concat!(
    include_str!("assets/page.css"),
    "@media screen and (prefers-color-scheme: dark) { :root:not([data-theme=light]) { ",
    include_str!("assets/dark.css"),
    "} }\n@media screen { :root[data-theme=dark] { ",
    include_str!("assets/dark.css"),
    "} }\n"
);
pub(super) const SCRIPT: &str = include_str!("assets/page.js");

/// Rules for reports alone.
const OWN_STYLE: &str = include_str!("assets/report/report.css");

/// The scripts of reports, each of which uses those before it.
const OWN_SCRIPTS: [&str; 4] = [
    include_str!("assets/report/tables.js"),
    include_str!("assets/report/runs.js"),
    include_str!("assets/report/charts.js"),
    include_str!("assets/report/view.js"),
];

/// The most heap profiles that are drawn: each takes some twenty kilobytes.
const MOST_PROFILES: usize = 60;

/// The report of these folders as one HTML file.
pub fn html(dirs: &[Results]) -> String {
    let reports: Vec<Report> = dirs.iter().map(report).collect();
    page(&reports)
}

/// The report of these folders as one HTML file, and as tables for a terminal. The figures are made
/// once for both, and intervals take most of the time.
pub fn html_and_tables(dirs: &[Results]) -> (String, Vec<String>) {
    let reports: Vec<Report> = dirs.iter().map(report).collect();
    (page(&reports), reports.iter().map(tables_of).collect())
}

fn page(reports: &[Report]) -> String {
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
        .markup(OWN_STYLE)
        .markup("</style>\n</head>\n<body>\n");
    for (number, report) in reports.iter().enumerate() {
        page.report(report, number);
    }
    page.markup("<footer>Written by gclab ").text(version);
    page.markup(
        " from plan.json, runs.jsonl and the event logs; all figures follow from these files.</footer>\n<script>\n",
    );
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
                    self.element("<span data-s=\"", &style.to_string(), "\">");
                    self.svg(&swatch(*style)).text(name).markup("</span>");
                }
                self.markup("</div>\n")
            }
            Part::Charts(charts) => {
                self.markup("<div class=\"charts\">");
                for chart in charts {
                    self.svg(&chart.svg());
                    if let Some(other) = chart.other_scale() {
                        let other = other.svg().replacen("class=\"chart\"", "class=\"chart other\"", 1);
                        self.markup("<template>").svg(&other).markup("</template>");
                    }
                }
                self.markup("</div>\n")
            }
            Part::Forest(forest) => {
                self.markup("<div class=\"charts\">");
                self.svg(&forest.svg()).markup("</div>\n")
            }
            Part::Table(table) => self.any_table(table),
            Part::Runs(runs) => self.runs(runs),
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
}

/// Whether a section has a place of its own on the page. The tables of workloads are one table
/// there.
fn is_on_page(section: &Section) -> bool {
    !section.topic.is_answer() && section.topic != Topic::Workloads
}

/// A title as an id: its letters and figures in lower case, joined by hyphens.
pub(super) fn slug(title: &str) -> String {
    let words = title
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}
