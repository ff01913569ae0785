//! The figures of a run that tables, charts and comparisons show. Each has one line, which says how
//! to get it from a record and how to write it.
//!
//! Times of the program and of collections, pauses, allocation and copying are those of the
//! measured phase of a run. In a record without phases, of an older gclab, they are those of the
//! whole run. Figures of memory and of parallel collections are those of the whole run in any case.
//! Of a program that is not gclab's own, all figures are those of the whole run.

use crate::measures::{self, measured, stats};
use gclab_results::{RunRecord, RunStats};

/// The unit in which a figure is measured, and the one in which it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Seconds, written as seconds.
    Seconds,
    /// Seconds, written as milliseconds.
    Milliseconds,
    /// Bytes, written as MiB.
    Mebibytes,
    /// Bytes in a second, written as MiB in a second.
    MebibytesPerSecond,
    /// Byte seconds, written as MiB seconds.
    MebibyteSeconds,
    /// A number without a unit.
    Count,
    /// A share from 0 to 1, written in percent.
    Percent,
}

impl Unit {
    /// The unit's name in columns and on axes; empty for counts.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Seconds => "s",
            Unit::Milliseconds => "ms",
            Unit::Mebibytes => "MiB",
            Unit::MebibytesPerSecond => "MiB/s",
            Unit::MebibyteSeconds => "MiB·s",
            Unit::Count => "",
            Unit::Percent => "%",
        }
    }

    /// The figure in the unit in which it is written.
    pub(crate) fn shown(self, value: f64) -> f64 {
        match self {
            Unit::Milliseconds => value * 1e3,
            Unit::Mebibytes | Unit::MebibytesPerSecond | Unit::MebibyteSeconds => value / f64::from(1 << 20),
            Unit::Percent => value * 100.0,
            Unit::Seconds | Unit::Count => value,
        }
    }

    /// The figure as text without its unit. Times have three decimals, or as many more (up to six)
    /// as it takes to show three significant digits.
    pub(crate) fn text(self, value: f64) -> String {
        let shown = self.shown(value);
        match self {
            Unit::Seconds | Unit::Milliseconds => {
                let decimals = if shown == 0.0 {
                    3.0
                } else {
                    2.0 - shown.abs().log10().floor()
                };
                format!("{shown:.*}", decimals.clamp(3.0, 6.0) as usize)
            }
            Unit::Mebibytes | Unit::MebibytesPerSecond | Unit::MebibyteSeconds | Unit::Percent => {
                format!("{shown:.1}")
            }
            Unit::Count if shown.fract() == 0.0 => format!("{shown:.0}"),
            Unit::Count => format!("{shown:.1}"),
        }
    }

    /// The figure as text with its unit.
    pub(crate) fn text_with_unit(self, value: f64) -> String {
        format!("{} {}", self.text(value), self.name()).trim_end().to_owned()
    }
}

/// A figure of a run. For all figures that are compared, less is better.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Metric {
    /// The name in CSV files: the key in the record where there is one.
    pub(crate) key: &'static str,
    /// The name in tables and charts.
    pub(crate) title: &'static str,
    /// The unit in which it is written.
    pub(crate) unit: Unit,
    /// Reads it from a record; `None` where the record does not have it.
    pub(crate) of: fn(&RunRecord) -> Option<f64>,
}

impl PartialEq for Metric {
    fn eq(&self, other: &Metric) -> bool {
        self.key == other.key
    }
}

impl Metric {
    /// The title with the unit, for a column or an axis.
    pub(crate) fn heading(&self) -> String {
        format!("{} {}", self.title, self.unit.name()).trim_end().to_owned()
    }
}

macro_rules! metrics {
    ($($name:ident $key:literal $title:literal $unit:ident $of:expr;)*) => {
        $(
            #[doc = concat!("`", $key, "`: ", $title, ".")]
            pub(crate) const $name: Metric = Metric { key: $key, title: $title, unit: Unit::$unit, of: $of };
        )*
        /// All figures, in the order of CSV files.
        pub(crate) const ALL: &[Metric] = &[$($name),*];
    };
}

fn count(value: Option<u64>) -> Option<f64> {
    value.map(|v| v as f64)
}

