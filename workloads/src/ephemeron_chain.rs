//! `ephemeron_chain N ROUNDS`: ephemerons whose values are the keys of others, the worst case for a
//! collector that looks at all ephemerons until nothing changes.
//!
//! Box k has the value k, from 0 to N. From N - 1 down to 0, ephemeron k is made with box k as its key and
//! box k + 1 as its value. Then only box 0 is held. ROUNDS times everything is collected and the chain is
//! followed from ephemeron 0. At last box 0 is dropped, and everything is collected. The checksum is
//! the sum of the values that were met, and of the ephemerons that are empty at the end: N. Boxes have 16
//! bytes.
//!
//! Set-up makes the chain; the last collection is exit.

use gclab_core::closure::Closure;
use gclab_core::mutator::{Ephemeron, Mutator, MutatorKind, Request};
use gclab_core::world::World;

use crate::{ArgSpec, Args, RunError, StressSize, TestSize, Workload, WorkloadDescription};

#[derive(Closure)]
#[closure(name = "Box")]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Boxed {
    value: u64,
}

/// A chain of ephemerons.
#[derive(Debug, Default)]
pub struct EphemeronChain;

impl Workload for EphemeronChain {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "ephemeron_chain",
        summary: "a chain of ephemerons, each value the key of the next",
        args: &[
            ArgSpec::number("N", "ephemerons", 1_000_000, 1..=1 << 28),
            ArgSpec::number("ROUNDS", "collections of everything", 5, 1..=1 << 20),
        ],
        checksum: Some(2_500_003_500_000),
        test: TestSize {
            args: &["2000", "3"],
            checksum: Some(6_005_000),
        },
        bench: &["10000", "5"],
        stress: StressSize {
            args: &["60", "2"],
            every: 1,
            parallel: &["5000", "2"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let (length, rounds) = (args.number("N"), args.number("ROUNDS"));
        Ok(world.enter(|m| run(m, length, rounds))?)
    }
}

fn run<M: MutatorKind>(m: &mut Mutator<'_, M>, length: u64, rounds: u64) -> u64 {
    let mut chain = Vec::with_capacity(length as usize);
    let sum = m.frame(|m, [first]| {
        let first = first.put(m.alloc(|_| Boxed::new(length)));
        for k in (0..length).rev() {
            let (m, key) = m.alloc_with(|_| Boxed::new(k));
            chain.push(m.ephemeron(key, first.get(m)));
            first.set(m, key);
        }
        m.measure(|m| {
            let mut sum = 0_u64;
            for _ in 0..rounds {
                m.collect(Request::Full);
                sum = sum.wrapping_add(follow(m, &chain));
            }
            sum
        })
    });
    m.collect(Request::Full);
    sum.wrapping_add(chain.iter().filter(|ephemeron| ephemeron.open(m).is_none()).count() as u64)
}

/// The sum of the values along the chain.
fn follow<M: MutatorKind>(m: &Mutator<'_, M>, chain: &[Ephemeron<Boxed, Boxed>]) -> u64 {
    let mut sum = 0_u64;
    let mut next = None;
    for ephemeron in chain.iter().rev() {
        let Some((key, value)) = ephemeron.open(m) else { break };
        if next.is_some_and(|next| next != key) {
            break;
        }
        sum = sum.wrapping_add(value.value(m));
        next = Some(value);
    }
    sum
}
