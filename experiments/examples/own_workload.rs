//! A `gclab` with a workload of its own: all that a `main` outside this workspace needs.
//!
//!     cargo run --example own_workload -- exec rings 1000 --collector two-space
//!
//! Collectors are added in the same way. The lists are short, so that the example compiles quickly;
//! `(Rings, gclab_workloads::All)` and `(MyCollector, gclab_collectors::All)` lengthen the full
//! ones.

use std::process::ExitCode;

use gclab_collectors::{Copying, TwoSpace};
use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::MutatorKind;
use gclab_core::world::World;
use gclab_workloads::{ArgSpec, Args, RunError, StressSize, TestSize, Workload, WorkloadDescription};

/// A link of a chain.
#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Link {
    next: Option<Ptr<Link>>,
    number: u64,
}

/// Builds a chain and adds up its numbers.
#[derive(Debug, Default)]
pub(crate) struct Rings;

impl Workload for Rings {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "rings",
        summary: "a chain, built and added up",
        args: &[ArgSpec::number(
            "N",
            "links; 13 is too unlucky a number to go on with",
            100_000,
            0..=1 << 32,
        )],
        checksum: Some(4_999_950_000),
        test: TestSize {
            args: &["100"],
            checksum: Some(4950),
        },
        bench: &["50000"],
        stress: StressSize {
            args: &["300"],
            every: 1,
            parallel: &["3000"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let links = args.number("N");
        assert_ne!(links, 13, "unlucky");
        Ok(world.enter(|m| {
            m.frame(|m, [slot]| {
                let chain = slot.put_option(m, None);
                for number in 0..links {
                    let (m, link) = m.alloc_with(|m| Link::new(chain.get(m), number));
                    chain.set(m, Some(link));
                }
                let mut sum = 0;
                let mut at = chain.get(m);
                while let Some(link) = at {
                    sum += link.number(m);
                    at = link.next(m);
                }
                sum
            })
        })?)
    }
}

type Collectors = (TwoSpace, (Copying, ()));
type Workloads = (Rings, ());

fn main() -> ExitCode {
    gclab::main::<Collectors, Workloads>()
}
