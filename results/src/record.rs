//! The record of one run: one process, one line of JSON in `runs.jsonl`.
//!
//! Terms: a *configuration* is everything that could change a result (collector, workload,
//! arguments, flags). A *run* is one process of one configuration. A *round* is one pass over all
//! configurations. A figure that was not measured is absent (`None`, the key is not written); no
//! figure is derived from printed text. Totals are in seconds, as in GHC's `--machine-readable`.
//! Pauses are in integer nanoseconds, as in GHC's `GCDetails`. Sizes are in bytes.
//!
//! [`SCHEMA`] increases when a key changes its meaning or is removed. New keys do not increase it:
//! readers ignore keys that they do not know.

use crate::latency::Latency;
use crate::plan::{Configuration, PlannedRun};
use crate::profile::HeapProfile;
use crate::schema::documented;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the schema of `runs.jsonl` and `plan.json` that this crate writes, and the newest
/// that it reads.
pub const SCHEMA: u32 = 1;

documented! {
    /// One run: its configuration, its outcome, the figures of the operating system and those of
    /// the heap.
    #[derive(Default)]
    pub struct RunRecord {
        /// Version of the record's schema.
        pub schema: u32,
        /// Version of the gclab that wrote the line.
        pub gclab: String,
        /// Names the run within its plan: `PlannedRun.id`.
        pub id: String,
        /// Names the configuration: `Configuration::id`, a hash of collector, workload, arguments
        /// and flags.
        pub cell: String,
        /// The collector that ran.
        pub collector: String,
        /// The workload that ran.
        pub workload: String,
        /// The workload's arguments.
        pub args: Vec<String>,
        /// The flags that were set, by their names in experiment files, with the text of their
        /// values.
        pub flags: BTreeMap<String, String>,
        /// `-M` as a multiple of the workload's reference minimum, in an experiment with `heap`.
        pub heap_multiple: Option<f64>,
        /// The flags of the heap profile, in a run that the experiment's `profiles` asks for. Such
        /// a run is slower, and enters no statistic.
        pub profile_flags: Option<String>,
        /// The whole command line, which repeats the run.
        pub command: Vec<String>,
        /// Number of the repetition of its configuration, from 0.
        pub round: u32,
        /// Place in the order of all runs of the plan, from 0.
        pub position: u32,
        /// Seed of the order of runs, as in `plan.json`.
        pub seed: u64,
        /// Start of the process: UTC, RFC 3339, e.g. `2026-01-31T12:00:00Z`.
        pub started: Option<String>,
        /// The machine's name, where runs of several machines may be mixed.
        pub host: Option<String>,
        /// Load average over one minute just before the run.
        pub load_average: Option<f64>,
        /// How often the process gave up the processor by itself (`ru_nvcsw`).
        pub voluntary_context_switches: Option<u64>,
        /// How often the process lost the processor to another one (`ru_nivcsw`): a high number
        /// means a disturbed run.
        pub involuntary_context_switches: Option<u64>,
        /// Page faults served without reading from disk (`ru_minflt`).
        pub minor_page_faults: Option<u64>,
        /// Page faults that read from disk (`ru_majflt`).
        pub major_page_faults: Option<u64>,
        /// The outcome of the run.
        pub outcome: Status,
        /// The workload's checksum, a decimal number as text (JSON numbers lose digits beyond
        /// 2^53).
        pub checksum: Option<String>,
        /// The last lines of standard error, when the run did not end well.
        pub stderr_tail: Option<String>,
        /// From the start of the process to its end, measured by the process that started it, in
        /// seconds.
        pub wall_seconds: Option<f64>,
        /// User CPU time of the process according to the operating system, in seconds.
        pub user_seconds: Option<f64>,
        /// System CPU time of the process according to the operating system, in seconds.
        pub system_seconds: Option<f64>,
        /// Largest resident set of the process according to the operating system, in bytes.
        pub max_rss_bytes: Option<u64>,
        /// Latency of requests; absent for workloads that answer none.
        pub latency: Option<Latency>,
        /// The heap profile, if the run was to write one (`-hT` and others).
        pub profile: Option<HeapProfile>,
        /// The figures of the heap; absent if the run ended before it could write them.
        pub stats: Option<RunStats>,
    }
}

