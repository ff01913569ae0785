//! The least heap with which a program completes: the runs that looked for it, and what they found.
//!
//! Terms: a *probe* is a run under one `-M` (or, to begin with, without); a *minimum* is the least `-M` with which a configuration completes; the
//! *reference minimum* of a workload is the least minimum of the configurations that are compared. `gclab minheap` writes one [`Probe`] a line
//! into `probes.jsonl`; an experiment with `heap` has its minima in `plan.json`.

use crate::record::Status;
use crate::schema::documented;
use std::collections::BTreeMap;

/// The file that holds one [`Probe`] a line.
pub const PROBES_FILE: &str = "probes.jsonl";

documented! {
    /// One run of a search for the least heap.
    #[derive(Default)]
    pub struct Probe {
        /// Version of this line's schema.
        pub schema: u32,
        /// The collector that ran.
        pub collector: String,
        /// The workload that ran.
        pub workload: String,
        /// The workload's arguments, as given.
        pub args: Vec<String>,
        /// The flags given but for `-M`, by their names in experiment files.
        pub flags: BTreeMap<String, String>,
        /// Hash of the executable that ran, as in `plan.json`.
        pub executable: Option<String>,
        /// `-M` of this run, in bytes; absent for the first run, which has the memory of the machine.
        pub heap_bytes: Option<u64>,
        /// How many runs with this heap there were before, from 0.
        pub attempt: u32,
        /// When the process was started: UTC, RFC 3339.
        pub started: String,
        /// How the run ended. A `timeout` is thrashing: it took longer than `limit_seconds`.
        pub outcome: Status,
        /// The exit status, when the process ended by itself.
        pub exit_code: Option<i32>,
        /// The workload's checksum.
        pub checksum: Option<String>,
        /// From the start of the process to its end, in seconds.
        pub wall_seconds: Option<f64>,
        /// After how many seconds the run was to be killed: 20 times the time of the first run.
        pub limit_seconds: f64,
        /// Most memory that the heap had mapped at any moment, in bytes.
        pub peak_in_use_bytes: Option<u64>,
        /// Largest resident set of the process by the operating system, in bytes.
        pub max_rss_bytes: Option<u64>,
        /// The last lines of standard error, when the run did not end well.
        pub stderr_tail: Option<String>,
        /// The command that repeats the run.
        pub command: Vec<String>,
    }
}

documented! {
    /// The least heap of one configuration.
    #[derive(Default)]
    pub struct Minimum {
        /// The collector.
        pub collector: String,
        /// The workload.
        pub workload: String,
        /// The workload's arguments.
        pub args: Vec<String>,
        /// The flags but for `-M`, by their names in experiment files.
        pub flags: BTreeMap<String, String>,
        /// The least `-M` with which it completed each time, in bytes; absent if it never completed.
        pub minimum_bytes: Option<u64>,
        /// The largest `-M` below that with which it did not complete, in bytes; absent if none was found.
        pub too_small_bytes: Option<u64>,
        /// Number of probes.
        pub probes: u32,
        /// What should be known of it: that it crashed, or that it failed with more memory than with less.
        pub note: Option<String>,
    }
}

/// The least of these minima: the reference minimum, if they are those of one workload.
pub fn reference<'m>(minima: impl IntoIterator<Item = &'m Minimum>) -> Option<u64> {
    minima.into_iter().filter_map(|minimum| minimum.minimum_bytes).min()
}
