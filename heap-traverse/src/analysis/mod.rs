//! Analyses a snapshot: which objects and which classes hold the memory.
//!
//! An [`Analysis`] has the dominator tree of a snapshot, the retained size of each node, and the
//! [`Classes`] of nodes, and finds the bytes that a class retains. Printing is left to renderers.
//!
//! **Memory**: 28 bytes a node and 24 a class, and during construction also the search for
//! dominators.
//!
//! **Checked** by tests: the bytes that a class retains, against the definition on random graphs
//! with WeakMaps, and against another program on a real heap.

mod classes;
mod lost;
mod merged;
mod names;
mod strings;

pub use classes::{ClassFigures, ClassHolding, Classes};
pub use merged::{Holder, Merged, Place};
pub use names::{Named, Names, Rank, Sum, is_entry, is_scope, rank};

use crate::dominators::Dominators;
use crate::graph::{Graph, GraphError, NONE, ROOT, ShortestPaths};
use crate::memory::{OutOfMemory, filled, push, with_capacity};
use gclab_snapshot::{Edge, Snapshot, both};
use hashbrown::HashMap;
use std::cmp::Reverse;
use strings::SYNTHETIC;

/// A snapshot with its dominators, retained sizes and classes.
#[derive(Debug)]
pub struct Analysis<'s> {
    snapshot: &'s Snapshot,
    graph: Graph<&'s [u32]>,
    strong_edges: u32,
    dominators: Dominators,
    /// Whether strings were moved from a table to what holds them apart from it.
    has_moved: bool,
    retained: Vec<u64>,
    classes: Classes,
    paths: ShortestPaths,
}

/// The edges to some nodes.
#[derive(Debug)]
pub struct Referrers<'s> {
    snapshot: &'s Snapshot,
    /// By node: the source and the place of each edge.
    to: HashMap<u32, Vec<(u32, u32)>>,
}

impl<'s> Referrers<'s> {
    /// The edges to a node with their sources, in file order; none if it was not asked for.
    pub fn to(&self, node: u32) -> impl Iterator<Item = (u32, Edge<'s>)> {
        let (snapshot, edges) = (self.snapshot, self.to.get(&node));
        let edges = edges.into_iter().flatten();
        edges.map(move |&(source, place)| (source, snapshot.edge(place)))
    }
}

impl<'s> Analysis<'s> {
    /// Analyses a snapshot over all edges but weak ones.
    ///
    /// # Errors
    /// If the snapshot is empty, or there is no memory.
    pub fn of(snapshot: &'s Snapshot) -> Result<Self, GraphError> {
        let graph = Graph::shared(snapshot)?;
        let tree = || {
            let mut dominators = Dominators::of(&graph)?;
            let retained = dominators.retained(|node| snapshot.node(node).self_size())?;
            let strings = strings::holders(snapshot, &dominators)?;
            if !strings.is_empty() {
                dominators.move_leaves(&strings)?;
            }
            Ok::<_, OutOfMemory>((dominators, retained, !strings.is_empty()))
        };
        let names_and_paths = || Ok::<_, OutOfMemory>((Classes::of(snapshot)?, ShortestPaths::of(&graph)?));
        let (tree, others) = both(tree, names_and_paths).map_err(|_| OutOfMemory)?;
        let ((dominators, retained, has_moved), (classes, paths)) = (tree?, others?);
        Ok(Analysis {
            snapshot,
            graph,
            strong_edges: snapshot.strong_edge_count(),
            dominators,
            has_moved,
            retained,
            classes,
            paths,
        })
    }