fn nanoseconds(value: Option<u64>) -> Option<f64> {
    value.map(|ns| ns as f64 * 1e-9)
}

/// Makes [`measured`] of a field that phases and runs both have.
macro_rules! measured {
    ($field:ident) => {
        |run| measured(run, |phase| phase.$field, |stats| stats.$field)
    };
}

/// Makes a [`measured`] count.
macro_rules! measured_count {
    ($field:ident) => {
        |run| count(measured(run, |phase| phase.$field, |stats| stats.$field))
    };
}

/// The elapsed time. That of a program which is not gclab's own is the wall clock's, whatever its
/// runtime says, so that programs of different runtimes can be compared.
fn total_elapsed(run: &RunRecord) -> Option<f64> {
    match run.runtime {
        None => measured(
            run,
            |phase| phase.total_elapsed_seconds,
            |stats| stats.total_elapsed_seconds,
        ),
        Some(_) => run.wall_seconds,
    }
}

/// The CPU time of a program that is not gclab's own, as the system counts it.
fn process_cpu(run: &RunRecord) -> Option<f64> {
    run.runtime.as_ref()?;
    Some(run.user_seconds? + run.system_seconds?)
}

/// The CPU time: of a program that is not gclab's own, by the system's account.
fn total_cpu(run: &RunRecord) -> Option<f64> {
    match run.runtime {
        None => measured(run, |phase| phase.total_cpu_seconds, |stats| stats.total_cpu_seconds),
        Some(_) => process_cpu(run),
    }
}

/// The longest stop of the mutator: the time to stop its threads and the collection itself.
fn longest_pause(run: &RunRecord) -> Option<f64> {
    measured(run, |phase| phase.max_pause_seconds, longest_of_run)
}

/// The longest stop in a record without phases.
fn longest_of_run(stats: &RunStats) -> Option<f64> {
    let single = stats
        .collections
        .iter()
        .map(|p| (p.sync_ns.unwrap_or(0) + p.elapsed_ns) as f64 / 1e9);
    let by_generation = stats.generations.iter().filter_map(|g| g.max_pause_seconds);
    let told = || nanoseconds(stats.pauses.as_ref()?.max_ns);
    single
        .reduce(f64::max)
        .or_else(|| by_generation.reduce(f64::max))
        .or_else(told)
}

/// The number of collections with several threads.
fn par_gcs(run: &RunRecord) -> Option<f64> {
    let counts: Option<Vec<u64>> = stats(run)?.generations.iter().map(|g| g.par_collections).collect();
    counts.filter(|c| !c.is_empty()).map(|c| c.iter().sum::<u64>() as f64)
}

/// The share of the pauses of parallel collections in which one thread worked alone.
fn sequential_share(run: &RunRecord) -> Option<f64> {
    let elapsed = stats(run)?.par_elapsed_seconds.filter(|seconds| *seconds > 0.0)?;
    Some(1.0 - stats(run)?.par_shared_seconds? / elapsed)
}

/// The minimum mutator utilisation for a window that the record names.
fn least_utilisation(run: &RunRecord, window: &str) -> Option<f64> {
    let by_window = stats(run)?.pauses.as_ref()?.least_utilisation.as_ref()?;
    by_window.get(window).copied()
}

