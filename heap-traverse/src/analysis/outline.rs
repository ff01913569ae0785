//! An outline of the dominator tree, for readers: without the nodes that stand for no object, with
//! chains folded, and with the small branches together.
//!
//! **Terms.** A *hidden* node has no line of its own; its children stand in its place. A *chain*
//! is a run of nodes, from its *head* down, in which each node holds nearly all of the one before
//! it. It is one line of the outline: an object with its only large part, or a list. A *branch* is
//! a chain with everything below it; its size is the head's retained size. The *rest* of a node are
//! the heads of those branches below it that are too small for a line.
//!
//! **A chain goes on** from a node to its largest child if the child retains nine tenths of the
//! bytes of the node; or if both are of one class, and the step loses at most a tenth of the bytes
//! of the head. By the first rule alone, a list would lose its last ten members.

use crate::graph::ROOT;
use crate::memory::{OutOfMemory, push, with_capacity};
use crate::rows::Rows;
use std::cmp::Reverse;

/// The part of a node that a child must retain to continue a chain: nine tenths.
const NEARLY_ALL: (u128, u128) = (9, 10);
/// The part of the head that a step within one class may lose: a tenth.
const LOSS: (u128, u128) = (1, 10);

/// A dominator tree as it is shown.
pub struct Outline<'a> {
    children: &'a Rows,
    retained: &'a [u64],
    class: &'a [u32],
    hidden: &'a (dyn Fn(u32) -> bool + 'a),
}

/// The branches below a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Branches {
    /// The heads of the large branches, largest first; of equals the lower ordinal first.
    pub large: Vec<u32>,
    /// The heads of the other branches, in no order.
    pub rest: Vec<u32>,
}

impl std::fmt::Debug for Outline<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outline").field("nodes", &self.retained.len()).finish()
    }
}

impl<'a> Outline<'a> {
    /// The outline of a dominator tree: its children downwards from the root, and by node the
    /// retained size, the class, and whether it is hidden.
    pub fn new(
        children: &'a Rows,
        retained: &'a [u64],
        class: &'a [u32],
        hidden: &'a (dyn Fn(u32) -> bool + 'a),
    ) -> Self {
        Outline {
            children,
            retained,
            class,
            hidden,
        }
    }

    /// The branches at the top; those are large that retain `least` bytes or more.
    ///
    /// # Errors
    /// If there is not enough memory for them, as in all that follow.
    pub fn top(&self, least: u64) -> Result<Branches, OutOfMemory> {
        self.parted(vec![ROOT], least)
    }

    /// The chain from `head` down.
    ///
    /// # Errors
    /// As [`Outline::top`].
    pub fn chain(&self, head: u32) -> Result<Vec<u32>, OutOfMemory> {
        let mut chain = vec![head];
        let mut at = head;
        while let Some(next) = self.next(head, at) {
            push(&mut chain, next)?;
            at = next;
        }
        Ok(chain)
    }

    /// The branches below a chain; those are large that retain `least` bytes or more.
    ///
    /// # Errors
    /// As [`Outline::top`].
    pub fn below(&self, chain: &[u32], least: u64) -> Result<Branches, OutOfMemory> {
        let children = chain.iter().map(|&node| self.children.row(node).len()).sum();
        let mut heads = with_capacity(children)?;
        for place in 0..chain.len() {
            heads.extend(self.beside(chain, place));
        }
        self.parted(heads, least)
    }

    /// The children of the node at a place of a chain that are not the next node of the chain.
    fn beside(&self, chain: &[u32], place: usize) -> impl Iterator<Item = u32> {
        let next = chain.get(place + 1).copied();
        let children = self.children.row(chain[place]).iter().copied();
        children.filter(move |child| Some(*child) != next)
    }

    /// The node after `at` in the chain of `head`.
    fn next(&self, head: u32, at: u32) -> Option<u32> {
        let row = self.children.row(at).iter();
        let next = *row.max_by_key(|&&child| (self.retained[child as usize], Reverse(child)))?;
        let [head, own, next_own] = [head, at, next].map(|node| u128::from(self.retained[node as usize]));
        let nearly_all = next_own * NEARLY_ALL.1 >= own * NEARLY_ALL.0;
        let in_a_list =
            self.class[next as usize] == self.class[at as usize] && (own - next_own) * LOSS.1 <= head * LOSS.0;
        let goes_on = next_own > 0 && (nearly_all || in_a_list) && !(self.hidden)(next);
        goes_on.then_some(next)
    }

    /// Replaces hidden nodes by their children, and sorts the large ones.
    fn parted(&self, heads: Vec<u32>, least: u64) -> Result<Branches, OutOfMemory> {
        let mut branches = Branches::default();
        let mut open = heads;
        while let Some(head) = open.pop() {
            if (self.hidden)(head) {
                for &child in self.children.row(head) {
                    push(&mut open, child)?;
                }
            } else if self.retained[head as usize] >= least {
                push(&mut branches.large, head)?;
            } else {
                push(&mut branches.rest, head)?;
            }
        }
        let key = |head: &u32| (Reverse(self.retained[*head as usize]), *head);
        branches.large.sort_unstable_by_key(key);
        Ok(branches)
    }
}
