//! `quads DEPTH TIMES`: whippet's `quads`. A tree in which each inner node has four children stays
//! live. Twenty times trees of depth 3 are built, as many as fill a heap of TIMES / 10 of the live
//! tree in 7.5 rounds, and then the live tree is walked.
//!
//! A node has 40 bytes. The checksum is the nodes walked.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Gc, Mutator, MutatorKind, NoGc};
use gclab_core::world::World;
use gclab_workloads::{ArgSpec, Args, RunError, StressSize, TestSize, Workload, WorkloadDescription};

const GARBAGE_DEPTH: u32 = 3;
const ROUNDS: u64 = 20;

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Quad {
    a: Option<Ptr<Quad>>,
    b: Option<Ptr<Quad>>,
    c: Option<Ptr<Quad>>,
    d: Option<Ptr<Quad>>,
}

#[derive(Debug, Default)]
pub(crate) struct Quads;

impl Workload for Quads {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "quads",
        summary: "a live quad tree and many small ones (whippet's)",
        args: &[
            ArgSpec::number("DEPTH", "depth of the live tree", 10, 1..=20),
            ArgSpec::number("TIMES", "tenths of the live tree that the heap has", 20, 0..=1000),
        ],
        checksum: Some(29_360_121),
        test: TestSize {
            args: &["5", "20"],
            checksum: Some(28_665),
        },
        bench: &["7", "20"],
        stress: StressSize {
            args: &["3", "20"],
            every: 1,
            parallel: &["5", "20"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let (depth, times) = (args.number("DEPTH") as u32, args.number("TIMES"));
        Ok(world.enter(|m| run(m, depth, times))?)
    }
}

const fn size(depth: u32) -> u64 {
    (4_u64.pow(depth + 1) - 1) / 3
}

fn run<M: MutatorKind>(m: &mut Mutator<'_, M>, depth: u32, times: u64) -> u64 {
    // Whippet counts 32 bytes for a node of these.
    let trees = size(depth) * 40 * times / 75 / (size(GARBAGE_DEPTH) * 32);
    m.frame(|m, [live]| {
        let live = live.put(make(m, depth));
        let mut nodes = count(m, live.get(m));
        for _ in 0..ROUNDS {
            for _ in 0..trees {
                make(m, GARBAGE_DEPTH);
            }
            nodes += count(m, live.get(m));
        }
        nodes
    })
}

fn make<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, depth: u32) -> Gc<'m, 'h, Quad> {
    if depth == 0 {
        return m.alloc(|_| Quad::new(None, None, None, None));
    }
    m.frame(|m, [a, b, c, d]| {
        let a = a.put(make(m, depth - 1));
        let b = b.put(make(m, depth - 1));
        let c = c.put(make(m, depth - 1));
        let d = d.put(make(m, depth - 1));
        m.alloc(|m| Quad::new(Some(a.get(m)), Some(b.get(m)), Some(c.get(m)), Some(d.get(m))))
    })
}

fn count<'h, M: MutatorKind>(m: &NoGc<'h, M>, quad: Gc<'_, 'h, Quad>) -> u64 {
    let below = |child: Option<_>| child.map_or(0, |child| count(m, child));
    1 + below(quad.a(m)) + below(quad.b(m)) + below(quad.c(m)) + below(quad.d(m))
}
