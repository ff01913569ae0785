//! An analysis as JSON: plain lists of objects and classes, with nothing folded.
//!
//! Names are decoded while they are written, so a long one is in memory only once.

use std::borrow::Cow;
use std::io::{BufWriter, Error, ErrorKind, Write};
use std::process::ExitCode;

use gclab_heap_traverse::OutOfMemory;
use gclab_heap_traverse::analysis::{Analysis, ClassHolding, Named, Sum};
use gclab_results::printable;
use gclab_snapshot::{Edge, Node, Usage};
use serde::{Serialize, Serializer};

use super::arguments::Extent;
use super::holders::{Held, findings};
use crate::common::{fail, refuse};

/// The whole analysis, as `--json` prints it.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    /// The name of the file.
    file: &'a str,
    /// Faults of the file that did not keep it from being read.
    warnings: &'a [String],
    /// Of a JVM's dump: the layout of objects from which the sizes follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<&'a str>,
    /// Of a GHC program: what the blocks of its heap are used for, in bytes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocks: Vec<Block<'a>>,
    /// Objects in the file.
    nodes: u32,
    /// References in the file, weak ones included.
    edges: u32,
    /// References that keep their targets alive.
    strong_edges: u32,
    /// Objects that the root reaches over strong references.
    reached: usize,
    /// Bytes of all objects.
    self_size: u64,
    /// Bytes of the objects that the root reaches.
    reached_size: u64,
    /// The holders of much of the heap, largest first.
    suspects: Vec<Held>,
    /// The nodes that retain most, largest first; of equals the lower ordinal first.
    retained: Vec<Object<'a>>,
    /// The classes that retain most, largest first; of equals the one that comes first in the file.
    classes: Vec<Class<'a>>,
    /// All types, most bytes first.
    types: Vec<Count<&'a str>>,
    /// The names with most bytes, most bytes first.
    names: Vec<Count<GroupName<'a>>>,
    /// With `--path-to`: the path; empty if the root does not reach the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Vec<Step<'a>>>,
}

/// An object of the file.
#[derive(Serialize)]
pub(super) struct Object<'a> {
    pub(super) id: u64,
    #[serde(rename = "type")]
    kind: &'a str,
    pub(super) name: Name<'a>,
    /// The name of a thread or class loader, or the beginning of a string.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    pub(super) self_size: u64,
    pub(super) retained_size: u64,
}

/// A class of objects.
#[derive(Serialize)]
struct Class<'a> {
    name: Name<'a>,
    #[serde(rename = "type")]
    kind: &'a str,
    count: u32,
    shallow_size: u64,
    retained_size: u64,
}

/// The blocks of one kind.
#[derive(Serialize)]
struct Block<'a> {
    name: &'a str,
    live: u64,
    dead: u64,
    free: u64,
}

/// The number of objects of one type or name.
#[derive(Serialize)]
struct Count<N> {
    name: N,
    count: u64,
    self_size: u64,
}

/// An object, and the reference that leads to it, or from it to the object that is asked for.
#[derive(Serialize)]
pub(super) struct Step<'a> {
    #[serde(flatten)]
    pub(super) object: Object<'a>,
    /// None leads to the root.
    pub(super) edge: Option<Reference<'a>>,
}

/// A reference of the file.
#[derive(Serialize)]
pub(super) struct Reference<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    pub(super) name: EdgeText<'a>,
}

pub(super) struct Name<'a>(pub(super) Node<'a>);

/// The name of an edge as text.
pub(super) struct EdgeText<'a>(pub(super) Edge<'a>);

/// The name of a class, or a type in brackets.
enum GroupName<'a> {
    Class(Node<'a>),
    Type(&'a str),
}

/// A name that is longer, in bytes, may have no room beside the file's own text.
const LONG: usize = 1 << 16;

/// Fails if there is no room to decode a text of `bytes` bytes.
fn room<E: serde::ser::Error>(bytes: usize) -> Result<(), E> {
    match bytes {
        ..LONG => Ok(()),
        _ => Vec::<u8>::new()
            .try_reserve_exact(bytes)
            .map_err(|_| E::custom(OutOfMemory)),
    }
}

impl Serialize for Name<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        room(self.0.name_bytes())?;
        serializer.serialize_str(&self.0.name())
    }
}

impl Serialize for EdgeText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.name_text())
    }
}

impl Serialize for GroupName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            GroupName::Class(node) => Name(*node).serialize(serializer),
            GroupName::Type(kind) => serializer.collect_str(&format_args!("({kind})")),
        }
    }
}

/// Makes text [`printable`]. A writer of JSON splits no character.
struct Printable<W>(W);

