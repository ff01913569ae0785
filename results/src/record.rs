//! The record of a run: one process, one line of JSON in `runs.jsonl`.
//!
//! Terms: a *configuration* is everything that could change a result (collector, workload,
//! arguments, flags). A *run* is one process of one configuration. A *round* is one pass over all
//! configurations. Values that were not measured are absent (`None`: the key is not written); none
//! is derived from printed text. Totals are in seconds, as in GHC's `--machine-readable`. Pauses
//! are in integer nanoseconds, as in GHC's `GCDetails`. Sizes are in bytes.

use crate::collections::Collections;
use crate::plan::PlannedRun;
use crate::stats::RunStats;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use std::collections::BTreeMap;
use std::ops::Deref;

/// One run: its configuration, its outcome, and what the operating system and the heap measured.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of the gclab that wrote the record.
    pub gclab: String,
    /// The planned run.
    #[serde(flatten)]
    pub run: PlannedRun,
    /// The whole command line, with which the run can be repeated.
    pub command: Vec<String>,
    /// Seed of the order of runs, as in `plan.json`.
    pub seed: u64,
    /// Start of the process: UTC, RFC 3339, e.g. `2026-01-31T12:00:00Z`.
    pub started: Option<String>,
    /// The machine's name, if runs of several machines may be mixed.
    pub host: Option<String>,
    /// Load average over one minute just before the run.
    pub load_average: Option<f64>,
    /// How often the process gave up the processor voluntarily (`ru_nvcsw`).
    pub voluntary_context_switches: Option<u64>,
    /// How often the process lost the processor to another (`ru_nivcsw`): a high number means a
    /// disturbed run.
    pub involuntary_context_switches: Option<u64>,
    /// Page faults served without reading from disk (`ru_minflt`).
    pub minor_page_faults: Option<u64>,
    /// Page faults that read from disk (`ru_majflt`).
    pub major_page_faults: Option<u64>,
    /// The state of the machine during the run, without the run's own effect.
    pub conditions: Option<Conditions>,
    /// The performance counters; absent if the machine has none.
    pub counters: Option<Counters>,
    /// Whether the run should read its performance counters at each pause (`pause_counters`), which
    /// takes longer. Absent in other runs.
    pub pause_counters: Option<bool>,
    /// Why such a run lacks performance counters for its parts; absent if it has them all.
    pub pause_counters_absent: Option<String>,
    /// The mutator's counts, in a run that read the counters at each pause: from the creation of
    /// the heap to the end of the run, without collections and looks at the heap. Absent in other
    /// runs.
    pub mut_counters: Option<Counters>,
    /// The counts in collections, once the mutators had stopped. Also absent without collections.
    pub gc_counters: Option<Counters>,
    /// The outcome of the run.
    pub outcome: Status,
    /// The workload's checksum, a decimal number as text (JSON numbers lose digits beyond 2^53).
    /// For a `[[program]]`, the text of the group in its `expect.pattern`, or otherwise the SHA-256
    /// required by its `expect`.
    pub checksum: Option<String>,
    /// SHA-256 of everything that a `[[program]]` printed on standard output.
    pub output_sha256: Option<String>,
    /// Bytes that a `[[program]]` printed on standard output.
    pub output_bytes: Option<u64>,
    /// What readers of the results should know: warnings about the runtime of a `[[program]]`, and
    /// values that are absent because gclab did not understand the runtime's output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The first and last lines of standard error, if the run did not end well.
    pub stderr_tail: Option<String>,
    /// From the start of the process to its end, as measured by the parent process, in seconds.
    pub wall_seconds: Option<f64>,
    /// User CPU time of the process according to the operating system, in seconds.
    pub user_seconds: Option<f64>,
    /// System CPU time of the process according to the operating system, in seconds.
    pub system_seconds: Option<f64>,
    /// Largest resident set of the process, which it reads when it ends (`VmHWM`), in bytes.
    pub max_rss_bytes: Option<u64>,
    /// Latency of requests; absent for workloads without requests.
    pub latency: Option<Latency>,
    /// The heap profile, if the run was to write one (`-hT` and others).
    pub profile: Option<HeapProfile>,
    /// The heap's statistics; absent if the run ended before it could write them.
    pub stats: Option<RunStats>,
    /// The individual collections, in the file of `--record`. A results folder has them in a separate
    /// file.
    pub collections: Option<Collections>,
    /// Metrics that `stats` of a `[[program]]` extracted from its output, by name, except those
    /// with a place in this record's `stats`.
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
    /// The command line, a flag or an argument was rejected: exit status 2.
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
    /// The process exceeded the experiment's time limit and was killed.
    Timeout,
    /// A program ended as it should, but its output is not as `expect` requires.
    WrongAnswer,
    /// A `prepare` command failed, so the program did not start.
    Unprepared,
}

impl Status {
    /// The outcome in tables and reports: `ok`, `heap exhausted`, `usage error`, `crash`,
    /// `timeout`, `wrong answer`, `unprepared`.
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
    /// The record of a planned run, without any measurements.
    pub fn planned(run: &PlannedRun, seed: u64) -> RunRecord {
        RunRecord {
            gclab: env!("CARGO_PKG_VERSION").to_owned(),
            run: run.clone(),
            seed,
            ..RunRecord::default()
        }
    }
}

