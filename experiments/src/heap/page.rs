//! `--html`: what holds the memory of a heap, or what grew in it, as one page without the network.
//!
//! The page of a large heap must not be large: it has the largest places of the merged tree, the
//! largest classes, and the details of objects that a reader comes upon there.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use gclab_core::stats::render::is_unprintable;
use gclab_heap_traverse::analysis::{Analysis, Merged};
use gclab_heap_traverse::graph::GraphError;
use gclab_report::{HeapFacts, heap_page};
use serde::Serialize;

use super::holders::Held;
use super::words::{label, name, number, size, way};

/// The most places, classes and objects.
const PLACES: usize = 20_000;
pub(super) const CLASSES: usize = 500;
const OBJECTS: usize = 4_000;
/// The most numbers that the details of all objects take: about 8 MB.
const BUDGET: usize = 1_200_000;
/// The most referrers and fields of an object.
const ENDS: usize = 30;
/// The most steps at the start and at the end of a path.
const START: usize = 10;
const END: usize = 30;
/// What stands for the steps between.
const GAP: &str = "…";

/// A figure of a class, as the page writes it: `bytes` or `count`.
pub(super) type Column = (&'static str, &'static str);

/// A class: its name, its figures, and its largest object.
pub(super) struct Class {
    pub(super) name: String,
    pub(super) figures: Vec<i64>,
    pub(super) largest: Option<u32>,
}

/// What a page shows.
pub(super) struct Contents<'a> {
    pub(super) title: &'a str,
    pub(super) facts: &'a str,
    pub(super) analysis: &'a Analysis<'a>,
    pub(super) merged: &'a Merged,
    pub(super) suspects: Vec<&'a Held>,
    /// Of the figures of classes the first is the most important one.
    pub(super) columns: &'static [Column],
    pub(super) classes: Vec<Class>,
    pub(super) all_classes: usize,
    /// Whether the tree has what grew.
    pub(super) growth: bool,
}

/// The path from the root, the referrers or the fields: of each its name, and the id, name and
/// retained size of the object.
type Ends = Vec<u64>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    growth: bool,
    /// Bytes that the root reaches.
    bytes: u64,
    texts: Vec<&'a str>,
    /// The place above, the names of the way and the class, objects, bytes, and the largest object.
    places: Vec<[u64; 6]>,
    /// Id, bytes, path and parts.
    suspects: Vec<(u64, u64, String, Vec<String>)>,
    columns: Vec<Column>,
    /// The column that sorts at first.
    first: usize,
    /// The column with the id of the largest object.
    largest: usize,
    all_classes: usize,
    classes: Vec<Vec<Option<i64>>>,
    objects: Vec<Object>,
}

/// Id, name, text, bytes, retained bytes, path, referrers and their number, fields and their number.
type Object = (u64, u64, String, u64, u64, Ends, Ends, u64, Ends, u64);

/// Texts by number, each once.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    numbers: HashMap<String, u64>,
}

impl Texts {
    fn number(&mut self, text: &str) -> u64 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.all.len() as u64;
        self.numbers.insert(text.to_owned(), number);
        self.all.push(text.to_owned());
        number
    }
}

/// What refers to an object: the sources and the names of the references, and how many there are.
#[derive(Default)]
struct Referrers {
    first: Vec<(u32, u64)>,
    all: u64,
}

/// Writes the page.
///
/// # Errors
/// If there is not enough memory for the paths, or the file cannot be written.
pub(super) fn write(path: &Path, contents: &Contents<'_>) -> Result<(), String> {
    let data = data(contents).map_err(|error| error.to_string())?;
    let facts = HeapFacts {
        title: contents.title,
        facts: contents.facts,
        cautions: contents.analysis.snapshot().warnings(),
        data: &data.replace('<', "\\u003c").replace(is_unprintable, "\u{fffd}"),
    };
    fs::write(path, heap_page(&facts, contents.growth)).map_err(|error| format!("--html {}: {error}", path.display()))
}

