//! The dominator tree as a picture: a flame, upside down. The root is the bar on top; below each bar lie those of what it dominates immediately, as
//! wide as what they retain. What is too narrow to see is one grey bar, with its number.
//!
//! SVG without any script; a bar's full text is shown when a pointer rests on it.

use crate::dominators::Dominators;
use crate::graph::ROOT;
use crate::rows::Rows;
use std::fmt::Write;

const WIDTH: f64 = 1200.0;
/// Height of a bar.
const ROW: f64 = 18.0;
/// The narrowest bar that is drawn by itself, at the top.
const NARROWEST: f64 = 2.0;
/// Each level takes so much more: deep down there are lists, object by object.
const NARROWEST_MORE: f64 = 0.5;
/// Levels that are drawn.
const LEVELS: usize = 40;
/// Width of a letter of the labels, about.
const LETTER: f64 = 6.2;
const HEAD: f64 = 26.0;

/// Okabe and Ito's colours, light enough for black letters.
const COLOURS: [&str; 6] = ["#E69F00", "#56B4E9", "#33c19b", "#F0E442", "#e8925a", "#e3a6c5"];
const GREY: &str = "#cccccc";

/// What a bar says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Label {
    /// In the bar, as far as there is room.
    pub short: String,
    /// When a pointer rests on it.
    pub long: String,
    /// Which colour; the same for what is alike.
    pub colour: usize,
}

/// A bar that is to be drawn, or several in one.
struct Bar {
    node: Option<u32>,
    left: f64,
    width: f64,
    level: usize,
}

/// The picture. `retained` is by node; `title` stands above.
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

/// Opens the bars below `bar` that are wide enough; draws the others as one.
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
    // A `String` takes whatever is written.
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

/// Text as XML has it. Control characters, which it cannot have, are left out.
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
