//! The dominator tree as an icicle chart. The root is the bar on top. Below each bar lie the bars
//! of the nodes that it dominates immediately. The width of a bar is its retained size. Bars that
//! are too narrow to see are drawn as one grey bar, with their number.
//!
//! The chart is SVG without any script. Resting the pointer on a bar shows its full text.

use crate::dominators::Dominators;
use crate::graph::ROOT;
use crate::rows::Rows;
use std::fmt::Write;

const WIDTH: f64 = 1200.0;
/// Height of a bar.
const ROW: f64 = 18.0;
/// The narrowest bar that is drawn by itself, at the top.
const NARROWEST: f64 = 2.0;
/// The narrowest width grows by this for each level: deep down there are lists, object by object.
const NARROWEST_MORE: f64 = 0.5;
/// The number of levels that are drawn.
const LEVELS: usize = 40;
/// The approximate width of a letter in a label.
const LETTER: f64 = 6.2;
const HEAD: f64 = 26.0;

/// Okabe and Ito's colours, light enough for black letters.
const COLOURS: [&str; 6] = ["#E69F00", "#56B4E9", "#33c19b", "#F0E442", "#e8925a", "#e3a6c5"];
const GREY: &str = "#cccccc";

/// The text and the colour of a bar.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Label {
    /// The text in the bar, cut to the room that there is.
    pub short: String,
    /// The text shown when a pointer rests on the bar.
    pub long: String,
    /// The number of the colour. Bars of one kind should have the same.
    pub colour: usize,
}

/// A bar to be drawn, for one node or for several narrow ones.
struct Bar {
    node: Option<u32>,
    left: f64,
    width: f64,
    level: usize,
}

/// Draws the chart of a dominator tree as SVG. `retained` has the retained size of each node,
/// `title` stands above the chart, and `label` returns the text of a node.
pub fn icicle(title: &str, dominators: &Dominators, retained: &[u64], label: &dyn Fn(u32) -> Label) -> String {
    let children = dominators.children();
    let all = retained[ROOT as usize].max(1) as f64;
    let mut bars = String::new();
    let mut open = vec![Bar {
        node: Some(ROOT),
        left: 0.0,
        width: WIDTH,
        level: 0,
    }];
    let mut levels = 0;
    while let Some(bar) = open.pop() {
        levels = levels.max(bar.level + 1);
        let Some(node) = bar.node else { continue };
        draw(&mut bars, &bar, &label(node));
        if bar.level + 1 < LEVELS {
            below(
                &mut bars,
                &mut open,
                &bar,
                children_by_size(&children, node, retained),
                &|node| retained[node as usize] as f64 / all * WIDTH,
            );
        }
    }
    let height = HEAD + levels as f64 * ROW;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<text x=\"4\" y=\"17\" font-size=\"13\">{}</text>\n{bars}</svg>\n",
        escape(title)
    )
}

fn children_by_size(children: &Rows, node: u32, retained: &[u64]) -> Vec<u32> {
    let mut row = children.row(node).to_vec();
    row.sort_unstable_by_key(|&child| (std::cmp::Reverse(retained[child as usize]), child));
    row
}

/// Opens the bars below `bar` that are wide enough. Draws the others as one bar.
fn below(bars: &mut String, open: &mut Vec<Bar>, bar: &Bar, children: Vec<u32>, width: &dyn Fn(u32) -> f64) {
    let level = bar.level + 1;
    let mut left = bar.left;
    let (mut narrow, mut rest) = (0_usize, 0.0);
    let narrowest = NARROWEST + NARROWEST_MORE * level as f64;
    for child in children {
        let wide = width(child);
        if wide < narrowest {
            narrow += 1;
            rest += wide;
            continue;
        }
        open.push(Bar {
            node: Some(child),
            left,
            width: wide,
            level,
        });
        left += wide;
    }
    if rest >= NARROWEST {
        let label = Label {
            short: format!("{narrow} more"),
            long: format!("{narrow} more, each too small to be shown"),
            colour: usize::MAX,
        };
        let width = rest;
        draw(
            bars,
            &Bar {
                node: None,
                left,
                width,
                level,
            },
            &label,
        );
        open.push(Bar {
            node: None,
            left,
            width,
            level,
        });
    }
}

fn draw(out: &mut String, bar: &Bar, label: &Label) {
    let (x, y) = (bar.left, HEAD + bar.level as f64 * ROW);
    let colour = match label.colour {
        usize::MAX => GREY,
        colour => COLOURS[colour % COLOURS.len()],
    };
    let room = ((bar.width - 6.0) / LETTER).max(0.0) as usize;
    let text: String = if label.short.chars().count() <= room {
        label.short.clone()
    } else {
        label.short.chars().take(room.saturating_sub(1)).chain(['…']).collect()
    };
    let text = if room < 3 { String::new() } else { text };
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        out,
        "<g><title>{}</title><rect x=\"{x:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"{}\" fill=\"{colour}\" stroke=\"#fff\" stroke-width=\"0.5\"/>\
         <text x=\"{:.2}\" y=\"{}\">{}</text></g>",
        escape(&label.long),
        bar.width,
        ROW - 1.0,
        x + 3.0,
        y + 13.0,
        escape(&text),
    );
}

/// Escapes text for XML. Leaves out control characters, which XML cannot have.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(' '),
            // Not characters of XML.
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}
