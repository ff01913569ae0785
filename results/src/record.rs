//! What one run wrote down: one process, one line of JSON in `runs.jsonl`.
//!
//! Terms: a *configuration* is what could change a result (collector, workload, arguments, flags); a *run* is one process
//! of one configuration; a *round* is one pass over all configurations. A figure that nobody measured is absent (`None`,
//! the key is not written); none is ever derived from printed text. Totals are in seconds, as in GHC's `--machine-readable`;
//! pauses are in integer nanoseconds, as in GHC's `GCDetails`. Byte figures are bytes.
//!
//! [`SCHEMA`] goes up when a key changes its meaning or goes away; new keys do not raise it, readers pass over what they do not know.

use crate::latency::Latency;
use crate::plan::{Configuration, PlannedRun};
use crate::profile::HeapProfile;
use crate::schema::documented;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the lines in `runs.jsonl` and of `plan.json` that this crate writes, and the newest that it reads.
pub const SCHEMA: u32 = 1;

documented! {
    /// One run: what was asked, how it ended, what the operating system saw and what the heap counted.
    #[derive(Default)]
    pub struct RunRecord {
        /// Version of this record's schema.
        pub schema: u32,
        /// Version of the gclab that wrote the line.
        pub gclab: String,
        /// Names the run within its plan: `PlannedRun.id`.
        pub id: String,
        /// Names the configuration: `Configuration::id`, a hash of collector, workload, arguments and flags.
        pub cell: String,
        /// The collector that ran.
        pub collector: String,
        /// The workload that ran.
        pub workload: String,
        /// The workload's arguments, as given.
        pub args: Vec<String>,
        /// The flags given, by their names in experiment files, with the text of their values.
        pub flags: BTreeMap<String, String>,
        /// How many times the reference minimum of its workload `-M` is, in an experiment that says `heap`.
        pub heap_multiple: Option<f64>,
        /// The flags of its heap profile, in a run that `profiles` of the experiment asks for. Such a run is slower, and in no statistic.
        pub profile_flags: Option<String>,
        /// The whole command line; repeating it repeats the run.
        pub command: Vec<String>,
        /// Which repetition of its configuration this is, from 0.
        pub round: u32,
        /// Place in the order of all runs of the plan, from 0.
        pub position: u32,
        /// Seed of the order of runs, as in `plan.json`.
        pub seed: u64,
        /// When the process was started: UTC, RFC 3339, e.g. `2026-01-31T12:00:00Z`.
        pub started: Option<String>,
        /// The machine's name, when runs of several machines may be mixed.
        pub host: Option<String>,
        /// Load average over one minute just before the run.
        pub load_average: Option<f64>,
        /// Times the process gave the processor up by itself (`ru_nvcsw`).
        pub voluntary_context_switches: Option<u64>,
        /// Times the processor was taken from the process (`ru_nivcsw`): many of them mean a disturbed run.
        pub involuntary_context_switches: Option<u64>,
        /// Page faults served without reading from disk (`ru_minflt`).
        pub minor_page_faults: Option<u64>,
        /// Page faults that read from disk (`ru_majflt`).
        pub major_page_faults: Option<u64>,
        /// How the run ended.
        pub outcome: Status,
        /// The workload's checksum, a decimal number as text (JSON numbers lose digits beyond 2^53).
        pub checksum: Option<String>,
        /// The last lines of standard error, when the run did not end well.
        pub stderr_tail: Option<String>,
        /// From the start of the process to its end, measured by whoever started it, in seconds.
        pub wall_seconds: Option<f64>,
        /// User CPU time of the process by the operating system, in seconds.
        pub user_seconds: Option<f64>,
        /// System CPU time of the process by the operating system, in seconds.
        pub system_seconds: Option<f64>,
        /// Largest resident set of the process by the operating system, in bytes.
        pub max_rss_bytes: Option<u64>,
        /// How long requests took; absent for workloads that answer none.
        pub latency: Option<Latency>,
        /// What was in the heap, if a profile was asked for (`-hT` and others).
        pub profile: Option<HeapProfile>,
        /// What the heap counted; absent when the run ended before it could write it.
        pub stats: Option<RunStats>,
    }
}

