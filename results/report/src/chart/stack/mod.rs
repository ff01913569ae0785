//! Charts of stacked bands, such as heap profiles.
//!
//! Bands lie on each other in order, the first at the bottom, where its shape is easiest to read.
//! Each is drawn as the area under its upper edge, the topmost first, so that the next one covers
//! the part below it: one edge for each band, half the bytes. The first six bands have the colours
//! of Okabe and Ito, the next six a light tint of each; the rest is grey. The legend is in the
//! order of the picture and part of it, so that a chart cut out of the page is complete.
//!
//! A chart has three [views](View). The view of bytes shows its figures under the pointer.

use crate::chart::scale::{Scale, linear_ticks};
use crate::chart::style::{COLOURS, escape};
use crate::format::{self, byte_unit, shortened};
use serde::Serialize;
use std::fmt::Write;

mod pointer;

const WIDTH: f64 = 640.0;
/// The width of a chart that is alone on its page.
const ALONE_WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 290.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 436.0;
const TOP: f64 = 34.0;
const BASE: f64 = HEIGHT - 44.0;
const TICKS: usize = 5;
/// The left end of the legend, and the distance of its lines.
const LEGEND: (f64, f64) = (RIGHT + 14.0, 16.0);
/// Maximum length of a name in the legend.
const LEGEND_LETTERS: usize = 27;
/// The width of a single census, which spans no time.
const LONE: f64 = 40.0;
/// The smallest distances between the labels of markers, so that they do not overlap, and between
/// their lines.
const MARKERS_APART: (f64, f64) = (12.0, 1.5);
/// The colour of the rest, as an index into [`COLOURS`].
const GREY: usize = 6;
/// The first six of [`COLOURS`], mixed with some black, and two more colours.
const SHADES: [&str; 8] = [
    "#00446B", "#803800", "#005F45", "#7A4964", "#8A5F00", "#346C8C", "#4A3B6B", "#B5A58A",
];
/// The first six of [`COLOURS`], mixed with the same amount of white.
const TINTS: [&str; GREY] = ["#80B9D9", "#EAAF80", "#80CFB9", "#E6BCD3", "#F3CF80", "#ABDAF4"];

/// The number of bands with their own colour.
pub(crate) const BAND_COLOURS: usize = 2 * GREY;

/// The number of bands with their own colour in a chart that is alone on its page.
pub(crate) const ALONE_COLOURS: usize = BAND_COLOURS + SHADES.len();

/// How bands are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) enum View {
    /// The bytes of the bands, one on the other.
    #[default]
    Bytes,
    /// Their shares of the sum, one on the other: a band that grows faster than the others widens.
    Shares,
    /// A line for each band from the bottom: each has its own shape.
    Lines,
}

/// A chart of stacked bands.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Stack {
    /// The title above the chart.
    pub(crate) title: String,
    /// The label of the horizontal axis.
    pub(crate) x_label: String,
    /// The places on the horizontal axis, in ascending order.
    pub(crate) x: Vec<f64>,
    /// The bands from the bottom to the top; at most [`BAND_COLOURS`] have their own colour.
    pub(crate) bands: Vec<Band>,
    /// Vertical lines, each with its place and its name.
    pub(crate) markers: Vec<(f64, String)>,
    /// For a chart that is alone on its page: the unit of the horizontal axis in a word. Such a
    /// chart shows a band's value under the pointer, and the page has the legend. The first colour
    /// is the topmost band's.
    pub(crate) alone: Option<&'static str>,
    /// How the bands are drawn.
    pub(crate) view: View,
}

/// A band of a stack.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Band {
    /// The name in the legend.
    pub(crate) name: String,
    /// The bytes at each place of the chart.
    pub(crate) bytes: Vec<u64>,
    /// Whether it is the sum of all remaining bands, which is grey.
    pub(crate) rest: bool,
}

impl Stack {
    /// The same bands in another view, which its title names.
    pub(crate) fn as_view(&self, view: View) -> Stack {
        let title = match view {
            View::Bytes => self.title.clone(),
            View::Shares => format!("{}: shares", self.title),
            View::Lines => format!("{}: a line for each band", self.title),
        };
        Stack {
            title,
            view,
            ..self.clone()
        }
    }

