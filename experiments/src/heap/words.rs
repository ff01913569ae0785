//! Sizes, counts and objects of an analysis in words, for all renderers.

use std::borrow::Cow;

use gclab_core::stats::render::{commas, is_unprintable};
use gclab_heap_traverse::analysis::{Analysis, Rank, is_scope, rank};
use gclab_results::printable;
use gclab_snapshot::{Edge, EdgeName, Node};

/// The name of a function without one, of which its place tells more.
pub(super) const ANONYMOUS: &str = "anonymous";

/// Ways into the inner arrays of containers.
pub(super) const INNER: [&str; 6] = [
    ".table",
    ".backing_store",
    ".elements",
    ".properties",
    ".array Object[]",
    ".elementData Object[]",
];

/// A class after the name of a reference, which tells more than some classes do.
pub(super) fn class_word(class: &str) -> &str {
    if class == "Object" || class.starts_with(['(', '{']) || class.starts_with("system / ") || is_scope(class) {
        return "";
    }
    let is_library = rank(class) == Rank::Library;
    let start = class.rfind('.').filter(|_| is_library).map_or(0, |point| point + 1);
    &class[start..]
}

/// The most letters of a name that are shown.
pub(super) const NAME: usize = 60;
/// The most parts of a string that are joined.
const PIECES: usize = 1000;

/// Bytes, with three significant digits: `5.68 MB`.
pub(crate) fn size(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for larger in ["kB", "MB", "GB", "TB", "PB", "EB"] {
        if value < 999.5 {
            break;
        }
        (value, unit) = (value / 1000.0, larger);
    }
    match value {
        _ if unit == "B" => format!("{bytes} B"),
        value if value < 9.995 => format!("{value:.2} {unit}"),
        value if value < 99.95 => format!("{value:.1} {unit}"),
        value => format!("{value:.0} {unit}"),
    }
}

/// A whole number with a comma before each three digits: `725,800`.
pub(crate) fn number(number: impl TryInto<u64>) -> String {
    commas(number.try_into().unwrap_or(u64::MAX))
}

/// A number with its noun: `1 closure`, `2,000 closures`, `3 classes`.
pub(crate) fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    let ending = match count {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", number(count))
}

/// The columns of a line.
pub(super) const COLUMNS: usize = 80;

/// A line of at most 80 columns, cut if it is longer.
pub(super) fn fit(line: &str) -> String {
    fit_to(line.trim_end(), COLUMNS)
}

/// A text of at most `columns` columns. A longer one is cut at its end, or before the id of an object
/// that ends it, which the next command needs. It is measured as it is printed.
pub(super) fn fit_to(text: &str, columns: usize) -> String {
    let text = printable(text);
    if text.chars().nth(columns).is_none() {
        return text.into_owned();
    }
    let id = match text.rsplit_once(" @") {
        Some((_, id)) if id.bytes().all(|byte| byte.is_ascii_digit()) => &text[text.len() - id.len() - 2..],
        _ => "",
    };
    let room = columns.saturating_sub(1 + id.len());
    text.chars().take(room).chain(['…']).chain(id.chars()).collect()
}

/// Whether a word at the end of a function's name is its place: `server.js:13:52`.
pub(super) fn is_place(word: &str) -> bool {
    word.matches(':').count() > 1 && word.ends_with(|last: char| last.is_ascii_digit())
}

/// `part` in percent of `whole`.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// A name on one line, cut if it is long.
pub(super) fn cut(name: &str) -> String {
    let mut cut: String = name.chars().take(NAME).collect();
    if cut.len() < name.len() {
        cut.push('…');
    }
    cut.replace(|c: char| c.is_control() || is_unprintable(c), " ")
}

/// A string of the file, cut if it is long.
fn string(analysis: &Analysis<'_>, index: Option<u32>) -> String {
    let strings = analysis.snapshot().strings();
    cut(&index.map_or(Cow::Borrowed(""), |index| strings.start(index, NAME + 1)))
}

/// The name of a node, cut if it is long; may be empty.
pub(super) fn name(analysis: &Analysis<'_>, node: u32) -> String {
    string(analysis, analysis.snapshot().node(node).name_index())
}

