//! What a heap asks of the machine: objects, bytes, lines at random, and the longest chain of them.

use gclab_core::world::{ClosureView, Stopped};
use gclab_heap_traverse::AddrSet;
use std::collections::VecDeque;

/// Two addresses nearer than this count as one place: the line, or those that the machine fetches with it by itself.
const NEAR: usize = 256;

/// Bytes of a cache line.
const LINE: usize = 64;

/// What is reachable.
#[derive(Clone, Copy, Debug, Default)]
pub struct Census {
    /// Closures.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Lines that a breadth-first walk comes to out of order: one for each pointer to a place that is not near the pointer before, and
    /// one more for a closure that is reached so for the first time and does not end in the line that it begins in.
    pub lines: u64,
    /// The most of such pointers behind each other on the ways that the walk takes.
    pub chain: u64,
}

/// Counts what the roots reach.
pub fn census(stopped: &Stopped<'_>) -> Census {
    let mut census = Census::default();
    let mut seen = AddrSet::new(stopped.blocks().base());
    let mut open: VecDeque<(ClosureView<'_>, u64)> = VecDeque::new();
    for root in stopped.root_closures() {
        if seen.insert(root.addr()) {
            open.push_back((root, 0));
        }
    }
    let mut before = 0_usize;
    while let Some((closure, chain)) = open.pop_front() {
        census.objects += 1;
        census.bytes += closure.words().to_bytes().0 as u64;
        census.chain = census.chain.max(chain);
        for child in closure.children() {
            let at = child.addr().0;
            let far = at.abs_diff(before) >= NEAR;
            before = at;
            census.lines += u64::from(far);
            if seen.insert(child.addr()) {
                let end = at + child.words().to_bytes().0 - 1;
                census.lines += u64::from(far && at / LINE != end / LINE);
                open.push_back((child, chain + u64::from(far)));
            }
        }
    }
    census
}
