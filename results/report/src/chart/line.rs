//! Charts of lines and points: axes, series, and bars or bands of spread.
//!
//! A line never crosses a point that is missing, and a missing point is marked by a cross.

use super::cross::Crosses;
use super::scale::{Scale, linear_ticks, log_ticks};
use super::series::{Place, Series};
use super::style::escape;
use crate::format;
use std::fmt::Write;

const WIDTH: f64 = 362.0;
const HEIGHT: f64 = 236.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 34.0;
/// The height of a line of the title.
const LINE: f64 = 15.0;
/// The breadth of a letter of 11 pixels, about.
const LETTER: f64 = 6.2;
const BOTTOM: f64 = 44.0;
/// Points of several series at the same place are drawn side by side, this many pixels apart, if
/// the axis has no numbers.
const DODGE: f64 = 5.0;
/// The most points that the description of a chart names.
const DESCRIBED: usize = 60;
const TICKS: usize = 5;

/// A chart of a few series over one axis.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chart {
    /// The title above the chart, with the unit.
    pub(crate) title: String,
    /// The subject that stands above the chart on the page, such as a workload. A reader who hears
    /// the page has it as a part of the title.
    pub(crate) about: String,
    /// The label of the horizontal axis.
    pub(crate) x_label: String,
    /// The ticks of the horizontal axis, each with its place and its text.
    pub(crate) x_ticks: Vec<(f64, String)>,
    /// Whether the horizontal axis is logarithmic.
    pub(crate) x_log: bool,
    /// Whether the vertical axis is logarithmic; else it starts at 0.
    pub(crate) y_log: bool,
    /// Whether a linear vertical axis has its 0 in the middle.
    pub(crate) y_mirrored: bool,
    /// The least upper end of the vertical axis, so that charts can share a scale.
    pub(crate) y_max: f64,
    /// The greatest lower end of a logarithmic axis, for the same purpose; 0 means none.
    pub(crate) y_min: f64,
    /// The series, each with one style.
    pub(crate) series: Vec<Series>,
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

    /// The least value above 0 with its spread, over all series; infinite without any.
    pub(crate) fn lowest(&self) -> f64 {
        let lows = self.values().map(|(_, low, _)| low).filter(|low| *low > 0.0);
        lows.fold(f64::INFINITY, f64::min)
    }

    fn values(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        let points = self.series.iter().flat_map(|s| &s.points);
        points
            .filter_map(|p| p.y)
            .filter(|(y, low, high)| [y, low, high].iter().all(|v| v.is_finite()))
    }

    /// The number of points that have a value.
    pub(crate) fn dots(&self) -> usize {
        self.values().count()
    }

    /// The same chart with the other scale of the vertical axis, for a reader who switches; `None`
    /// if there is no other one: a logarithmic scale has no place for 0 and for negative figures.
    pub(crate) fn other_scale(&self) -> Option<Chart> {
        let mut values = self.values();
        let known = self.dots() > 0 && !self.y_mirrored && values.all(|(value, ..)| value > 0.0);
        known.then(|| Chart {
            y_log: !self.y_log,
            ..self.clone()
        })
    }

    /// The chart as one `<svg>` element.
    pub(crate) fn svg(&self) -> String {
        let lines = fit(&self.title, WIDTH - 8.0);
        let frame = Frame::of(self, lines.len());
        let about = if self.about.is_empty() { "" } else { ": " };
        let mut svg = format!(
            r#"<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" data-scale="{}" role="img" font-family="system-ui, sans-serif" font-size="11"><title>{}{about}{}</title><desc>{}</desc>"#,
            if self.y_log { "log" } else { "linear" },
            escape(&self.about),
            escape(&self.title),
            escape(&self.description()),
        );
        for (line, text) in lines.iter().enumerate() {
            let _ = write!(
                svg,
                r#"<text x="4" y="{}" font-size="12.5" font-weight="600" fill="currentColor">{}</text>"#,
                14.0 + LINE * line as f64,
                escape(text)
            );
        }
        self.axes(&mut svg, &frame);
        let marked = self.series.iter().filter(|s| s.marks).count();
        let mut crosses = Crosses::above(HEIGHT - BOTTOM - 7.0);
        let mut place = 0.0;
        for series in &self.series {
            let offset = if self.side_by_side() {
                (place - (marked as f64 - 1.0) / 2.0) * DODGE
            } else {
                0.0
            };
            let at = Place {
                x: &frame.x,
                y: &frame.y,
                offset,
            };
            series.draw(&mut svg, &at, &mut crosses);
            place += 1.0;
        }
        crosses.reasons(&mut svg);
        svg.push_str("</svg>");
        svg
    }

    /// The figures of the points in words.
    fn description(&self) -> String {
        let tips = self
            .series
            .iter()
            .flat_map(|series| &series.points)
            .map(|point| point.tip.as_str());
        let tips: Vec<&str> = tips.filter(|tip| !tip.is_empty()).take(DESCRIBED).collect();
        if tips.is_empty() {
            self.x_label.clone()
        } else {
            tips.join("; ")
        }
    }

    /// Whether points of several series can overlap. On an axis of numbers they may: a point that
    /// is moved aside would stand at another number.
    fn side_by_side(&self) -> bool {
        let marked = self.series.iter().filter(|s| s.marks);
        marked.clone().count() > 1 && marked.clone().any(|s| s.points.len() > 1) && marked.clone().all(|s| !s.joined)
    }
}