/// The type and the name of a node, as its class is shown: `object Array`. The name of a Haskell
/// constructor says that it is one.
pub(super) fn class(analysis: &Analysis<'_>, node: u32) -> String {
    let kind = match analysis.snapshot().node(node).type_name() {
        "constructor" => "",
        kind => kind,
    };
    format!("{kind} {}", name(analysis, node)).trim().to_owned()
}

/// A node with its id: `object Array @149117`.
pub(super) fn object(analysis: &Analysis<'_>, node: u32) -> String {
    let id = analysis.snapshot().node(node).id().unwrap_or_default();
    format!("{} @{id}{}", class(analysis, node), label(analysis, node))
}

/// The object in a field.
pub(super) fn field<'s>(node: Node<'s>, name: &str) -> Option<Node<'s>> {
    let mut edges = node.edges();
    edges.find(|edge| edge.name_text() == name).map(|edge| edge.target())
}

/// The text of a string that V8 has in two parts; of one in very many, its end.
pub(super) fn joined(node: Node<'_>) -> Option<String> {
    let is_joined = |node: Node<'_>| node.type_name() == "concatenated string";
    let (mut texts, mut open) = (Vec::new(), vec![node]);
    while let Some(node) = open.pop() {
        match is_joined(node) {
            true if texts.len() + open.len() < PIECES => {
                open.extend(["first", "second"].iter().filter_map(|part| field(node, part)));
            }
            true => {
                texts.push(Cow::Borrowed("…"));
                break;
            }
            false => texts.push(node.name()),
        }
    }
    texts.reverse();
    is_joined(node).then(|| texts.concat())
}

/// The text by which people recognise a node, after its id.
pub(super) fn label(analysis: &Analysis<'_>, node: u32) -> String {
    let node = analysis.snapshot().node(node);
    let label = node.label().or_else(|| joined(node).map(Cow::Owned));
    label.map_or_else(String::new, |label| format!(" \"{}\"", cut(&label)))
}

/// The name of the reference from one node to another, if there is one: `.next`, `[3]`.
pub(super) fn reference(analysis: &Analysis<'_>, from: u32, to: u32) -> Option<String> {
    way(analysis, analysis.edge(from, to)?)
}

/// The name of a reference, if it has one.
pub(super) fn way(analysis: &Analysis<'_>, edge: Edge<'_>) -> Option<String> {
    let kind = edge.type_name();
    Some(match edge.name()? {
        EdgeName::Index(index) if kind == "element" => format!("[{index}]"),
        EdgeName::Index(index) => format!("{kind} {index}"),
        EdgeName::String(index) => match string(analysis, Some(index)) {
            // V8 numbers the internal references of its roots.
            name if name.bytes().all(|byte| byte.is_ascii_digit()) => format!("{kind} {name}"),
            // References of a JVM that are not fields.
            name if name.starts_with('<') => name,
            name => format!(".{name}"),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{counted, fit_to, number, size};

    #[test]
    fn a_long_line_keeps_the_id_at_its_end() {
        assert_eq!(
            fit_to(".table java.util.HashMap$Node[] @4150", 20),
            ".table java.u… @4150"
        );
        assert_eq!(fit_to("user@host holds 1,000 Session", 12), "user@host h…");
        assert_eq!(fit_to("short @7", 12), "short @7");
    }

    #[test]
    fn large_figures_can_be_read() {
        let numbers = [0_u64, 999, 1000, 725_800, 1_000_000].map(number);
        assert_eq!(numbers, ["0", "999", "1,000", "725,800", "1,000,000"]);
        assert_eq!([999, 1000, u64::MAX].map(size), ["999 B", "1.00 kB", "18.4 EB"]);
    }

    #[test]
    fn one_is_singular() {
        let texts = [0_u64, 1, 2, 1000].map(|count| counted(count, "closure"));
        assert_eq!(texts, ["0 closures", "1 closure", "2 closures", "1,000 closures"]);
        assert_eq!(
            [1_u64, 3].map(|count| counted(count, "class")),
            ["1 class", "3 classes"]
        );
    }
}
