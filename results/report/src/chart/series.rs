//! The series of a chart: their points, and how these are drawn.

use super::cross::Crosses;
use super::scale::Scale;
use super::style::{colour, dashes, escape, hollow_mark, mark};
use super::subject::Subject;
use std::fmt::Write;

/// A series of a chart: points of one style.
#[derive(Debug, Clone, Default)]
pub(crate) struct Series {
    /// The colour and shape; a collector has the same one in all charts of a page.
    pub(crate) style: usize,
    /// The points, in ascending order of `x`.
    pub(crate) points: Vec<Point>,
    /// Whether points have marks.
    pub(crate) marks: bool,
    /// Whether points are joined by a line.
    pub(crate) joined: bool,
    /// Whether that line is made of steps: each value holds until the next point.
    pub(crate) steps: bool,
    /// Whether the spread is drawn as a band instead of a bar at each point.
    pub(crate) band: bool,
    /// Whether all points are drawn as one path of small dots: a page stays quick with thousands of
    /// them.
    pub(crate) cloud: bool,
    /// The runs of a series whose points have no subject of their own.
    pub(crate) subject: Subject,
}

/// A point of a series, or the place of one that is missing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Point {
    /// The place on the horizontal axis.
    pub(crate) x: f64,
    /// The value and the ends of its spread; `None` for a missing value, which is marked by a
    /// cross.
    pub(crate) y: Option<(f64, f64, f64)>,
    /// Whether the value is an estimate of which no interval is known: its mark is hollow, and data
    /// have no ends.
    pub(crate) bare: bool,
    /// The text that is shown when a pointer rests on the point.
    pub(crate) tip: String,
    /// The reason of a missing value in a word or two, which stands next to the cross; may be
    /// empty.
    pub(crate) why: String,
    /// The runs that the point stands for.
    pub(crate) subject: Subject,
}

impl Point {
    /// A point at `x` with this estimate and the ends of its interval, if there is one.
    pub(crate) fn estimate(x: f64, value: f64, ends: Option<(f64, f64)>) -> Point {
        let (low, high) = ends.unwrap_or((value, value));
        Point {
            x,
            y: Some((value, low, high)),
            bare: ends.is_none(),
            ..Point::default()
        }
    }
}

/// The scales of the chart, and the distance by which a series is moved aside.
pub(super) struct Place<'f> {
    pub(super) x: &'f Scale,
    pub(super) y: &'f Scale,
    pub(super) offset: f64,
}

impl Place<'_> {
    /// The pixel of a point on the horizontal axis.
    fn across(&self, point: &Point) -> f64 {
        self.x.at(point.x) + self.offset
    }
}

