//! Colours and shapes of series, and text inside SVG.
//!
//! Series are told apart by colour *and* shape. The colours are Okabe and Ito's, which
//! people with colour blindness can distinguish. Each colour is a CSS variable with a default
//! (`--s0` ...): a page can adapt it, and a chart that is cut out of the page still has it.

use gclab_core::stats::render::is_unprintable;

/// Okabe and Ito's colours for qualitative data, the most different ones first.
pub(super) const COLOURS: [&str; 7] = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F",
];

/// The number of different marks.
const MARKS: usize = 8;

/// The mark of a style at a point.
pub(super) fn mark(style: usize, x: f64, y: f64) -> String {
    painted(style, x, y, "m")
}

/// The outline of a mark, for an estimate without a known interval.
pub(super) fn hollow_mark(style: usize, x: f64, y: f64) -> String {
    painted(style, x, y, "m hollow")
}

/// The cross of a missing value.
pub(super) fn cross(x: f64, y: f64) -> String {
    let (l, r, t, b) = (x - 3.5, x + 3.5, y - 3.5, y + 3.5);
    format!(r#"<path class="cross" d="M{l:.1} {t:.1}L{r:.1} {b:.1}M{l:.1} {b:.1}L{r:.1} {t:.1}"/>"#)
}

/// The corners of all marks but the first, which is a circle. `charts.js` repeats them.
const SHAPES: [&[(f64, f64)]; 7] = [
    // A square.
    &[(-3.1, -3.1), (3.1, -3.1), (3.1, 3.1), (-3.1, 3.1)],
    // A triangle.
    &[(0.0, -4.2), (4.0, 3.0), (-4.0, 3.0)],
    // A diamond.
    &[(0.0, -4.4), (4.4, 0.0), (0.0, 4.4), (-4.4, 0.0)],
    // A plus.
    &[
        (-1.4, -4.2),
        (1.4, -4.2),
        (1.4, -1.4),
        (4.2, -1.4),
        (4.2, 1.4),
        (1.4, 1.4),
        (1.4, 4.2),
        (-1.4, 4.2),
        (-1.4, 1.4),
        (-4.2, 1.4),
        (-4.2, -1.4),
        (-1.4, -1.4),
    ],
    // A triangle on its tip.
    &[(0.0, 4.2), (4.0, -3.0), (-4.0, -3.0)],
    // A bow tie.
    &[
        (-4.2, -3.6),
        (0.0, -0.8),
        (4.2, -3.6),
        (4.2, 3.6),
        (0.0, 0.8),
        (-4.2, 3.6),
    ],
    // A star.
    &[
        (0.0, -5.0),
        (1.2, -1.6),
        (4.8, -1.5),
        (1.9, 0.6),
        (2.9, 4.0),
        (0.0, 2.0),
        (-2.9, 4.0),
        (-1.9, 0.6),
        (-4.8, -1.5),
        (-1.2, -1.6),
    ],
];

/// How much larger a mark is than its corners: later marks are above earlier ones, which show
/// around them.
fn scale(style: usize) -> f64 {
    1.25 - 0.05 * (style % MARKS) as f64
}

fn painted(style: usize, x: f64, y: f64, class: &str) -> String {
    let scale = scale(style);
    match style % MARKS {
        0 => format!(
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="{:.1}" class="{class}"/>"#,
            3.4 * scale
        ),
        shape => {
            let corners = SHAPES[shape - 1].iter();
            let corners = corners.map(|(dx, dy)| format!("{:.1},{:.1}", x + dx * scale, y + dy * scale));
            let corners: Vec<String> = corners.collect();
            format!(r#"<polygon points="{}" class="{class}"/>"#, corners.join(" "))
        }
    }
}

/// A style in a legend: a short line with its mark.
pub(crate) fn swatch(style: usize) -> String {
    format!(
        r#"<svg class="swatch" viewBox="0 0 26 12" width="26" height="12" aria-hidden="true" style="--c:{}"><path class="line" d="M1 6H25"{}/>{}</svg>"#,
        colour(style),
        dashes(style),
        mark(style, 13.0, 6.0)
    )
}

/// The colour of a style.
pub(super) fn colour(style: usize) -> String {
    let index = style % COLOURS.len();
    format!("var(--s{index},{})", COLOURS[index])
}

/// The attribute that makes a line dashed, every four styles: what is below shows in the gaps. The
/// style beyond the last colour, which repeats the first one, is dashed.
pub(super) fn dashes(style: usize) -> &'static str {
    if style % MARKS >= MARKS / 2 {
        r#" stroke-dasharray="5 3""#
    } else {
        ""
    }
}

/// Escapes text for HTML and SVG, inside elements and attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML allows no control characters except line breaks and tabs.
            c if is_unprintable(c) => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Eight series, as with all collectors, differ by mark even where one covers another.
    #[test]
    fn eight_marks_differ() {
        let shapes: BTreeSet<String> = SHAPES.iter().map(|shape| format!("{shape:?}")).collect();
        assert_eq!(shapes.len(), MARKS - 1);
        assert!((1..8).all(|style| scale(style) < scale(style - 1)));
        assert_eq!((0..8).filter(|style| dashes(*style).is_empty()).count(), 4);
    }
}