impl<W: Write> Write for Printable<W> {
    fn write(&mut self, text: &[u8]) -> Result<usize, Error> {
        let plain = printable(std::str::from_utf8(text).map_err(Error::other)?);
        self.0.write_all(plain.as_bytes()).map(|()| text.len())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.0.flush()
    }
}

/// Prints a report or an answer.
pub(super) fn write(file: &str, report: &impl Serialize) -> ExitCode {
    let mut out = Printable(BufWriter::new(std::io::stdout().lock()));
    let written = match serde_json::to_writer_pretty(&mut out, report) {
        Err(error) if !error.is_io() => return refuse(format!("{file}: {error}")),
        written => written.map_err(Error::from),
    };
    let written = written.and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
    match written {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that closes the pipe early is not an error.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => fail(format!("standard output: {error}")),
    }
}

/// The whole analysis with the first objects, classes and names.
///
/// # Errors
/// If there is not enough memory for the lists.
pub(super) fn report<'a>(
    file: &'a str,
    analysis: &Analysis<'a>,
    Extent { top, synthetic, .. }: Extent,
    path: Option<&[u32]>,
) -> Result<Report<'a>, OutOfMemory> {
    let is_wanted = |node: u32| synthetic || !analysis.is_synthetic(node);
    let found = findings(analysis, top, synthetic)?;
    let snapshot = analysis.snapshot();
    let self_size = found.types.iter().map(|(_, sum)| sum.bytes).sum();
    let retained = analysis.largest(top, is_wanted)?.into_iter();
    let count = |kind: u8, sum: Sum| Count {
        name: snapshot.node_type_names()[usize::from(kind)].as_str(),
        count: sum.count,
        self_size: sum.bytes,
    };
    Ok(Report {
        file,
        warnings: snapshot.warnings(),
        layout: snapshot.layout(),
        blocks: snapshot.blocks().iter().map(block).collect(),
        nodes: snapshot.node_count(),
        edges: snapshot.edge_count(),
        strong_edges: analysis.strong_edges(),
        reached: analysis.reached(),
        self_size,
        reached_size: analysis.reached_size(),
        suspects: found.suspects,
        retained: retained.map(|node| object(analysis, node)).collect(),
        classes: found
            .classes
            .into_iter()
            .map(|holding| class(analysis, holding))
            .collect(),
        types: found.types.into_iter().map(|(kind, sum)| count(kind, sum)).collect(),
        names: analysis
            .names(top)?
            .into_iter()
            .map(|named| name(analysis, named))
            .collect(),
        path: path.map(|path| steps(analysis, path)),
    })
}

fn block((name, usage): &(String, Usage)) -> Block<'_> {
    let Usage { live, dead, free } = *usage;
    Block { name, live, dead, free }
}

pub(super) fn object<'a>(analysis: &Analysis<'a>, node: u32) -> Object<'a> {
    let own = analysis.snapshot().node(node);
    Object {
        id: own.id().unwrap_or_default(),
        kind: own.type_name(),
        name: Name(own),
        text: own.label(),
        self_size: own.self_size(),
        retained_size: analysis.retained(node),
    }
}

fn class<'a>(analysis: &Analysis<'a>, holding: ClassHolding) -> Class<'a> {
    let figures = holding.figures;
    let first = analysis.snapshot().node(figures.first);
    Class {
        name: Name(first),
        kind: first.type_name(),
        count: figures.count,
        shallow_size: figures.shallow,
        retained_size: holding.retained,
    }
}

fn name<'a>(analysis: &Analysis<'a>, named: Named) -> Count<GroupName<'a>> {
    let example = analysis.snapshot().node(named.example);
    Count {
        name: if analysis.has_class_name(named.example) {
            GroupName::Class(example)
        } else {
            GroupName::Type(example.type_name())
        },
        count: named.sum.count,
        self_size: named.sum.bytes,
    }
}

fn steps<'a>(analysis: &Analysis<'a>, path: &[u32]) -> Vec<Step<'a>> {
    let before = std::iter::once(None).chain(path.iter().copied().map(Some));
    before
        .zip(path)
        .map(|(before, &node)| step(analysis, node, before.and_then(|before| analysis.edge(before, node))))
        .collect()
}

/// A node with an edge to it or from it.
pub(super) fn step<'a>(analysis: &Analysis<'a>, node: u32, edge: Option<Edge<'a>>) -> Step<'a> {
    Step {
        object: object(analysis, node),
        edge: edge.map(|edge| Reference {
            kind: edge.type_name(),
            name: EdgeText(edge),
        }),
    }
}