/// The outcome of a run. Only [`Status::Ok`] runs enter statistics of times.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Status {
    /// Exit status 0 and a checksum.
    #[default]
    Ok,
    /// The heap ran out under `-M`: exit status 251.
    HeapExhausted,
    /// The command line, a flag or an argument was refused: exit status 2.
    Usage,
    /// Any other end: a panic, an abort, a signal.
    Crash {
        /// The exit status, if the process ended by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// The signal that killed the process, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<i32>,
    },
    /// The process ran longer than the experiment allows and was killed.
    Timeout,
}

impl crate::schema::Absent for Status {}

impl Status {
    /// The word for tables and reports: `ok`, `heap exhausted`, `usage error`, `crash`, `timeout`.
    pub fn kind(&self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::HeapExhausted => "heap exhausted",
            Status::Usage => "usage error",
            Status::Crash { .. } => "crash",
            Status::Timeout => "timeout",
        }
    }

    /// Whether the run ended well.
    pub fn is_ok(&self) -> bool {
        *self == Status::Ok
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind())?;
        match self {
            Status::Crash {
                signal: Some(signal), ..
            } => write!(f, " (signal {signal})"),
            Status::Crash {
                exit_code: Some(code), ..
            } => write!(f, " (exit status {code})"),
            _ => Ok(()),
        }
    }
}

documented! {
    /// The totals of a run, by GHC's names with their units, and all collections.
    #[derive(Default)]
    pub struct RunStats {
        /// Bytes allocated by the mutator.
        pub allocated_bytes: Option<u64>,
        /// Bytes copied by all collections.
        pub copied_bytes: Option<u64>,
        /// Largest live data after a major collection.
        pub max_live_bytes: Option<u64>,
        /// Sum of the live data after each major collection; this sum over `major_gcs` is the mean
        /// residency.
        pub cumulative_live_bytes: Option<u64>,
        /// Largest bytes in large objects after a collection.
        pub max_large_objects_bytes: Option<u64>,
        /// Largest slop (bytes in live blocks that hold no live data) after a major collection.
        pub max_slop_bytes: Option<u64>,
        /// Most memory that the heap had mapped at any moment, in whole megablocks.
        pub peak_in_use_bytes: Option<u64>,
        /// The part of the peak that blocks never filled: memory lost to fragmentation.
        pub fragmentation_bytes: Option<u64>,
        /// Address space that was reserved for the heap.
        pub reserved_bytes: Option<u64>,
        /// All memory that the heap returned to the system.
        pub returned_bytes: Option<u64>,
        /// Most memory that counts under `-M` at any moment: megablocks, side tables, mark stacks,
        /// remembered sets.
        pub peak_taken_bytes: Option<u64>,
        /// Most memory of the process that was resident after a major collection.
        pub max_resident_bytes: Option<u64>,
        /// CPU time before the program began.
        pub init_cpu_seconds: Option<f64>,
        /// Elapsed time before the program began.
        pub init_elapsed_seconds: Option<f64>,
        /// CPU time of the program itself.
        pub mut_cpu_seconds: Option<f64>,
        /// Elapsed time of the program itself.
        pub mut_elapsed_seconds: Option<f64>,
        /// CPU time of all collections.
        pub gc_cpu_seconds: Option<f64>,
        /// Elapsed time of all collections.
        pub gc_elapsed_seconds: Option<f64>,
        /// CPU time of work on the stopped heap other than collections: censuses of profiles, the
        /// checker. Absent without any.
        pub prof_cpu_seconds: Option<f64>,
        /// Elapsed time of the same work.
        pub prof_elapsed_seconds: Option<f64>,
        /// CPU time after the end of the program.
        pub exit_cpu_seconds: Option<f64>,
        /// Elapsed time after the end of the program.
        pub exit_elapsed_seconds: Option<f64>,
        /// CPU time of the run inside the process.
        pub total_cpu_seconds: Option<f64>,
        /// Elapsed time of the run inside the process.
        pub total_elapsed_seconds: Option<f64>,
        /// Number of collections.
        pub gcs: Option<u64>,
        /// Number of collections of the oldest generation.
        pub major_gcs: Option<u64>,
        /// Bytes copied by parallel collections.
        pub par_copied_bytes: Option<u64>,
        /// Sum over parallel collections of the bytes copied by the thread that copied most.
        pub cumulative_par_max_copied_bytes: Option<u64>,
        /// Sum over parallel collections of the bytes copied in balance (GHC's `par_balanced`).
        pub cumulative_par_balanced_copied_bytes: Option<u64>,
        /// Work balance of parallel collections: bytes copied in balance over bytes copied; 0 is
        /// serial, 1 is perfect.
        pub work_balance: Option<f64>,
        /// Work balance as GHC 7.4 to 8.2 printed it, for comparison with old logs.
        pub old_work_balance: Option<f64>,
        /// Elapsed time of the pauses of parallel collections.
        pub par_elapsed_seconds: Option<f64>,
        /// The part of these pauses in which several threads could work; the rest was sequential.
        pub par_shared_seconds: Option<f64>,
        /// Time until all mutators had stopped, over all collections. It is mutator time and in no
        /// pause of `gc_elapsed_seconds`.
        pub sync_elapsed_seconds: Option<f64>,
        /// Longest time until all mutators had stopped.
        pub max_sync_seconds: Option<f64>,
        /// The threads of parallel collections, each summed over all of them; the leading thread
        /// comes first. Absent without any.
        pub gc_threads: Option<Vec<GcThread>>,
        /// Number of capabilities.
        pub capabilities: Option<u32>,
        /// Counts by generation, youngest first.
        pub generations: Vec<Generation> = default,
        /// All collections, in order of time.
        pub collections: Vec<Pause> = default,
        /// Other facts about the run, as text.
        pub metadata: BTreeMap<String, String> = default,
    }
}

