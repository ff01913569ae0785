//! Charts of ratios with their intervals: a row for each setting, with its name on the left and its
//! figure on the right, and a line at 1.

use super::line::fit;
use super::scale::{Scale, linear_ticks};
use super::style::{colour, escape, hollow_mark, mark};
use crate::format::{self, shortened};
use serde::Serialize;
use std::fmt::Write;

const WIDTH: f64 = 470.0;
const LEFT: f64 = 158.0;
const RIGHT: f64 = WIDTH - 124.0;
const TOP: f64 = 42.0;
const ROW: f64 = 19.0;
const BOTTOM: f64 = 24.0;
const TICKS: usize = 4;
/// Maximum length of a name.
const LETTERS: usize = 25;
/// Intervals that end beyond this multiple of the largest ratio are cut off, with an arrow.
const CUT: f64 = 1.5;

/// A chart with a row for each setting.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Forest {
    /// The title above the chart.
    pub(crate) title: String,
    /// The rows, from top to bottom.
    pub(crate) rows: Vec<ForestRow>,
}

/// A row of a [`Forest`].
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct ForestRow {
    /// The colour and shape, as in other charts.
    pub(crate) style: usize,
    /// The name.
    pub(crate) label: String,
    /// The ratio and the ends of its interval, which may be unknown; `None` for a setting without a
    /// ratio.
    pub(crate) value: Option<(f64, Option<(f64, f64)>)>,
    /// The ratio and its interval as text, or the reason for their absence.
    pub(crate) text: String,
}

impl Forest {
    /// The chart as one `<svg>` element.
    pub(crate) fn svg(&self) -> String {
        let base = TOP + ROW * self.rows.len() as f64;
        let height = base + BOTTOM;
        let figures: Vec<String> = self
            .rows
            .iter()
            .map(|row| format!("{}: {}", row.label, row.text))
            .collect();
        let mut svg = format!(
            r#"<svg class="chart" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img"><title>{title}</title><desc>{figures}</desc>"#,
            title = escape(&self.title),
            figures = escape(&figures.join("; ")),
        );
        for (line, text) in fit(&self.title, WIDTH - 8.0).iter().enumerate() {
            let _ = write!(
                svg,
                r#"<text x="4" y="{}" class="title">{}</text>"#,
                14 + 15 * line,
                escape(text)
            );
        }
        let values = || self.rows.iter().filter_map(|row| row.value);
        let most = values().map(|(value, _)| value).fold(1.0, f64::max);
        let high = values()
            .filter_map(|(_, ends)| Some(ends?.1))
            .fold(most, f64::max)
            .min(most * CUT);
        let ticks = linear_ticks(high, TICKS);
        let end = ticks[ticks.len() - 1];
        let x = Scale::new(0.0, end, false, LEFT, RIGHT);
        for tick in ticks {
            let at = x.at(tick);
            let _ = write!(
                svg,
                r#"<path class="grid" d="M{at:.1} {TOP}V{base}"/><text x="{at:.1}" y="{down}" class="mid">{label}×</text>"#,
                down = base + 15.0,
                label = escape(&format::number(tick)),
            );
        }
        let one = x.at(1.0);
        let _ = write!(svg, r#"<path class="axis" d="M{one:.1} {TOP}V{base}"/>"#);
        for (index, row) in self.rows.iter().enumerate() {
            row.draw(&mut svg, &x, end, TOP + ROW * (index as f64 + 0.5));
        }
        svg.push_str("</svg>");
        svg
    }
}

impl ForestRow {
    fn draw(&self, svg: &mut String, x: &Scale, end: f64, middle: f64) {
        let down = middle + 3.8;
        let _ = write!(
            svg,
            r#"<text x="{left}" y="{down:.1}" class="end">{label}</text>"#,
            left = LEFT - 8.0,
            label = escape(&shortened(&self.label, LETTERS)),
        );
        let _ = write!(svg, r#"<g style="--c:{}">"#, colour(self.style));
        if let Some((value, None)) = self.value {
            // The text says why there is no interval.
            svg.push_str(&hollow_mark(self.style, x.at(value), middle));
        }
        if let Some((value, Some(ends))) = self.value {
            let (low, high) = (x.at(ends.0), x.at(ends.1));
            let arrow = if ends.1 > end {
                format!("M{:.1} {:.1}l4 4l-4 4", high - 4.0, middle - 4.0)
            } else {
                String::new()
            };
            let _ = write!(
                svg,
                r#"<path class="bar" d="M{low:.1} {middle:.1}H{high:.1}{arrow}"/>{mark}"#,
                mark = mark(self.style, x.at(value), middle),
            );
        }
        let _ = write!(
            svg,
            r#"</g><text x="{right}" y="{down:.1}">{text}</text>"#,
            right = RIGHT + 8.0,
            text = escape(&self.text),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_name_and_its_figure() {
        let row = |label: &str, value: f64| ForestRow {
            label: label.to_owned(),
            value: Some((value, Some((value * 0.9, value * 9.0)))),
            text: format!("{value:.2}×"),
            ..ForestRow::default()
        };
        let forest = Forest {
            title: "a < b".to_owned(),
            rows: vec![
                row("one", 1.0),
                row("<two>", 1.5),
                ForestRow {
                    label: "three".to_owned(),
                    text: "fails on 1 of 2".to_owned(),
                    ..ForestRow::default()
                },
            ],
        };
        let svg = forest.svg();
        assert!(
            svg.contains("a &lt; b") && svg.contains(">&lt;two&gt;</text>") && svg.contains("1.50×"),
            "{svg}"
        );
        assert!(
            svg.contains("<desc>one: 1.00×; &lt;two&gt;: 1.50×; three: fails on 1 of 2</desc>"),
            "{svg}"
        );
        assert_eq!(svg.matches("class=\"bar\"").count(), 2, "a failure has no mark: {svg}");
        assert!(!svg.contains("NaN") && Forest::default().svg().ends_with("</svg>"));
    }
}
