//! A snapshot in memory: columns of nodes and edges, and views of one node or edge.
//!
//! **Invariants** (checked by the reader): `first_edge` has one entry more than there are nodes,
//! grows, and ends at the number of edges; targets are ordinals of nodes; types index the lists of
//! names; names, where kept together with the strings, index the strings. A column that was left
//! out is empty.

use std::borrow::Cow;
use std::ops::Range;

use hashbrown::HashSet;

use crate::error::Problem;
use crate::memory::push;
use crate::strings::Strings;

/// The heap of a program as V8 or a JVM wrote it, or as a core file has it.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The size of the file in bytes, decompressed.
    pub(crate) bytes: u64,
    pub(crate) warnings: Vec<String>,
    pub(crate) layout: Option<String>,
    /// Of arrays of references of a JVM: the bytes before the first slot, and those of a slot.
    pub(crate) array: Option<(u64, u64)>,
    pub(crate) blocks: Vec<(String, Usage)>,
    pub(crate) node_type_names: Vec<String>,
    pub(crate) edge_type_names: Vec<String>,
    pub(crate) weak_type: Option<u8>,
    /// By edge type: whether `name_or_index` is a plain number.
    pub(crate) indexed_types: Vec<bool>,
    pub(crate) node_types: Vec<u8>,
    pub(crate) node_names: Vec<u32>,
    pub(crate) node_ids: Vec<u64>,
    pub(crate) self_sizes: Vec<u64>,
    pub(crate) first_edge: Vec<u32>,
    pub(crate) edge_types: Vec<u8>,
    pub(crate) edge_names: Vec<u32>,
    /// By edge: its target. Once the snapshot is whole: the source, if the edge is weak.
    pub(crate) targets: Vec<u32>,
    /// The places of weak edges among all edges, and their targets.
    pub(crate) weak: Vec<(u32, u32)>,
    pub(crate) strings: Strings,
    /// Strings of a JVM whose letters have two bytes, in the order of nodes.
    pub(crate) wide: Vec<u32>,
    /// Nodes that readers know by a text, with the string, in the order of nodes.
    pub(crate) labels: Vec<(u32, u32)>,
    /// The names of classes of Node.js itself.
    pub(crate) built_in: HashSet<u32>,
}

/// The memory of one use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of closures that the roots reach.
    pub live: u64,
    /// Bytes that were allocated for others: garbage that no collection has freed.
    pub dead: u64,
    /// Bytes in which nothing was allocated yet.
    pub free: u64,
}

/// The name of a kind of roots that only our own dumps have, and the nodes among which it is.
const FRAMES: &str = "(Frames)";
const OURS_WITHIN: usize = 8;

impl Snapshot {
    /// The number of bytes that were read, decompressed.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Faults of the file that did not keep it from being read, a sentence each: parts that are
    /// missing, and what stands in their place.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The layout of objects from which the sizes of a JVM's heap dump follow, in words. `None` for
    /// other files, which have the sizes.
    pub fn layout(&self) -> Option<&str> {
        self.layout.as_deref()
    }

    /// The bytes of a reference of a JVM. `None` for other files.
    pub fn slot(&self) -> Option<u64> {
        self.array.map(|(_, slot)| slot)
    }

    /// The slots of an array of references of a JVM, or somewhat more, where objects are aligned to
    /// more than a slot. `None` for other files.
    pub fn slots(&self, array: Node<'_>) -> Option<u64> {
        self.array
            .map(|(head, slot)| array.self_size().saturating_sub(head) / slot)
    }

    /// The memory of a GHC program by kind of its blocks. Empty for other files.
    pub fn blocks(&self) -> &[(String, Usage)] {
        &self.blocks
    }

    /// Whether an object has the same id in a later file of the same heap. Those of V8 have; the
    /// ids of JVMs and of GHC are addresses, and ours are the order in which objects were met.
    pub fn has_stable_ids(&self) -> bool {
        self.layout.is_none()
            && self.blocks.is_empty()
            && !self.nodes().take(OURS_WITHIN).any(|node| node.name() == FRAMES)
    }

    /// The number of nodes. Their ordinals are below it.
    pub fn node_count(&self) -> u32 {
        self.node_types.len() as u32
    }

    /// The number of edges, parallel and weak ones included.
    pub fn edge_count(&self) -> u32 {
        self.targets.len() as u32
    }