    /// The chart as one `<svg>` element.
    pub(crate) fn svg(&self) -> String {
        let title = escape(&self.title);
        let bands: Vec<&str> = self.bands.iter().rev().map(|band| band.name.as_str()).collect();
        let bands = escape(&format!("From the top to the bottom: {}", bands.join(", ")));
        let width = self.alone.map_or(WIDTH, |_| ALONE_WIDTH);
        let mut svg = format!(
            r#"<svg class="chart" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}" role="img"><title>{title}</title><desc>{bands}</desc><text x="4" y="14" class="title">{title}</text>"#
        );
        let edges = self.edges();
        let y = self.y_axis(&mut svg, &edges);
        let x = self.x_scale();
        match self.view {
            View::Lines => self.lines(&mut svg, &edges, &x, &y),
            View::Bytes | View::Shares => self.areas(&mut svg, &edges, &x, &y),
        }
        self.x_axis(&mut svg, &x);
        self.lines_of_markers(&mut svg, &x);
        match (self.view, self.alone) {
            (View::Bytes, Some(unit)) => self.values(&mut svg, &edges, &x, &y, unit),
            (View::Bytes, None) => self.strips(&mut svg, &x),
            (View::Shares | View::Lines, _) => {}
        }
        if self.alone.is_none() {
            self.legend(&mut svg);
        }
        svg.push_str("</svg>");
        svg
    }

    /// Draws the vertical axis, and returns its scale.
    fn y_axis(&self, svg: &mut String, edges: &[Vec<f64>]) -> Scale {
        let most = edges.iter().flatten().copied().fold(0.0, f64::max);
        let (unit, unit_name) = match self.view {
            View::Shares => (0.01, "%"),
            View::Bytes | View::Lines => byte_unit(most),
        };
        let ticks = linear_ticks(most / unit, TICKS);
        let y = Scale::new(0.0, ticks[ticks.len() - 1] * unit, false, BASE, TOP);
        for tick in &ticks {
            let label = if *tick == 0.0 {
                "0".to_owned()
            } else {
                format!("{} {unit_name}", format::number(*tick))
            };
            horizontal(svg, self.right(), y.at(tick * unit), &label);
        }
        y
    }

    /// The right end of the bands.
    fn right(&self) -> f64 {
        self.alone.map_or(RIGHT, |_| ALONE_WIDTH - 8.0)
    }

    /// The upper edge of each band; for lines, their heights.
    fn edges(&self) -> Vec<Vec<f64>> {
        let mut below = vec![0.0; self.x.len()];
        let sum = |at: usize| self.bands.iter().map(|band| band.bytes[at] as f64).sum::<f64>();
        let sums: Vec<f64> = (0..self.x.len()).map(sum).collect();
        let above = self.bands.iter().map(|band| {
            for (at, edge) in below.iter_mut().enumerate() {
                let bytes = band.bytes[at] as f64;
                match self.view {
                    View::Bytes => *edge += bytes,
                    View::Shares => *edge += if sums[at] > 0.0 { bytes / sums[at] } else { 0.0 },
                    View::Lines => *edge = bytes,
                }
            }
            below.clone()
        });
        above.collect()
    }

    /// Starts at 0, unless more than half of the axis would be empty.
    fn x_scale(&self) -> Scale {
        let (low, high) = self.ends();
        Scale::new(low, high, false, LEFT, self.right())
    }

    fn ends(&self) -> (f64, f64) {
        let first = self.x.first().copied().unwrap_or(0.0);
        let last = self.x.last().copied().unwrap_or(1.0);
        (if first > last / 2.0 && first < last { first } else { 0.0 }, last)
    }

    /// The points of an edge, in pixels.
    fn points(&self, edge: &[f64], x: &Scale, y: &Scale) -> Vec<(f64, f64)> {
        match edge[..] {
            [bytes] => [-LONE, 0.0].map(|left| (x.at(self.x[0]) + left, y.at(bytes))).to_vec(),
            _ => {
                let both = self.x.iter().zip(edge);
                both.map(|(at, bytes)| (x.at(*at), y.at(*bytes))).collect()
            }
        }
    }

