//! The least heap with which a program completes: the runs that search for it, and the result.
//!
//! Terms: a *probe* is a run with one `-M` (the first one runs without `-M`). A *minimum* is the
//! least `-M` with which a configuration completes. The *reference minimum* of a workload is the
//! least minimum of the configurations that are compared. `gclab minheap` writes each [`Probe`] as
//! a line of `probes.jsonl`; an experiment with `heap` has its minima in `plan.json`.

use crate::record::Status;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use std::collections::BTreeMap;

/// The file that holds one [`Probe`] a line.
pub const PROBES_FILE: &str = "probes.jsonl";

/// One run of a search for the least heap.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Probe {
    /// The collector that ran.
    pub collector: String,
    /// The workload that ran.
    pub workload: String,
    /// The workload's arguments.
    pub args: Vec<String>,
    /// The flags that were set, `-M` apart, by their names in experiment files.
    pub flags: BTreeMap<String, String>,
    /// Hash of the executable that ran, as in `plan.json`.
    pub executable: Option<String>,
    /// `-M` of this run, in bytes; absent for the first run, which may use the machine's
    /// memory.
    pub heap_bytes: Option<u64>,
    /// Number of earlier runs with the same heap.
    pub attempt: u32,
    /// Start of the process: UTC, RFC 3339.
    pub started: String,
    /// The outcome of the run. A `timeout` is thrashing: it took longer than `limit_seconds`.
    pub outcome: Status,
    /// The exit status, if the process ended by itself.
    pub exit_code: Option<i32>,
    /// The workload's checksum.
    pub checksum: Option<String>,
    /// From the start of the process to its end, in seconds.
    pub wall_seconds: Option<f64>,
    /// Time after which the run was to be killed, in seconds: 20 times the time of the first
    /// run.
    pub limit_seconds: f64,
    /// Most memory that the heap had mapped at any moment, in bytes.
    pub peak_in_use_bytes: Option<u64>,
    /// Largest resident set of the process according to the operating system, in bytes.
    pub max_rss_bytes: Option<u64>,
    /// The last lines of standard error, when the run did not end well.
    pub stderr_tail: Option<String>,
    /// The command that repeats the run.
    pub command: Vec<String>,
}

/// The least heap of one configuration.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Minimum {
    /// The collector's name.
    pub collector: String,
    /// The workload's name.
    pub workload: String,
    /// The workload's arguments.
    pub args: Vec<String>,
    /// The flags that were set, `-M` apart, by their names in experiment files.
    pub flags: BTreeMap<String, String>,
    /// The values of swept axes that are no flags, by name; absent without any.
    pub settings: Option<BTreeMap<String, String>>,
    /// The least `-M` with which all runs completed, in bytes; absent if no run completed.
    pub minimum_bytes: Option<u64>,
    /// The largest `-M` below the minimum with which a run did not complete, in bytes; absent
    /// if none was found.
    pub too_small_bytes: Option<u64>,
    /// Number of probes.
    pub probes: u32,
    /// Remark on the search: a run crashed, or failed with more memory than another one
    /// completed with.
    pub note: Option<String>,
}

/// The least of some minima: the reference minimum, if all are of one workload.
pub fn reference<'m>(minima: impl IntoIterator<Item = &'m Minimum>) -> Option<u64> {
    minima.into_iter().filter_map(|minimum| minimum.minimum_bytes).min()
}
