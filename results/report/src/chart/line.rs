//! Charts of lines and points: axes, series, interval bars, and dots for single runs.
//!
//! A line never crosses a missing point. Missing points have crosses in a separate row above the
//! axis of values. A single run far above all marks does not set the scale: its dot is at the edge.

use super::scale::{Scale, linear_ticks, log_ticks};
use super::series::{Place, Point, Series};
use super::style::escape;
use crate::format;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write;

const HEIGHT: f64 = 236.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 34.0;
/// The height of a line of the title, and of the row of crosses.
const LINE: f64 = 15.0;
/// The approximate width of a letter of 11 pixels.
const LETTER: f64 = 6.2;
const BOTTOM: f64 = 44.0;
/// Points of several series in the same place are drawn side by side, this many pixels apart, if
/// the axis has no numbers. Crosses always are.
const DODGE: f64 = 6.0;
/// Maximum number of points in the description of a chart.
const DESCRIBED: usize = 24;
const TICKS: usize = 5;
/// The axis ends at this multiple of the highest mark.
const CUT: f64 = 1.5;

/// A chart of a few series over one axis.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Chart {
    /// The title above the chart, with the unit.
    pub(crate) title: String,
    /// The subject shown above the chart on the page, such as a workload. Screen readers get it as
    /// part of the title.
    pub(crate) about: String,
    /// The label of the horizontal axis.
    pub(crate) x_label: String,
    /// The ticks of the horizontal axis: place and text.
    pub(crate) x_ticks: Vec<(f64, String)>,
    /// Whether the horizontal axis is logarithmic.
    pub(crate) x_log: bool,
    /// Whether the vertical axis is logarithmic; otherwise it starts at 0.
    pub(crate) y_log: bool,
    /// Whether a linear vertical axis fits the values instead.
    pub(crate) y_fit: bool,
    /// A lower bound for the upper end of the vertical axis, so that charts can share a scale.
    pub(crate) y_max: f64,
    /// An upper bound for the lower end of a logarithmic axis, for the same purpose; 0 means none.
    pub(crate) y_min: f64,
    /// Whether it is the chart that answers the question, which is wider than the others.
    pub(crate) wide: bool,
    /// The series, each with one style.
    pub(crate) series: Vec<Series>,
}

impl Chart {
    /// The highest mark or end of an interval over all series.
    pub(crate) fn highest(&self) -> f64 {
        self.values().fold(0.0, f64::max)
    }

