//! The definition of a workload: a description, and a program over any collector.

use gclab_core::mutator::MutatorKind;
use gclab_core::world::EnterError;
use gclab_core::world::World;

use crate::args::Args;
use crate::description::WorkloadDescription;
use crate::latency::Latency;

/// A program over any collector. Runs differ only in their arguments. The value itself holds at
/// most the measurements of the last run.
pub trait Workload: Default {
    /// The facts about it that are known without running it.
    const DESCRIPTION: WorkloadDescription;

    /// Runs the program in `world` and returns its checksum, the same under every collector.
    ///
    /// # Errors
    /// If the heap is exhausted, an input cannot be used, or the heap differs from what the program
    /// built.
    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError>;

    /// The latency of the last run's requests, for workloads that answer requests.
    fn latency(&self) -> Option<Latency> {
        None
    }
}

/// Why a workload did not finish.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The heap is exhausted, or the thread is already inside it.
    #[error(transparent)]
    Heap(#[from] EnterError),
    /// The heap snapshot cannot be read.
    #[error(transparent)]
    Snapshot(#[from] gclab_snapshot::Error),
    /// Another input cannot be read or used.
    #[error("{file}: {problem}")]
    Input {
        /// The file's path, or the name of the built-in input.
        file: String,
        /// The fault, and what input would be right.
        problem: String,
    },
    /// The system refused a thread.
    #[error("thread {number} of {threads} cannot be started ({error}); fewer may work")]
    Thread {
        /// The thread's number, from 0.
        number: u64,
        /// The number of threads of the run.
        threads: u64,
        /// The system's error.
        error: std::io::Error,
    },
    /// The collector damaged the heap.
    #[error("the heap differs from what the program made: {0}")]
    Damaged(String),
}