documented! {
    /// The collections of one generation.
    #[derive(Default)]
    pub struct Generation {
        /// Number of collections of this generation.
        pub collections: u64,
        /// How many of these collections were parallel.
        pub par_collections: Option<u64>,
        /// CPU time of these collections, in seconds.
        pub cpu_seconds: Option<f64>,
        /// Elapsed time of these collections, in seconds.
        pub elapsed_seconds: Option<f64>,
        /// Elapsed time of the longest one, in seconds.
        pub max_pause_seconds: Option<f64>,
        /// How often each way to share the work among threads was chosen: a count by name
        /// (`docs/parallel.md`).
        pub sharing: Option<BTreeMap<String, u64>>,
    }
}

documented! {
    /// The work of one thread in parallel collections. The times other than `cpu_ns` add up to the
    /// part in which several threads could work.
    #[derive(Default, Eq)]
    pub struct GcThread {
        /// Bytes that the thread copied.
        pub copied_bytes: u64,
        /// From the call until the thread took part, in nanoseconds.
        pub start_ns: u64,
        /// Time with work, in nanoseconds.
        pub work_ns: u64,
        /// Time without work while other threads had some, before it had some again, in
        /// nanoseconds.
        pub idle_ns: u64,
        /// From the end of its last work until no thread had any, in nanoseconds.
        pub termination_ns: u64,
        /// CPU time in nanoseconds; that of the leading thread is of the whole pause.
        pub cpu_ns: u64,
        /// How often it looked whether other threads had work (GHC's `any_work`).
        pub any_work: u64,
        /// How often it found none then (GHC's `no_work`).
        pub no_work: u64,
        /// How often it looked for its next work item (GHC's `scav_find_work`).
        pub scav_find_work: u64,
    }
}

