//! What a run needs, and what it returns: plain data between the command line and the programs.

use std::path::Path;

use gclab_core::collector::Description;
use gclab_core::events::Listener;
use gclab_core::heap::OutOfMemory;
use gclab_flags::Flags;
use gclab_heap_traverse::profile::Profile;
use gclab_stats::Statistics;
use gclab_workloads::{Args, Latency, WorkloadDescription};

/// A run that was checked and can begin.
#[derive(Debug)]
pub struct Request<'r> {
    /// The workload's name; it is in the list.
    pub workload: &'static str,
    /// Its arguments, checked.
    pub args: &'r Args,
    /// The collector's name; it is in the list, and honours the flags.
    pub collector: &'static str,
    /// The flags.
    pub flags: &'r Flags,
    /// The command line's words without flags, for the first line of a statistics file.
    pub program: &'r [String],
    /// The words of the flags.
    pub words: &'r [String],
    /// Where its heap profile goes, without the ending; without it, to the workload's name in the working directory.
    pub profile: Option<&'r Path>,
}

/// How a run ended that did not crash.
#[derive(Debug)]
pub enum Ended {
    /// With this checksum, and with how long requests took if it answered any.
    Checksum(u64, Option<Latency>),
    /// For want of memory.
    Exhausted(OutOfMemory),
    /// Refused before or while it ran: a file that cannot be read, say.
    Refused(String),
    /// The collector has damaged the heap.
    Broken(String),
}

/// Makes a heap and runs a program in it: the one place where collectors and workloads are types.
pub trait Executor {
    /// The collectors that it has, in the order of their list.
    fn collectors(&self) -> Vec<&'static Description>;

    /// The workloads that it has, in the order of their list.
    fn workloads(&self) -> Vec<&'static WorkloadDescription>;

    /// Runs; prints statistics as the flags ask. `listeners` hear all that the run announces, after those that the flags ask for.
    fn execute(&self, request: &Request<'_>, listeners: Vec<Box<dyn Listener>>) -> Done;
}

/// A run that is over.
#[derive(Debug)]
pub struct Done {
    /// How it ended.
    pub ended: Ended,
    /// Its figures; absent when no heap came to be.
    pub statistics: Option<Statistics>,
    /// Its heap profile, if the flags ask for one.
    pub profile: Option<RunProfile>,
}

/// The heap profile of a run that is over.
#[derive(Debug)]
pub struct RunProfile {
    /// Its censuses.
    pub profile: Profile,
    /// Its largest census as text, for standard output.
    pub table: String,
    /// The file that could not be written, and why.
    pub unwritten: Option<String>,
}

impl Done {
    /// The end of a run for which no heap came to be.
    pub fn without_heap(ended: Ended) -> Done {
        Done {
            ended,
            statistics: None,
            profile: None,
        }
    }
}
