//! Colours and shapes of series, and text inside SVG.
//!
//! Series are told apart by colour *and* shape. The colours are Okabe and Ito's, which
//! people with colour blindness can distinguish. Each colour is a CSS variable with a default
//! (`--s0` ...): a page can adapt it, and a chart that is cut out of the page still has it.

use gclab_results::is_unprintable;

/// Okabe and Ito's colours for qualitative data, those that differ most first.
pub(super) const COLOURS: [&str; 7] = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F",
];

/// The mark of a style at a point: circle, square, triangle or diamond.
pub(super) fn mark(style: usize, x: f64, y: f64) -> String {
    painted(style, x, y, "m")
}

/// The outline of a mark, for an estimate of which no interval is known.
pub(super) fn hollow_mark(style: usize, x: f64, y: f64) -> String {
    painted(style, x, y, "m hollow")
}

/// The cross of a missing value.
pub(super) fn cross(x: f64, y: f64) -> String {
    let (l, r, t, b) = (x - 3.5, x + 3.5, y - 3.5, y + 3.5);
    format!(r#"<path class="cross" d="M{l:.1} {t:.1}L{r:.1} {b:.1}M{l:.1} {b:.1}L{r:.1} {t:.1}"/>"#)
}

fn painted(style: usize, x: f64, y: f64, class: &str) -> String {
    let polygon = |corners: [(f64, f64); 4]| {
        let corners: Vec<String> = corners
            .iter()
            .map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy))
            .collect();
        format!(r#"<polygon points="{}" class="{class}"/>"#, corners.join(" "))
    };
    match style % 4 {
        0 => format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.4" class="{class}"/>"#),
        1 => polygon([(-3.1, -3.1), (3.1, -3.1), (3.1, 3.1), (-3.1, 3.1)]),
        2 => polygon([(0.0, -4.2), (4.0, 3.0), (-4.0, 3.0), (0.0, -4.2)]),
        _ => polygon([(0.0, -4.4), (4.4, 0.0), (0.0, 4.4), (-4.4, 0.0)]),
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

/// The attribute that makes a line dashed: styles beyond the last colour use the colours again.
pub(super) fn dashes(style: usize) -> &'static str {
    if style / COLOURS.len() % 2 == 1 {
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
            // XML allows no control characters but line breaks and tabs.
            c if is_unprintable(c) => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