fn data(contents: &Contents<'_>) -> Result<String, GraphError> {
    let Contents { analysis, merged, .. } = *contents;
    let mut texts = Texts::default();
    let id = |node: u32| analysis.snapshot().node(node).id().unwrap_or_default();
    // Most bytes first, so that each place comes behind the one above it, and before smaller ones.
    let mut order: Vec<u32> = (0..merged.len() as u32).collect();
    order.sort_by_key(|&place| (std::cmp::Reverse(merged.place(place).bytes), place));
    order.truncate(PLACES);
    let shown: HashMap<u32, u64> = order.iter().copied().zip(0..).collect();
    let places = order.iter().map(|&place| {
        let own = merged.place(place);
        let (way, class) = (texts.number(merged.way(place)), texts.number(merged.class(place)));
        [shown[&own.above], way, class, own.count, own.bytes, id(own.largest)]
    });
    let places: Vec<[u64; 6]> = places.collect();
    let by_id = |wanted: u64| analysis.snapshot().nodes().find(|node| node.id() == Some(wanted));
    let suspects = contents
        .suspects
        .iter()
        .filter_map(|held| by_id(held.id))
        .map(|node| node.ordinal());
    let classes = contents.classes.iter();
    let nodes = suspects
        .chain(order.iter().map(|&place| merged.place(place).largest).take(OBJECTS / 2))
        .chain(classes.clone().filter_map(|class| class.largest).take(OBJECTS / 4))
        .chain(analysis.largest(OBJECTS, |_| true)?);
    let objects = objects(analysis, &mut texts, nodes)?;
    let classes: Vec<Vec<Option<i64>>> = classes
        .map(|class| {
            let name = texts.number(&class.name) as i64;
            let figures = class.figures.iter().copied().map(Some);
            let largest = class.largest.map(|node| id(node).cast_signed());
            std::iter::once(Some(name)).chain(figures).chain([largest]).collect()
        })
        .collect();
    let data = Data {
        growth: contents.growth,
        bytes: analysis.reached_size(),
        texts: texts.all.iter().map(String::as_str).collect(),
        places,
        suspects: contents.suspects.iter().map(|held| suspect(held)).collect(),
        columns: [("class", "name")]
            .into_iter()
            .chain(contents.columns.iter().copied())
            .collect(),
        first: 1,
        largest: contents.columns.len() + 1,
        all_classes: contents.all_classes,
        classes,
        objects,
    };
    Ok(serde_json::to_string(&data).unwrap_or_default())
}

fn suspect(held: &Held) -> (u64, u64, String, Vec<String>) {
    let parts = held.parts.iter().map(|part| {
        let below = if part.path.is_empty() {
            String::new()
        } else {
            format!(" > {}", part.path)
        };
        format!("{} × {}: {}{below}", number(part.count), part.name, size(part.bytes))
    });
    let by = held.by.iter().filter(|by| !by.is_empty()).map(|by| format!("by {by}"));
    let path = match held.is_one {
        true => held.path.clone(),
        false => format!("{} × {}", number(held.count), held.path),
    };
    (held.id, held.bytes, path, by.chain(parts).collect())
}

/// The details of nodes, as many as there is room for.
fn objects(
    analysis: &Analysis<'_>,
    texts: &mut Texts,
    nodes: impl Iterator<Item = u32>,
) -> Result<Vec<Object>, GraphError> {
    let snapshot = analysis.snapshot();
    let mut chosen: HashMap<u32, Referrers> = HashMap::new();
    let mut order = Vec::new();
    for node in nodes {
        if order.len() < OBJECTS && !chosen.contains_key(&node) {
            chosen.insert(node, Referrers::default());
            order.push(node);
        }
    }
    for source in snapshot.nodes() {
        for edge in source.edges() {
            if let Some(own) = chosen.get_mut(&edge.target().ordinal()) {
                own.all += 1;
                if own.first.len() < ENDS {
                    own.first
                        .push((source.ordinal(), texts.number(&way(analysis, edge).unwrap_or_default())));
                }
            }
        }
    }
    let paths = analysis.paths();
    let end = |texts: &mut Texts, ends: &mut Ends, way: u64, node: u32| {
        let (id, name) = (
            snapshot.node(node).id().unwrap_or_default(),
            texts.number(&class(analysis, node)),
        );
        ends.extend([way, id, name, analysis.retained(node)]);
    };
    let (mut all, mut room) = (Vec::new(), BUDGET);
    for node in order {
        let own = snapshot.node(node);
        let (mut path, mut referrers, mut fields) = (Ends::new(), Ends::new(), Ends::new());
        let steps = paths.to(node).unwrap_or_default();
        for (at, &step) in steps.iter().enumerate() {
            if steps.len() > START + END && at == START {
                path.extend([texts.number(GAP), 0, 0, 0]);
            }
            if at < START || at + END >= steps.len() {
                let edge = at.checked_sub(1).and_then(|before| analysis.edge(steps[before], step));
                let way = edge.and_then(|edge| way(analysis, edge)).unwrap_or_default();
                let way = texts.number(&way);
                end(texts, &mut path, way, step);
            }
        }
        let known = &chosen[&node];
        for &(source, way) in &known.first {
            end(texts, &mut referrers, way, source);
        }
        for edge in own.edges().take(ENDS) {
            let way = texts.number(&way(analysis, edge).unwrap_or_default());
            end(texts, &mut fields, way, edge.target().ordinal());
        }
        let Some(rest) = room.checked_sub(path.len() + referrers.len() + fields.len()) else {
            break;
        };
        room = rest;
        let text = label(analysis, node).trim().trim_matches('"').to_owned();
        let name = texts.number(&class(analysis, node));
        all.push((
            own.id().unwrap_or_default(),
            name,
            text,
            own.self_size(),
            analysis.retained(node),
            path,
            referrers,
            known.all,
            fields,
            own.edges().len() as u64,
        ));
    }
    Ok(all)
}

/// The name of an object's class, or its type in brackets.
fn class(analysis: &Analysis<'_>, node: u32) -> String {
    match name(analysis, node) {
        name if name.is_empty() => format!("({})", analysis.snapshot().node(node).type_name()),
        name => name,
    }
}