/// How a run ended. Only [`Status::Ok`] runs enter any statistic of times.
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
    /// Anything else: a panic, an abort, a signal.
    Crash {
        /// The exit status, when the process ended by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// The signal that killed it, when one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<i32>,
    },
    /// Killed because it ran longer than the experiment allows.
    Timeout,
}

impl crate::schema::Absent for Status {}

impl Status {
    /// The word that tables and reports use: `ok`, `heap exhausted`, `usage error`, `crash`, `timeout`.
    pub fn kind(&self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::HeapExhausted => "heap exhausted",
            Status::Usage => "usage error",
            Status::Crash { .. } => "crash",
            Status::Timeout => "timeout",
        }
    }

    /// Whether the run ended as it should.
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
    /// The totals of a run, by GHC's names with their units, and every collection.
    #[derive(Default)]
    pub struct RunStats {
        /// Bytes allocated by the mutator.
        pub allocated_bytes: Option<u64>,
        /// Bytes copied by all collections.
        pub copied_bytes: Option<u64>,
        /// Largest live data after a major collection.
        pub max_live_bytes: Option<u64>,
        /// Sum of the live data after each major collection; divided by `major_gcs` it is the mean residency.
        pub cumulative_live_bytes: Option<u64>,
        /// Largest bytes in large objects after a collection.
        pub max_large_objects_bytes: Option<u64>,
        /// Largest slop (bytes in live blocks that hold no live data) after a major collection.
        pub max_slop_bytes: Option<u64>,
        /// Most memory that the heap had mapped at any moment, whole megablocks.
        pub peak_in_use_bytes: Option<u64>,
        /// Of the peak, what blocks never filled: memory lost to fragmentation.
        pub fragmentation_bytes: Option<u64>,
        /// Address space that was reserved for the heap.
        pub reserved_bytes: Option<u64>,
        /// All that the heap gave back to the system.
        pub returned_bytes: Option<u64>,
        /// Most of all that counts under `-M` at any moment: megablocks, side tables, mark stacks, remembered sets.
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
        /// CPU time of those who looked at the stopped heap: censuses of profiles, the checker. Absent if nobody did.
        pub prof_cpu_seconds: Option<f64>,
        /// Elapsed time of the same.
        pub prof_elapsed_seconds: Option<f64>,
        /// CPU time of closing down.
        pub exit_cpu_seconds: Option<f64>,
        /// Elapsed time of closing down.
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
        /// Work balance of parallel collections: 0 serial, 1 perfect; bytes copied in balance over bytes copied.
        pub work_balance: Option<f64>,
        /// Work balance as GHC 7.4 to 8.2 printed it, to be held against old logs.
        pub old_work_balance: Option<f64>,
        /// Elapsed time of the pauses of parallel collections.
        pub par_elapsed_seconds: Option<f64>,
        /// Of these, the time in which several threads could work; the rest was sequential.
        pub par_shared_seconds: Option<f64>,
        /// Time until all mutators had stopped, over all collections; it is mutator time and in no pause of `gc_elapsed_seconds`.
        pub sync_elapsed_seconds: Option<f64>,
        /// Longest time until all mutators had stopped.
        pub max_sync_seconds: Option<f64>,
        /// Threads of parallel collections, summed over them by place: the one that led first. Absent without any.
        pub gc_threads: Option<Vec<GcThread>>,
        /// Number of capabilities.
        pub capabilities: Option<u32>,
        /// Counts by generation, youngest first.
        #[serde(default)]
        pub generations: Vec<Generation>,
        /// Every collection, in order of time.
        #[serde(default)]
        pub collections: Vec<Pause>,
        /// Anything else the run wants to say about itself, as text.
        #[serde(default)]
        pub metadata: BTreeMap<String, String>,
    }
}

documented! {
    /// The collections of one generation.
    #[derive(Default)]
    pub struct Generation {
        /// Number of collections of this generation.
        pub collections: u64,
        /// How many of them were parallel.
        pub par_collections: Option<u64>,
        /// CPU time of them all, in seconds.
        pub cpu_seconds: Option<f64>,
        /// Elapsed time of them all, in seconds.
        pub elapsed_seconds: Option<f64>,
        /// Longest of them, elapsed, in seconds.
        pub max_pause_seconds: Option<f64>,
        /// How often each way to share the work among threads was taken: a count by name (`docs/parallel.md`).
        pub sharing: Option<BTreeMap<String, u64>>,
    }
}