impl Series {
    /// Draws the series as one group, which a page can hide.
    pub(super) fn draw<'c>(&'c self, svg: &mut String, place: &Place<'_>, crosses: &mut Crosses<'c>) {
        let _ = write!(svg, r#"<g data-s="{}"{}>"#, self.style, self.subject.attribute());
        if self.cloud {
            self.dots(svg, place);
        } else {
            self.shapes(svg, place, crosses);
        }
        svg.push_str("</g>");
    }

    /// Draws a path with a dot for each point. Its places in the order of runs stand beside it.
    fn dots(&self, svg: &mut String, place: &Place<'_>) {
        let known = self.points.iter().filter_map(|point| Some((point, point.y?.0)));
        let (mut path, mut runs) = (String::new(), Vec::new());
        for (point, value) in known {
            let _ = write!(path, "M{:.1} {:.1}h0", place.across(point), place.y.at(value));
            if let Subject::Run(position) = point.subject {
                runs.push(position.to_string());
            }
        }
        let _ = write!(
            svg,
            r#"<path d="{path}" data-runs="{}" style="stroke:{}" stroke-width="2.6" stroke-linecap="round" stroke-opacity="0.45" fill="none"/>"#,
            runs.join(" "),
            colour(self.style)
        );
    }

    fn shapes<'c>(&'c self, svg: &mut String, place: &Place<'_>, crosses: &mut Crosses<'c>) {
        let (colour, y) = (colour(self.style), place.y);
        let at = |p: &Point| place.across(p);
        if self.band {
            // A band through a point without an interval would claim that it is exact.
            for stretch in self.points.split(|p| p.y.is_none() || p.bare).filter(|s| s.len() > 1) {
                let edge = |p: &Point, value: f64| format!("{:.1},{:.1}", at(p), y.at(value));
                let upper = stretch.iter().filter_map(|p| p.y.map(|(_, _, high)| edge(p, high)));
                let lower = stretch.iter().rev().filter_map(|p| p.y.map(|(_, low, _)| edge(p, low)));
                let corners: Vec<String> = upper.chain(lower).collect();
                let _ = write!(
                    svg,
                    r#"<polygon points="{}" style="fill:{colour}" fill-opacity="0.16" stroke="none"/>"#,
                    corners.join(" ")
                );
            }
        }
        if self.joined {
            for stretch in self.points.split(|p| p.y.is_none()).filter(|s| s.len() > 1) {
                let _ = write!(
                    svg,
                    r#"<polyline points="{}" fill="none" style="stroke:{colour}" stroke-width="1.8" stroke-linejoin="round"{}{}/>"#,
                    self.corners(stretch, at, y).join(" "),
                    dashes(self.style),
                    self.tips(stretch),
                );
            }
        }
        if !self.marks {
            return;
        }
        for point in &self.points {
            let left = at(point);
            let _ = write!(
                svg,
                "<g{}><title>{}</title>",
                point.subject.attribute(),
                escape(&point.tip)
            );
            match point.y {
                Some((value, low, high)) => {
                    if !self.band {
                        spread_bar(svg, left, y.at(low), y.at(high), &colour);
                    }
                    let mark = if point.bare { hollow_mark } else { mark };
                    svg.push_str(&mark(self.style, left, y.at(value)));
                }
                None => {
                    let middle = crosses.next(left, &point.why);
                    let (l, r, t, b) = (left - 4.0, left + 4.0, middle - 4.0, middle + 4.0);
                    let _ = write!(
                        svg,
                        r#"<path d="M{l:.1} {t:.1}L{r:.1} {b:.1}M{l:.1} {b:.1}L{r:.1} {t:.1}" style="stroke:{colour}" stroke-width="2" fill="none"/>"#
                    );
                }
            }
            svg.push_str("</g>");
        }
    }

    /// The tips of points without marks, as an attribute of their line.
    fn tips(&self, stretch: &[Point]) -> String {
        let tips: Vec<&str> = stretch.iter().map(|point| point.tip.as_str()).collect();
        if self.marks || tips.iter().all(|tip| tip.is_empty()) {
            return String::new();
        }
        format!(r#" data-tips="{}""#, escape(&tips.join("|")))
    }

    /// The corners of the line through some points.
    fn corners(&self, stretch: &[Point], at: impl Fn(&Point) -> f64, y: &Scale) -> Vec<String> {
        let mut corners = Vec::new();
        let mut before = None;
        for point in stretch {
            let Some((value, ..)) = point.y else { continue };
            let (across, up) = (at(point), y.at(value));
            if let Some(before) = before.filter(|_| self.steps) {
                corners.push(format!("{across:.1},{before:.1}"));
            }
            corners.push(format!("{across:.1},{up:.1}"));
            before = Some(up);
        }
        corners
    }
}

fn spread_bar(svg: &mut String, at: f64, low: f64, high: f64, colour: &str) {
    if (low - high).abs() < 0.5 {
        return;
    }
    let (l, r) = (at - 2.5, at + 2.5);
    let _ = write!(
        svg,
        r#"<path d="M{at:.1} {low:.1}V{high:.1}M{l:.1} {low:.1}H{r:.1}M{l:.1} {high:.1}H{r:.1}" style="stroke:{colour}" stroke-width="1.2" fill="none"/>"#
    );
}