    /// The number of edges that are not weak.
    pub fn strong_edge_count(&self) -> u32 {
        self.edge_count() - self.weak.len() as u32
    }

    /// By node: the place of its first edge among all edges, and then their number. By edge: the
    /// ordinal of its target, or of its source if it is weak. So these are the rows of a graph in
    /// which weak edges keep nothing alive.
    pub fn strong_rows(&self) -> (&[u32], &[u32]) {
        (&self.first_edge, &self.targets)
    }

    /// Adds the texts by which readers know some nodes.
    pub(crate) fn add_labels(&mut self, strings: &Strings, mut labels: Vec<(u32, u32)>) -> Result<(), Problem> {
        let first = self.strings.append(strings)?;
        labels.iter_mut().for_each(|label| label.1 += first);
        self.labels = labels;
        Ok(())
    }

    /// Completes the snapshot, once the types of all edges are known.
    pub(crate) fn complete(&mut self) -> Result<(), Problem> {
        for node in 0..self.node_count() {
            for place in self.node(node).edge_range() {
                if Some(self.edge_types[place as usize]) == self.weak_type {
                    let target = std::mem::replace(&mut self.targets[place as usize], node);
                    push(&mut self.weak, (place, target))?;
                }
            }
        }
        Ok(())
    }

    /// The node with this ordinal.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn node(&self, ordinal: u32) -> Node<'_> {
        assert!(ordinal < self.node_count(), "node {ordinal} of {}", self.node_count());
        Node {
            snapshot: self,
            ordinal,
        }
    }

    /// The edge at this place among all edges.
    ///
    /// # Panics
    /// If there is no such edge.
    pub fn edge(&self, place: u32) -> Edge<'_> {
        assert!(place < self.edge_count(), "edge {place} of {}", self.edge_count());
        Edge { snapshot: self, place }
    }

    /// All nodes by ordinal. The first is the root.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = Node<'_>> {
        (0..self.node_count()).map(|ordinal| Node {
            snapshot: self,
            ordinal,
        })
    }

    /// The names of nodes' types.
    pub fn node_type_names(&self) -> &[String] {
        &self.node_type_names
    }

    /// The names of edges' types.
    pub fn edge_type_names(&self) -> &[String] {
        &self.edge_type_names
    }

    /// The strings. Empty if they were left out.
    pub fn strings(&self) -> &Strings {
        &self.strings
    }
}

/// One node of a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct Node<'s> {
    snapshot: &'s Snapshot,
    ordinal: u32,
}

impl<'s> Node<'s> {
    /// Its place in the file, from 0.
    pub fn ordinal(self) -> u32 {
        self.ordinal
    }

    /// V8's number for it, unique in a snapshot and the same in later ones of the same heap. `None`
    /// if ids were left out.
    pub fn id(self) -> Option<u64> {
        self.snapshot.node_ids.get(self.ordinal as usize).copied()
    }

    /// Its type, as an index into [`Snapshot::node_type_names`].
    pub fn type_index(self) -> u8 {
        self.snapshot.node_types[self.ordinal as usize]
    }

