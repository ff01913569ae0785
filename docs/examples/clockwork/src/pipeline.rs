//! `pipeline N M`: a queue of N messages through which M more pass; every message dies old.
//!
//! Messages {next, value} of 24 bytes in a linked queue. When a message arrives, `next` of the
//! newest is overwritten, so the write barrier runs once for each message. The checksum is the sum
//! of the values that left the queue. Live: 24 N bytes.

use gclab_core::closure::{Closure, Mut};
use gclab_core::mutator::{Mutator, MutatorKind};
use gclab_core::world::World;
use gclab_workloads::{ArgSpec, Args, RunError, StressSize, TestSize, Workload, WorkloadDescription};

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Message {
    next: Mut<Message>,
    value: u64,
}

/// A queue of messages that die old.
#[derive(Debug, Default)]
pub(crate) struct Pipeline;

impl Workload for Pipeline {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "pipeline",
        summary: "a queue of messages that all die old",
        args: &[
            ArgSpec::number("N", "messages in the queue", 100_000, 1..=1 << 30),
            ArgSpec::number("M", "messages that pass through it", 10_000_000, 0..=1 << 40),
        ],
        checksum: Some(49_999_995_000_000),
        test: TestSize {
            args: &["1000", "20000"],
            checksum: Some(199_990_000),
        },
        bench: &["10000", "100000"],
        stress: StressSize {
            args: &["20", "300"],
            every: 1,
            parallel: &["1000", "3000"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let (length, passing) = (args.number("N"), args.number("M"));
        Ok(world.enter(|m| run(m, length, passing))?)
    }
}

fn run<M: MutatorKind>(m: &mut Mutator<'_, M>, length: u64, passing: u64) -> u64 {
    m.frame(|m, [oldest, newest]| {
        let first = m.alloc(|_| Message::new(None, 0));
        let (oldest, newest) = (oldest.put(first), newest.put(first));
        let mut sum = 0_u64;
        for value in 1..length + passing {
            let (m, message) = m.alloc_with(|_| Message::new(None, value));
            newest.get(m).set_next(m, Some(message));
            newest.set(m, message);
            if value >= length {
                let gone = oldest.get(m);
                sum = sum.wrapping_add(gone.value(m));
                oldest.set(m, gone.next(m).expect("the queue has two messages at least here"));
            }
        }
        sum
    })
}