documented! {
    /// One collection. The mutator stands still for `sync_ns + elapsed_ns`.
    #[derive(Default)]
    pub struct Pause {
        /// The oldest generation collected.
        pub generation: u32,
        /// Whether it was a collection of the oldest generation of the heap.
        pub major: bool,
        /// Its start, in nanoseconds since the start of the run.
        pub start_ns: u64,
        /// Time to stop all mutator threads, which comes before `elapsed_ns`, in nanoseconds.
        pub sync_ns: Option<u64>,
        /// Elapsed time with the mutator stopped, in nanoseconds.
        pub elapsed_ns: u64,
        /// CPU time of all threads of the collector, in nanoseconds.
        pub cpu_ns: Option<u64>,
        /// Number of threads that collected.
        pub threads: Option<u32>,
        /// The way in which the work was shared among threads, or the reason why it was not
        /// (`docs/parallel.md`).
        pub sharing: Option<String>,
        /// The part of `elapsed_ns` in which several threads could work. Absent if one thread
        /// collected.
        pub parallel_ns: Option<u64>,
        /// Bytes copied by the thread that copied most. Absent if one thread collected.
        pub par_max_copied_bytes: Option<u64>,
        /// Bytes copied in balance (GHC's `par_balanced`). Absent if one thread collected.
        pub par_balanced_copied_bytes: Option<u64>,
        /// The work of each thread; the leading thread comes first. Absent if one thread collected.
        pub gc_threads: Option<Vec<GcThread>>,
        /// Bytes allocated since the previous collection.
        pub allocated_bytes: Option<u64>,
        /// Bytes copied by the collection.
        pub copied_bytes: Option<u64>,
        /// The part of these bytes that moved into an older generation.
        pub promoted_bytes: Option<u64>,
        /// Bytes live afterwards; generations that were not collected count as a whole.
        pub live_bytes: Option<u64>,
        /// Bytes in large objects afterwards.
        pub large_objects_bytes: Option<u64>,
        /// Bytes in live blocks that hold no live data, afterwards.
        pub slop_bytes: Option<u64>,
        /// Bytes of memory mapped for the heap afterwards.
        pub in_use_bytes: Option<u64>,
        /// Bytes of mapped megablocks that no block uses, afterwards.
        pub fragmentation_bytes: Option<u64>,
        /// Bytes of all memory that counts under `-M`, afterwards: megablocks, side tables, mark
        /// stacks, remembered sets.
        pub taken_bytes: Option<u64>,
        /// Bytes returned to the system at its end.
        pub returned_bytes: Option<u64>,
        /// Resident bytes of the process afterwards; for major collections only.
        pub resident_bytes: Option<u64>,
        /// Entries of the remembered set that were visited.
        pub remembered: Option<u64>,
    }
}

impl RunRecord {
    /// The configuration of this run.
    pub fn configuration(&self) -> Configuration {
        Configuration {
            collector: self.collector.clone(),
            workload: self.workload.clone(),
            args: self.args.clone(),
            flags: self.flags.clone(),
        }
    }

    /// Whether this run was done only for its heap profile. Its times are not those of the program.
    pub fn is_profiled(&self) -> bool {
        self.profile_flags.is_some()
    }

    /// The record of a planned run, without any figure.
    pub fn planned(run: &PlannedRun, seed: u64) -> RunRecord {
        RunRecord {
            schema: SCHEMA,
            gclab: env!("CARGO_PKG_VERSION").to_owned(),
            id: run.id.clone(),
            cell: run.cell.clone(),
            collector: run.collector.clone(),
            workload: run.workload.clone(),
            args: run.args.clone(),
            flags: run.flags.clone(),
            heap_multiple: run.heap_multiple,
            profile_flags: run.profile_flags.clone(),
            round: run.round,
            position: run.position,
            seed,
            ..RunRecord::default()
        }
    }
}
