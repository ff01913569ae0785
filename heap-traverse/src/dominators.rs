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
        semi_nca::dominators(graph)
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

    /// The tree downwards.
    pub fn children(&self) -> Children {
        Children::of(self)
    }
}

/// What each node dominates immediately. Eight bytes a node.
#[derive(Debug)]
pub struct Children {
    /// Row i is `nodes[first[i]..first[i + 1]]`.
    first: Vec<u32>,
    nodes: Vec<u32>,
}

impl Children {
    fn of(dominators: &Dominators) -> Self {
        let nodes = dominators.idom.len();
        let below = || (0..nodes as u32).filter(|&node| node != ROOT && dominators.idom[node as usize] != NONE);
        let mut first = vec![0_u32; nodes + 2];
        for node in below() {
            first[dominators.idom[node as usize] as usize + 2] += 1;
        }
        (2..nodes + 2).for_each(|at| first[at] += first[at - 1]);
        let mut children = vec![0; dominators.order.len() - 1];
        for node in below() {
            // Counts are two places off, so that the starts that are used up here become the ends.
            let next = &mut first[dominators.idom[node as usize] as usize + 1];
            children[*next as usize] = node;
            *next += 1;
        }
        first.pop();
        Children { first, nodes: children }
    }

    /// What `node` dominates immediately, lower ordinals first.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn row(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.nodes[self.first[node] as usize..self.first[node + 1] as usize]
    }
}
