//! Charts of lines and points: axes, series, and bars or bands of spread.
//!
//! A line never crosses a point that is missing, and a missing point is marked by a cross.

use super::scale::{Scale, linear_ticks, log_ticks};
use super::style::{colour, dashes, escape, mark};
use crate::format;
use std::fmt::Write;

const WIDTH: f64 = 362.0;
const HEIGHT: f64 = 236.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 44.0;
/// Points of several series at the same place are drawn side by side, this many pixels apart.
const DODGE: f64 = 5.0;
/// The same distance where a text stands next to a point.
const WIDE_DODGE: f64 = 9.0;
const TICKS: usize = 5;

/// A chart of a few series over one axis.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chart {
    /// The title above the chart, with the unit.
    pub(crate) title: String,
    /// The label of the horizontal axis.
    pub(crate) x_label: String,
    /// The ticks of the horizontal axis, each with its place and its text.
    pub(crate) x_ticks: Vec<(f64, String)>,
    /// Whether the horizontal axis is logarithmic.
    pub(crate) x_log: bool,
    /// Whether the vertical axis is logarithmic; else it starts at 0.
    pub(crate) y_log: bool,
    /// The least upper end of the vertical axis, so that charts can share a scale.
    pub(crate) y_max: f64,
    /// The series, each with one style.
    pub(crate) series: Vec<Series>,
}

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
    /// Whether the spread is drawn as a band instead of a bar at each point.
    pub(crate) band: bool,
}

/// A point of a series, or the place of one that is missing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Point {
    /// The place on the horizontal axis.
    pub(crate) x: f64,
    /// The value and the ends of its spread; `None` for a missing value, which is marked by a
    /// cross.
    pub(crate) y: Option<(f64, f64, f64)>,
    /// The text that is shown when the mouse rests on the point.
    pub(crate) tip: String,
    /// The reason of a missing value in a word or two, which stands next to the cross; may be
    /// empty.
    pub(crate) why: String,
}

/// The charts of several workloads with their common legend.
#[derive(Debug, Default)]
pub(crate) struct ChartSet {
    /// The styles of the lines with their names; may be empty.
    pub(crate) legend: Vec<(usize, String)>,
    /// The title of each workload, and its charts.
    pub(crate) works: Vec<(String, Vec<Chart>)>,
}

impl Chart {
    /// The greatest value with its spread, over all series.
    pub(crate) fn highest(&self) -> f64 {
        self.values().map(|(_, _, high)| high).fold(0.0, f64::max)
    }

    fn values(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        let points = self.series.iter().flat_map(|s| &s.points);
        points
            .filter_map(|p| p.y)
            .filter(|(y, low, high)| [y, low, high].iter().all(|v| v.is_finite()))
    }

    /// The chart as one `<svg>` element.
    pub(crate) fn svg(&self) -> String {
        let (x, y, y_ticks) = self.scales();
        let mut svg = format!(
            r#"<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" font-family="system-ui, sans-serif" font-size="11"><title>{title}</title>"#,
            title = escape(&self.title),
        );
        let _ = write!(
            svg,
            r#"<text x="4" y="14" font-size="12.5" font-weight="600" fill="currentColor">{}</text>"#,
            escape(&self.title)
        );
        self.axes(&mut svg, &x, &y, &y_ticks);
        let marked = self.series.iter().filter(|s| s.marks).count();
        let reasons = self.series.iter().flat_map(|s| &s.points).any(|p| !p.why.is_empty());
        let dodge = if reasons { WIDE_DODGE } else { DODGE };
        let mut place = 0.0;
        for series in &self.series {
            let offset = if self.side_by_side() {
                (place - (marked as f64 - 1.0) / 2.0) * dodge
            } else {
                0.0
            };
            series.draw(&mut svg, &x, &y, offset);
            place += 1.0;
        }
        svg.push_str("</svg>");
        svg
    }

    /// Whether points of several series can overlap.
    fn side_by_side(&self) -> bool {
        let marked = self.series.iter().filter(|s| s.marks);
        marked.clone().count() > 1 && marked.clone().any(|s| s.points.len() > 1)
    }

