//! From a snapshot to its graph.

use super::edges::{Builder, Graph, GraphError};
use gclab_snapshot::Snapshot;

impl Graph {
    /// The graph of `snapshot`: its nodes by ordinal, and every edge that is not weak.
    ///
    /// # Errors
    /// If the snapshot has no nodes, or there is no memory for the graph.
    pub fn of_snapshot(snapshot: &Snapshot) -> Result<Self, GraphError> {
        let strong = snapshot.nodes().map(|node| strong(node).count() as u32).sum();
        let mut builder = Builder::with_capacity(snapshot.node_count(), strong)?;
        for node in snapshot.nodes() {
            builder.row(self::strong(node))?;
        }
        builder.finish()
    }
}

/// The targets of a node's strong edges.
fn strong(node: gclab_snapshot::Node<'_>) -> impl Iterator<Item = u32> {
    node.edges()
        .filter(|edge| edge.is_strong())
        .map(|edge| edge.target().ordinal())
}
