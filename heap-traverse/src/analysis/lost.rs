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
//! in real heaps. Four bytes a node and 16 a reachable node, including the graph.

use super::classes::Classes;
use crate::fetch::fetch;
use crate::graph::{Graph, NONE, ROOT};
use crate::memory::{OutOfMemory, filled, push, with_capacity, zeroed};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// The most classes of one search.
const MOST: usize = 63;
/// Flag among the bits of a node: it is in the queue.
const QUEUED: u64 = 1 << MOST;
/// How many nodes of a queue ahead memory is fetched.
const AHEAD: usize = 16;

/// The reachable nodes, numbered from the nearest.
struct Near<'c> {
    /// The targets of its edges are numbers.
    graph: Graph,
    /// By number: the node.
    order: Vec<u32>,
    classes: &'c Classes,
}

/// The `count` of the `wanted` classes that retain most, with the bytes, largest first; of equals,
/// the lower number first. `single` gives the bytes that a node retains by itself.
pub(super) fn largest(
    graph: Graph,
    classes: &Classes,
    wanted: &[u32],
    count: usize,
    size: impl Fn(u32) -> u64,
    single: impl Fn(u32) -> u64,
) -> Result<Vec<(u32, u64)>, OutOfMemory> {
    let (near, above) = Near::of(graph, classes)?;
    let bounds = near.bounds(above, &size)?;
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
        for (&class, bytes) in some.iter().zip(near.lost(some, &size)?) {
            push(&mut found, (class, bytes))?;
        }
    }
    found.sort_unstable_by_key(order);
    found.truncate(count);
    Ok(found)
}

impl<'c> Near<'c> {
    /// Also returns, by number, that of the parent on a tree of shortest paths.
    fn of(mut graph: Graph, classes: &'c Classes) -> Result<(Self, Vec<u32>), OutOfMemory> {
        let mut number = filled(NONE, graph.node_count() as usize)?;
        let (mut order, mut above) = (vec![ROOT], vec![0]);
        number[ROOT as usize] = 0;
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            let soon = |ahead: usize| order.get(at + ahead).copied();
            soon(2 * AHEAD).inspect(|&node| graph.rows().fetch_start(node));
            soon(AHEAD).inspect(|&node| graph.rows().fetch_row(node));
            let targets = soon(AHEAD / 2).map_or(&[][..], |node| graph.row(node));
            targets.iter().take(AHEAD).for_each(|&target| fetch(&number, target));
            for &target in graph.row(node) {
                let number = &mut number[target as usize];
                if *number == NONE {
                    *number = order.len() as u32;
                    push(&mut order, target)?;
                    push(&mut above, at as u32)?;
                }
            }
            at += 1;
        }
        graph.renumber(&number);
        Ok((Near { graph, order, classes }, above))
    }

    fn class(&self, number: u32) -> usize {
        self.classes.of_nodes()[self.order[number as usize] as usize] as usize
    }

    /// By class: an upper bound of the bytes below its nodes on the tree `above`. Those below
    /// another of the same class count twice, except in a list.
    fn bounds(&self, above: Vec<u32>, size: impl Fn(u32) -> u64) -> Result<Vec<u64>, OutOfMemory> {
        let mut sums = with_capacity(self.order.len())?;
        sums.extend(self.order.iter().map(|&node| size(node)));
        for number in (1..sums.len()).rev() {
            sums[above[number] as usize] += sums[number];
        }
        let mut bounds = zeroed(self.classes.len())?;
        for number in 0..sums.len() {
            let class = self.class(number as u32);
            if number == 0 || self.class(above[number]) != class {
                bounds[class] = sums[0].min(bounds[class].saturating_add(sums[number]));
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
        // By number: the bits of the classes without which the root reaches the node.
        let mut without = zeroed(self.order.len())?;
        let mut queue = VecDeque::from(with_capacity::<u32>(self.order.len())?);
        without[ROOT as usize] = all;
        queue.push_back(ROOT);
        while let Some(number) = queue.pop_front() {
            let soon = |ahead: usize| queue.get(ahead).map(|&number| self.order[number as usize]);
            soon(2 * AHEAD).inspect(|&node| {
                self.graph.rows().fetch_start(node);
                fetch(self.classes.of_nodes(), node);
            });
            soon(AHEAD).inspect(|&node| self.graph.rows().fetch_row(node));
            let targets = soon(AHEAD / 2).map_or(&[][..], |node| self.graph.row(node));
            targets.iter().take(AHEAD).for_each(|&target| fetch(&without, target));
            let own = &mut without[number as usize];
            *own &= !QUEUED;
            let passed = *own & !bit[self.class(number)];
            for &target in self.graph.row(self.order[number as usize]) {
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
        for (number, &node) in self.order.iter().enumerate() {
            let mut lost = all & (!without[number] | bit[self.class(number as u32)]);
            while lost != 0 {
                bytes[lost.trailing_zeros() as usize] += size(node);
                lost &= lost - 1;
            }
        }
        Ok(bytes)
    }
}
