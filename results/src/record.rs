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

use crate::conditions::{Conditions, Counters};
use crate::latency::Latency;
use crate::plan::{Configuration, PlannedRun};
use crate::profile::HeapProfile;
use crate::schema::documented;
use crate::stats::RunStats;
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
        /// Whether the run wrote an event log, in an experiment with `eventlog`. Such a run enters
        /// no statistic either.
        pub eventlog: Option<bool>,
        /// The runtime of a `[[program]]`: `ghc`, `ocaml`, `jvm` or `none`; absent for gclab's own
        /// workloads.
        pub runtime: Option<String>,
        /// Names the command of a `[[program]]`: `Program.id` in `plan.json`.
        pub program: Option<String>,
        /// The values of swept axes that are no flags, by name: `build`, `env.NAME`, `args.NAME`;
        /// absent without any.
        pub settings: Option<BTreeMap<String, String>>,
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
        #[shown("load", Count)]
        pub load_average: Option<f64>,
        /// How often the process gave up the processor by itself (`ru_nvcsw`).
        #[shown("waited", Count)]
        pub voluntary_context_switches: Option<u64>,
        /// How often the process lost the processor to another one (`ru_nivcsw`): a high number
        /// means a disturbed run.
        #[shown("preempted", Count)]
        pub involuntary_context_switches: Option<u64>,
        /// Page faults served without reading from disk (`ru_minflt`).
        #[shown("minor faults", Count)]
        pub minor_page_faults: Option<u64>,
        /// Page faults that read from disk (`ru_majflt`).
        #[shown("major faults", Count)]
        pub major_page_faults: Option<u64>,
        /// The state of the machine during the run, apart from the run itself.
        pub conditions: Option<Conditions>,
        /// The counts of the performance counters; absent where the machine has none.
        pub counters: Option<Counters>,
        /// The counts of the mutator, in a run that read the counters at each pause
        /// (`pause_counters`): from when there was a heap to the end of the run, without
        /// collections and looks at the heap. Absent in other runs.
        pub mut_counters: Option<Counters>,
        /// The counts of collections, from when the mutators had stopped. Absent without a
        /// collection, too.
        pub gc_counters: Option<Counters>,
        /// The outcome of the run.
        pub outcome: Status,
        /// The workload's checksum, a decimal number as text (JSON numbers lose digits beyond
        /// 2^53). Of a `[[program]]`: the text of the group of its `expect.pattern`, or else the
        /// SHA-256 that its `expect` asks for.
        pub checksum: Option<String>,
        /// SHA-256 of all that a `[[program]]` printed on standard output.
        pub output_sha256: Option<String>,
        /// Bytes that a `[[program]]` printed on standard output.
        pub output_bytes: Option<u64>,
        /// The last lines of standard error, when the run did not end well.
        pub stderr_tail: Option<String>,
        /// From the start of the process to its end, measured by the process that started it, in
        /// seconds.
        #[shown("wall", Seconds)]
        pub wall_seconds: Option<f64>,
        /// User CPU time of the process according to the operating system, in seconds.
        #[shown("user", Seconds)]
        pub user_seconds: Option<f64>,
        /// System CPU time of the process according to the operating system, in seconds.
        #[shown("system", Seconds)]
        pub system_seconds: Option<f64>,
        /// Largest resident set of the process, which it asks the system for when it ends
        /// (`VmHWM`), in bytes.
        #[shown("RSS", Mebibytes)]
        pub max_rss_bytes: Option<u64>,
        /// Latency of requests; absent for workloads that answer none.
        pub latency: Option<Latency>,
        /// The heap profile, if the run was to write one (`-hT` and others).
        pub profile: Option<HeapProfile>,
        /// The figures of the heap; absent if the run ended before it could write them.
        pub stats: Option<RunStats>,
        /// Figures that `stats` of a `[[program]]` took from its output, by name, apart from those
        /// that have a place in `stats` of this record.
        pub figures: Option<BTreeMap<String, f64>>,
    }
}

/// The outcome of a run. Only [`Status::Ok`] runs enter statistics of times.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// A program ended as it should, but its output is not what `expect` says.
    WrongAnswer,
    /// A command of `prepare` failed, so the program did not start.
    Unprepared,
}

impl crate::schema::Absent for Status {}

impl Status {
    /// The word for tables and reports: `ok`, `heap exhausted`, `usage error`, `crash`, `timeout`,
    /// `wrong answer`, `unprepared`.
    pub fn kind(&self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::HeapExhausted => "heap exhausted",
            Status::Usage => "usage error",
            Status::Crash { .. } => "crash",
            Status::Timeout => "timeout",
            Status::WrongAnswer => "wrong answer",
            Status::Unprepared => "unprepared",
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

impl RunRecord {
    /// The configuration of this run.
    pub fn configuration(&self) -> Configuration {
        Configuration {
            collector: self.collector.clone(),
            workload: self.workload.clone(),
            args: self.args.clone(),
            flags: self.flags.clone(),
            program: self.program.clone(),
            settings: self.settings.clone().unwrap_or_default(),
        }
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
            eventlog: run.eventlog,
            runtime: run.runtime.clone(),
            program: run.program.clone(),
            settings: run.settings.clone(),
            round: run.round,
            position: run.position,
            seed,
            ..RunRecord::default()
        }
    }
}
