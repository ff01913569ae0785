//! The work that a heap causes: objects, bytes, random accesses to cache lines, and the longest
//! chain of these.

use gclab_core::world::{ClosureView, Stopped};
use gclab_heap_traverse::AddrSet;
use std::collections::VecDeque;

/// Two addresses nearer than this count as one place: the same cache line, or lines that the
/// machine prefetches with it.
const NEAR: usize = 256;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Counts of the reachable closures.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Census {
    /// The number of closures.
    pub objects: u64,
    /// The bytes of all closures.
    pub bytes: u64,
    /// Lines that a breadth-first walk reaches out of order: one for each pointer whose target is
    /// not near the target before, and one more if the closure is reached for the first time and
    /// does not end in the line that it begins in.
    pub lines: u64,
    /// The most such pointers one after the other on a path of the walk.
    pub chain: u64,
}

/// Counts the closures that the roots reach.
pub(crate) fn census(stopped: &Stopped<'_>) -> Census {
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
