//! The pictures of a report, each with the words that stand around it on the page.

use crate::chart::{Chart, Forest, Stack};
use crate::document::{Part, Report, Topic};

/// A picture of a report.
pub(super) struct Picture<'r> {
    /// The section that has it.
    pub(super) topic: Topic,
    /// The titles above it, such as a workload; may be empty.
    pub(super) heading: String,
    /// The styles of its lines with their names; empty if the picture names them itself.
    pub(super) legend: Vec<&'r (usize, String)>,
    /// The picture itself.
    pub(super) drawing: Drawing<'r>,
}

/// The kinds of pictures.
pub(super) enum Drawing<'r> {
    Lines(&'r Chart),
    Ratios(&'r Forest),
    Bands(&'r Stack),
}

impl Picture<'_> {
    /// Its title without the words around it.
    pub(super) fn title(&self) -> &str {
        match self.drawing {
            Drawing::Lines(chart) => &chart.title,
            Drawing::Ratios(forest) => &forest.title,
            Drawing::Bands(stack) => &stack.title,
        }
    }

    /// Its title with the words around it.
    pub(super) fn full_title(&self) -> String {
        if self.heading.is_empty() {
            self.title().to_owned()
        } else {
            format!("{}: {}", self.heading, self.title())
        }
    }

    /// The name of a style; empty if the legend does not have it.
    pub(super) fn name_of(&self, style: usize) -> &str {
        let entry = self.legend.iter().find(|(own, _)| *own == style);
        entry.map_or("", |(_, name)| name)
    }
}

/// The pictures of a report, in the order of the page.
pub(super) fn pictures(report: &Report) -> Vec<Picture<'_>> {
    let mut found = Vec::new();
    for section in &report.sections {
        let mut around = Around {
            topic: section.topic,
            ..Around::default()
        };
        around.collect(&section.parts, &mut found);
    }
    found
}

/// The words that were seen last.
#[derive(Default)]
struct Around<'r> {
    topic: Topic,
    heading: &'r str,
    subheading: &'r str,
    legend: &'r [(usize, String)],
}

impl<'r> Around<'r> {
    fn collect(&mut self, parts: &'r [Part], found: &mut Vec<Picture<'r>>) {
        for part in parts {
            match part {
                Part::Heading(text) => (self.heading, self.subheading) = (text, ""),
                Part::Subheading(text) => self.subheading = text,
                Part::Legend(legend) => self.legend = legend,
                Part::Charts(charts) => found.extend(charts.iter().map(|chart| self.picture(Drawing::Lines(chart)))),
                Part::Forest(forest) => found.push(self.picture(Drawing::Ratios(forest))),
                Part::Profile(profile) => {
                    found.extend(profile.chart.iter().map(|stack| self.picture(Drawing::Bands(stack))));
                }
                Part::Details(_, parts) => self.collect(parts, found),
                Part::Paragraph(_)
                | Part::Caution(_)
                | Part::Note(_)
                | Part::Table(_)
                | Part::Runs(_)
                | Part::Facts(_)
                | Part::Code(_) => {}
            }
        }
    }

    fn picture(&self, drawing: Drawing<'r>) -> Picture<'r> {
        let legend = match drawing {
            Drawing::Lines(chart) => {
                let drawn = |style: usize| chart.series.iter().any(|series| series.style == style);
                self.legend.iter().filter(|(style, _)| drawn(*style)).collect()
            }
            Drawing::Ratios(_) | Drawing::Bands(_) => Vec::new(),
        };
        let heading = format!("{} {}", self.heading, self.subheading);
        Picture {
            topic: self.topic,
            heading: heading.trim().to_owned(),
            legend,
            drawing,
        }
    }
}