    fn scales(&self) -> (Scale, Scale, Vec<f64>) {
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
                (low.min(v), high.max(v))
            })
        };
        let (x_low, x_high) = ends(
            &mut self
                .x_ticks
                .iter()
                .map(|t| t.0)
                .chain(self.series.iter().flat_map(|s| s.points.iter().map(|p| p.x))),
        );
        let (x_low, x_high) = if x_low.is_finite() { (x_low, x_high) } else { (0.0, 1.0) };
        // The margin keeps bars at the ends off the axis.
        let margin = if self.series.iter().any(|s| s.marks) { 18.0 } else { 2.0 };
        let x = Scale::new(x_low, x_high, self.x_log, LEFT + margin, WIDTH - RIGHT - margin);
        let y_ticks = if self.y_log {
            let (low, high) = ends(&mut self.values().map(|(v, ..)| v).filter(|v| *v > 0.0));
            if low.is_finite() {
                log_ticks(low, high)
            } else {
                vec![1.0, 10.0]
            }
        } else {
            linear_ticks(self.y_max.max(self.highest()), TICKS)
        };
        let (bottom, top) = (y_ticks[0], y_ticks[y_ticks.len() - 1]);
        (x, Scale::new(bottom, top, self.y_log, HEIGHT - BOTTOM, TOP), y_ticks)
    }

    fn axes(&self, svg: &mut String, x: &Scale, y: &Scale, y_ticks: &[f64]) {
        let (right, base) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for &tick in y_ticks {
            let at = y.at(tick);
            let _ = write!(
                svg,
                r#"<line x1="{LEFT}" x2="{right}" y1="{at:.1}" y2="{at:.1}" stroke="currentColor" stroke-opacity="0.13"/><text x="{text:.1}" y="{down:.1}" text-anchor="end" fill="currentColor" fill-opacity="0.8">{label}</text>"#,
                text = LEFT - 6.0,
                down = at + 3.8,
                label = escape(&format::number(tick)),
            );
        }
        let _ = write!(
            svg,
            r#"<line x1="{LEFT}" x2="{right}" y1="{base}" y2="{base}" stroke="currentColor" stroke-opacity="0.55"/>"#
        );
        let mut free_from = f64::NEG_INFINITY;
        for (value, text) in &self.x_ticks {
            let at = x.at(*value);
            let _ = write!(
                svg,
                r#"<line x1="{at:.1}" x2="{at:.1}" y1="{base}" y2="{end:.1}" stroke="currentColor" stroke-opacity="0.55"/>"#,
                end = base + 4.0
            );
            // A letter has about 6.2 pixels. A text that would overlap the one before it is left
            // out; its tick remains.
            let half = text.chars().count() as f64 * 3.1;
            if at - half >= free_from {
                free_from = at + half + 4.0;
                let _ = write!(
                    svg,
                    r#"<text x="{at:.1}" y="{down:.1}" text-anchor="middle" fill="currentColor" fill-opacity="0.8">{text}</text>"#,
                    down = base + 16.0,
                    text = escape(text),
                );
            }
        }
        let _ = write!(
            svg,
            r#"<text x="{middle:.1}" y="{down:.1}" text-anchor="middle" fill="currentColor">{label}</text>"#,
            middle = (LEFT + right) / 2.0,
            down = HEIGHT - 8.0,
            label = escape(&self.x_label),
        );
    }
}

impl Series {
    fn draw(&self, svg: &mut String, x: &Scale, y: &Scale, offset: f64) {
        let colour = colour(self.style);
        let at = |p: &Point| x.at(p.x) + offset;
        if self.band {
            for stretch in self.points.split(|p| p.y.is_none()).filter(|s| s.len() > 1) {
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
                let dots = stretch
                    .iter()
                    .filter_map(|p| p.y.map(|(v, ..)| format!("{:.1},{:.1}", at(p), y.at(v))));
                let dots: Vec<String> = dots.collect();
                let _ = write!(
                    svg,
                    r#"<polyline points="{}" fill="none" style="stroke:{colour}" stroke-width="1.8" stroke-linejoin="round"{}/>"#,
                    dots.join(" "),
                    dashes(self.style),
                );
            }
        }
        if !self.marks {
            return;
        }
        for point in &self.points {
            let left = at(point);
            let _ = write!(svg, "<g><title>{}</title>", escape(&point.tip));
            match point.y {
                Some((value, low, high)) => {
                    if !self.band {
                        spread_bar(svg, left, y.at(low), y.at(high), &colour);
                    }
                    svg.push_str(&mark(self.style, left, y.at(value)));
                }
                None => {
                    let base = HEIGHT - BOTTOM - 7.0;
                    let (l, r, t, b) = (left - 4.0, left + 4.0, base - 4.0, base + 4.0);
                    let _ = write!(
                        svg,
                        r#"<path d="M{l:.1} {t:.1}L{r:.1} {b:.1}M{l:.1} {b:.1}L{r:.1} {t:.1}" style="stroke:{colour}" stroke-width="2" fill="none"/>"#
                    );
                    if !point.why.is_empty() {
                        // Upwards from the cross, so that the texts of several series do not
                        // overlap.
                        let (x, y) = (left + 3.5, base - 8.0);
                        let _ = write!(
                            svg,
                            r#"<text x="{x:.1}" y="{y:.1}" font-size="8.5" style="fill:{colour}" transform="rotate(-90 {x:.1} {y:.1})">{}</text>"#,
                            escape(&point.why)
                        );
                    }
                }
            }
            svg.push_str("</g>");
        }
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