documented! {
    /// What one thread did in parallel collections. The times, but for `cpu_ns`, add up to the part in which several threads could work.
    #[derive(Default, Eq)]
    pub struct GcThread {
        /// Bytes that it copied.
        pub copied_bytes: u64,
        /// From the moment it was called until it took part.
        pub start_ns: u64,
        /// With work.
        pub work_ns: u64,
        /// Without work, while others had some, and later it had some again.
        pub idle_ns: u64,
        /// From the end of its last work until no thread had any.
        pub termination_ns: u64,
        /// CPU time; the leading thread's is of the whole pause.
        pub cpu_ns: u64,
        /// How often it looked whether others had work (GHC's `any_work`).
        pub any_work: u64,
        /// Of these: found none (GHC's `no_work`).
        pub no_work: u64,
        /// How often it looked for its next piece of work (GHC's `scav_find_work`).
        pub scav_find_work: u64,
    }
}

documented! {
    /// One collection. The mutator stands still for `sync_ns + elapsed_ns`.
    #[derive(Default)]
    pub struct Pause {
        /// The oldest generation collected.
        pub generation: u32,
        /// Whether it was a collection of the oldest generation there is.
        pub major: bool,
        /// When it began, in nanoseconds since the run began.
        pub start_ns: u64,
        /// Time to stop all mutator threads, before `elapsed_ns`.
        pub sync_ns: Option<u64>,
        /// Elapsed time with the mutator stopped, in nanoseconds.
        pub elapsed_ns: u64,
        /// CPU time of all threads of the collector, in nanoseconds.
        pub cpu_ns: Option<u64>,
        /// Number of threads that collected.
        pub threads: Option<u32>,
        /// How the work was shared among threads, or why it was not (`docs/parallel.md`).
        pub sharing: Option<String>,
        /// Of `elapsed_ns`, the time in which several threads could work. Absent when one collected.
        pub parallel_ns: Option<u64>,
        /// Bytes copied by the thread that copied most. Absent when one collected.
        pub par_max_copied_bytes: Option<u64>,
        /// Bytes copied in balance (GHC's `par_balanced`). Absent when one collected.
        pub par_balanced_copied_bytes: Option<u64>,
        /// What each thread did, the one that led first. Absent when one collected.
        pub gc_threads: Option<Vec<GcThread>>,
        /// Bytes allocated since the collection before.
        pub allocated_bytes: Option<u64>,
        /// Bytes copied.
        pub copied_bytes: Option<u64>,
        /// Of those, bytes moved into an older generation.
        pub promoted_bytes: Option<u64>,
        /// Bytes live afterwards; generations that were not collected count whole.
        pub live_bytes: Option<u64>,
        /// Bytes in large objects afterwards.
        pub large_objects_bytes: Option<u64>,
        /// Bytes in live blocks that hold no live data, afterwards.
        pub slop_bytes: Option<u64>,
        /// Bytes of memory mapped for the heap afterwards.
        pub in_use_bytes: Option<u64>,
        /// Bytes of mapped megablocks that no block uses, afterwards.
        pub fragmentation_bytes: Option<u64>,
        /// Bytes of all that counts under `-M`, afterwards: megablocks, side tables, mark stacks, remembered sets.
        pub taken_bytes: Option<u64>,
        /// Bytes given back to the system at its end.
        pub returned_bytes: Option<u64>,
        /// Bytes of the process that are resident afterwards; of major collections only.
        pub resident_bytes: Option<u64>,
        /// Entries of the remembered set that were looked at.
        pub remembered: Option<u64>,
    }
}

impl RunRecord {
    /// What could change the result of this run.
    pub fn configuration(&self) -> Configuration {
        Configuration {
            collector: self.collector.clone(),
            workload: self.workload.clone(),
            args: self.args.clone(),
            flags: self.flags.clone(),
        }
    }

    /// Whether this run was done for its heap profile alone: nobody may take its times for those of the program.
    pub fn is_profiled(&self) -> bool {
        self.profile_flags.is_some()
    }

    /// A record for a run that was planned, with nothing measured yet.
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
