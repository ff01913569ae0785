//! The record of one run: one process, one line of JSON in `runs.jsonl`.
//!
//! Terms: a *configuration* is everything that could change a result (collector, workload,
//! arguments, flags). A *run* is one process of one configuration. A *round* is one pass over all
//! configurations. A figure that was not measured is absent (`None`, the key is not written); no
//! figure is derived from printed text. Totals are in seconds, as in GHC's `--machine-readable`.
//! Pauses are in integer nanoseconds, as in GHC's `GCDetails`. Sizes are in bytes.

use crate::collections::Collections;
use crate::plan::PlannedRun;
use crate::stats::RunStats;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use std::collections::BTreeMap;
use std::ops::Deref;

/// One run: its configuration, its outcome, the figures of the operating system and those of
/// the heap.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of the gclab that wrote the record.
    pub gclab: String,
    /// The planned run.
    #[serde(flatten)]
    pub run: PlannedRun,
    /// The whole command line, which repeats the run.
    pub command: Vec<String>,
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
    /// The state of the machine during the run, apart from the run itself.
    pub conditions: Option<Conditions>,
    /// The counts of the performance counters; absent where the machine has none.
    pub counters: Option<Counters>,
    /// Whether the run was to read its performance counters at each pause (`pause_counters`).
    /// Such a run takes longer. Absent in other runs.
    pub pause_counters: Option<bool>,
    /// Why such a run lacks performance counters of its parts; absent if it has all of them.
    pub pause_counters_absent: Option<String>,
    /// The counts of the mutator, in a run that read the counters at each pause: from when
    /// there was a heap to the end of the run, without collections and looks at the heap.
    /// Absent in other runs.
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
    /// Facts that a reader of the figures should know: warnings of the runtime of a `[[program]]`,
    /// and figures that are absent since gclab did not understand what the runtime wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The first and last lines of standard error, when the run did not end well.
    pub stderr_tail: Option<String>,
    /// From the start of the process to its end, measured by the process that started it, in
    /// seconds.
    pub wall_seconds: Option<f64>,
    /// User CPU time of the process according to the operating system, in seconds.
    pub user_seconds: Option<f64>,
    /// System CPU time of the process according to the operating system, in seconds.
    pub system_seconds: Option<f64>,
    /// Largest resident set of the process, which it asks the system for when it ends
    /// (`VmHWM`), in bytes.
    pub max_rss_bytes: Option<u64>,
    /// Latency of requests; absent for workloads that answer none.
    pub latency: Option<Latency>,
    /// The heap profile, if the run was to write one (`-hT` and others).
    pub profile: Option<HeapProfile>,
    /// The figures of the heap; absent if the run ended before it could write them.
    pub stats: Option<RunStats>,
    /// The single collections, in the file of `--record`. A results folder has them in a file of
    /// their own.
    pub collections: Option<Collections>,
    /// Figures that `stats` of a `[[program]]` took from its output, by name, apart from those
    /// that have a place in `stats` of this record.
    pub figures: Option<BTreeMap<String, f64>>,
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

/// A record is a planned run with its outcome.
impl Deref for RunRecord {
    type Target = PlannedRun;

    fn deref(&self) -> &PlannedRun {
        &self.run
    }
}

impl RunRecord {
    /// The record of a planned run, without any figure.
    pub fn planned(run: &PlannedRun, seed: u64) -> RunRecord {
        RunRecord {
            gclab: env!("CARGO_PKG_VERSION").to_owned(),
            run: run.clone(),
            seed,
            ..RunRecord::default()
        }
    }
}

/// The state of the machine during a run: the difference of the kernel's counts before and
/// after it. Facts that the kernel does not tell are absent.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Conditions {
    /// Processor time that the hypervisor gave to other guests (`steal`), in seconds, over all
    /// processors.
    pub steal_seconds: Option<f64>,
    /// Processor time of all other processes, in seconds. The kernel counts in hundredths.
    pub others_cpu_seconds: Option<f64>,
    /// Time in which a process of the machine waited for memory (pressure stall information,
    /// `some`), in seconds.
    pub memory_stall_seconds: Option<f64>,
    /// Time for which the control group had used up its share of the processors, in seconds.
    pub quota_stall_seconds: Option<f64>,
    /// How often a processor slowed down because of heat.
    pub thermal_throttles: Option<u64>,
    /// Pages that were written to swap space or read from it.
    pub swapped_pages: Option<u64>,
    /// Mean clock frequency of all processors just after the run, in MHz.
    pub frequency_mhz: Option<f64>,
    /// The checks that failed during the run: `steal`, `other programs`, `memory pressure`,
    /// `processor quota`, `heat`, `swapping`, `preemption`. Absent if none did.
    pub disturbances: Option<Vec<String>>,
    /// The facts of the machine that were not as `plan.json` says when the run was done, in a
    /// folder that was continued elsewhere or later, with the facts of this run.
    pub machine_changes: Option<BTreeMap<String, String>>,
}

