//! `mt_gcbench DEPTH NUMBERS`: whippet's `mt-gcbench` with one thread. It is Boehm's GCBench, and
//! between two nodes it allocates an object that dies at once, of 0 to some dozen words.
//!
//! A tree of depth DEPTH and an array of NUMBERS words stay live. Then for each even depth d from 4
//! to DEPTH, `2 * size(DEPTH + 2) / size(d)` trees are built top down, and the same number bottom
//! up, with `size(d) = 2^(d+1) - 1`. A node has 32 bytes. The checksum is the number of trees and
//! of nodes of the live one.

use gclab_core::closure::{Closure, Mut};
use gclab_core::mutator::{Gc, Mutator, MutatorKind, NoGc, Root};
use gclab_core::world::World;
use gclab_workloads::{ArgSpec, Args, RunError, SplitMix64, StressSize, TestSize, Workload, WorkloadDescription};

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Node {
    left: Mut<Node>,
    right: Mut<Node>,
    depth: u64,
}

#[derive(Debug, Default)]
pub(crate) struct MtGcbench;

impl Workload for MtGcbench {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "mt_gcbench",
        summary: "GCBench with short-lived objects between the nodes (whippet's, one thread)",
        args: &[
            ArgSpec::number("DEPTH", "depth of the deepest trees", 16, 4..=30),
            ArgSpec::number("NUMBERS", "words of the live array", 500_000, 0..=1 << 32),
        ],
        checksum: Some(220_695),
        test: TestSize {
            args: &["6", "100"],
            checksum: Some(207),
        },
        bench: &["10", "10000"],
        stress: StressSize {
            args: &["4", "100"],
            every: 1,
            parallel: &["8", "1000"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let (depth, numbers) = (args.number("DEPTH") as u32, args.number("NUMBERS") as usize);
        let mut holes = Holes::new();
        Ok(world.enter(|m| run(m, &mut holes, depth, numbers))?)
    }
}

/// The words of the objects that die at once. Each size is accepted with a probability of 15 % once
/// all smaller ones were not.
struct Holes {
    words: [u8; 256],
    next: u8,
}

impl Holes {
    fn new() -> Self {
        let mut rng = SplitMix64::new(1);
        let words = std::array::from_fn(|_| (0..u8::MAX).find(|_| rng.below(100) < 15).unwrap_or(0));
        Holes { words, next: 0 }
    }

    #[inline(always)]
    fn alloc(&mut self, m: &mut Mutator<'_, impl MutatorKind>) {
        let words = self.words[usize::from(self.next)];
        self.next = self.next.wrapping_add(1);
        if words > 0 {
            m.alloc_mut_words(words.into());
        }
    }
}

const fn size(depth: u32) -> u64 {
    (1 << (depth + 1)) - 1
}

fn run<M: MutatorKind>(m: &mut Mutator<'_, M>, holes: &mut Holes, deepest: u32, numbers: usize) -> u64 {
    m.frame(|m, [live, array]| {
        let live = live.put(leaf(m));
        populate(m, holes, deepest, &live);
        let _array = array.put(m.alloc_mut_words(numbers));
        let mut trees = 0;
        for depth in (4..=deepest).step_by(2) {
            let times = 2 * size(deepest + 2) / size(depth);
            for _ in 0..times {
                m.frame(|m, [tree]| {
                    let tree = tree.put(leaf(m));
                    populate(m, holes, depth, &tree);
                });
            }
            for _ in 0..times {
                make(m, holes, depth);
            }
            trees += 2 * times;
        }
        trees + count(m, live.get(m))
    })
}

#[inline(always)]
fn leaf<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>) -> Gc<'m, 'h, Node> {
    m.alloc(|_| Node::new(None, None, 0))
}

/// Builds a tree of `depth` levels under `top`, by stores into older nodes.
fn populate<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, holes: &mut Holes, depth: u32, top: &Root<'_, 'h, Node>) {
    if depth == 0 {
        return;
    }
    m.frame(|m, [left, right]| {
        holes.alloc(m);
        let left = left.put(leaf(m));
        holes.alloc(m);
        let right = right.put(leaf(m));
        top.get(m).set_left(m, Some(left.get(m)));
        top.get(m).set_right(m, Some(right.get(m)));
        populate(m, holes, depth - 1, &left);
        populate(m, holes, depth - 1, &right);
    });
}

fn make<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, holes: &mut Holes, depth: u32) -> Gc<'m, 'h, Node> {
    if depth == 0 {
        return leaf(m);
    }
    m.frame(|m, [left, right]| {
        let left = left.put(make(m, holes, depth - 1));
        let right = right.put(make(m, holes, depth - 1));
        holes.alloc(m);
        m.alloc(|m| Node::new(Some(left.get(m)), Some(right.get(m)), depth.into()))
    })
}

fn count<'h, M: MutatorKind>(m: &NoGc<'h, M>, tree: Gc<'_, 'h, Node>) -> u64 {
    let below = |child: Option<_>| child.map_or(0, |child| count(m, child));
    1 + below(tree.left(m)) + below(tree.right(m))
}
