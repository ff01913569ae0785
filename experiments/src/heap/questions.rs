//! Questions about the heap of a file: which objects, what refers to one, equal strings, and
//! collections that are mostly empty.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use clap::Args as ClapArgs;
use gclab_heap_traverse::analysis::Analysis;
use gclab_results::shell_line;
use gclab_snapshot::Node;
use serde::Serialize;

use super::arguments::{Extent, id};
use super::holders::without_package;
use super::json::{Object, Step, object, step};
use super::words::{self, counted, field, fit, number, size};

/// The part of its slots up to which a collection is mostly empty: a quarter.
const FILLED: u64 = 4;
/// The classes that collections of java.util extend.
const COLLECTIONS: [&str; 3] = [
    "java.util.AbstractCollection",
    "java.util.AbstractMap",
    "java.util.Dictionary",
];
/// The most classes above one that are looked at.
const DEEPEST: usize = 64;

/// One of these, in place of the analysis.
#[derive(Debug, ClapArgs)]
#[group(multiple = false)]
pub(super) struct Question {
    /// List the objects whose class, name or text is NAME, in which `*` is any text
    #[arg(long, value_name = "NAME", help_heading = "Questions")]
    objects: Option<String>,
    /// Show the fields of the object with this id, and all that refers to it
    #[arg(long, value_name = "ID", value_parser = id, help_heading = "Questions")]
    about: Option<u64>,
    /// List strings that are equal to others
    #[arg(long, help_heading = "Questions")]
    strings: bool,
    /// List the classes of a JVM's collections that are mostly empty
    #[arg(long, help_heading = "Questions")]
    collections: bool,
}

/// The answer to a question.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Answer<'a> {
    Objects {
        /// All objects that match, and their own bytes.
        count: usize,
        self_size: u64,
        /// Those that retain most, largest first.
        objects: Vec<Object<'a>>,
    },
    About {
        object: Box<Object<'a>>,
        /// The kinds of roots that refer to it.
        roots: Vec<Cow<'a, str>>,
        fields: Vec<Step<'a>>,
        referrers: Vec<Step<'a>>,
    },
    Strings {
        /// The bytes of all strings of which there is an equal one, but for one of each.
        wasted: u64,
        /// The texts that waste most, largest first.
        strings: Vec<Equal<'a>>,
    },
    Collections {
        /// The bytes of slots without an element.
        wasted: u64,
        /// The classes that waste most, largest first.
        collections: Vec<Fill<'a>>,
    },
}

/// Strings with one text.
#[derive(Serialize)]
pub(super) struct Equal<'a> {
    text: Cow<'a, str>,
    count: u64,
    wasted: u64,
    /// One of them.
    id: u64,
}

/// The collections of a class.
#[derive(Default, Serialize)]
pub(super) struct Fill<'a> {
    name: Cow<'a, str>,
    count: u64,
    /// Those without an element.
    empty: u64,
    /// Those of which at most a quarter of the slots has an element, these included.
    mostly_empty: u64,
    slots: u64,
    elements: u64,
    wasted: u64,
}

impl Question {
    /// The answer, if there is a question.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(super) fn answer<'a>(&self, analysis: &'a Analysis<'a>, extent: Extent) -> Result<Option<Answer<'a>>, String> {
        let answer = match self {
            Question {
                objects: Some(name), ..
            } => objects(analysis, name, extent)?,
            Question { about: Some(id), .. } => about(analysis, *id, extent)?,
            Question { strings: true, .. } => strings(analysis, extent.top)?,
            Question { collections: true, .. } => collections(analysis, extent.top)?,
            _ => return Ok(None),
        };
        Ok(Some(answer))
    }
}

/// Whether a text is `pattern`, in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(start) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

