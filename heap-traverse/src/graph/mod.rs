//! A heap as numbers: who refers to whom, in two arrays.
//!
//! **Terms.** A *node* is an object, named by its *ordinal* (from 0); node [`ROOT`] stands for the roots of the program and refers to what they
//! hold. An *edge* is one reference that keeps its target alive: weak ones are not in a graph. Parallel edges and edges to the node
//! itself may be.
//!
//! **Where graphs come from**: a snapshot of any program ([`Graph::of_snapshot`]), or a stopped heap of any collector ([`HeapGraph`]). What is
//! made from one: the [`crate::Dominators`], and the shortest [`Ways`] from the root.
//!
//! **Invariants** (checked when a graph is made): there is a root; `first` has one entry more than there are nodes, grows, and ends at the number of
//! edges; every target is a node. Nodes and edges have numbers below 2^32 - 1; a heap with more is refused, not cut.
//!
//! **Memory**: four bytes a node and four an edge.

mod heap;
mod picture;
mod snapshot;
mod ways;
mod write;

use gclab_core::words::Addr;
use gclab_core::world::prefetch;

pub use heap::{HeapGraph, HeapNode, WEAK_HANDLES};
pub use picture::{Label, flame};
pub use ways::Ways;
pub use write::{class, id, write_snapshot};

/// The node that refers to what the program's roots hold.
pub const ROOT: u32 = 0;

/// No node.
pub const NONE: u32 = u32::MAX;

/// Nodes by ordinal, and the targets of their edges in rows, a row for each node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// Row i is `targets[first[i]..first[i + 1]]`.
    first: Vec<u32>,
    targets: Vec<u32>,
}

/// Why there is no graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphError {
    /// It would have no node, not even a root.
    Empty,
    /// It would have so many nodes or edges that 32 bits cannot number them.
    TooLarge,
    /// An edge leads to a node that is not there.
    NoSuchNode {
        /// Where the edge leads.
        target: u32,
        /// How many nodes there are.
        nodes: u32,
    },
}

impl std::fmt::Display for GraphError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GraphError::Empty => write!(f, "there are no nodes, expected at least the root"),
            GraphError::TooLarge => write!(f, "more than {} nodes or edges", NONE - 1),
            GraphError::NoSuchNode { target, nodes } => write!(f, "an edge leads to node {target} of {nodes}"),
        }
    }
}

impl std::error::Error for GraphError {}

impl Graph {
    /// A graph from its rows, in the order of the nodes.
    ///
    /// # Errors
    /// If it would break an invariant.
    pub fn from_rows<R: IntoIterator<Item = u32>>(rows: impl IntoIterator<Item = R>) -> Result<Self, GraphError> {
        let mut builder = Builder::default();
        for row in rows {
            builder.row(row)?;
        }
        builder.finish()
    }

    /// Number of nodes, reached from the root or not.
    pub fn node_count(&self) -> u32 {
        (self.first.len() - 1) as u32
    }

    /// Number of edges.
    pub fn edge_count(&self) -> u32 {
        self.targets.len() as u32
    }

    /// Where the edges of `node` lead.
    ///
    /// # Panics
    /// If there is no such node.
    #[inline]
    pub fn row(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.targets[self.first[node] as usize..self.first[node + 1] as usize]
    }

    /// The first edge of `node` among all edges; for the number of nodes: the number of edges.
    #[inline]
    pub(crate) fn first(&self, node: u32) -> u32 {
        self.first[node as usize]
    }

    /// Brings what says where the row of `node` is towards the cache.
    #[inline]
    pub(crate) fn fetch(&self, node: u32) {
        prefetch(Addr(self.first.as_ptr().wrapping_add(node as usize) as usize));
    }

    /// Brings the row of `node` towards the cache.
    #[inline]
    pub(crate) fn fetch_row(&self, node: u32) {
        prefetch(Addr(self.row(node).as_ptr() as usize));
    }

    /// Where an edge leads.
    #[inline]
    pub(crate) fn target(&self, edge: u32) -> u32 {
        self.targets[edge as usize]
    }
}

/// A graph that grows row by row.
#[derive(Debug)]
pub(crate) struct Builder {
    first: Vec<u32>,
    targets: Vec<u32>,
}

impl Default for Builder {
    fn default() -> Self {
        Builder::with_capacity(0, 0)
    }
}

impl Builder {
    /// With room for so many nodes and edges.
    pub(crate) fn with_capacity(nodes: u32, edges: u32) -> Self {
        let mut first = Vec::with_capacity(nodes as usize + 1);
        first.push(0);
        Builder {
            first,
            targets: Vec::with_capacity(edges as usize),
        }
    }

    /// Appends the edges of the next node.
    #[inline]
    pub(crate) fn row(&mut self, targets: impl IntoIterator<Item = u32>) -> Result<(), GraphError> {
        self.targets.extend(targets);
        if self.targets.len() >= NONE as usize || self.first.len() >= NONE as usize {
            return Err(GraphError::TooLarge);
        }
        self.first.push(self.targets.len() as u32);
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Graph, GraphError> {
        let nodes = (self.first.len() - 1) as u32;
        if nodes == 0 {
            return Err(GraphError::Empty);
        }
        if let Some(&target) = self.targets.iter().find(|&&target| target >= nodes) {
            return Err(GraphError::NoSuchNode { target, nodes });
        }
        self.first.shrink_to_fit();
        self.targets.shrink_to_fit();
        Ok(Graph {
            first: self.first,
            targets: self.targets,
        })
    }
}
