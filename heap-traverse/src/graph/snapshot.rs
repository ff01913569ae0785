//! The graph of a snapshot.

use super::edges::{Builder, Graph, GraphError};
use crate::rows::Rows;
use gclab_snapshot::{Node, Snapshot};

impl<'s> Graph<&'s [u32]> {
    /// The graph of `snapshot` without rows of its own. In place of a weak edge it has one from the
    /// node to itself, which keeps nothing alive.
    ///
    /// # Errors
    /// If the snapshot has no nodes.
    pub(crate) fn shared(snapshot: &'s Snapshot) -> Result<Self, GraphError> {
        let (starts, targets) = snapshot.strong_rows();
        match snapshot.node_count() {
            0 => Err(GraphError::Empty),
            _ => Ok(Graph::of_rows(Rows::of(starts, targets))),
        }
    }
}

impl Graph {
    /// The graph of `snapshot`: its nodes by ordinal, and every edge that is not weak.
    ///
    /// # Errors
    /// If the snapshot has no nodes, or there is no memory for the graph.
    pub fn of_snapshot(snapshot: &Snapshot) -> Result<Self, GraphError> {
        Graph::of_edges(snapshot, false)
    }

    /// As [`Graph::of_snapshot`], with weak edges if wanted.
    ///
    /// # Errors
    /// As [`Graph::of_snapshot`].
    pub fn of_edges(snapshot: &Snapshot, weak: bool) -> Result<Self, GraphError> {
        let count = snapshot.nodes().map(|node| targets(node, weak).count() as u32).sum();
        let mut builder = Builder::with_capacity(snapshot.node_count(), count)?;
        for node in snapshot.nodes() {
            builder.row(targets(node, weak))?;
        }
        builder.finish()
    }
}

/// The targets of a node's edges.
fn targets(node: Node<'_>, weak: bool) -> impl Iterator<Item = u32> {
    let edges = node.edges().filter(move |edge| weak || edge.is_strong());
    edges.map(|edge| edge.target().ordinal())
}
