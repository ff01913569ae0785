//! An analysis as a picture: the outline of the dominator tree as an icicle chart. The bar on top
//! is the whole heap. Below each bar lie the bars of the chains that it holds. The width of a bar
//! is its retained size.
//!
//! Objects that are too small for a bar share bars: one for each class; classes that are too small
//! share one for their type. Only the types that are too small are one grey bar.
//!
//! The chart is SVG without any script. Resting the pointer on a bar shows its full text.

use std::fmt::Write;

use gclab_heap_traverse::OutOfMemory;
use gclab_heap_traverse::analysis::{Analysis, Branches, Named, Outline, Sum};

use super::words::{chain, class, counted, group, name, number, object, percent, size};

const WIDTH: f64 = 1200.0;
/// Height of a bar.
const ROW: f64 = 18.0;
/// The narrowest bar that is drawn by itself, at the top.
const NARROWEST: f64 = 2.0;
/// The narrowest width grows by this for each level: deep down there are parts of parts.
const NARROWEST_MORE: f64 = 0.5;
/// The number of levels that are drawn.
const LEVELS: usize = 40;
/// The approximate width of a letter in a label.
const LETTER: f64 = 6.2;
const HEAD: f64 = 26.0;

/// Okabe and Ito's colours, light enough for black letters.
const COLOURS: [&str; 6] = ["#E69F00", "#56B4E9", "#33c19b", "#F0E442", "#e8925a", "#e3a6c5"];
const GREY: &str = "#cccccc";
/// How much of its colour a bar of several objects has.
const SHARED: f64 = 0.55;

/// A bar to be drawn.
struct Bar {
    left: f64,
    width: f64,
    level: usize,
    /// The text in the bar, cut to the room that there is.
    short: String,
    /// The text shown when a pointer rests on the bar.
    long: String,
    colour: &'static str,
    opacity: f64,
}

/// A chain whose bar is drawn, and whose parts are not yet.
struct Open {
    chain: Vec<u32>,
    left: f64,
    level: usize,
}

struct Picture<'a> {
    analysis: &'a Analysis<'a>,
    outline: Outline<'a>,
    bars: String,
    open: Vec<Open>,
    levels: usize,
}

/// Draws the chart as SVG. `synthetic` says whether nodes that stand for no object have bars too.
///
/// # Errors
/// If there is not enough memory for the lists of objects.
pub(super) fn picture(file: &str, analysis: &Analysis<'_>, synthetic: bool) -> Result<String, OutOfMemory> {
    let hidden = |node: u32| !synthetic && analysis.is_synthetic(node);
    let mut picture = Picture {
        analysis,
        outline: analysis.outline(&hidden),
        bars: String::new(),
        open: Vec::new(),
        levels: 1,
    };
    let all = analysis.reached_size();
    let title = format!(
        "{file}: {} in {}, by the object that holds them",
        size(all),
        counted(analysis.reached(), "object")
    );
    picture.draw(&Bar {
        left: 0.0,
        width: WIDTH,
        level: 0,
        short: format!("the whole heap, {}", size(all)),
        long: format!("the whole heap: {}", size(all)),
        colour: "#e0e0e0",
        opacity: 1.0,
    });
    let least = picture.least(1);
    let top = picture.outline.top(least)?;
    picture.branches(&top, 0.0, 1)?;
    while let Some(Open { chain, left, level }) = picture.open.pop() {
        if level + 1 < LEVELS {
            let least = picture.least(level + 1);
            let branches = picture.outline.below(&chain, least)?;
            picture.branches(&branches, left, level + 1)?;
        }
    }
    let height = HEAD + picture.levels as f64 * ROW;
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<text x=\"4\" y=\"17\" font-size=\"13\">{}</text>\n{}</svg>\n",
        escape(&title),
        picture.bars
    ))
}