    /// The snapshot that was analysed.
    pub fn snapshot(&self) -> &'s Snapshot {
        self.snapshot
    }

    /// The number of edges that keep their targets alive.
    pub fn strong_edges(&self) -> u32 {
        self.strong_edges
    }

    /// The number of nodes that the root reaches.
    pub fn reached(&self) -> usize {
        self.dominators.reached().len()
    }

    /// The bytes of all nodes that the root reaches.
    pub fn reached_size(&self) -> u64 {
        self.retained[ROOT as usize]
    }

    /// The bytes that a node retains.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn retained(&self, node: u32) -> u64 {
        self.retained[node as usize]
    }

    /// The immediate dominator of `node`; none for the root and unreachable nodes. Tables of strings
    /// do not count, as they do for the bytes that a node retains.
    pub fn holder(&self, node: u32) -> Option<u32> {
        self.dominators.idom(node).filter(|_| node != ROOT)
    }

    /// By node: the sum of `weight` over all nodes below which [`Analysis::holder`] has it, itself
    /// included.
    ///
    /// # Errors
    /// If there is not enough memory for eight bytes a node.
    pub fn retained_of(&self, weight: impl Fn(u32) -> u64) -> Result<Vec<u64>, OutOfMemory> {
        self.dominators.retained(weight)
    }

    /// The classes of the nodes.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Whether a node is not an object.
    pub fn is_synthetic(&self, node: u32) -> bool {
        self.snapshot.node(node).type_name() == SYNTHETIC
    }

    /// The `count` reachable nodes that retain most, of those for which `wanted` returns true; of
    /// equals, the lower ordinal first.
    ///
    /// # Errors
    /// If there is not enough memory for a list of all nodes.
    pub fn largest(&self, count: usize, wanted: impl Fn(u32) -> bool) -> Result<Vec<u32>, OutOfMemory> {
        let mut nodes = with_capacity(self.reached())?;
        nodes.extend(self.dominators.reached().iter().filter(|&&node| wanted(node)));
        Ok(first_by(nodes, count, |node| {
            (Reverse(self.retained[node as usize]), node)
        }))
    }

    /// The `count` classes that retain most, of those for which `wanted` returns true; of equals,
    /// the one first in the file. Searches the graph, once for most heaps.
    ///
    /// # Errors
    /// If there is not enough memory for the search.
    pub fn largest_classes(
        &self,
        count: usize,
        wanted: impl Fn(ClassFigures) -> bool,
    ) -> Result<Vec<ClassHolding>, OutOfMemory> {
        let mut list = Vec::new();
        for class in (0..self.classes.len() as u32).filter(|_| count > 0) {
            if wanted(self.classes.figures(class)) {
                push(&mut list, class)?;
            }
        }
        if list.is_empty() {
            Ok(Vec::new())
        } else {
            self.largest_of(&list, count)
        }
    }

    // Not generic, so that it is compiled, and optimised, in this crate.
    fn largest_of(&self, list: &[u32], count: usize) -> Result<Vec<ClassHolding>, OutOfMemory> {
        let size = |node: u32| self.snapshot.node(node).self_size();
        let single = |node| self.retained(node);
        let found = lost::largest(self.graph, &self.paths, &self.classes, list, count, size, single)?;
        // By class: its node that retains most.
        let mut largest = filled(NONE, self.classes.len())?;
        for (node, &class) in (0..).zip(self.classes.of_nodes()) {
            let largest = &mut largest[class as usize];
            let is_reached = self.dominators.idom(node).is_some();
            if is_reached && (*largest == NONE || self.retained(*largest) < self.retained(node)) {
                *largest = node;
            }
        }
        let mut holdings = with_capacity(found.len())?;
        holdings.extend(found.into_iter().map(|(class, retained)| ClassHolding {
            figures: self.classes.figures(class),
            retained,
            largest: Some(largest[class as usize]).filter(|&node| node != NONE),
        }));
        Ok(holdings)
    }

    /// A shortest path from the root to the object with this id: its nodes from the root on. It
    /// uses weak edges only if there is no path without. Empty if there is no path. `None` if no
    /// object has this id.
    ///
    /// # Errors
    /// If there is not enough memory for the search.
    pub fn path_to(&self, id: u64) -> Result<Option<Vec<u32>>, GraphError> {
        let Some(node) = self.snapshot.nodes().find(|node| node.id() == Some(id)) else {
            return Ok(None);
        };
        let node = node.ordinal();
        let path = match self.dominators.idom(node) {
            Some(_) => self.paths.to(node),
            None => ShortestPaths::of(&Graph::of_edges(self.snapshot, true)?)?.to(node),
        };
        Ok(Some(path.unwrap_or_default()))
    }

    /// Shortest paths from the root to all nodes.
    pub fn paths(&self) -> &ShortestPaths {
        &self.paths
    }

    /// The first edge from one node to another, preferring those that keep the target alive.
    pub fn edge(&self, from: u32, to: u32) -> Option<Edge<'s>> {
        let edges = || {
            let edges = self.snapshot.node(from).edges();
            edges.filter(move |edge| edge.target().ordinal() == to)
        };
        edges().find(|edge| edge.is_strong()).or_else(|| edges().next())
    }

    /// All edges to each of `nodes`. Looks at every edge, once for all nodes.
    ///
    /// # Errors
    /// If there is not enough memory for a list of them.
    pub fn referrers(&self, nodes: &[u32]) -> Result<Referrers<'s>, OutOfMemory> {
        let mut to: HashMap<u32, Vec<(u32, u32)>> = nodes.iter().map(|&node| (node, Vec::new())).collect();
        for source in self.snapshot.nodes() {
            for edge in source.edges() {
                if let Some(found) = to.get_mut(&edge.target().ordinal()) {
                    push(found, (source.ordinal(), edge.place()))?;
                }
            }
        }
        let snapshot = self.snapshot;
        Ok(Referrers { snapshot, to })
    }

    /// Objects by type, most bytes first: the index of each type in
    /// [`Snapshot::node_type_names`], and its objects.
    pub fn types(&self) -> Vec<(u8, Sum)> {
        let mut sums = vec![Sum::default(); self.snapshot.node_type_names().len()];
        for node in self.snapshot.nodes() {
            sums[usize::from(node.type_index())].add(Sum {
                count: 1,
                bytes: node.self_size(),
            });
        }
        let mut types: Vec<(u8, Sum)> = (0..).zip(sums).filter(|(_, sum)| sum.count > 0).collect();
        let name = |kind: u8| &self.snapshot.node_type_names()[usize::from(kind)];
        types.sort_by_key(|&(kind, sum)| (Reverse(sum.bytes), name(kind)));
        types
    }

    /// Whether the name of a node is a class name. Other nodes, such as strings, count under their
    /// types.
    pub fn has_class_name(&self, node: u32) -> bool {
        names::has_class_name(self.snapshot, node)
    }

    /// What the name of a node's class tells a reader.
    pub fn rank(&self, node: u32) -> Rank {
        let node = self.snapshot.node(node);
        names::rank_of(node, &names::text(self.snapshot, node.name_index()))
    }

    /// The `count` names whose objects have the most bytes of their own, most bytes first. A node
    /// without a class name counts under its type.
    ///
    /// # Errors
    /// If there is not enough memory for a list of all classes.
    pub fn names(&self, count: usize) -> Result<Vec<Named>, OutOfMemory> {
        names::census(self.snapshot, &self.classes, count)
    }
}

/// The first `count` of `all` by `key`, in order.
fn first_by<K: Ord>(mut all: Vec<u32>, count: usize, key: impl Fn(u32) -> K) -> Vec<u32> {
    if count < all.len() {
        all.select_nth_unstable_by_key(count, |&one| key(one));
        all.truncate(count);
    }
    all.sort_unstable_by_key(|&one| key(one));
    all
}
