//! The definition of a workload: a description, and a program over any collector.

use gclab_core::World;
use gclab_core::collector::MutatorKind;
use gclab_core::world::EnterError;

use crate::args::{ArgError, ArgSpec, Args};
use crate::latency::Latency;

/// A size at which tests run a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestSize {
    /// The arguments, as on the command line.
    pub args: &'static [&'static str],
    /// The checksum at these arguments; `None` where no definition gives one.
    pub checksum: Option<u64>,
}

/// Sizes at which tests force collections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StressSize {
    /// The arguments of runs that collect at every `every`-th allocation, under each collector.
    pub args: &'static [&'static str],
    /// 1, or more where a collection at each allocation would take too long.
    pub every: u64,
    /// The arguments in `.ci/parallel-stress`: enough live data for GC threads to share the work,
    /// in a run of about a second with the checker on.
    pub parallel: &'static [&'static str],
}

/// The facts about a workload that are known without running it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadDescription {
    /// Its name on the command line and in experiment files.
    pub name: &'static str,
    /// One line on what it does to a heap.
    pub summary: &'static str,
    /// Its arguments, in order.
    pub args: &'static [ArgSpec],
    /// The checksum at the default arguments; `None` where no definition gives one.
    pub checksum: Option<u64>,
    /// A size small enough for tests that check the whole heap after every collection.
    pub test: TestSize,
    /// The arguments in the bench of all collectors: a run takes some milliseconds, and collects
    /// many times with an allocation area of 256 KiB.
    pub bench: &'static [&'static str],
    /// Sizes for tests that force collections.
    pub stress: StressSize,
}
impl WorkloadDescription {
    /// The usage line: its name and its arguments, `heap_snapshot [FILE] [ROUNDS]`.
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

    /// The arguments at the test size.
    ///
    /// # Errors
    /// If they do not fit the declaration, which a test of every list should rule out.
    pub fn test_args(&self) -> Result<Args, ArgError> {
        Args::parse(self, self.test.args)
    }
}

/// A program over any collector. Runs differ only by their arguments. The value itself holds at
/// most the measurements of the last run.
pub trait Workload: Default {
    /// The facts about it that are known without running it.
    const DESCRIPTION: WorkloadDescription;

    /// Runs the program in `world` and returns its checksum, the same under every collector.
    ///
    /// # Errors
    /// If the heap is exhausted, an input cannot be used, or the heap differs from the one that the
    /// program has built.
    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError>;

    /// The latency of the last run's requests, for workloads that answer requests.
    fn latency(&self) -> Option<Latency> {
        None
    }
}

/// The reason why a workload did not end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The heap is exhausted, or the thread is inside it already.
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
        /// The fault, and an input that would be right.
        problem: String,
    },
    /// The system refused a thread.
    #[error("thread {number} of {threads} cannot be started ({error}); fewer may do")]
    Thread {
        /// The thread's number, from 0.
        number: u64,
        /// The number of threads of the run.
        threads: u64,
        /// The system's error.
        error: std::io::Error,
    },
    /// The collector has damaged the heap.
    #[error("the heap is not as the program made it: {0}")]
    Damaged(String),
}
