//! A splay tree of free blocks by their sizes (Sleator and Tarjan, 1985).
//!
//! A *node* represents all blocks of one size: itself, and those in a ring with it, which are taken
//! first, in FIFO order. Each access brings its node to the root, and halves the depth of the nodes
//! on the way. So no sequence of sizes makes accesses slow for long.

use gclab_core::space::{FreeBlock, FreeMemory, Link};
use gclab_core::words::Words;

/// Marks blocks that are nodes.
const NODE: u8 = 1;

/// Blocks of five words and more, by size.
#[derive(Debug, Default)]
pub(super) struct Tree {
    root: Option<FreeBlock>,
}

/// One side of the tree that a splay splits.
#[derive(Default)]
struct Side {
    top: Option<FreeBlock>,
    /// The node to attach the next one to.
    bottom: Option<FreeBlock>,
}

impl Side {
    /// Attaches a tree by `link` of the lowest node.
    fn attach(&mut self, memory: &mut FreeMemory, link: Link, node: Option<FreeBlock>) {
        match self.bottom {
            Some(bottom) => memory.set_link(bottom, link, node),
            None => self.top = node,
        }
        self.bottom = node.or(self.bottom);
    }
}

impl Tree {
    /// The root.
    pub(super) fn root(&self) -> Option<FreeBlock> {
        self.root
    }

    /// Adds a block.
    pub(super) fn insert(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        let words = memory.words(block);
        self.root = splay(memory, self.root, words);
        if let Some(node) = self.root.filter(|&root| memory.words(root) == words) {
            // In front of the node: the last of its ring.
            let last = memory.link(node, Link::Previous);
            memory.set_note(block, 0);
            close(memory, last, Some(block));
            close(memory, Some(block), Some(node));
            return;
        }
        let (mut left, mut right) = (None, None);
        if let Some(root) = self.root {
            if memory.words(root) < words {
                (left, right) = (Some(root), memory.link(root, Link::Right));
                memory.set_link(root, Link::Right, None);
            } else {
                (left, right) = (memory.link(root, Link::Left), Some(root));
                memory.set_link(root, Link::Left, None);
            }
        }
        close(memory, Some(block), Some(block));
        self.set_root(memory, block, left, right);
    }

    /// Removes a block.
    pub(super) fn remove(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        let (before, behind) = (memory.link(block, Link::Previous), memory.link(block, Link::Next));
        if memory.note(block) != NODE {
            close(memory, before, behind);
            return;
        }
        self.root = splay(memory, self.root, memory.words(block));
        debug_assert_eq!(self.root, Some(block), "a node is in the tree");
        let (left, right) = (memory.link(block, Link::Left), memory.link(block, Link::Right));
        if let Some(next) = behind.filter(|&next| next != block) {
            close(memory, before, behind);
            self.set_root(memory, next, left, right);
            return;
        }
        // The largest on the left has no right side.
        self.root = splay(memory, left, Words(usize::MAX));
        match self.root {
            Some(root) => memory.set_link(root, Link::Right, right),
            None => self.root = right,
        }
    }

    /// Brings the node of the smallest size of at least `words` to the root, and the largest node
    /// below that size to the top of its left side. Returns both.
    pub(super) fn best(&mut self, memory: &mut FreeMemory, words: Words) -> Option<(FreeBlock, Option<FreeBlock>)> {
        self.root = splay(memory, self.root, words);
        let root = self.root?;
        if memory.words(root) >= words {
            let left = memory.link(root, Link::Left);
            let below = splay(memory, left, Words(usize::MAX));
            memory.set_link(root, Link::Left, below);
            return Some((root, below));
        }
        // All on the right side are large enough.
        let right = memory.link(root, Link::Right);
        let best = splay(memory, right, Words::ZERO)?;
        memory.set_link(root, Link::Right, None);
        memory.set_link(best, Link::Left, Some(root));
        self.root = Some(best);
        Some((best, Some(root)))
    }

    /// Makes `block` the root above the nodes of the two sides.
    fn set_root(
        &mut self,
        memory: &mut FreeMemory,
        block: FreeBlock,
        left: Option<FreeBlock>,
        right: Option<FreeBlock>,
    ) {
        memory.set_note(block, NODE);
        memory.set_link(block, Link::Left, left);
        memory.set_link(block, Link::Right, right);
        self.root = Some(block);
    }
}

/// Makes two blocks of a ring neighbours.
fn close(memory: &mut FreeMemory, before: Option<FreeBlock>, behind: Option<FreeBlock>) {
    if let (Some(before), Some(behind)) = (before, behind) {
        memory.set_link(before, Link::Next, Some(behind));
        memory.set_link(behind, Link::Previous, Some(before));
    }
}

/// Brings the node of size `words`, or the last one on the path to its place, to the top of a tree.
/// Returns it.
///
/// Top-down splaying: nodes above the place go to a left and a right side, by size. On two steps in
/// the same direction, the lower node is rotated above the upper one, which halves the depth of the
/// path.
fn splay(memory: &mut FreeMemory, root: Option<FreeBlock>, words: Words) -> Option<FreeBlock> {
    let mut node = root?;
    let (mut left, mut right) = (Side::default(), Side::default());
    loop {
        let is_lower = match words.cmp(&memory.words(node)) {
            std::cmp::Ordering::Equal => break,
            order => order.is_lt(),
        };
        let (inner, outer) = if is_lower {
            (Link::Left, Link::Right)
        } else {
            (Link::Right, Link::Left)
        };
        let Some(mut child) = memory.link(node, inner) else {
            break;
        };
        let size = memory.words(child);
        let is_straight = words != size && (words < size) == is_lower;
        if is_straight && !gclab_core::mutant!("ocaml/tree-not-rebalanced") {
            let between = memory.link(child, outer);
            memory.set_link(node, inner, between);
            memory.set_link(child, outer, Some(node));
            node = child;
            match memory.link(node, inner) {
                Some(next) => child = next,
                None => break,
            }
        }
        let side = if is_lower { &mut right } else { &mut left };
        side.attach(memory, inner, Some(node));
        node = child;
    }
    let (lower, greater) = (memory.link(node, Link::Left), memory.link(node, Link::Right));
    left.attach(memory, Link::Right, lower);
    right.attach(memory, Link::Left, greater);
    memory.set_link(node, Link::Left, left.top);
    memory.set_link(node, Link::Right, right.top);
    Some(node)
}