metrics! {
    GC_ELAPSED "gc_elapsed_seconds" "GC" Seconds measured!(gc_elapsed_seconds);
    MUT_ELAPSED "mut_elapsed_seconds" "mutator" Seconds measured!(mut_elapsed_seconds);
    TOTAL_ELAPSED "total_elapsed_seconds" "total" Seconds total_elapsed;
    PEAK_IN_USE "peak_in_use_bytes" "peak" Mebibytes |r| count(stats(r)?.peak_in_use_bytes);
    MAX_RSS "max_rss_bytes" "RSS" Mebibytes |r| count(r.max_rss_bytes);
    MAX_PAUSE "max_pause_seconds" "max pause" Milliseconds longest_pause;
    GCS "gcs" "GCs" Count measured_count!(gcs);
    MAJOR_GCS "major_gcs" "major GCs" Count measured_count!(major_gcs);
    COPIED "copied_bytes" "copied" Mebibytes measured_count!(copied_bytes);
    ALLOCATED "allocated_bytes" "allocated" Mebibytes measured_count!(allocated_bytes);
    MAX_LIVE "max_live_bytes" "max live" Mebibytes |r| count(stats(r)?.max_live_bytes);
    MAX_SLOP "max_slop_bytes" "max slop" Mebibytes |r| count(stats(r)?.max_slop_bytes);
    FRAGMENTATION "fragmentation_bytes" "fragmentation" Mebibytes |r| count(stats(r)?.fragmentation_bytes);
    GC_CPU "gc_cpu_seconds" "GC CPU" Seconds measured!(gc_cpu_seconds);
    MUT_CPU "mut_cpu_seconds" "mutator CPU" Seconds measured!(mut_cpu_seconds);
    TOTAL_CPU "total_cpu_seconds" "total CPU" Seconds total_cpu;
    PROCESS_CPU "process_cpu_seconds" "CPU" Seconds process_cpu;
    PAR_GCS "par_gcs" "parallel GCs" Count par_gcs;
    PAR_COPIED "par_copied_bytes" "copied in parallel" Mebibytes |r| count(stats(r)?.par_copied_bytes);
    WORK_BALANCE "work_balance" "balance" Percent |r| stats(r)?.work_balance;
    OLD_WORK_BALANCE "old_work_balance" "old balance" Percent |r| stats(r)?.old_work_balance;
    SEQUENTIAL "sequential_share" "sequential" Percent sequential_share;
    SYNC "sync_elapsed_seconds" "stopping" Milliseconds measured!(sync_elapsed_seconds);
    MAX_SYNC "max_sync_seconds" "longest stopping" Milliseconds |r| stats(r)?.max_sync_seconds;
    SETUP_ELAPSED "setup_elapsed_seconds" "set-up" Seconds |r| stats(r)?.phases.as_ref()?.setup.total_elapsed_seconds;
    WHOLE_ELAPSED "whole_elapsed_seconds" "whole run" Seconds |r| stats(r)?.total_elapsed_seconds;
    INIT_ELAPSED "init_elapsed_seconds" "init" Seconds |r| stats(r)?.init_elapsed_seconds;
    EXIT_ELAPSED "exit_elapsed_seconds" "exit" Seconds |r| stats(r)?.exit_elapsed_seconds;
    LATENCY_MEAN "latency_mean_seconds" "mean latency" Milliseconds |r| r.latency.as_ref()?.mean_ns.map(|ns| ns * 1e-9);
    LATENCY_P50 "latency_p50_seconds" "latency 50 %" Milliseconds |r| nanoseconds(r.latency.as_ref()?.p50_ns);
    LATENCY_P90 "latency_p90_seconds" "latency 90 %" Milliseconds |r| nanoseconds(r.latency.as_ref()?.p90_ns);
    LATENCY_P99 "latency_p99_seconds" "latency 99 %" Milliseconds |r| nanoseconds(r.latency.as_ref()?.p99_ns);
    LATENCY_P99_9 "latency_p99_9_seconds" "latency 99.9 %" Milliseconds |r| nanoseconds(r.latency.as_ref()?.p99_9_ns);
    LATENCY_P99_99 "latency_p99_99_seconds" "latency 99.99 %" Milliseconds |r| nanoseconds(r.latency.as_ref()?.p99_99_ns);
    LATENCY_MAX "latency_max_seconds" "max latency" Milliseconds |r| nanoseconds(r.latency.as_ref()?.max_ns);
    WALL "wall_seconds" "wall" Seconds |r| r.wall_seconds;
    USER "user_seconds" "user" Seconds |r| r.user_seconds;
    SYSTEM "system_seconds" "system" Seconds |r| r.system_seconds;
    LOAD "load_average" "load" Count |r| r.load_average;
    INVOLUNTARY "involuntary_context_switches" "preempted" Count |r| count(r.involuntary_context_switches);
    VOLUNTARY "voluntary_context_switches" "waited" Count |r| count(r.voluntary_context_switches);
    MINOR_FAULTS "minor_page_faults" "minor faults" Count |r| count(r.minor_page_faults);
    MAJOR_FAULTS "major_page_faults" "major faults" Count |r| count(r.major_page_faults);
    MMU_1 "least_utilisation_1_ms" "utilisation in 1 ms" Percent |r| least_utilisation(r, "1 ms");
    MMU_10 "least_utilisation_10_ms" "utilisation in 10 ms" Percent |r| least_utilisation(r, "10 ms");
    MMU_100 "least_utilisation_100_ms" "utilisation in 100 ms" Percent |r| least_utilisation(r, "100 ms");
    MMU_1000 "least_utilisation_1000_ms" "utilisation in 1000 ms" Percent |r| least_utilisation(r, "1000 ms");
    BMU_1 "bounded_utilisation_1_ms" "bounded in 1 ms" Percent |r| measures::bounded_utilisation(r, 1_000_000);
    BMU_10 "bounded_utilisation_10_ms" "bounded in 10 ms" Percent |r| measures::bounded_utilisation(r, 10_000_000);
    BMU_100 "bounded_utilisation_100_ms" "bounded in 100 ms" Percent |r| measures::bounded_utilisation(r, 100_000_000);
    BMU_1000 "bounded_utilisation_1000_ms" "bounded in 1000 ms" Percent |r| measures::bounded_utilisation(r, 1_000_000_000);
    GC_SHARE "gc_share" "GC share" Percent measures::collection_share;
    ALLOCATION_RATE "allocation_bytes_per_second" "allocation rate" MebibytesPerSecond measures::allocation_rate;
    PROMOTION_RATE "promotion_bytes_per_second" "promotion rate" MebibytesPerSecond measures::promotion_rate;
    SURVIVAL_RATE "survival_rate" "survival rate" Percent measures::survival_rate;
    MARK_CONS "mark_cons" "mark/cons" Percent measures::mark_cons;
    MEAN_RESIDENCY "mean_residency_bytes" "mean residency" Mebibytes measures::mean_residency;
    MEAN_IN_USE "mean_in_use_bytes" "mean in use" Mebibytes measures::mean_in_use;
    SPACE_TIME "space_time_byte_seconds" "space-time" MebibyteSeconds measures::space_time;
}