    fn lines(&self, svg: &mut String, edges: &[Vec<f64>], x: &Scale, y: &Scale) {
        for (index, (band, edge)) in self.bands.iter().zip(edges).enumerate() {
            let points = self.points(edge, x, y).into_iter();
            let points: Vec<String> = points.map(|(across, up)| format!("{across:.1},{up:.1}")).collect();
            let _ = write!(
                svg,
                r#"<polyline points="{}" fill="none" style="stroke:{}" stroke-width="1.6" stroke-linejoin="round"><title>{}</title></polyline>"#,
                points.join(" "),
                self.colour(index),
                escape(&band.name)
            );
        }
    }

    fn areas(&self, svg: &mut String, edges: &[Vec<f64>], x: &Scale, y: &Scale) {
        for (index, (band, edge)) in self.bands.iter().zip(edges).enumerate().rev() {
            let points = self.points(edge, x, y);
            let (Some(first), Some(last)) = (points.first(), points.last()) else {
                continue;
            };
            let mut path = format!("M{:.1} {BASE}", first.0);
            points.iter().for_each(|(across, up)| {
                let _ = write!(path, "L{across:.1} {up:.1}");
            });
            let _ = write!(
                svg,
                r#"<path d="{path}L{:.1} {BASE}Z" style="fill:{};stroke:var(--paper,#fff)" stroke-width=".3"><title>{}</title></path>"#,
                last.0,
                self.colour(index),
                escape(&band.name)
            );
        }
    }

    fn x_axis(&self, svg: &mut String, x: &Scale) {
        let right = self.right();
        let _ = write!(
            svg,
            r#"<line x1="{LEFT}" x2="{right}" y1="{BASE}" y2="{BASE}" stroke="currentColor" stroke-opacity="0.55"/>"#
        );
        let (low, high) = self.ends();
        for tick in ticks_between(low, high) {
            let _ = write!(
                svg,
                r#"<line x1="{at:.1}" x2="{at:.1}" y1="{BASE}" y2="{end:.1}" stroke="currentColor" stroke-opacity="0.55"/><text x="{at:.1}" y="{down:.1}" class="mid">{text}</text>"#,
                at = x.at(tick),
                end = BASE + 4.0,
                down = BASE + 16.0,
                text = format::number(tick),
            );
        }
        let _ = write!(
            svg,
            r#"<text x="{middle:.1}" y="{down:.1}" class="mid">{label}</text>"#,
            middle = (LEFT + right) / 2.0,
            down = HEIGHT - 8.0,
            label = escape(&self.x_label),
        );
    }

    fn lines_of_markers(&self, svg: &mut String, x: &Scale) {
        let (mut last_line, mut last_label) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for (place, name) in &self.markers {
            let at = x.at(*place);
            if at - last_line >= MARKERS_APART.1 {
                last_line = at;
                let _ = write!(
                    svg,
                    r#"<line x1="{at:.1}" x2="{at:.1}" y1="{TOP}" y2="{BASE}" stroke="currentColor" stroke-dasharray="3 2"><title>{}</title></line>"#,
                    escape(name)
                );
            }
            if at - last_label >= MARKERS_APART.0 {
                last_label = at;
                // To the left of its line, upwards, with an outline in the page's colour: it may be
                // over any band.
                let (left, down) = (at - 3.0, TOP + 3.0);
                let _ = write!(
                    svg,
                    r#"<text x="{left:.1}" y="{down:.1}" text-anchor="end" transform="rotate(-90 {left:.1} {down:.1})" fill="currentColor" style="stroke:var(--paper,#fff)" stroke-width="3" paint-order="stroke">{}</text>"#,
                    escape(&shortened(name, LEGEND_LETTERS))
                );
            }
        }
    }

    /// Draws the legend, from the top of the stack to its bottom.
    fn legend(&self, svg: &mut String) {
        for (line, (index, band)) in self.bands.iter().enumerate().rev().enumerate() {
            let (left, down) = (LEGEND.0, TOP + LEGEND.1 * line as f64);
            let _ = write!(
                svg,
                r#"<g><title>{full}</title><rect x="{left}" y="{down}" width="11" height="11" style="fill:{colour}"/><text x="{text}" y="{base}" fill="currentColor">{short}</text></g>"#,
                full = escape(&band.name),
                colour = self.colour(index),
                text = left + 16.0,
                base = down + 9.5,
                short = escape(&shortened(&band.name, LEGEND_LETTERS)),
            );
        }
    }

