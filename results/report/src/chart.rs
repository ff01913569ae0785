//! Charts as inline SVG: axes, lines, points and bars of spread, readable on screen and in print, without any script.
//!
//! Series are told apart by colour *and* shape: the colours are those of Okabe and Ito, which people who see colours differently
//! can tell apart. Each colour is a CSS variable with a default (`--s0` ...), so that a page can adapt it and a chart cut out of
//! the page still has it. A line never crosses a point that is missing, and a missing point is marked. All text is escaped.

mod scale;
mod stack;

pub use scale::{Scale, linear_ticks, log_ticks, tick_text};
pub use stack::{BAND_COLOURS, Band, Stack, byte_unit, shortened};
use std::fmt::Write;

/// Okabe and Ito's colours for qualitative data, in an order that starts with the ones farthest apart.
const COLOURS: [&str; 7] = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F",
];

const WIDTH: f64 = 362.0;
const HEIGHT: f64 = 236.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 44.0;
/// Points of several series at the same place are drawn side by side, this far apart.
const DODGE: f64 = 5.0;
/// And so far where reasons are written beside them.
const WIDE_DODGE: f64 = 9.0;
const TICKS: usize = 5;

/// A chart of a few series over one axis.
#[derive(Debug, Clone, Default)]
pub struct Chart {
    /// What is shown, with its unit.
    pub title: String,
    /// What lies on the horizontal axis.
    pub x_label: String,
    /// The ticks of the horizontal axis: place and text.
    pub x_ticks: Vec<(f64, String)>,
    /// Whether the horizontal axis is logarithmic.
    pub x_log: bool,
    /// Whether the vertical axis is logarithmic; else it starts at 0.
    pub y_log: bool,
    /// The upper end of the vertical axis at least, so that charts side by side can share it.
    pub y_max: f64,
    /// The lines.
    pub series: Vec<Series>,
}

/// A line of a chart.
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// Which colour and shape it has; the same in all charts of a page.
    pub style: usize,
    /// Its points, in order of x.
    pub points: Vec<Point>,
    /// Whether points are marked; without marks they are one line.
    pub marks: bool,
    /// Whether points are joined.
    pub joined: bool,
    /// Whether the spread is drawn as one band, not as a bar at each point.
    pub band: bool,
}

/// A point of a line, or the place where it should be.
#[derive(Debug, Clone, Default)]
pub struct Point {
    /// Place on the horizontal axis.
    pub x: f64,
    /// The value and the ends of its spread; `None` when there is none, which is marked by a cross.
    pub y: Option<(f64, f64, f64)>,
    /// What is shown when the mouse rests on it.
    pub tip: String,
    /// Why there is no value, in a word or two: stands beside the cross. Empty if it need not be said.
    pub why: String,
}

impl Chart {
    /// The greatest value with its spread, over all series.
    pub fn highest(&self) -> f64 {
        self.values().map(|(_, _, high)| high).fold(0.0, f64::max)
    }

    fn values(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        let points = self.series.iter().flat_map(|s| &s.points);
        points
            .filter_map(|p| p.y)
            .filter(|(y, low, high)| [y, low, high].iter().all(|v| v.is_finite()))
    }

    /// The chart as one `<svg>` element.
    pub fn svg(&self) -> String {
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

    /// Whether points of several series can lie over each other.
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
        // A margin, so that bars at the ends do not lie on the axis.
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
                label = escape(&tick_text(tick)),
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
            // About 6.2 pixels a letter: a text that would run into the one before is left out, its tick remains.
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
                        // Upwards from the cross, so that those of several series stand side by side.
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

/// The mark of a style: circle, square, triangle, diamond.
fn mark(style: usize, x: f64, y: f64) -> String {
    let colour = colour(style);
    let polygon = |corners: [(f64, f64); 4]| {
        let corners: Vec<String> = corners
            .iter()
            .map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy))
            .collect();
        format!(r#"<polygon points="{}" style="fill:{colour}"/>"#, corners.join(" "))
    };
    match style % 4 {
        0 => format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.4" style="fill:{colour}"/>"#),
        1 => polygon([(-3.1, -3.1), (3.1, -3.1), (3.1, 3.1), (-3.1, 3.1)]),
        2 => polygon([(0.0, -4.2), (4.0, 3.0), (-4.0, 3.0), (0.0, -4.2)]),
        _ => polygon([(0.0, -4.4), (4.4, 0.0), (0.0, 4.4), (-4.4, 0.0)]),
    }
}

/// The sign of a style in a legend: a piece of line with its mark.
pub fn swatch(style: usize) -> String {
    format!(
        r#"<svg class="swatch" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 26 12" width="26" height="12" aria-hidden="true"><line x1="1" x2="25" y1="6" y2="6" style="stroke:{}" stroke-width="1.8"{}/>{}</svg>"#,
        colour(style),
        dashes(style),
        mark(style, 13.0, 6.0)
    )
}

fn colour(style: usize) -> String {
    let index = style % COLOURS.len();
    format!("var(--s{index},{})", COLOURS[index])
}

/// Beyond the last colour the lines are dashed.
fn dashes(style: usize) -> &'static str {
    if style / COLOURS.len() % 2 == 1 {
        r#" stroke-dasharray="5 3""#
    } else {
        ""
    }
}

/// Text that may stand in HTML and SVG, inside elements and attributes.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML knows no control characters but these.
            c if c.is_control() && !matches!(c, '\n' | '\t') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
