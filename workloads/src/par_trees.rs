//! `par_trees T N`: [`binary_trees`] on T threads that allocate at unequal rates.
//!
//! Thread t runs binary_trees with max = max(N - t, 6). Threads share no data. The checksum is the
//! sum of the threads' checksums, which is the number of nodes allocated. Live at the peak: as much
//! as binary_trees for each thread inside the world at the time.

use gclab_core::mutator::MutatorKind;
use gclab_core::world::World;

use crate::binary_trees::{self, LEAST_DEPTH};
use crate::{ArgSpec, Args, RunError, StressSize, TestSize, Workload, WorkloadDescription, threads};

/// `binary_trees` on several threads.
#[derive(Debug, Default)]
pub struct ParTrees;

impl Workload for ParTrees {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "par_trees",
        summary: "binary_trees on threads, each with trees less deep than the one before",
        args: &[
            ArgSpec::number("T", "threads", 2, 1..=threads::MOST),
            ArgSpec::number("N", "depth of the first thread's largest trees", 17, 0..=40),
        ],
        checksum: Some(44_957_708),
        test: TestSize {
            args: &["2", "10"],
            checksum: Some(187_404),
        },
        bench: &["2", "12"],
        stress: StressSize {
            args: &["3", "6"],
            every: 1,
            parallel: &["4", "9"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let deepest = args.number("N");
        let counts = threads::enter_each(world, args.number("T"), |m, thread| {
            binary_trees::run(m, deepest.saturating_sub(thread).max(LEAST_DEPTH) as u32)
        })?;
        Ok(counts.into_iter().fold(0, u64::wrapping_add))
    }
}
