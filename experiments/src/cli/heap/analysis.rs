//! What is found out about the heap of a file, as data.

use std::cmp::Reverse;
use std::collections::HashMap;

use gclab_heap_traverse::Dominators;
use gclab_heap_traverse::graph::{Graph, GraphError, ShortestPaths};
use gclab_snapshot::{Node, Snapshot};
use serde::Serialize;

/// A snapshot, its dominators, and what its nodes retain.
#[derive(Debug)]
pub struct Analysis<'s> {
    /// The snapshot.
    pub snapshot: &'s Snapshot,
    graph: Graph,
    /// Its dominator tree, over all edges but weak ones.
    pub dominators: Dominators,
    /// By node: bytes that it retains.
    pub retained: Vec<u64>,
}

/// Everything, as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The file that it is about.
    pub file: String,
    /// Objects in the file.
    pub nodes: u32,
    /// References in the file, weak ones included.
    pub edges: u32,
    /// References that keep their targets alive.
    pub strong_edges: u32,
    /// Objects that the root reaches over such references.
    pub reached: usize,
    /// Bytes of all objects.
    pub self_size: u64,
    /// Bytes of those that the root reaches.
    pub reached_size: u64,
    /// Objects that retain most, by retained size, lower ordinals first among equals.
    pub retained: Vec<Object>,
    /// All types, by bytes.
    pub types: Vec<Count>,
    /// The names with most bytes.
    pub names: Vec<Count>,
    /// With `--path-to`: the way, or nothing if the root does not reach the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Path>,
}

/// An object.
#[derive(Clone, Debug, Serialize)]
pub struct Object {
    /// Its id in the file.
    pub id: u64,
    /// Its type there.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its name there.
    pub name: String,
    /// Bytes of the object itself.
    pub self_size: u64,
    /// Bytes that would be free without it.
    pub retained_size: u64,
}

/// How many objects of a kind there are.
#[derive(Debug, Serialize)]
pub struct Count {
    /// The type, or the name.
    pub name: String,
    /// Number of objects.
    pub count: u64,
    /// Bytes of the objects themselves.
    pub self_size: u64,
}

/// A way from the root; empty if there is none.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Path(pub Vec<Step>);

/// An object on a way, and the reference that leads to it.
#[derive(Debug, Serialize)]
pub struct Step {
    /// The object.
    #[serde(flatten)]
    pub object: Object,
    /// The reference that leads to it from the one before; none leads to the root.
    pub edge: Option<Reference>,
}

/// A reference.
#[derive(Debug, Serialize)]
pub struct Reference {
    /// Its type in the file.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its name, or its index.
    pub name: String,
}

impl<'s> Analysis<'s> {
    /// Finds out.
    ///
    /// # Errors
    /// If the snapshot is empty.
    pub fn of(snapshot: &'s Snapshot) -> Result<Self, GraphError> {
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

    /// What is printed of a node.
    pub fn object(&self, ordinal: u32) -> Object {
        let node = self.snapshot.node(ordinal);
        Object {
            id: node.id().unwrap_or_default(),
            kind: node.type_name().to_owned(),
            name: node.name().into_owned(),
            self_size: node.self_size(),
            retained_size: self.retained[ordinal as usize],
        }
    }

    /// The `count` nodes that retain most of what the root reaches, lower ordinals first among equals.
    pub fn largest(&self, count: usize) -> Vec<u32> {
        let mut nodes = self.dominators.reached().to_vec();
        let key = |node: &u32| (Reverse(self.retained[*node as usize]), *node);
        if count < nodes.len() {
            nodes.select_nth_unstable_by_key(count, key);
            nodes.truncate(count);
        }
        nodes.sort_unstable_by_key(key);
        nodes
    }

    /// The `count` nodes that `node` dominates immediately and that retain most, and how many others there are.
    pub fn below(&self, children: &[u32], count: usize) -> (Vec<u32>, usize) {
        let mut row = children.to_vec();
        row.sort_unstable_by_key(|&child| (Reverse(self.retained[child as usize]), child));
        let others = row.len().saturating_sub(count);
        row.truncate(count);
        (row, others)
    }

    /// A shortest way from the root to the object of this id.
    ///
    /// # Errors
    /// If no object has this id.
    pub fn path_to(&self, id: u64) -> Result<Path, String> {
        let node = self.snapshot.nodes().find(|node| node.id() == Some(id));
        let node = node.ok_or_else(|| format!("no object has the id {id}; `--top` lists some that are there"))?;
        let way = ShortestPaths::of(&self.graph).to(node.ordinal()).unwrap_or_default();
        let before = std::iter::once(None).chain(way.iter().copied().map(Some));
        let step = |(before, &node): (Option<u32>, &u32)| Step {
            object: self.object(node),
            edge: before.and_then(|before| self.reference(before, node)),
        };
        Ok(Path(before.zip(&way).map(step).collect()))
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
    pub fn types(&self) -> Vec<Count> {
        let mut counts = Counts::default();
        self.snapshot
            .nodes()
            .for_each(|node| counts.add(u32::from(node.type_index()), node));
        counts.finish(|kind| self.snapshot.node_type_names()[kind as usize].clone())
    }

    /// Objects by what they are instances of, most bytes first. What has a value for a name (a string's text) or none of its own is counted under
    /// its type, in brackets.
    pub fn names(&self) -> Vec<Count> {
        /// Types whose names are those of classes.
        const CLASSES: [&str; 4] = ["object", "native", "object array", "primitive array"];
        let types = self.snapshot.node_type_names();
        let by_name: Vec<bool> = types.iter().map(|name| CLASSES.contains(&name.as_str())).collect();
        // Strings of a file need not be distinct, so names are joined after counting.
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

    /// Everything, with the first `top` of what there are many of.
    pub fn report(&self, file: &str, top: usize, path: Option<Path>) -> Report {
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

/// Counts of objects, by some number.
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