/// The state of the machine during a run: the difference between the kernel's counts after and
/// before it. Facts that the kernel does not report are absent.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Conditions {
    /// Processor time that the hypervisor gave to other guests (`steal`), in seconds, over all
    /// processors.
    pub steal_seconds: Option<f64>,
    /// Processor time of all other processes, in seconds. The kernel counts hundredths.
    pub others_cpu_seconds: Option<f64>,
    /// Time during which some process on the machine waited for memory (pressure stall information,
    /// `some`), in seconds.
    pub memory_stall_seconds: Option<f64>,
    /// Time during which the control group had used up its share of the processors, in seconds.
    pub quota_stall_seconds: Option<f64>,
    /// How often a processor slowed down because of heat.
    pub thermal_throttles: Option<u64>,
    /// Pages written to or read from swap space.
    pub swapped_pages: Option<u64>,
    /// Mean clock frequency of all processors right after the run, in MHz.
    pub frequency_mhz: Option<f64>,
    /// The checks that failed during the run: `steal`, `other programs`, `memory pressure`,
    /// `processor quota`, `heat`, `swapping`, `preemption`. Absent if none did.
    pub disturbances: Option<Vec<String>>,
    /// The machine's facts that differed from `plan.json` at the time of the run, with their values
    /// then, in a folder that was continued elsewhere or later.
    pub machine_changes: Option<BTreeMap<String, String>>,
}

/// The performance counters of the process, its threads and the processes that it started, in user
/// space. Counters that the machine lacks are absent.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Instructions retired.
    pub instructions: Option<u64>,
    /// Processor cycles.
    pub cycles: Option<u64>,
    /// Loads that missed the last-level cache.
    pub llc_misses: Option<u64>,
    /// Loads that missed the data TLB.
    pub dtlb_misses: Option<u64>,
    /// Time on a processor, in nanoseconds, by the kernel's task clock.
    pub task_clock_ns: Option<u64>,
    /// Page faults, minor and major.
    pub page_faults: Option<u64>,
    /// Context switches, if the system allows the runner to count in the kernel.
    pub context_switches: Option<u64>,
    /// The smallest share of the time for which a counter was active. Counters share registers, so
    /// counts are scaled up to the whole time. A counter that was active for less than 5 % of it is
    /// absent. This is absent if all were active all the time.
    pub least_share: Option<f64>,
}

/// The latency of a run's requests. A percentile is the lowest latency that this share of the
/// requests does not exceed (nearest rank). It is absent if there were too few requests for any to
/// exceed it: 99.99 needs 10,000 requests.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// Number of requests answered, if known.
    pub requests: Option<u64>,
    /// Number of requests due in a second, in an open loop: each one's latency counts from the time
    /// at which it was due. Absent in a closed loop, where each request starts after the one
    /// before, and its latency counts from its start.
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
    /// The highest latency, in nanoseconds.
    pub max_ns: Option<u64>,
    /// Metered latency of a closed loop, for each window length; absent in an open loop, and with
    /// more than four million requests.
    pub metered: Option<Vec<MeteredLatency>>,
}

/// The latency of requests in a closed loop, counted from the starts that they would have had if
/// the starts in a window around each were evenly spaced (DaCapo's metered latency). Percentiles as
/// in [`Latency`].
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
    /// The highest latency, in nanoseconds.
    pub max_ns: Option<u64>,
}

impl RunRecord {
    /// This record with one more number of `stats` or, if the name begins with `latency_`, of
    /// `latency`; `None` if they have no number of this name. Counts are rounded.
    pub fn with_figure(&self, name: &str, figure: f64) -> Option<RunRecord> {
        let mut all = self.clone();
        match name.strip_prefix("latency_") {
            Some(name) => all.latency = Some(with_number(all.latency.unwrap_or_default(), name, figure)?),
            None => all.stats = Some(with_number(all.stats.unwrap_or_default(), name, figure)?),
        }
        Some(all)
    }
}

fn with_number<T: Serialize + DeserializeOwned>(part: T, name: &str, number: f64) -> Option<T> {
    let mut all = serde_json::to_value(part).ok()?;
    let mut with = |number: serde_json::Value| {
        all.as_object_mut()?.insert(name.to_owned(), number);
        serde_json::from_value(all.clone()).ok()
    };
    with(number.into()).or_else(|| with((number.round() as u64).into()).filter(|_| number >= 0.0))
}

impl Latency {
    /// The metered latency with a window of this length, or of the whole run (`None`); `None` if
    /// the record lacks it.
    pub fn metered_in(&self, window_ns: Option<u64>) -> Option<&MeteredLatency> {
        self.metered.as_ref()?.iter().find(|one| one.window_ns == window_ns)
    }
}

/// The heap profile of a run.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HeapProfile {
    /// What the bands are: `closure type`, `description`, `type`, `module`, `retainers`, `roots`,
    /// `cost centre` or `biography`.
    pub breakdown: String,
    /// The censuses in order of time.
    pub censuses: Vec<Census>,
    /// CPU time of all censuses, in seconds; among the run's totals, only `prof_cpu_seconds`
    /// includes it.
    pub census_seconds: f64,
    /// The retainer sets that occurred, by the number at the start of the band's name: module and
    /// name of each retainer. Absent for other breakdowns.
    pub retainer_sets: Option<BTreeMap<String, Vec<String>>>,
}

/// The contents of the heap at one moment.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Census {
    /// CPU time of the mutators up to then, in seconds.
    pub seconds: f64,
    /// The name of the marker at which it was taken; absent for other censuses.
    pub marker: Option<String>,
    /// Bytes by band. Empty bands are left out, except in a biography, which has all five.
    pub bands: BTreeMap<String, u64>,
}

impl Census {
    /// The total bytes of all bands.
    pub fn bytes(&self) -> u64 {
        self.bands.values().sum()
    }
}

impl HeapProfile {
    /// The census with the most bytes, or the first of several.
    pub fn peak(&self) -> Option<&Census> {
        self.censuses.iter().rev().max_by_key(|census| census.bytes())
    }
}