    /// The colour of a band, for CSS.
    pub(crate) fn colour(&self, band: usize) -> String {
        if self.bands[band].rest {
            return format!("var(--s{GREY},{})", COLOURS[GREY]);
        }
        let rank = match self.alone {
            Some(_) => (self.bands.len() - 1 - band) % ALONE_COLOURS,
            None => band % BAND_COLOURS,
        };
        match rank {
            full if full < GREY => format!("var(--s{full},{})", COLOURS[full]),
            light if light < BAND_COLOURS => format!("var(--t{0},{1})", light - GREY, TINTS[light - GREY]),
            dark => SHADES[dark - BAND_COLOURS].to_owned(),
        }
    }
}

fn horizontal(svg: &mut String, right: f64, at: f64, label: &str) {
    let _ = write!(
        svg,
        r#"<line x1="{LEFT}" x2="{right}" y1="{at:.1}" y2="{at:.1}" stroke="currentColor" stroke-opacity="0.13"/><text x="{text:.1}" y="{down:.1}" class="end">{label}</text>"#,
        text = LEFT - 6.0,
        down = at + 3.8,
    );
}

/// Round figures from `low` to `high`.
fn ticks_between(low: f64, high: f64) -> Vec<f64> {
    let step = linear_ticks(high - low, TICKS)[1];
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last.min(first + 2 * TICKS as i64))
        .map(|tick| tick as f64 * step)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_lie_within_the_axis() {
        assert_eq!(ticks_between(0.0, 1.0).len(), 6);
        let narrow = ticks_between(0.80, 0.82);
        assert!(
            narrow.len() > 2 && narrow.iter().all(|tick| (0.7999..=0.8201).contains(tick)),
            "{narrow:?}"
        );
        assert_eq!(ticks_between(0.0, 0.0), [0.0], "an empty range has one tick");
    }

    /// A band that keeps its bytes while another grows has a falling share, and a line that does
    /// not rise.
    #[test]
    fn shares_add_up_and_lines_do_not() {
        let band = |name: &str, bytes: &[u64]| Band {
            name: name.to_owned(),
            bytes: bytes.to_vec(),
            rest: false,
        };
        let stack = Stack {
            x: vec![0.0, 1.0, 2.0],
            bands: vec![band("grows", &[1, 3, 0]), band("stays", &[1, 1, 0])],
            ..Stack::default()
        };
        let shares = stack.as_view(View::Shares);
        assert_eq!(shares.edges(), [[0.5, 0.75, 0.0], [1.0, 1.0, 0.0]]);
        let svg = shares.svg();
        assert!(svg.contains(">100 %</text>") && !svg.contains("NaN"), "{svg}");
        let lines = stack.as_view(View::Lines);
        assert_eq!(lines.edges(), [[1.0, 3.0, 0.0], [1.0, 1.0, 0.0]]);
        let svg = lines.svg();
        assert!(svg.matches("<polyline").count() == 2 && !svg.contains("<path"), "{svg}");
        assert!(stack.svg().contains("<path") && !stack.svg().contains("<polyline"));
    }

    #[test]
    fn bands_lie_on_each_other() {
        let band = |name: &str, bytes: &[u64]| Band {
            name: name.to_owned(),
            bytes: bytes.to_vec(),
            rest: false,
        };
        let stack = Stack {
            x: vec![0.0, 1.0],
            bands: vec![band("a", &[1, 2]), band("b", &[3, 0])],
            ..Stack::default()
        };
        assert_eq!(stack.edges(), [[1.0, 2.0], [4.0, 2.0]]);
        assert!(Stack::default().svg().ends_with("</svg>"), "an empty chart is a chart");
        let lone = Stack {
            x: vec![0.5],
            bands: vec![band("<a>", &[7])],
            markers: vec![(0.5, "half & half".to_owned())],
            ..Stack::default()
        };
        let svg = lone.svg();
        assert!(
            svg.contains("&lt;a&gt;") && svg.contains("half &amp; half") && !svg.contains("NaN"),
            "{svg}"
        );
    }
}
