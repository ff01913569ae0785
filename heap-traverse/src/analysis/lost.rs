//! The memory that would be free without all objects of a class.
//!
//! **What a class retains**: the bytes of its nodes and of all others unreachable without them.
//! Dominators do not tell this: an object held by two objects of a class, and by nothing else, is
//! dominated by neither.
//!
//! **How.** One search finds the bytes for up to [`MOST`] classes. Each node has a bit for each of
//! them, which is set if the node is reachable without that class. A node passes its bits on,
//! except that of its own class; one that gets new bits is visited again.
//!
//! **Which classes.** On any tree of paths from the root, a class retains at most what is below its
//! nodes. So classes are taken in the order of that bound on a tree of shortest paths, until no
//! bound exceeds the last of the classes wanted. What a single node retains is already known.
//!
//! **Cost.** At worst the time of [`MOST`] searches of the graph for as many classes; two or three
//! in real heaps. 12 bytes a node, in addition to the graph and the paths.

use super::classes::Classes;
use crate::fetch::fetch;
use crate::graph::{Graph, NONE, ROOT, ShortestPaths};
use crate::memory::{OutOfMemory, push, with_capacity, zeroed};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// The most classes of one search.
const MOST: usize = 63;
/// Flag among the bits of a node: it is in the queue.
const QUEUED: u64 = 1 << MOST;
/// How many nodes ahead memory is fetched.
const AHEAD: usize = 16;

/// A search of the reachable nodes.
struct Search<'c> {
    graph: Graph<&'c [u32]>,
    paths: &'c ShortestPaths,
    classes: &'c Classes,
}

/// The `count` of the `wanted` classes that retain most, with the bytes, largest first; of equals,
/// the lower number first. `single` gives the bytes that a node retains by itself.
pub(super) fn largest(
    graph: Graph<&[u32]>,
    paths: &ShortestPaths,
    classes: &Classes,
    wanted: &[u32],
    count: usize,
    size: impl Fn(u32) -> u64,
    single: impl Fn(u32) -> u64,
) -> Result<Vec<(u32, u64)>, OutOfMemory> {
    let search = Search { graph, paths, classes };
    let bounds = search.bounds(&size)?;
    let (mut found, mut open) = (Vec::new(), Vec::new());
    for &class in wanted {
        match (bounds[class as usize], classes.figures(class)) {
            (0, _) => push(&mut found, (class, 0))?,
            (_, figures) if figures.count == 1 => push(&mut found, (class, single(figures.first)))?,
            _ => push(&mut open, class)?,
        }
    }
    let order = |found: &(u32, u64)| (Reverse(found.1), found.0);
    open.sort_unstable_by_key(|&class| (Reverse(bounds[class as usize]), class));
    for some in open.chunks(MOST) {
        if found.len() >= count {
            found.sort_unstable_by_key(order);
            found.truncate(count);
            if found.last().is_none_or(|last| last.1 > bounds[some[0] as usize]) {
                return Ok(found);
            }
        }
        for (&class, bytes) in some.iter().zip(search.lost(some, &size)?) {
            push(&mut found, (class, bytes))?;
        }
    }
    found.sort_unstable_by_key(order);
    found.truncate(count);
    Ok(found)
}

impl Search<'_> {
    fn class(&self, node: u32) -> usize {
        self.classes.of_nodes()[node as usize] as usize
    }

    /// The reachable nodes by ordinal, since columns are read fastest in their own order.
    fn nodes(&self) -> impl Iterator<Item = u32> {
        (0..self.graph.node_count()).filter(|&node| self.paths.before(node) != NONE)
    }

    /// By class: an upper bound of the bytes below its nodes on the tree of shortest paths. Those
    /// below another of the same class count twice, except in a list.
    fn bounds(&self, size: impl Fn(u32) -> u64) -> Result<Vec<u64>, OutOfMemory> {
        let mut sums = zeroed(self.graph.node_count() as usize)?;
        let mut bounds = zeroed(self.classes.len())?;
        self.nodes().for_each(|node| sums[node as usize] = size(node));
        let all = sums.iter().sum();
        let reached = self.paths.reached();
        for (at, &node) in reached.iter().enumerate().rev() {
            if let Some(at) = at.checked_sub(AHEAD) {
                fetch(&sums, reached[at]);
                fetch(self.classes.of_nodes(), reached[at]);
                self.paths.fetch_before(reached[at]);
            }
            let (above, class) = (self.paths.before(node), self.class(node));
            let sum = sums[node as usize];
            sums[above as usize] += sum;
            if node == ROOT || self.class(above) != class {
                bounds[class] = bounds[class].saturating_add(sum).min(all);
            }
        }
        Ok(bounds)
    }

    /// The bytes of the nodes that are lost without those of each class in `some`.
    fn lost(&self, some: &[u32], size: impl Fn(u32) -> u64) -> Result<[u64; MOST], OutOfMemory> {
        // By class: its bit, if it has one.
        let mut bit = zeroed(self.classes.len())?;
        for (at, &class) in some.iter().enumerate() {
            bit[class as usize] = 1_u64 << at;
        }
        let all = some.iter().fold(0, |all, &class| all | bit[class as usize]);
        // By node: the bits of the classes without which it is reachable.
        let mut without = zeroed(self.graph.node_count() as usize)?;
        let mut queue = VecDeque::from(with_capacity::<u32>(self.paths.reached().len())?);
        without[ROOT as usize] = all;
        queue.push_back(ROOT);
        while let Some(node) = queue.pop_front() {
            queue.get(AHEAD).inspect(|&&node| fetch(self.classes.of_nodes(), node));
            self.graph.expect(&without, |ahead| queue.get(ahead).copied());
            let own = &mut without[node as usize];
            *own &= !QUEUED;
            let passed = *own & !bit[self.class(node)];
            for &target in self.graph.row(node) {
                let known = &mut without[target as usize];
                if passed & !*known != 0 {
                    if *known & QUEUED == 0 {
                        queue.push_back(target);
                    }
                    *known |= passed | QUEUED;
                }
            }
        }
        let mut bytes = [0; MOST];
        for node in self.nodes() {
            let mut lost = all & (!without[node as usize] | bit[self.class(node)]);
            while lost != 0 {
                bytes[lost.trailing_zeros() as usize] += size(node);
                lost &= lost - 1;
            }
        }
        Ok(bytes)
    }
}
