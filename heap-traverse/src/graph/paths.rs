//! Shortest paths from the root to every node.

use super::edges::{Graph, NONE, ROOT};
use crate::fetch::fetch;
use crate::memory::{OutOfMemory, filled, with_capacity};
use std::ops::Deref;

/// For each reachable node: the node before it on a shortest path. Of several paths, the one that a
/// breadth-first search in the order of edges finds first. Takes eight bytes a node.
#[derive(Debug)]
pub struct ShortestPaths {
    before: Vec<u32>,
    reached: Vec<u32>,
}

impl ShortestPaths {
    /// Searches breadth-first from the root.
    ///
    /// # Errors
    /// If there is not enough memory for the search.
    pub fn of<S: Deref<Target = [u32]>>(graph: &Graph<S>) -> Result<Self, OutOfMemory> {
        Self::search(graph.view())
    }

    fn search(graph: Graph<&[u32]>) -> Result<Self, OutOfMemory> {
        let mut before = filled(NONE, graph.node_count() as usize)?;
        let mut reached = with_capacity(before.len())?;
        reached.push(ROOT);
        before[ROOT as usize] = ROOT;
        let mut next = 0;
        while let Some(&from) = reached.get(next) {
            graph.expect(&before, |ahead| reached.get(next + ahead).copied());
            for &target in graph.row(from) {
                let before = &mut before[target as usize];
                if *before == NONE {
                    *before = from;
                    reached.push(target);
                }
            }
            next += 1;
        }
        Ok(ShortestPaths { before, reached })
    }

    /// The reachable nodes, the nearest first.
    pub fn reached(&self) -> &[u32] {
        &self.reached
    }

    /// The node before a reachable one. The root's is the root. [`NONE`] of an unreachable one.
    pub fn before(&self, node: u32) -> u32 {
        self.before[node as usize]
    }

    /// Prefetches the node before `node`.
    #[inline]
    pub(crate) fn fetch_before(&self, node: u32) {
        fetch(&self.before, node);
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