impl Picture<'_> {
    fn width(&self, bytes: u64) -> f64 {
        bytes as f64 / self.analysis.reached_size().max(1) as f64 * WIDTH
    }

    /// The fewest bytes that have a bar at a level.
    fn least(&self, level: usize) -> u64 {
        let narrowest = NARROWEST + NARROWEST_MORE * level as f64;
        (narrowest / WIDTH * self.analysis.reached_size() as f64)
            .ceil()
            .max(1.0) as u64
    }

    /// Draws the branches below a bar, from `left` on.
    fn branches(&mut self, branches: &Branches, mut left: f64, level: usize) -> Result<(), OutOfMemory> {
        for &head in &branches.large {
            let nodes = self.outline.chain(head)?;
            let bytes = self.analysis.retained(head);
            let width = self.width(bytes);
            let own = nodes
                .iter()
                .map(|&node| self.analysis.snapshot().node(node).self_size())
                .sum();
            let name = name(self.analysis, head);
            self.draw(&Bar {
                left,
                width,
                level,
                short: if name.is_empty() {
                    class(self.analysis, head)
                } else {
                    name
                },
                long: format!(
                    "{}: retains {} ({:.1} %), itself {}",
                    if nodes.len() == 1 {
                        object(self.analysis, head)
                    } else {
                        chain(self.analysis, None, &nodes)
                    },
                    size(bytes),
                    percent(bytes, self.analysis.reached_size()),
                    size(own)
                ),
                colour: self.colour(head),
                opacity: 1.0,
            });
            self.open.push(Open {
                chain: nodes,
                left,
                level,
            });
            left += width;
        }
        self.rest(&branches.rest, left, level)
    }

    /// Draws the objects that are too small for bars of their own.
    fn rest(&mut self, nodes: &[u32], mut left: f64, level: usize) -> Result<(), OutOfMemory> {
        let least = self.least(level);
        let (wide, narrow): (Vec<Named>, Vec<Named>) = self
            .analysis
            .groups(nodes)?
            .into_iter()
            .partition(|named| named.sum.bytes >= least);
        let mut types: Vec<(Named, usize)> = Vec::new();
        for named in narrow {
            let kind = |named: &Named| self.analysis.snapshot().node(named.example).type_index();
            match types.iter_mut().find(|(one, _)| kind(one) == kind(&named)) {
                Some((one, classes)) => {
                    one.sum = joined(one.sum, named.sum);
                    *classes += 1;
                }
                None => types.push((named, 1)),
            }
        }
        let (types, narrow): (Vec<_>, Vec<_>) = types.into_iter().partition(|(named, _)| named.sum.bytes >= least);
        for named in wide {
            let name = group(self.analysis, named);
            let words = format!("{name}: {}, each too small for a bar", objects(named.sum));
            left = self.shared(named, left, level, &name, &words);
        }
        for (named, classes) in types {
            let name = format!("({})", self.analysis.snapshot().node(named.example).type_name());
            let words = format!("{name} of {}: {}", counted(classes, "class"), objects(named.sum));
            left = self.shared(named, left, level, &name, &words);
        }
        let sum = narrow
            .iter()
            .fold(Sum::default(), |sum, (named, _)| joined(sum, named.sum));
        if self.width(sum.bytes) >= NARROWEST {
            self.draw(&Bar {
                left,
                width: self.width(sum.bytes),
                level,
                short: "others".to_owned(),
                long: format!("others: {}", objects(sum)),
                colour: GREY,
                opacity: 1.0,
            });
        }
        Ok(())
    }

    /// Draws the bar of several objects. Returns its right end.
    fn shared(&mut self, named: Named, left: f64, level: usize, name: &str, words: &str) -> f64 {
        let width = self.width(named.sum.bytes);
        self.draw(&Bar {
            left,
            width,
            level,
            short: format!("{name} × {}", number(named.sum.count)),
            long: format!(
                "{words} ({:.1} %)",
                percent(named.sum.bytes, self.analysis.reached_size())
            ),
            colour: self.colour(named.example),
            opacity: SHARED,
        });
        left + width
    }

    /// The colour of a class, or of a type whose objects have no classes.
    fn colour(&self, node: u32) -> &'static str {
        let number = if self.analysis.has_class_name(node) {
            self.analysis.classes().of_nodes()[node as usize] as usize
        } else {
            usize::from(self.analysis.snapshot().node(node).type_index())
        };
        COLOURS[number % COLOURS.len()]
    }

    fn draw(&mut self, bar: &Bar) {
        self.levels = self.levels.max(bar.level + 1);
        let (x, y) = (bar.left, HEAD + bar.level as f64 * ROW);
        let room = ((bar.width - 6.0) / LETTER).max(0.0) as usize;
        let text: String = if bar.short.chars().count() <= room {
            bar.short.clone()
        } else {
            bar.short.chars().take(room.saturating_sub(1)).chain(['…']).collect()
        };
        let text = if room < 3 { String::new() } else { text };
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            self.bars,
            "<g><title>{}</title><rect x=\"{x:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"{}\" fill=\"{}\" fill-opacity=\"{}\" stroke=\"#fff\" \
             stroke-width=\"0.5\"/><text x=\"{:.2}\" y=\"{}\">{}</text></g>",
            escape(&bar.long),
            bar.width,
            ROW - 1.0,
            bar.colour,
            bar.opacity,
            x + 3.0,
            y + 13.0,
            escape(&text),
        );
    }
}

fn joined(one: Sum, other: Sum) -> Sum {
    Sum {
        count: one.count + other.count,
        bytes: one.bytes + other.bytes,
    }
}

/// `1,234 objects, 5.68 MB together`.
fn objects(sum: Sum) -> String {
    match sum.count {
        1 => format!("1 object, {}", size(sum.bytes)),
        count => format!("{} objects, {} together", number(count), size(sum.bytes)),
    }
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
