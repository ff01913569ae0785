//! Dominators: through whom each object is held, and how much each holds.
//!
//! **Terms.** Node *d dominates* node v if every way from the root to v goes through d; the *immediate dominator* of v is the nearest
//! such d other than v. Immediate dominators form a tree under the root. If d went away, v would be unreachable: the *retained
//! size* of d is what its subtree weighs, which is the memory that would come free.
//!
//! **How** it is computed: `semi_nca.rs`.
//!
//! **Memory**, beside the graph: at most 4 (E + 5 N) bytes at any time for N nodes and E edges that the root reaches, of which 8 N stay. Together
//! with the graph that is at most three times the graph if there are three edges a node or more, and at most four times it for any graph.
//!
//! **Checked** by tests: against the definition (take a node away and see what is not reached any more) on random graphs, against another
//! algorithm, and against the results of other programs on real heaps.

mod semi_nca;

use crate::graph::{Graph, NONE, ROOT};
use crate::rows::Rows;

/// The dominator tree of a graph.
#[derive(Debug)]
pub struct Dominators {
    /// By node: its immediate dominator; the root's is the root; [`NONE`] where the root does not lead.
    idom: Vec<u32>,
    /// What the root reaches, each after its immediate dominator.
    order: Vec<u32>,
}

impl Dominators {
    /// The dominator tree of `graph`.
    pub fn of(graph: &Graph) -> Self {
        let (idom, order) = semi_nca::dominators(graph);
        Dominators { idom, order }
    }

    /// The immediate dominator of `node`, the root's being the root; `None` if the root does not reach the node.
    ///
    /// # Panics
    /// If there is no such node.
    #[inline]
    pub fn idom(&self, node: u32) -> Option<u32> {
        Some(self.idom[node as usize]).filter(|&idom| idom != NONE)
    }

    /// By node: its immediate dominator, [`NONE`] where the root does not lead.
    pub fn idoms(&self) -> &[u32] {
        &self.idom
    }

    /// What the root reaches, in an order in which each comes after its immediate dominator; the root first.
    pub fn reached(&self) -> &[u32] {
        &self.order
    }

    /// By node: the sum of `size` over all that it dominates, itself included; 0 where the root does not lead.
    pub fn retained(&self, size: impl Fn(u32) -> u64) -> Vec<u64> {
        let mut retained = vec![0_u64; self.idom.len()];
        for &node in &self.order {
            retained[node as usize] = size(node);
        }
        for &node in self.order[1..].iter().rev() {
            retained[self.idom[node as usize] as usize] += retained[node as usize];
        }
        retained
    }

    /// The tree downwards: by node, the nodes that it dominates immediately, lower ordinals first.
    /// Takes eight bytes a node.
    pub fn children(&self) -> Rows {
        let mut children = Rows::default();
        let nodes = self.idom.len();
        children.fill(nodes, nodes, |node| {
            let below = node != ROOT as usize && self.idom[node] != NONE;
            below.then(|| (self.idom[node], node as u32))
        });
        children
    }
}