    /// The name of its type: `object`, `string`, `closure` ...
    pub fn type_name(self) -> &'s str {
        &self.snapshot.node_type_names[usize::from(self.type_index())]
    }

    /// The index of its name in [`Snapshot::strings`]. `None` if names were left out.
    pub fn name_index(self) -> Option<u32> {
        self.snapshot.node_names.get(self.ordinal as usize).copied()
    }

    /// The text of its name. Empty if names or strings were left out.
    pub fn name(self) -> Cow<'s, str> {
        string(self.snapshot, self.name_index())
    }

    /// The text by which a reader knows it: the name of a thread or class loader of a JVM, or the
    /// beginning of a string. Only with [`crate::Options::interpret`].
    pub fn label(self) -> Option<Cow<'s, str>> {
        Some(self.snapshot.strings.get(self.label_index()?))
    }

    /// Whether its name is that of a class of Node.js itself.
    pub fn is_built_in(self) -> bool {
        self.name_index()
            .is_some_and(|name| self.snapshot.built_in.contains(&name))
    }

    /// Whether it is a string of a JVM whose letters have two bytes, as far as it says so.
    pub(crate) fn is_wide(self) -> bool {
        self.snapshot.wide.binary_search(&self.ordinal).is_ok()
    }

    /// The index of that text in [`Snapshot::strings`]. Of two strings of a JVM it is the same only
    /// if they are equal as a whole.
    pub fn label_index(self) -> Option<u32> {
        let labels = &self.snapshot.labels;
        let at = labels.binary_search_by_key(&self.ordinal, |label| label.0).ok()?;
        Some(labels[at].1)
    }

    /// The bytes of its name in the file, with escapes. 0 if names or strings were left out.
    pub fn name_bytes(self) -> usize {
        let strings = &self.snapshot.strings;
        let kept = self.name_index().filter(|&index| (index as usize) < strings.len());
        kept.map_or(0, |index| strings.raw(index).len())
    }

    /// The bytes of the object itself, without the objects that it refers to. Not always a multiple
    /// of 8.
    pub fn self_size(self) -> u64 {
        self.snapshot.self_sizes[self.ordinal as usize]
    }

    /// The places of its edges among all edges.
    pub fn edge_range(self) -> Range<u32> {
        let ordinal = self.ordinal as usize;
        self.snapshot.first_edge[ordinal]..self.snapshot.first_edge[ordinal + 1]
    }

    /// All strings of the snapshot.
    pub(crate) fn strings(self) -> &'s Strings {
        &self.snapshot.strings
    }

    /// The text of a string as in the file.
    pub(crate) fn string(self, index: u32) -> &'s [u8] {
        self.snapshot.strings.raw(index)
    }

    /// Its edges, in file order.
    pub fn edges(self) -> impl ExactSizeIterator<Item = Edge<'s>> {
        self.edge_range().map(move |place| Edge {
            snapshot: self.snapshot,
            place,
        })
    }
}

/// The name of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeName {
    /// A plain number: the index of an array's element.
    Index(u32),
    /// An index into [`Snapshot::strings`].
    String(u32),
}

/// The index of an edge whose index is no number below 2^32.
pub(crate) const NO_INDEX: u32 = u32::MAX;

/// One edge of a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct Edge<'s> {
    snapshot: &'s Snapshot,
    place: u32,
}

impl<'s> Edge<'s> {
    /// Its place among all edges.
    pub fn place(self) -> u32 {
        self.place
    }

    /// Its type, as an index into [`Snapshot::edge_type_names`].
    pub fn type_index(self) -> u8 {
        self.snapshot.edge_types[self.place as usize]
    }

    /// The name of its type: `property`, `element`, `weak` ...
    pub fn type_name(self) -> &'s str {
        &self.snapshot.edge_type_names[usize::from(self.type_index())]
    }

    /// Whether it keeps its target alive. Every edge does whose type is not `weak`.
    pub fn is_strong(self) -> bool {
        Some(self.type_index()) != self.snapshot.weak_type
    }

    /// The node that it leads to.
    pub fn target(self) -> Node<'s> {
        let Snapshot { weak, targets, .. } = self.snapshot;
        let known = match self.is_strong() {
            true => None,
            false => weak.binary_search_by_key(&self.place, |edge| edge.0).ok(),
        };
        Node {
            snapshot: self.snapshot,
            ordinal: known.map_or(targets[self.place as usize], |at| weak[at].1),
        }
    }

    /// The name of the edge. `None` if names were left out.
    pub fn name(self) -> Option<EdgeName> {
        let name = *self.snapshot.edge_names.get(self.place as usize)?;
        let indexed = self.snapshot.indexed_types[usize::from(self.type_index())];
        Some(if indexed {
            EdgeName::Index(name)
        } else {
            EdgeName::String(name)
        })
    }

    /// The name as text: the index, or the string (empty if names or strings were left out).
    pub fn name_text(self) -> Cow<'s, str> {
        match self.name() {
            Some(EdgeName::Index(NO_INDEX)) => Cow::Borrowed("?"),
            Some(EdgeName::Index(index)) => Cow::Owned(index.to_string()),
            Some(EdgeName::String(string_index)) => string(self.snapshot, Some(string_index)),
            None => Cow::Borrowed(""),
        }
    }
}

fn string(snapshot: &Snapshot, index: Option<u32>) -> Cow<'_, str> {
    let kept = index.filter(|&index| (index as usize) < snapshot.strings.len());
    kept.map_or(Cow::Borrowed(""), |index| snapshot.strings.get(index))
}
