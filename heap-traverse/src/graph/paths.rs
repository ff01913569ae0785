//! Shortest paths from the root to every node.

use super::edges::{Graph, NONE, ROOT};
use crate::memory::{OutOfMemory, filled, push};

/// For each reachable node: the node before it on a shortest path. Of several paths, the one that a
/// breadth-first search in the order of edges finds first. Takes four bytes a node, and four more
/// during the search.
#[derive(Debug)]
pub struct ShortestPaths {
    before: Vec<u32>,
}

impl ShortestPaths {
    /// Searches breadth-first from the root.
    ///
    /// # Errors
    /// If there is not enough memory for the search.
    pub fn of(graph: &Graph) -> Result<Self, OutOfMemory> {
        let mut before = filled(NONE, graph.node_count() as usize)?;
        let mut reached = vec![ROOT];
        before[ROOT as usize] = ROOT;
        let mut next = 0;
        while let Some(&from) = reached.get(next) {
            for &target in graph.row(from) {
                let before = &mut before[target as usize];
                if *before == NONE {
                    *before = from;
                    push(&mut reached, target)?;
                }
            }
            next += 1;
        }
        Ok(ShortestPaths { before })
    }

    /// The nodes on a shortest path from the root to `node`. `None` if it is unreachable.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn to(&self, node: u32) -> Option<Vec<u32>> {
        if self.before[node as usize] == NONE {
            return None;
        }
        let mut path = vec![node];
        let mut at = node;
        while at != ROOT {
            at = self.before[at as usize];
            path.push(at);
        }
        path.reverse();
        Some(path)
    }
}