fn objects<'a>(analysis: &'a Analysis<'a>, name: &str, extent: Extent) -> Result<Answer<'a>, String> {
    let strings = analysis.snapshot().strings();
    // A class is known without its package, too, and by the name that its source has: `Outer.Inner`.
    let dotted = |text: &str| text.replace('$', ".");
    let wanted = Some(dotted(name)).filter(|name| !name.contains('*'));
    let short = |text: &str| {
        let text = dotted(text);
        let before = wanted.as_deref().and_then(|name| text.strip_suffix(name));
        before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    // A function is known without its place.
    let is_function = |node: Node<'_>| {
        let text = node.name();
        let function = text.rsplit_once(' ').filter(|(_, place)| words::is_place(place));
        node.type_name() == "closure" && function.is_some_and(|(function, _)| function == name)
    };
    let mut known: HashMap<(bool, u32), bool> = HashMap::new();
    let mut is_named = |is_class: bool, index: Option<u32>| {
        index.is_some_and(|index| {
            *known.entry((is_class, index)).or_insert_with(|| {
                let text = strings.get(index);
                matches(name, &text) || is_class && short(&text)
            })
        })
    };
    let least = extent.above.map_or(0, |least| least.0 as u64);
    let (mut found, mut functions, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for node in analysis.snapshot().nodes() {
        let ordinal = node.ordinal();
        if analysis.retained(ordinal) < least || !extent.synthetic && analysis.is_synthetic(ordinal) {
            continue;
        }
        let is_class = analysis.has_class_name(ordinal);
        if is_class && is_named(true, node.name_index()) {
            found.push(ordinal);
        } else if is_function(node) {
            functions.push(ordinal);
        } else if is_named(false, node.label_index())
            || !is_class && is_named(false, node.name_index())
            || words::joined(node).is_some_and(|text| matches(name, &text))
        {
            texts.push(ordinal);
        }
    }
    // The name of a class means its objects, and not also functions or texts that are the same.
    if found.is_empty() {
        found = functions;
    }
    if found.is_empty() || name.contains('*') {
        found.append(&mut texts);
    }
    if found.is_empty() {
        let least = extent
            .above
            .map_or_else(String::new, |_| format!(" and retains {}", size(least)));
        return Err(format!("no object is called `{name}`{least}; `*` stands for any text"));
    }
    let self_size = found
        .iter()
        .map(|&node| analysis.snapshot().node(node).self_size())
        .sum();
    let count = found.len();
    found.sort_by_key(|&node| (Reverse(analysis.retained(node)), node));
    found.truncate(extent.top);
    let objects = found.into_iter().map(|node| object(analysis, node)).collect();
    Ok(Answer::Objects {
        count,
        self_size,
        objects,
    })
}

fn about<'a>(analysis: &'a Analysis<'a>, id: u64, extent: Extent) -> Result<Answer<'a>, String> {
    let snapshot = analysis.snapshot();
    let own = snapshot.nodes().find(|node| node.id() == Some(id));
    let own = own.ok_or_else(|| format!("no object has the id {id}; `--top` lists some that exist"))?;
    let (mut roots, mut referrers) = (Vec::new(), Vec::new());
    let all = analysis
        .referrers(&[own.ordinal()])
        .map_err(|error| error.to_string())?;
    for (source, edge) in all.to(own.ordinal()) {
        let name = || snapshot.node(source).name();
        match extent.synthetic || !analysis.is_synthetic(source) {
            true => referrers.push(step(analysis, source, Some(edge))),
            false if !roots.contains(&name()) => roots.push(name()),
            false => {}
        }
    }
    let fields = own
        .edges()
        .map(|edge| step(analysis, edge.target().ordinal(), Some(edge)));
    Ok(Answer::About {
        object: Box::new(object(analysis, own.ordinal())),
        roots,
        fields: fields.collect(),
        referrers,
    })
}

fn strings<'a>(analysis: &'a Analysis<'a>, top: usize) -> Result<Answer<'a>, String> {
    // By string of the file, and size: the strings with that text, their bytes, and one of them with
    // its bytes. V8 cuts texts, so those of two sizes are two.
    let mut equal: HashMap<(u32, u64), (u64, u64, Node<'_>, u64)> = HashMap::new();
    let mut arrays: HashMap<u32, ()> = HashMap::new();
    let is_jvm = analysis.snapshot().layout().is_some();
    for node in analysis.snapshot().nodes() {
        let (text, array) = match is_jvm {
            true if node.name() == "java.lang.String" => (node.label_index(), field(node, "value")),
            false if node.type_name() == "string" => (node.name_index(), None),
            _ => continue,
        };
        let Some(text) = text else { continue };
        // Equal strings may share their letters.
        let letters = array.filter(|array| arrays.insert(array.ordinal(), ()).is_none());
        let bytes = node.self_size() + letters.map_or(0, Node::self_size);
        let whole = node.self_size() + array.map_or(0, Node::self_size);
        let key = if is_jvm { 0 } else { node.self_size() };
        let own = equal.entry((text, key)).or_insert((0, 0, node, whole));
        own.0 += 1;
        own.1 += bytes;
    }
    if equal.is_empty() {
        return Err("only V8's snapshots and a JVM's dumps have the texts of strings".to_owned());
    }
    let mut found: Vec<_> = equal.into_iter().filter(|(_, own)| own.0 > 1).collect();
    let wasted = found.iter().map(|(_, own)| own.1 - own.3).sum();
    found.sort_by_key(|&((text, _), (_, bytes, node, whole))| (Reverse(bytes - whole), text, node.ordinal()));
    let strings = found
        .into_iter()
        .take(top)
        .map(|((text, _), (count, bytes, node, whole))| Equal {
            text: analysis.snapshot().strings().start(text, words::NAME),
            count,
            wasted: bytes - whole,
            id: node.id().unwrap_or_default(),
        });
    Ok(Answer::Strings {
        wasted,
        strings: strings.collect(),
    })
}

/// Whether the objects of a class are collections of java.util's, or extend them.
fn is_collection(class: Node<'_>) -> bool {
    let classes = std::iter::successors(Some(class), |&class| field(class, "<superclass>"));
    let mut names = classes.take(DEEPEST).map(Node::name);
    names.any(|name| COLLECTIONS.contains(&name.as_ref()))
}

fn collections<'a>(analysis: &'a Analysis<'a>, top: usize) -> Result<Answer<'a>, String> {
    let snapshot = analysis.snapshot();
    let Some(slot) = snapshot.slot() else {
        return Err("only a JVM's dump tells how full collections are".to_owned());
    };
    let own_array = |node: Node<'a>| {
        let mut arrays = node
            .edges()
            .map(|edge| edge.target())
            .filter(|to| to.type_name() == "object array");
        arrays.find(|array| analysis.holder(array.ordinal()) == Some(node.ordinal()))
    };
    let class_of = |node: Node<'_>| analysis.classes().of_nodes()[node.ordinal() as usize];
    let objects = || snapshot.nodes().filter(|node| node.type_name() == "object");
    let mut of_class: BTreeMap<u32, Option<Fill<'a>>> = BTreeMap::new();
    // Of a class that has arrays of slots, an object may have none yet.
    for node in objects().filter(|&node| own_array(node).is_some()) {
        of_class.entry(class_of(node)).or_insert_with(|| {
            let is_wanted = field(node, "<class>").is_some_and(is_collection);
            is_wanted.then(|| Fill {
                name: node.name(),
                ..Fill::default()
            })
        });
    }
    for node in objects() {
        let Some(Some(own)) = of_class.get_mut(&class_of(node)) else {
            continue;
        };
        let array = own_array(node);
        let elements = array.map_or(0, |array| {
            array.edges().filter(|edge| edge.type_name() == "element").count() as u64
        });
        let slots = array.and_then(|array| snapshot.slots(array)).unwrap_or(0).max(elements);
        own.count += 1;
        own.empty += u64::from(elements == 0);
        own.mostly_empty += u64::from(elements * FILLED <= slots);
        own.slots += slots;
        own.elements += elements;
        // An empty one is for nothing as a whole.
        own.wasted += match elements {
            0 => node.self_size() + array.map_or(0, Node::self_size),
            _ if elements * FILLED <= slots => (slots - elements) * slot,
            _ => 0,
        };
    }
    let mut found: Vec<Fill<'a>> = of_class
        .into_values()
        .flatten()
        .filter(|own| own.mostly_empty > 0)
        .collect();
    let wasted = found.iter().map(|own| own.wasted).sum();
    found.sort_by(|one, other| (other.wasted, &one.name).cmp(&(one.wasted, &other.name)));
    found.truncate(top);
    Ok(Answer::Collections {
        wasted,
        collections: found,
    })
}

/// An answer in words: the first line says it.
pub(super) fn text(file: Option<&str>, analysis: &Analysis<'_>, answer: &Answer<'_>, top: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let next = |words: String| file.map(|file| format!("next: gclab heap analyse {file} {words}"));
    let shown = |node: Node<'_>| words::object(analysis, node.ordinal());
    match answer {
        Answer::Objects {
            count,
            self_size,
            objects,
        } => {
            lines.push(format!(
                "{} of {} themselves",
                counted(*count as u64, "object"),
                size(*self_size)
            ));
            if let Some(first) = objects.first() {
                lines.extend(next(format!("--about {}", first.id)));
            }
            lines.push(format!("\n{:>10} {:>10}  object", "retained", "itself"));
            lines.extend(objects.iter().map(|object| {
                let (retained, own) = (size(object.retained_size), size(object.self_size));
                format!("{retained:>10} {own:>10}  {}", shown(object.name.0))
            }));
            lines.extend(left(*count, objects.len()));
        }
        Answer::About {
            object,
            roots,
            fields,
            referrers,
        } => {
            let (retained, own) = (size(object.retained_size), size(object.self_size));
            lines.push(format!("{retained} retained, {own} itself: {}", shown(object.name.0)));
            lines.extend(next(format!("--path-to {}", object.id)));
            let part = |steps: &[Step<'_>], show: &dyn Fn(&str, String) -> String| -> Vec<String> {
                let rows = steps.iter().take(top).map(|step| {
                    let edge = step.edge.as_ref().map(|edge| edge.name.0);
                    let how = if edge.is_some_and(|edge| !edge.is_strong()) {
                        "weakly, by "
                    } else {
                        ""
                    };
                    let way = edge.and_then(|edge| words::way(analysis, edge)).unwrap_or_default();
                    let retained = size(step.object.retained_size);
                    format!("{retained:>10}  {how}{}", show(&way, shown(step.object.name.0)))
                });
                rows.chain(left(steps.len(), top)).collect()
            };
            lines.push(format!(
                "\n{:>10}  {} from it",
                "retained",
                counted(fields.len() as u64, "reference")
            ));
            lines.extend(part(fields, &|way, object| format!("{way} {object}")));
            let all = counted((roots.len() + referrers.len()) as u64, "reference");
            lines.push(format!("\n{:>10}  {all} to it", "retained"));
            lines.extend(
                roots
                    .iter()
                    .map(|root| format!("{:>10}  the roots {}", "", words::cut(root))),
            );
            lines.extend(part(referrers, &|way, object| format!("{object} {way}")));
        }
        Answer::Strings { wasted, strings } => {
            lines.push(match wasted {
                0 => "no two strings are equal".to_owned(),
                _ => format!("{} wasted by duplicate strings", size(*wasted)),
            });
            if let Some(first) = strings.first() {
                lines.extend(next(format!("--about {}", first.id)));
                lines.push(format!("\n{:>10} {:>10}  text", "wasted", "strings"));
            }
            lines.extend(strings.iter().map(|equal| {
                let (wasted, count) = (size(equal.wasted), number(equal.count));
                format!(
                    "{wasted:>10} {count:>10}  \"{}\" (@{})",
                    words::cut(&equal.text),
                    equal.id
                )
            }));
        }
        Answer::Collections { wasted, collections } => {
            lines.push(match wasted {
                0 => "no collection is mostly empty".to_owned(),
                _ => format!("{} wasted by mostly empty collections", size(*wasted)),
            });
            if let Some(first) = collections.first() {
                let class = [without_package(&first.name).to_owned()];
                lines.extend(next(format!("--objects {}", shell_line(&class))));
                let heads = ["wasted", "all", "empty", "mostly", "full"];
                let [wasted, all, empty, mostly, full] = heads;
                lines.push(format!(
                    "\n{wasted:>10} {all:>9} {empty:>9} {mostly:>9} {full:>6}  class"
                ));
            }
            lines.extend(collections.iter().map(|own| {
                let [all, empty, mostly] = [own.count, own.empty, own.mostly_empty].map(number);
                let full = words::percent(own.elements, own.slots);
                format!(
                    "{:>10} {all:>9} {empty:>9} {mostly:>9} {full:>4.0} %  {}",
                    size(own.wasted),
                    own.name
                )
            }));
        }
    }
    let mut out = String::new();
    for line in lines.iter().flat_map(|line| line.split('\n')) {
        // A command is not cut.
        out += &if line.starts_with("next: ") {
            line.to_owned()
        } else {
            fit(line)
        };
        out.push('\n');
    }
    out
}

/// The line for those that are not shown.
fn left(all: usize, shown: usize) -> Option<String> {
    let left = all.checked_sub(shown).filter(|&left| left > 0)?;
    Some(format!("{:>10}  … {} more: --top N", "", number(left as u64)))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_is_any_text() {
        for (pattern, text) in [
            ("ab", "ab"),
            ("a*", "a"),
            ("*b", "ab"),
            ("a*c*e", "abcde"),
            ("*", ""),
            ("**", "x"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("ab", "abc"),
            ("a*b", "a"),
            ("ab*ba", "aba"),
            ("*x*", "abc"),
            ("a*c*c", "abc"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}
