//! Graphs: nodes by ordinal, each with a row of edges.
//!
//! **Invariants** (checked when a graph is made): there is a root, every target is a node, and the
//! numbers of nodes and of edges are below 2^32 - 1. A larger heap is refused, not cut.
//!
//! **Memory**: four bytes a node and four an edge.

use crate::fetch::fetch;
use crate::memory::OutOfMemory;
use crate::rows::Rows;
use std::ops::Deref;

/// The node that represents the program's roots and refers to the objects that they hold.
pub const ROOT: u32 = 0;

/// How many nodes of a queue ahead memory is fetched.
const AHEAD: usize = 16;

/// The number for "no node".
pub const NONE: u32 = u32::MAX;

/// The nodes of a heap by ordinal, and a row for each node with the targets of its edges. The rows
/// are its own, or those of a snapshot (`Graph<&[u32]>`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Graph<S = Vec<u32>> {
    rows: Rows<S>,
}

/// Why a graph cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphError {
    /// It would have no node, not even a root.
    Empty,
    /// It would have more nodes or edges than 32 bits can number.
    TooLarge,
    /// An edge leads to a node that is not there.
    NoSuchNode {
        /// The target of the edge.
        target: u32,
        /// The number of nodes.
        nodes: u32,
    },
    /// The system grants no memory for it.
    OutOfMemory,
}

impl From<OutOfMemory> for GraphError {
    fn from(_: OutOfMemory) -> Self {
        GraphError::OutOfMemory
    }
}

impl std::fmt::Display for GraphError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GraphError::Empty => write!(f, "there are no nodes, expected at least the root"),
            GraphError::TooLarge => write!(f, "more than {} nodes or edges", NONE - 1),
            GraphError::NoSuchNode { target, nodes } => write!(f, "an edge leads to node {target} of {nodes}"),
            GraphError::OutOfMemory => write!(f, "{OutOfMemory}"),
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
        let mut builder = Builder::with_capacity(0, 0)?;
        for row in rows {
            builder.row(row)?;
        }
        builder.finish()
    }
}

impl<S: Deref<Target = [u32]>> Graph<S> {
    /// The graph of rows that keep the invariants.
    pub(crate) fn of_rows(rows: Rows<S>) -> Self {
        Graph { rows }
    }

    /// The same graph, borrowed.
    pub(crate) fn view(&self) -> Graph<&[u32]> {
        Graph::of_rows(self.rows.view())
    }

    /// The number of nodes, reachable or not.
    pub fn node_count(&self) -> u32 {
        self.rows.count()
    }

    /// The number of edges.
    pub fn edge_count(&self) -> u32 {
        self.rows.targets().len() as u32
    }

    /// The targets of the edges of `node`.
    ///
    /// # Panics
    /// If there is no such node.
    #[inline]
    pub fn row(&self, node: u32) -> &[u32] {
        self.rows.row(node)
    }

    /// Prefetches for a search what it needs soon: the rows of nodes ahead in its queue, and the
    /// entries of their targets in `known`.
    #[inline]
    pub(crate) fn expect<T>(&self, known: &[T], ahead: impl Fn(usize) -> Option<u32>) {
        ahead(2 * AHEAD).inspect(|&node| self.rows.fetch_start(node));
        ahead(AHEAD).inspect(|&node| self.rows.fetch_row(node));
        let targets = ahead(AHEAD / 2).map_or(&[][..], |node| self.row(node));
        targets.iter().take(AHEAD).for_each(|&target| fetch(known, target));
    }

    /// The rows of all nodes.
    #[inline]
    pub(crate) fn rows(&self) -> &Rows<S> {
        &self.rows
    }
}

/// A graph that grows row by row.
#[derive(Debug)]
pub(crate) struct Builder {
    rows: Rows,
}

impl Builder {
    /// No rows yet, with room for `nodes` nodes and `edges` edges.
    pub(crate) fn with_capacity(nodes: u32, edges: u32) -> Result<Self, GraphError> {
        Ok(Builder {
            rows: Rows::with_capacity(nodes, edges)?,
        })
    }

    /// Appends the edges of the next node.
    #[inline]
    pub(crate) fn row(&mut self, targets: impl IntoIterator<Item = u32>) -> Result<(), GraphError> {
        if self.rows.push(targets, NONE) {
            Ok(())
        } else {
            Err(GraphError::TooLarge)
        }
    }

    pub(crate) fn finish(mut self) -> Result<Graph, GraphError> {
        let nodes = self.rows.count();
        if nodes == 0 {
            return Err(GraphError::Empty);
        }
        if let Some(&target) = self.rows.targets().iter().find(|&&target| target >= nodes) {
            return Err(GraphError::NoSuchNode { target, nodes });
        }
        self.rows.shrink();
        Ok(Graph { rows: self.rows })
    }
}
