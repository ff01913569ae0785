//! The analysis of the heap of a file, as data.

use std::cmp::Reverse;
use std::collections::HashMap;

use gclab_heap_traverse::Dominators;
use gclab_heap_traverse::graph::{Graph, GraphError, ShortestPaths};
use gclab_snapshot::{Node, Snapshot};
use serde::Serialize;

/// A snapshot, its dominators, and the bytes that each node retains.
#[derive(Debug)]
pub(crate) struct Analysis<'s> {
    /// The snapshot.
    pub(crate) snapshot: &'s Snapshot,
    graph: Graph,
    /// The dominator tree over all edges but weak ones.
    pub(crate) dominators: Dominators,
    /// Bytes that each node retains, by node.
    pub(crate) retained: Vec<u64>,
}

/// The whole analysis, as `--json` prints it.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// The name of the file.
    pub(crate) file: String,
    /// Objects in the file.
    pub(crate) nodes: u32,
    /// References in the file, weak ones included.
    pub(crate) edges: u32,
    /// References that keep their targets alive.
    pub(crate) strong_edges: u32,
    /// Objects that the root reaches over strong references.
    pub(crate) reached: usize,
    /// Bytes of all objects.
    pub(crate) self_size: u64,
    /// Bytes of the objects that the root reaches.
    pub(crate) reached_size: u64,
    /// The objects that retain most, largest first; of equals the lower ordinal first.
    pub(crate) retained: Vec<Object>,
    /// All types, most bytes first.
    pub(crate) types: Vec<Count>,
    /// The names with most bytes, most bytes first.
    pub(crate) names: Vec<Count>,
    /// With `--path-to`: the path; empty if the root does not reach the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<Path>,
}

/// An object of the file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Object {
    /// The object's id in the file.
    pub(crate) id: u64,
    /// The object's type in the file.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The object's name in the file.
    pub(crate) name: String,
    /// Bytes of the object itself.
    pub(crate) self_size: u64,
    /// Bytes that would be free without the object.
    pub(crate) retained_size: u64,
}

/// The number of objects of one type or name.
#[derive(Debug, Serialize)]
pub(crate) struct Count {
    /// The type, or the name.
    pub(crate) name: String,
    /// The number of objects.
    pub(crate) count: u64,
    /// Bytes of the objects themselves.
    pub(crate) self_size: u64,
}

/// A path from the root; empty if there is none.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Path(pub(crate) Vec<Step>);

/// An object on a path, and the reference that leads to it.
#[derive(Debug, Serialize)]
pub(crate) struct Step {
    /// The object itself.
    #[serde(flatten)]
    pub(crate) object: Object,
    /// The reference from the object before it; none leads to the root.
    pub(crate) edge: Option<Reference>,
}

/// A reference of the file.
#[derive(Debug, Serialize)]
pub(crate) struct Reference {
    /// The reference's type in the file.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The reference's name, or its index.
    pub(crate) name: String,
}

impl<'s> Analysis<'s> {
    /// Analyses a snapshot.
    ///
    /// # Errors
    /// If the snapshot is empty.
    pub(crate) fn of(snapshot: &'s Snapshot) -> Result<Self, GraphError> {
        let graph = Graph::of_snapshot(snapshot)?;
        let dominators = Dominators::of(&graph);
        let retained = dominators.retained(|node| snapshot.node(node).self_size());
        Ok(Analysis {
            snapshot,
            graph,
            dominators,
            retained,
        })
    }

    /// The object of a node, as it is printed.
    pub(crate) fn object(&self, ordinal: u32) -> Object {
        let node = self.snapshot.node(ordinal);
        Object {
            id: node.id().unwrap_or_default(),
            kind: node.type_name().to_owned(),
            name: node.name().into_owned(),
            self_size: node.self_size(),
            retained_size: self.retained[ordinal as usize],
        }
    }

    /// The `count` nodes that retain most, among those that the root reaches; of equals the lower
    /// ordinal first.
    pub(crate) fn largest(&self, count: usize) -> Vec<u32> {
        let mut nodes = self.dominators.reached().to_vec();
        let key = |node: &u32| (Reverse(self.retained[*node as usize]), *node);
        if count < nodes.len() {
            nodes.select_nth_unstable_by_key(count, key);
            nodes.truncate(count);
        }
        nodes.sort_unstable_by_key(key);
        nodes
    }

