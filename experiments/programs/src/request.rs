//! The data that a run needs and returns: the interface between the command line and the programs.

use std::fs::File;
use std::path::Path;

use gclab_core::block::OutOfMemory;
use gclab_core::collector::Description;
use gclab_core::events::Listener;
use gclab_core::stats::Statistics;
use gclab_core::words::Bytes;
use gclab_flags::Flags;
use gclab_heap_traverse::profile::Profile;
use gclab_workloads::{Args, Latency, WorkloadDescription};

/// A run whose names, arguments and flags are checked.
#[derive(Debug)]
pub struct Request<'r> {
    /// The name of the workload; it is in the list.
    pub workload: &'static str,
    /// The workload's arguments.
    pub args: &'r Args,
    /// The name of the collector; it is in the list, and honours the flags.
    pub collector: &'static str,
    /// The flags of the run.
    pub flags: &'r Flags,
    /// The command line's words without flags, for the first line of a statistics file.
    pub program: &'r [String],
    /// The words of the flags.
    pub words: &'r [String],
    /// The path of the heap profile, without the ending. By default it is the workload's name, in
    /// the working directory.
    pub profile: Option<&'r Path>,
    /// The open file of the run's record and its path. No other file of the run may be the same.
    pub record: Option<(&'r File, &'r Path)>,
    /// Whether SIGINT and SIGTERM end the run early, with its statistics and its profile.
    pub interruptible: bool,
}

/// The end of a run that did not crash.
#[derive(Debug)]
pub enum Ended {
    /// The program completed, with this checksum, and with the latency of its requests if it
    /// answers any.
    Checksum(u64, Option<Latency>),
    /// The heap was exhausted.
    Exhausted(OutOfMemory),
    /// The run was refused, before or while it ran; for example, a file cannot be read.
    Refused(String),
    /// The collector has damaged the heap.
    Broken(String),
    /// The program panicked; its message has been printed.
    Panicked,
    /// This signal ended it early. The process has yet to end by it ([`end_by`](crate::end_by)).
    Interrupted(i32),
}

/// Makes a heap and runs a program in it. Only executors know collectors and workloads as types.
pub trait Executor {
    /// The collectors of this executor, in the order of their list.
    fn collectors(&self) -> Vec<&'static Description>;

    /// The workloads of this executor, in the order of their list.
    fn workloads(&self) -> Vec<&'static WorkloadDescription>;

    /// Runs a program, and prints statistics as its flags ask. `listeners` receive all events of
    /// the run, after the listeners that the flags ask for.
    fn execute(&self, request: &Request<'_>, listeners: Vec<Box<dyn Listener>>) -> Done;
}

/// A run that is over.
#[derive(Debug)]
pub struct Done {
    /// The end of the run.
    pub ended: Ended,
    /// The statistics of the run; absent if it had no heap.
    pub statistics: Option<Statistics>,
    /// The size of the allocation areas, if the machine's memory did not allow what `-A` or
    /// `-H` asks for.
    pub cut_area: Option<Bytes>,
    /// The heap profile, if the flags ask for one.
    pub profile: Option<RunProfile>,
    /// The file of a time profile that could not be written, and why.
    pub unwritten: Option<String>,
    /// The event log that could not be written, and why.
    pub unlogged: Option<String>,
}

/// The heap profile of a run that is over.
#[derive(Debug)]
pub struct RunProfile {
    /// The censuses of the run.
    pub profile: Profile,
    /// The largest census as text, for standard output.
    pub table: String,
    /// The file that could not be written, and why.
    pub unwritten: Option<String>,
}

impl Done {
    /// A run that ended before it had a heap.
    pub(crate) fn without_heap(ended: Ended) -> Done {
        Done {
            ended,
            statistics: None,
            cut_area: None,
            profile: None,
            unwritten: None,
            unlogged: None,
        }
    }
}
