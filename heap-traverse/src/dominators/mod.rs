//! Dominators: which objects hold each object, and how much memory each object holds.
//!
//! **Terms.** Node *d dominates* node v if every path from the root to v goes through d. The
//! *immediate dominator* of v is the nearest such d other than v. Immediate dominators form a tree
//! under the root. Without d, v would be unreachable. So the *retained size* of d, the sum of sizes
//! in its subtree, is the memory that would be freed without d.
//!
//! `semi_nca.rs` has the algorithm.
//!
//! **Memory**, in addition to the graph: at most 4 (E + 5 N) bytes at any time for N reachable
//! nodes and E edges, of which 8 N remain. Including the graph, that is at most three times the
//! graph if there are three edges a node or more, and at most four times for any graph.
//!
//! **Checked** by tests: against the definition (remove a node and see which others become
//! unreachable) on random graphs, against another algorithm, and against the results of other
//! programs on real heaps.

mod semi_nca;

use crate::graph::{Graph, NONE, ROOT};
use crate::memory::{OutOfMemory, filled, zeroed};
use crate::rows::Rows;
use std::ops::Deref;

/// The dominator tree of a graph.
#[derive(Debug)]
pub struct Dominators {
    /// By node: its immediate dominator. The root's is the root. [`NONE`] if it is unreachable.
    idom: Vec<u32>,
    /// The reachable nodes, each after its immediate dominator.
    order: Vec<u32>,
}

impl Dominators {
    /// Computes the dominator tree of `graph`.
    ///
    /// # Errors
    /// If there is not enough memory for it.
    pub fn of<S: Deref<Target = [u32]>>(graph: &Graph<S>) -> Result<Self, OutOfMemory> {
        let (idom, order) = semi_nca::dominators(graph.view())?;
        Ok(Dominators { idom, order })
    }

    /// Moves leaves of the tree below other nodes, which are none of them.
    ///
    /// # Errors
    /// If there is not enough memory for a byte a node.
    pub(crate) fn move_leaves(&mut self, leaves: &[(u32, u32)]) -> Result<(), OutOfMemory> {
        let mut is_moved = filled(false, self.idom.len())?;
        for &(leaf, above) in leaves {
            is_moved[leaf as usize] = true;
            self.idom[leaf as usize] = above;
        }
        self.order.retain(|&node| !is_moved[node as usize]);
        self.order.extend(leaves.iter().map(|leaf| leaf.0));
        Ok(())
    }

    /// The immediate dominator of `node`. The root's is the root. `None` if the node is
    /// unreachable.
    ///
    /// # Panics
    /// If there is no such node.
    #[inline]
    pub fn idom(&self, node: u32) -> Option<u32> {
        Some(self.idom[node as usize]).filter(|&idom| idom != NONE)
    }

    /// By node: its immediate dominator, or [`NONE`] if it is unreachable.
    pub fn idoms(&self) -> &[u32] {
        &self.idom
    }

    /// The reachable nodes, each after its immediate dominator, so the root comes first.
    pub fn reached(&self) -> &[u32] {
        &self.order
    }

    /// By node: the sum of `size` over all nodes that it dominates, itself included. 0 if it is
    /// unreachable.
    ///
    /// # Errors
    /// If there is not enough memory for eight bytes a node.
    pub fn retained(&self, size: impl Fn(u32) -> u64) -> Result<Vec<u64>, OutOfMemory> {
        let mut retained = zeroed(self.idom.len())?;
        for &node in &self.order {
            retained[node as usize] = size(node);
        }
        for &node in self.order[1..].iter().rev() {
            retained[self.idom[node as usize] as usize] += retained[node as usize];
        }
        Ok(retained)
    }

    /// The tree downwards: by node, the nodes that it dominates immediately, lower ordinals first.
    /// Takes eight bytes a node.
    ///
    /// # Errors
    /// If there is not enough memory for that.
    pub fn children(&self) -> Result<Rows, OutOfMemory> {
        let nodes = self.idom.len();
        let mut children = Rows::with_capacity(nodes as u32, self.order.len() as u32)?;
        children.fill(nodes, nodes, |node| {
            let below = node != ROOT as usize && self.idom[node] != NONE;
            below.then(|| (self.idom[node], node as u32))
        });
        Ok(children)
    }
}