/// The counts of the performance counters in the process, its threads and the processes that it
/// started, in user space. Counters that the machine does not have are absent.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Instructions that were retired.
    pub instructions: Option<u64>,
    /// Cycles of the processor.
    pub cycles: Option<u64>,
    /// Loads that missed the last cache.
    pub llc_misses: Option<u64>,
    /// Loads that missed the cache of translations of data addresses.
    pub dtlb_misses: Option<u64>,
    /// Time on a processor, in nanoseconds, by the kernel's task clock.
    pub task_clock_ns: Option<u64>,
    /// Page faults, minor and major.
    pub page_faults: Option<u64>,
    /// Context switches, if the system lets the runner count in the kernel.
    pub context_switches: Option<u64>,
    /// The least share of the time for which a counter counted. Counters share registers; a
    /// count is scaled to the whole time. A counter that counted for less than 5 % of it is
    /// absent. This is absent if all counted all the time.
    pub least_share: Option<f64>,
}

/// The latency of the requests of a run. A percentile is the least latency that this share of
/// the requests does not exceed (nearest rank). It is absent where no request could exceed it
/// because there were too few: 99.99 needs 10,000 requests.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Latency {
    /// Number of requests answered.
    pub requests: u64,
    /// Number of requests that were to start in a second, in an open loop: the latency of each
    /// counts from the time at which it was to start. Absent in a closed loop, where each
    /// request starts after the one before it, and its latency counts from its start.
    pub rate_per_second: Option<u64>,
    /// Arithmetic mean, in nanoseconds.
    pub mean_ns: Option<f64>,
    /// Median, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// Latency that 90 % of the requests do not exceed.
    pub p90_ns: Option<u64>,
    /// Latency that 99 % of the requests do not exceed.
    pub p99_ns: Option<u64>,
    /// Latency that 99.9 % of the requests do not exceed.
    pub p99_9_ns: Option<u64>,
    /// Latency that 99.99 % of the requests do not exceed.
    pub p99_99_ns: Option<u64>,
    /// The greatest latency, in nanoseconds.
    pub max_ns: Option<u64>,
    /// Metered latency of a closed loop, for each length of a window; absent in an open loop,
    /// and of more than four million requests.
    pub metered: Option<Vec<MeteredLatency>>,
}

/// The latency of the requests of a closed loop, counted from the starts that they would have
/// had if those in a window around each were even (DaCapo's metered latency). Percentiles as of
/// [`Latency`].
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MeteredLatency {
    /// Length of the window, in nanoseconds; absent if the window is the whole run.
    pub window_ns: Option<u64>,
    /// Median of the metered latencies.
    pub p50_ns: Option<u64>,
    /// Latency that 90 % of the requests do not exceed.
    pub p90_ns: Option<u64>,
    /// Latency that 99 % of the requests do not exceed.
    pub p99_ns: Option<u64>,
    /// Latency that 99.9 % of the requests do not exceed.
    pub p99_9_ns: Option<u64>,
    /// Latency that 99.99 % of the requests do not exceed.
    pub p99_99_ns: Option<u64>,
    /// The greatest latency, in nanoseconds.
    pub max_ns: Option<u64>,
}

impl Latency {
    /// The metered latency with the window of this length, or of the whole run (`None`); `None` if
    /// the record lacks it.
    pub fn metered_in(&self, window_ns: Option<u64>) -> Option<&MeteredLatency> {
        self.metered.as_ref()?.iter().find(|one| one.window_ns == window_ns)
    }
}

/// The heap profile of a run.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HeapProfile {
    /// The criterion of the bands: `closure type`, `description`, `type`, `module`,
    /// `retainers`, `roots`, `cost centre` or `biography`.
    pub breakdown: String,
    /// The censuses in order of time.
    pub censuses: Vec<Census>,
    /// CPU time of all censuses, in seconds; of all statistics only `prof_cpu_seconds` contains
    /// it.
    pub census_seconds: f64,
    /// The sets of retainers that occurred, by the number at the beginning of the band's name:
    /// module and name of each retainer. Absent for other breakdowns.
    pub retainer_sets: Option<BTreeMap<String, Vec<String>>>,
}

/// The contents of the heap at one time.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Census {
    /// CPU time of the mutators before it, in seconds.
    pub seconds: f64,
    /// The name of the marker at which it was taken; absent for other censuses.
    pub marker: Option<String>,
    /// Bytes by name of the band. Empty bands are left out, except in a biography, which has
    /// all five.
    pub bands: BTreeMap<String, u64>,
}

impl Census {
    /// The sum of the bytes of all bands.
    pub fn bytes(&self) -> u64 {
        self.bands.values().sum()
    }
}

impl HeapProfile {
    /// The census with the most bytes; of equal ones the first.
    pub fn peak(&self) -> Option<&Census> {
        self.censuses.iter().rev().max_by_key(|census| census.bytes())
    }
}