/// The columns of tables, the most important first: a narrow terminal shows only the first ones.
pub(crate) const TABLE: &[Metric] = &[
    TOTAL_ELAPSED,
    GC_ELAPSED,
    MUT_ELAPSED,
    PROCESS_CPU,
    PEAK_IN_USE,
    MAX_PAUSE,
    LATENCY_P50,
    LATENCY_P99,
    LATENCY_P99_9,
    LATENCY_MAX,
    MAX_RSS,
    GCS,
    COPIED,
    WORK_BALANCE,
];

/// The columns of the table of measures of collection.
pub(crate) const MEASURES: &[Metric] = &[
    GC_SHARE,
    ALLOCATION_RATE,
    SURVIVAL_RATE,
    PROMOTION_RATE,
    MARK_CONS,
    MEAN_RESIDENCY,
    MEAN_IN_USE,
    SPACE_TIME,
    MAX_SLOP,
    FRAGMENTATION,
];

/// The minimum mutator utilisation, each with the length of its window in milliseconds.
pub(crate) const UTILISATION: &[(f64, Metric)] = &[(1.0, MMU_1), (10.0, MMU_10), (100.0, MMU_100), (1000.0, MMU_1000)];

/// The bounded mutator utilisation, each with the least length of its windows in milliseconds.
pub(crate) const BOUNDED_UTILISATION: &[(f64, Metric)] =
    &[(1.0, BMU_1), (10.0, BMU_10), (100.0, BMU_100), (1000.0, BMU_1000)];

/// The figures that `compare` judges: less is better.
pub(crate) const COMPARED: &[Metric] = &[TOTAL_ELAPSED, GC_CPU, MUT_CPU, PEAK_IN_USE, LATENCY_P99_9];

/// The figures that `compare` judges in addition where collections were parallel: their elapsed
/// time can grow while their CPU time stays the same.
pub(crate) const COMPARED_PARALLEL: &[Metric] = &[GC_ELAPSED];
