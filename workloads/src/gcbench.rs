//! `gcbench STRETCH LONG ARRAY`: Boehm's GCBench. It builds trees bottom up and top down, while a
//! large tree and an array stay live.
//!
//! Build a tree of depth STRETCH and drop it. Keep a tree of depth LONG, built top down by stores
//! into existing nodes, so that the write barrier runs. Keep ARRAY unboxed numbers, the first half
//! of them set to 1/(k+1). Then, for every even depth d from 4 to LONG, build `2 * size(STRETCH) /
//! size(d)` trees top down and the same number bottom up, with `size(d) = 2^(d+1) - 1`. The
//! checksum is the number of nodes of the long-lived tree + numbers that are not 0 + trees built. A
//! node has 40 bytes.

use std::sync::atomic::Ordering;

use gclab_core::closure::{Closure, Mut};
use gclab_core::cost_centre;
use gclab_core::mutator::{Gc, Mutator, MutatorKind, NoGc, Root};
use gclab_core::world::World;

use crate::{ArgSpec, Args, RunError, StressSize, TestSize, Workload, WorkloadDescription};

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Node {
    left: Mut<Node>,
    right: Mut<Node>,
    i: u64,
    j: u64,
}

/// Hans Boehm's GCBench.
#[derive(Debug, Default)]
pub struct GcBench;

impl Workload for GcBench {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "gcbench",
        summary: "trees built bottom up and top down while a tree and an array stay live (Boehm's GCBench)",
        args: &[
            ArgSpec::number(
                "STRETCH",
                "depth of the first tree, which sets how many follow",
                18,
                0..=40,
            ),
            ArgSpec::number(
                "LONG",
                "depth of the long-lived tree, and of the deepest that follow",
                16,
                0..=40,
            ),
            ArgSpec::number("ARRAY", "numbers in the long-lived array", 500_000, 0..=1 << 32),
        ],
        checksum: Some(470_695),
        test: TestSize {
            args: &["12", "10", "20000"],
            checksum: Some(13_439),
        },
        bench: &["13", "11", "50000"],
        stress: StressSize {
            args: &["5", "4", "100"],
            every: 1,
            parallel: &["8", "7", "1000"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let (stretch, long) = (args.number("STRETCH") as u32, args.number("LONG") as u32);
        let numbers = args.number("ARRAY") as usize;
        Ok(world.enter(|m| run(m, stretch, long, numbers))?)
    }
}

const fn size(depth: u32) -> u64 {
    (1 << (depth + 1)) - 1
}

fn run<M: MutatorKind>(m: &mut Mutator<'_, M>, stretch: u32, long: u32, numbers: usize) -> u64 {
    m.cost_centre(cost_centre!("stretch"), |m| bottom_up(m, stretch));
    m.frame(|m, [kept, array]| {
        let kept = m.cost_centre(cost_centre!("kept"), |m| {
            let kept = kept.put(node(m));
            populate(m, long, &kept);
            kept
        });
        let array = array.put(m.cost_centre(cost_centre!("numbers"), |m| m.alloc_mut_words(numbers)));
        for (k, number) in array.get(m).words()[..numbers / 2].iter().enumerate() {
            number.store((1.0 / (k as f64 + 1.0)).to_bits(), Ordering::Relaxed);
        }
        let mut trees = 0;
        for depth in (4..=long).step_by(2) {
            let times = 2 * size(stretch) / size(depth);
            m.cost_centre(cost_centre!("top_down"), |m| {
                for _ in 0..times {
                    m.frame(|m, [tree]| {
                        let tree = tree.put(node(m));
                        populate(m, depth, &tree);
                    });
                }
            });
            m.cost_centre(cost_centre!("bottom_up"), |m| {
                for _ in 0..times {
                    bottom_up(m, depth);
                }
            });
            trees += 2 * times;
        }
        let numbers = array.get(m).words().iter();
        let set = numbers.filter(|number| f64::from_bits(number.load(Ordering::Relaxed)) != 0.0);
        trees + set.count() as u64 + count(m, kept.get(m))
    })
}

#[inline(always)]
fn node<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>) -> Gc<'m, 'h, Node> {
    m.alloc(|_| Node::new(None, None, 0, 0))
}

fn bottom_up<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, depth: u32) -> Gc<'m, 'h, Node> {
    if depth == 0 {
        return node(m);
    }
    m.frame(|m, [left, right]| {
        // Leaves are made in place, as in `binary_trees`.
        let (left, right) = if depth == 1 {
            (left.put(node(m)), right.put(node(m)))
        } else {
            (left.put(bottom_up(m, depth - 1)), right.put(bottom_up(m, depth - 1)))
        };
        m.alloc(|m| Node::new(Some(left.get(m)), Some(right.get(m)), 0, 0))
    })
}

/// Hangs a tree of `depth` levels under `top`.
fn populate<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, depth: u32, top: &Root<'_, 'h, Node>) {
    if depth == 0 {
        return;
    }
    let (view, left) = m.alloc_with(|_| Node::new(None, None, 0, 0));
    top.get(view).set_left(view, Some(left));
    let (view, right) = m.alloc_with(|_| Node::new(None, None, 0, 0));
    top.get(view).set_right(view, Some(right));
    // The lowest level has nothing below it, so half of all frames are never opened.
    if depth > 1 {
        m.frame(|m, [child]| {
            let child = child.put(top.get(m).left(m).expect("set above"));
            populate(m, depth - 1, &child);
            child.set(m, top.get(m).right(m).expect("set above"));
            populate(m, depth - 1, &child);
        });
    }
}

fn count<'h, M: MutatorKind>(m: &NoGc<'h, M>, tree: Gc<'_, 'h, Node>) -> u64 {
    let below = |child: Option<_>| child.map_or(0, |child| count(m, child));
    1 + below(tree.left(m)) + below(tree.right(m))
}