    /// The lowest value above 0 over all series; infinite if there is none.
    pub(crate) fn lowest(&self) -> f64 {
        self.values().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min)
    }

    fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| &series.points)
    }

    /// The marks and the ends of intervals; an interval that extends far beyond all marks is cut.
    fn values(&self) -> impl Iterator<Item = f64> {
        let marks = || self.points().filter_map(|point| point.y).filter(|y| y.is_finite());
        let most = marks().fold(0.0, f64::max) * CUT;
        let ends = self
            .points()
            .filter_map(|point| point.ends)
            .flat_map(|(low, high)| [low, high]);
        let runs = self.points().flat_map(|point| point.runs.iter().copied());
        marks().chain(
            ends.chain(runs)
                .filter(|value| value.is_finite())
                .map(move |value| value.min(most)),
        )
    }

    /// The number of points with a value.
    pub(crate) fn dots(&self) -> usize {
        self.points().filter(|point| point.y.is_some()).count()
    }

    fn width(&self) -> f64 {
        if self.wide { 620.0 } else { 362.0 }
    }

    /// The chart as one `<svg>` element.
    pub(crate) fn svg(&self) -> String {
        let width = self.width();
        let lines = fit(&self.title, width - 8.0);
        let frame = Frame::of(self, lines.len());
        let about = if self.about.is_empty() { "" } else { ": " };
        let mut svg = format!(
            r#"<svg class="chart{}" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}" role="img"><title>{}{about}{}</title><desc>{}</desc>"#,
            if self.wide { " first" } else { "" },
            escape(&self.about),
            escape(&self.title),
            escape(&self.description()),
        );
        for (line, text) in lines.iter().enumerate() {
            let down = 14.0 + LINE * line as f64;
            let _ = write!(svg, r#"<text x="4" y="{down}" class="title">{}</text>"#, escape(text));
        }
        self.axes(&mut svg, &frame);
        for (place, series) in self.places(&frame).zip(&self.series) {
            series.draw(&mut svg, &place);
        }
        svg.push_str("</svg>");
        svg
    }

    /// Where each series is drawn.
    fn places<'f>(&self, frame: &'f Frame) -> impl Iterator<Item = Place<'f>> + use<'f> {
        let marked = self.series.iter().filter(|series| series.marks).count();
        let aside = self.is_side_by_side();
        let dodge = move |number: usize| (number as f64 - (marked as f64 - 1.0) / 2.0) * DODGE;
        (0..self.series.len()).map(move |number| Place {
            x: &frame.x,
            y: &frame.y,
            offset: if aside { dodge(number) } else { 0.0 },
            crosses: dodge(number),
            row: frame.top - LINE,
        })
    }

    /// The chart for the page's script: the places of all points in pixels, their values and their
    /// tips. The script shows a mark's runs, and redraws the chart on the other scale.
    pub(crate) fn data(&self) -> Value {
        let frame = Frame::of(self, fit(&self.title, self.width() - 8.0).len());
        let series = self.places(&frame).zip(&self.series).map(|(place, series)| {
            let points = series.points.iter().map(|point| {
                let mut data = json!({ "x": tenth(place.across(point)), "y": point.y.map(shown) });
                let mut put = |key: &str, value: Value| data[key] = value;
                if let Some((low, high)) = point.ends {
                    put("e", json!([shown(low), shown(high)]));
                }
                if !point.runs.is_empty() {
                    put("r", point.runs.iter().map(|value| shown(*value)).collect());
                }
                if point.hollow {
                    put("h", true.into());
                }
                if !point.tip.is_empty() {
                    put("t", point.tip.as_str().into());
                }
                match &point.subject {
                    super::Subject::None => {}
                    super::Subject::Configurations(cells) => put("c", cells.join(" ").into()),
                    super::Subject::Run(position) => put("n", (*position).into()),
                }
                data
            });
            json!({ "s": series.style, "marks": series.marks, "joined": series.joined, "steps": series.steps,
                    "points": points.collect::<Vec<_>>() })
        });
        let positive = self.dots() > 0 && !self.y_fit && self.points().filter_map(|point| point.y).all(|y| y > 0.0);
        let (low, high) = (frame.y_ticks[0], frame.y_ticks[frame.y_ticks.len() - 1]);
        json!({
            "log": self.y_log, "both": positive, "left": tenth(frame.left), "right": tenth(self.width() - RIGHT),
            "top": tenth(frame.top), "base": HEIGHT - BOTTOM, "low": low, "high": high,
            "least": Some(self.lowest()).filter(|least| least.is_finite()), "series": series.collect::<Vec<_>>(),
        })
    }

    /// The figures of the points in words.
    fn description(&self) -> String {
        let tips = self
            .points()
            .map(|point| point.tip.as_str())
            .filter(|tip| !tip.is_empty());
        let tips: Vec<&str> = tips.take(DESCRIBED).collect();
        if tips.is_empty() {
            self.x_label.clone()
        } else {
            tips.join("; ")
        }
    }

    /// Whether points of several series are drawn side by side. On an axis of numbers they may
    /// overlap: moved aside, a point would be at another number.
    fn is_side_by_side(&self) -> bool {
        let marked: Vec<&Series> = self.series.iter().filter(|series| series.marks).collect();
        marked.len() > 1
            && marked.iter().any(|series| series.points.len() > 1)
            && marked.iter().all(|series| !series.joined)
    }

    fn axes(&self, svg: &mut String, frame: &Frame) {
        let (left, right, base) = (frame.left, self.width() - RIGHT, HEIGHT - BOTTOM);
        let _ = write!(svg, r#"<g class="y">"#);
        for &tick in &frame.y_ticks {
            let at = frame.y.at(tick);
            let _ = write!(
                svg,
                r#"<path class="grid" d="M{left:.1} {at:.1}H{right}"/><text x="{text:.1}" y="{down:.1}" class="end">{label}</text>"#,
                text = left - 6.0,
                down = at + 3.8,
                label = escape(&format::number(tick)),
            );
        }
        if self.y_log {
            let _ = write!(
                svg,
                r#"<text x="{right}" y="{:.1}" class="end">logarithmic</text>"#,
                frame.top - 5.0
            );
        }
        let _ = write!(svg, r#"</g><path class="axis" d="M{left:.1} {base}H{right}"/>"#);
        if frame.has_crosses {
            let _ = write!(
                svg,
                r#"<text x="{:.1}" y="{:.1}" class="end">fails</text>"#,
                left - 6.0,
                frame.top - LINE + 3.8
            );
        }
        let mut free_from = f64::NEG_INFINITY;
        for (value, text) in &self.x_ticks {
            let at = frame.x.at(*value);
            let _ = write!(svg, r#"<path class="axis" d="M{at:.1} {base}v4"/>"#);
            // A text that would overlap the previous one is left out; its tick remains.
            let half = text.chars().count() as f64 * LETTER / 2.0;
            if at - half >= free_from {
                free_from = at + half + 4.0;
                let _ = write!(
                    svg,
                    r#"<text x="{at:.1}" y="{:.1}" class="mid">{}</text>"#,
                    base + 16.0,
                    escape(text)
                );
            }
        }
        let (middle, down, label) = ((left + right) / 2.0, HEIGHT - 8.0, escape(&self.x_label));
        let _ = write!(svg, r#"<text x="{middle:.1}" y="{down:.1}" class="mid">{label}</text>"#);
    }
}

/// A pixel with one decimal.
fn tenth(pixel: f64) -> f64 {
    (pixel * 10.0).round() / 10.0
}

/// A value with four digits; no chart shows more.
fn shown(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// A chart's scales, and the room for its axes.
struct Frame {
    x: Scale,
    y: Scale,
    y_ticks: Vec<f64>,
    left: f64,
    top: f64,
    has_crosses: bool,
}

impl Frame {
    /// The frame of a chart whose title has this many lines.
    fn of(chart: &Chart, lines: usize) -> Frame {
        let has_crosses = chart
            .series
            .iter()
            .filter(|series| series.marks)
            .flat_map(|series| &series.points)
            .any(|p| p.y.is_none());
        let rows = (lines.max(1) - 1) as f64 + if has_crosses { 1.5 } else { 0.0 };
        let top = TOP + LINE * rows;
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
                (low.min(v), high.max(v))
            })
        };
        let y_ticks = if chart.y_log {
            let shared = [chart.y_min, chart.y_max];
            let (low, high) = ends(&mut chart.values().chain(shared).filter(|v| *v > 0.0));
            if low.is_finite() {
                log_ticks(low, high)
            } else {
                vec![1.0, 10.0]
            }
        } else if chart.y_fit {
            let (low, high) = ends(&mut chart.values());
            let step = linear_ticks((high - low).max(1e-6), TICKS)[1];
            let (first, last) = ((low / step).floor() as i64, (high / step).ceil() as i64);
            (first..=last.max(first + 1)).map(|tick| tick as f64 * step).collect()
        } else {
            linear_ticks(chart.y_max.max(chart.highest()), TICKS)
        };
        let (bottom, highest) = (y_ticks[0], y_ticks[y_ticks.len() - 1]);
        let letters = y_ticks.iter().map(|tick| format::number(*tick).chars().count()).max();
        let letters = letters.unwrap_or(0).max(if has_crosses { 5 } else { 0 });
        let left = 14.0 + LETTER * letters as f64;
        let places = chart.points().map(|point| point.x);
        let (x_low, x_high) = ends(&mut chart.x_ticks.iter().map(|tick| tick.0).chain(places));
        let (x_low, x_high) = if x_low.is_finite() { (x_low, x_high) } else { (0.0, 1.0) };
        // The margin keeps bars at the ends off the axis, and crosses off the word next to them.
        let margin = if has_crosses {
            26.0
        } else if chart.series.iter().any(|series| series.marks) {
            18.0
        } else {
            2.0
        };
        Frame {
            x: Scale::new(
                x_low,
                x_high,
                chart.x_log,
                left + margin,
                chart.width() - RIGHT - margin,
            ),
            y: Scale::new(bottom, highest, chart.y_log, HEIGHT - BOTTOM, top),
            y_ticks,
            left,
            top,
            has_crosses,
        }
    }
}

/// A title in lines that fit this many pixels, broken at spaces.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<Point>) -> Chart {
        let series = Series {
            points,
            marks: true,
            joined: true,
            ..Series::default()
        };
        Chart {
            title: "a < b".to_owned(),
            series: vec![series],
            ..Chart::default()
        }
    }

    /// A missing point interrupts the line and has a cross; text is escaped.
    #[test]
    fn a_line_does_not_cross_a_missing_point() {
        let missing = Point {
            x: 3.0,
            ..Point::default()
        };
        let at = |x: f64| Point {
            tip: "<tip>".to_owned(),
            ..Point::at(x, 1.0)
        };
        let svg = chart(vec![at(1.0), at(2.0), missing, at(4.0), at(5.0)]).svg();
        assert_eq!(
            (svg.matches("<polyline").count(), svg.matches("<circle").count()),
            (2, 4)
        );
        assert!(
            svg.contains("a &lt; b") && !svg.contains("<tip>") && svg.contains(">fails</text>"),
            "{svg}"
        );
        assert!(Chart::default().svg().ends_with("</svg>"), "an empty chart is a chart");
    }

    /// Each series that fails at a place has its own cross there, which no other covers.
    #[test]
    fn crosses_of_several_series_lie_side_by_side() {
        let failed = |x: f64| Point { x, ..Point::default() };
        let series = |style: usize| Series {
            style,
            points: vec![failed(1.0), Point::at(2.0, 1.0)],
            marks: true,
            joined: true,
            ..Series::default()
        };
        let chart = Chart {
            series: (0..3).map(series).collect(),
            ..Chart::default()
        };
        let data = chart.data();
        let at = |series: usize, point: usize| data["series"][series]["points"][point]["x"].as_f64().expect("a place");
        assert!(at(1, 0) - at(0, 0) > 5.0 && at(2, 0) - at(1, 0) > 5.0, "{data}");
        assert_eq!((at(0, 1), at(1, 1)), (at(2, 1), at(2, 1)));
    }

    /// One run far above the marks does not set the scale.
    #[test]
    fn an_outlier_lies_at_the_edge() {
        let point = Point {
            runs: vec![1.0, 1.1, 40.0],
            ..Point::at(1.0, 1.1)
        };
        let data = chart(vec![point]).data();
        assert!(data["high"].as_f64().is_some_and(|high| high <= 2.0), "{data}");
    }

    /// The script gets every value, so it does not have to read the picture.
    #[test]
    fn the_data_have_values_tips_and_runs() {
        let point = Point {
            tip: "one".to_owned(),
            ends: Some((0.5, 2.0)),
            subject: super::super::Subject::Run(7),
            ..Point::at(1.0, 1.0)
        };
        let data = chart(vec![point]).data();
        let point = &data["series"][0]["points"][0];
        assert_eq!(
            (&point["t"], &point["n"], &point["e"][0]),
            (&"one".into(), &7.into(), &0.5.into())
        );
        assert_eq!(data["both"], true);
    }
}
