//! What a workload is: a description, and a program over any collector.

use gclab_core::World;
use gclab_core::collector::Collector;
use gclab_core::world::EnterError;

use crate::args::{ArgError, ArgSpec, Args};
use crate::latency::Latency;

/// A size at which tests run a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestSize {
    /// The arguments, as on the command line.
    pub args: &'static [&'static str],
    /// The checksum at these arguments; `None` where nobody has pinned it.
    pub checksum: Option<u64>,
}

/// What is said of a workload without running it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadDescription {
    /// Its name on the command line and in experiment files.
    pub name: &'static str,
    /// One line on what it does to a heap.
    pub summary: &'static str,
    /// Its arguments, in order.
    pub args: &'static [ArgSpec],
    /// The checksum at the default arguments; `None` where nobody has pinned it.
    pub checksum: Option<u64>,
    /// A size small enough for tests that check the whole heap after every collection.
    pub test: TestSize,
}

impl WorkloadDescription {
    /// How it is called: its name and its arguments, `heap_snapshot [FILE] [ROUNDS]`.
    pub fn usage(&self) -> String {
        let arg = |spec: &ArgSpec| match spec.default_text() {
            Some(_) => format!(" [{}]", spec.name),
            None => format!(" {}", spec.name),
        };
        self.args
            .iter()
            .map(arg)
            .fold(self.name.to_owned(), |usage, arg| usage + &arg)
    }

    /// The arguments that tests run it with.
    ///
    /// # Errors
    /// If they are not what is declared (which a test of every list should rule out).
    pub fn test_args(&self) -> Result<Args, ArgError> {
        Args::parse(self, self.test.args)
    }
}

/// A program over any collector. What varies is in the arguments; its value carries at most what the last run measured.
pub trait Workload: Default {
    /// What is said of it without running it.
    const DESCRIPTION: WorkloadDescription;

    /// Runs the program in `world` and gives its checksum, the same under every collector.
    ///
    /// # Errors
    /// If the heap is exhausted, an input cannot be used, or the heap turns out not to be what the program made it.
    fn run<C: Collector>(&self, world: &World<C>, args: &Args) -> Result<u64, RunError>;

    /// How long the requests of the last run took, for workloads that answer requests.
    fn latency(&self) -> Option<Latency> {
        None
    }
}

/// Why a workload did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The heap is exhausted, or somebody else is in it.
    #[error(transparent)]
    Heap(#[from] EnterError),
    /// The heap snapshot to be rebuilt cannot be read.
    #[error(transparent)]
    Snapshot(#[from] gclab_snapshot::Error),
    /// Another input cannot be read or used.
    #[error("{file}: {problem}")]
    Input {
        /// Which file.
        file: String,
        /// What is wrong with it, and what would be right.
        problem: String,
    },
    /// The system refused a thread.
    #[error("thread {number} of {threads} cannot be started ({error}); fewer may do")]
    Thread {
        /// Its number, from 0.
        number: u64,
        /// How many were wanted.
        threads: u64,
        /// What the system said.
        error: std::io::Error,
    },
    /// The collector has damaged the heap.
    #[error("the heap is not as the program made it: {0}")]
    Damaged(String),
}
