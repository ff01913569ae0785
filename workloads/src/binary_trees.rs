//! `binary_trees N`: many short-lived trees and a long-lived one (from the Computer Language
//! Benchmarks Game).
//!
//! With max = max(N, 6): build a tree of depth max + 1, count it, drop it; keep one of depth max;
//! for every even depth d from 4 to max build, count and drop 2^(max - d + 4) trees of depth d. The
//! checksum is the number of nodes counted. This is also the number allocated, 24 bytes each. Live
//! at the peak: two trees of depth max, or the first one.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Gc, Mutator, MutatorKind, NoGc};
use gclab_core::world::World;

use crate::{ArgSpec, Args, RunError, StressSize, TestSize, Workload, WorkloadDescription};

/// The smallest depth of the largest trees.
pub(crate) const LEAST_DEPTH: u64 = 6;

/// A node; a leaf has no children.
#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

/// Short-lived trees and a long-lived one.
#[derive(Debug, Default)]
pub struct BinaryTrees;

impl Workload for BinaryTrees {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "binary_trees",
        summary: "many short-lived trees and a long-lived one",
        args: &[ArgSpec::number("N", "depth of the largest trees", 18, 0..=40)],
        checksum: Some(68_332_206),
        test: TestSize {
            args: &["10"],
            checksum: Some(135_854),
        },
        bench: &["13"],
        stress: StressSize {
            args: &["6"],
            every: 1,
            parallel: &["9"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let max = args.number("N").max(LEAST_DEPTH) as u32;
        Ok(world.enter(|m| run(m, max))?)
    }
}

/// Runs the program with trees of depth `max`. Returns the number of nodes counted.
pub(crate) fn run<M: MutatorKind>(m: &mut Mutator<'_, M>, max: u32) -> u64 {
    let mut count = make_and_count(m, max + 1);
    m.frame(|m, [long]| {
        let long = long.put(make(m, max));
        for depth in (4..=max).step_by(2) {
            for _ in 0..1_u64 << (max - depth + 4) {
                count += make_and_count(m, depth);
            }
        }
        count + nodes(m, long.get(m))
    })
}

fn make<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, depth: u32) -> Gc<'m, 'h, Tree> {
    if depth == 0 {
        return leaf(m);
    }
    m.frame(|m, [left, right]| {
        // Leaves, half of all nodes, are made in place: this takes a third less mutator time than a
        // call each.
        let (left, right) = if depth == 1 {
            (left.put(leaf(m)), right.put(leaf(m)))
        } else {
            (left.put(make(m, depth - 1)), right.put(make(m, depth - 1)))
        };
        m.alloc(|m| Tree::new(Some(left.get(m)), Some(right.get(m))))
    })
}

#[inline(always)]
fn leaf<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>) -> Gc<'m, 'h, Tree> {
    m.alloc(|_| Tree::new(None, None))
}

fn make_and_count<M: MutatorKind>(m: &mut Mutator<'_, M>, depth: u32) -> u64 {
    let (m, tree) = m.with_view(|m| make(m, depth));
    nodes(m, tree)
}

fn nodes<'h, M: MutatorKind>(m: &NoGc<'h, M>, tree: Gc<'_, 'h, Tree>) -> u64 {
    match (tree.left(m), tree.right(m)) {
        (Some(left), Some(right)) => 1 + nodes(m, left) + nodes(m, right),
        _ => 1,
    }
}