/// The scales of a chart, and the room for its axes.
struct Frame {
    x: Scale,
    y: Scale,
    y_ticks: Vec<f64>,
    left: f64,
    top: f64,
}

impl Frame {
    /// The frame of a chart whose title has some lines.
    fn of(chart: &Chart, lines: usize) -> Frame {
        let top = TOP + LINE * (lines.max(1) - 1) as f64;
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
                (low.min(v), high.max(v))
            })
        };
        let y_ticks = if chart.y_log {
            let values = chart.values().flat_map(|(v, low, high)| [v, low, high]);
            let shared = [chart.y_min, chart.y_max];
            let (low, high) = ends(&mut values.chain(shared).filter(|v| *v > 0.0));
            if low.is_finite() {
                log_ticks(low, high)
            } else {
                vec![1.0, 10.0]
            }
        } else if chart.y_mirrored {
            let farthest = chart.values().map(|(_, low, high)| f64::max(low.abs(), high.abs()));
            let up = linear_ticks(chart.y_max.max(farthest.fold(0.0, f64::max)), TICKS / 2);
            up.iter()
                .skip(1)
                .rev()
                .map(|tick| -tick)
                .chain(up.iter().copied())
                .collect()
        } else {
            linear_ticks(chart.y_max.max(chart.highest()), TICKS)
        };
        let (bottom, highest) = (y_ticks[0], y_ticks[y_ticks.len() - 1]);
        let letters = y_ticks.iter().map(|tick| format::number(*tick).chars().count()).max();
        let left = 14.0 + LETTER * letters.unwrap_or(0) as f64;
        let places = chart.series.iter().flat_map(|s| s.points.iter().map(|p| p.x));
        let (x_low, x_high) = ends(&mut chart.x_ticks.iter().map(|t| t.0).chain(places));
        let (x_low, x_high) = if x_low.is_finite() { (x_low, x_high) } else { (0.0, 1.0) };
        // The margin keeps bars at the ends off the axis.
        let margin = if chart.series.iter().any(|s| s.marks) {
            18.0
        } else {
            2.0
        };
        Frame {
            x: Scale::new(x_low, x_high, chart.x_log, left + margin, WIDTH - RIGHT - margin),
            y: Scale::new(bottom, highest, chart.y_log, HEIGHT - BOTTOM, top),
            y_ticks,
            left,
            top,
        }
    }
}

impl Chart {
    fn axes(&self, svg: &mut String, frame: &Frame) {
        let (left, right, base) = (frame.left, WIDTH - RIGHT, HEIGHT - BOTTOM);
        for &tick in &frame.y_ticks {
            let at = frame.y.at(tick);
            let _ = write!(
                svg,
                r#"<line x1="{left}" x2="{right}" y1="{at:.1}" y2="{at:.1}" stroke="currentColor" stroke-opacity="0.13"/><text x="{text:.1}" y="{down:.1}" text-anchor="end" fill="currentColor" fill-opacity="0.8">{label}</text>"#,
                text = left - 6.0,
                down = at + 3.8,
                label = escape(&format::number(tick)),
            );
        }
        let _ = write!(
            svg,
            r#"<line x1="{left}" x2="{right}" y1="{base}" y2="{base}" stroke="currentColor" stroke-opacity="0.55"/>"#
        );
        let mut free_from = f64::NEG_INFINITY;
        for (value, text) in &self.x_ticks {
            let at = frame.x.at(*value);
            let _ = write!(
                svg,
                r#"<line x1="{at:.1}" x2="{at:.1}" y1="{base}" y2="{end:.1}" stroke="currentColor" stroke-opacity="0.55"/>"#,
                end = base + 4.0
            );
            // A text that would overlap the one before it is left out; its tick remains.
            let half = text.chars().count() as f64 * LETTER / 2.0;
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
        if self.y_log {
            let _ = write!(
                svg,
                r#"<text x="{right}" y="{down:.1}" text-anchor="end" fill="currentColor" fill-opacity="0.8">logarithmic</text>"#,
                down = frame.top - 5.0
            );
        }
        let _ = write!(
            svg,
            r#"<text x="{middle:.1}" y="{down:.1}" text-anchor="middle" fill="currentColor">{label}</text>"#,
            middle = (left + right) / 2.0,
            down = HEIGHT - 8.0,
            label = escape(&self.x_label),
        );
    }
}

/// A title in lines that fit into some pixels, broken at blanks.
pub(super) fn fit(title: &str, pixels: f64) -> Vec<String> {
    // A bold letter of 12.5 pixels takes about 7.
    let most = (pixels / 7.0) as usize;
    let mut lines: Vec<String> = Vec::new();
    for word in title.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