    /// The `count` nodes of `children` that retain most, and the number of the others.
    pub(crate) fn below(&self, children: &[u32], count: usize) -> (Vec<u32>, usize) {
        let mut row = children.to_vec();
        row.sort_unstable_by_key(|&child| (Reverse(self.retained[child as usize]), child));
        let others = row.len().saturating_sub(count);
        row.truncate(count);
        (row, others)
    }

    /// A shortest path from the root to the object with this id.
    ///
    /// # Errors
    /// If no object has this id.
    pub(crate) fn path_to(&self, id: u64) -> Result<Path, String> {
        let node = self.snapshot.nodes().find(|node| node.id() == Some(id));
        let node = node.ok_or_else(|| format!("no object has the id {id}; `--top` lists some that exist"))?;
        let path = ShortestPaths::of(&self.graph).to(node.ordinal()).unwrap_or_default();
        let before = std::iter::once(None).chain(path.iter().copied().map(Some));
        let step = |(before, &node): (Option<u32>, &u32)| Step {
            object: self.object(node),
            edge: before.and_then(|before| self.reference(before, node)),
        };
        Ok(Path(before.zip(&path).map(step).collect()))
    }

    fn reference(&self, from: u32, to: u32) -> Option<Reference> {
        let mut edges = self.snapshot.node(from).edges();
        let edge = edges.find(|edge| edge.is_strong() && edge.target().ordinal() == to)?;
        Some(Reference {
            kind: edge.type_name().to_owned(),
            name: edge.name_text().into_owned(),
        })
    }

    /// Objects by type, most bytes first.
    pub(crate) fn types(&self) -> Vec<Count> {
        let mut counts = Counts::default();
        self.snapshot
            .nodes()
            .for_each(|node| counts.add(u32::from(node.type_index()), node));
        counts.finish(|kind| self.snapshot.node_type_names()[kind as usize].clone())
    }

    /// Objects by class, most bytes first. An object whose name is a value (a string's text), or
    /// that has no name of its own, counts under its type, in brackets.
    pub(crate) fn names(&self) -> Vec<Count> {
        /// Types whose names are those of classes.
        const CLASSES: [&str; 4] = ["object", "native", "object array", "primitive array"];
        let types = self.snapshot.node_type_names();
        let by_name: Vec<bool> = types.iter().map(|name| CLASSES.contains(&name.as_str())).collect();
        // A file may have the same string twice, so equal names are joined after counting.
        let (mut named, mut others) = (Counts::default(), Counts::default());
        for node in self.snapshot.nodes() {
            match node.name_index().filter(|_| by_name[usize::from(node.type_index())]) {
                Some(name) => named.add(name, node),
                None => others.add(u32::from(node.type_index()), node),
            }
        }
        let mut joined: HashMap<String, Count> = HashMap::new();
        let named = named.finish(|name| self.snapshot.strings().get(name).into_owned());
        let others = others.finish(|kind| format!("({})", types[kind as usize]));
        for count in named.into_iter().chain(others) {
            let sum = joined.entry(count.name.clone()).or_insert(Count {
                count: 0,
                self_size: 0,
                ..count
            });
            sum.count += count.count;
            sum.self_size += count.self_size;
        }
        sorted(joined.into_values().collect())
    }

    /// The whole analysis, with the first `top` objects and names.
    pub(crate) fn report(&self, file: &str, top: usize, path: Option<Path>) -> Report {
        let mut names = self.names();
        names.truncate(top);
        Report {
            file: file.to_owned(),
            nodes: self.snapshot.node_count(),
            edges: self.snapshot.edge_count(),
            strong_edges: self.graph.edge_count(),
            reached: self.dominators.reached().len(),
            self_size: self.snapshot.nodes().map(Node::self_size).sum(),
            reached_size: self.retained[0],
            retained: self.largest(top).into_iter().map(|node| self.object(node)).collect(),
            types: self.types(),
            names,
            path,
        }
    }
}

/// Counts of objects by a number, such as the index of a type.
#[derive(Default)]
struct Counts(HashMap<u32, (u64, u64)>);

impl Counts {
    fn add(&mut self, key: u32, node: Node<'_>) {
        let (count, bytes) = self.0.entry(key).or_default();
        *count += 1;
        *bytes += node.self_size();
    }

    fn finish(self, name: impl Fn(u32) -> String) -> Vec<Count> {
        let count = |(key, (count, self_size))| Count {
            name: name(key),
            count,
            self_size,
        };
        sorted(self.0.into_iter().map(count).collect())
    }
}

fn sorted(mut counts: Vec<Count>) -> Vec<Count> {
    counts.sort_by(|one, other| (other.self_size, &one.name).cmp(&(one.self_size, &other.name)));
    counts
}
