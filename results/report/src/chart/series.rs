//! The series of a chart: their points, and how these are drawn.

use super::scale::Scale;
use super::style::{colour, cross, dashes, hollow_mark, mark};
use serde::Serialize;
use std::fmt::Write;

/// A series of a chart: points of one style.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Series {
    /// The colour and shape; a collector has the same one in all charts of a page.
    pub(crate) style: usize,
    /// The points, in ascending order of `x`.
    pub(crate) points: Vec<Point>,
    /// Whether points have marks.
    pub(crate) marks: bool,
    /// Whether points are joined by a line.
    pub(crate) joined: bool,
    /// Whether the line consists of steps: each value holds until the next point.
    pub(crate) steps: bool,
}

/// A point of a series, or the place of a missing one.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Point {
    /// The place on the horizontal axis.
    pub(crate) x: f64,
    /// The value; `None` if it is missing, which is marked by a cross.
    pub(crate) y: Option<f64>,
    /// The ends of the value's interval, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ends: Option<(f64, f64)>,
    /// The values of single runs, drawn as dots.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) runs: Vec<f64>,
    /// Whether the value is an estimate whose interval is unknown: its mark is hollow.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) hollow: bool,
    /// The text shown while the pointer is over the point.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) tip: String,
    /// The runs that the point represents: the page shows their figures and their command.
    #[serde(skip_serializing_if = "Subject::is_none")]
    pub(crate) subject: Subject,
}

/// The runs that a point represents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Subject {
    /// No runs to look at.
    #[default]
    None,
    /// All runs of some configurations, by their ids.
    Configurations(Vec<String>),
    /// The run at a place of the order of runs.
    Run(u32),
}

impl Subject {
    fn is_none(&self) -> bool {
        *self == Subject::None
    }
}

impl Point {
    /// A point with nothing but a place and a value.
    pub(crate) fn at(x: f64, y: f64) -> Point {
        Point {
            x,
            y: Some(y),
            ..Point::default()
        }
    }
}

/// Where a series is drawn.
pub(super) struct Place<'f> {
    pub(super) x: &'f Scale,
    pub(super) y: &'f Scale,
    /// How far points are moved aside.
    pub(super) offset: f64,
    /// How far crosses are moved aside: those of several series share a row.
    pub(super) crosses: f64,
    /// The height of that row.
    pub(super) row: f64,
}

impl Place<'_> {
    /// The pixel of a point on the horizontal axis.
    pub(super) fn across(&self, point: &Point) -> f64 {
        let aside = if point.y.is_some() { self.offset } else { self.crosses };
        self.x.at(point.x) + aside
    }
}

impl Series {
    /// Draws the series as one group, which a page can hide.
    pub(super) fn draw(&self, svg: &mut String, place: &Place<'_>) {
        let colour = colour(self.style);
        let _ = write!(svg, r#"<g data-s="{}" style="--c:{colour}">"#, self.style);
        let mut dots = String::new();
        for point in &self.points {
            for value in &point.runs {
                let _ = write!(dots, "M{:.0} {:.1}h0", place.across(point), place.y.at(*value));
            }
        }
        if !dots.is_empty() {
            let _ = write!(svg, r#"<path class="dots" d="{dots}"/>"#);
        }
        if self.joined {
            for stretch in self
                .points
                .split(|point| point.y.is_none())
                .filter(|stretch| stretch.len() > 1)
            {
                let _ = write!(
                    svg,
                    r#"<polyline points="{}" class="line"{}/>"#,
                    self.corners(stretch, place).join(" "),
                    dashes(self.style),
                );
            }
        }
        for point in self.points.iter().filter(|_| self.marks) {
            let left = place.across(point);
            let Some(value) = point.y else {
                svg.push_str(&cross(left, place.row));
                continue;
            };
            if let Some((low, high)) = point.ends {
                bar(svg, left, place.y.at(low), place.y.at(high));
            }
            let mark = if point.hollow { hollow_mark } else { mark };
            svg.push_str(&mark(self.style, left, place.y.at(value)));
        }
        svg.push_str("</g>");
    }

    /// The corners of the line through some points.
    fn corners(&self, stretch: &[Point], place: &Place<'_>) -> Vec<String> {
        let mut corners = Vec::new();
        let mut before = None;
        for point in stretch {
            let Some(value) = point.y else { continue };
            let (across, up) = (place.across(point), place.y.at(value));
            if let Some(before) = before.filter(|_| self.steps) {
                corners.push(format!("{across:.1},{before:.1}"));
            }
            corners.push(format!("{across:.1},{up:.1}"));
            before = Some(up);
        }
        corners
    }
}

fn bar(svg: &mut String, at: f64, low: f64, high: f64) {
    if (low - high).abs() >= 0.5 {
        let (l, r) = (at - 2.5, at + 2.5);
        let _ = write!(
            svg,
            r#"<path class="bar" d="M{at:.1} {low:.1}V{high:.1}M{l:.1} {low:.1}H{r:.1}M{l:.1} {high:.1}H{r:.1}"/>"#
        );
    }
}
