//! The figures of a run that tables, charts and comparisons show.
//!
//! A figure that is a field of a record is described there: `#[shown(...)]` has its title and unit
//! ([`gclab_results::schema`]). It is a column of CSV files, and of the table of measures in
//! reports, without a line here. A figure that follows from several fields has a line in
//! `metrics!`, which says how to get it from a record and how to write it; so has a field that a
//! list of this module names.
//!
//! Times of the program and of collections, pauses, allocation and copying are those of the
//! measured phase of a run. In a record without phases, of an older gclab, they are those of the
//! whole run. Figures of memory and of parallel collections are those of the whole run in any case.
//! Of a program that is not gclab's own, all figures are those of the whole run.

use crate::measures::{self, measured, metered, stats};
use crate::run::Run;
pub(crate) use gclab_results::Unit;
use gclab_results::schema::{Shown, Total};
use gclab_results::{CollectionRecord, RunRecord, RunStats};
use std::sync::LazyLock;

/// A figure of a run. For all figures that are compared, less is better.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Metric {
    /// The name in CSV files: the key in the record where there is one.
    pub(crate) key: &'static str,
    /// The name in tables and charts.
    pub(crate) title: &'static str,
    /// The unit in which it is written.
    pub(crate) unit: Unit,
    /// Its number among [`all`] figures.
    pub(crate) column: u16,
    source: Source,
}

/// Where a figure is read from.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// The record of the run.
    Run(fn(&RunRecord) -> Option<f64>),
    /// The totals of the whole run.
    Stats(fn(&RunStats) -> Option<f64>),
    /// The collections of the measured phase.
    Collections(Total, fn(&CollectionRecord) -> Option<f64>),
}

impl PartialEq for Metric {
    fn eq(&self, other: &Metric) -> bool {
        self.key == other.key
    }
}

impl Metric {
    /// The figure of a run; `None` where the run does not have it.
    pub(crate) fn of(&self, run: &Run) -> Option<f64> {
        run.value(self.column)
    }

    /// Reads it from a record; `None` where the record does not have it.
    pub(crate) fn read(&self, run: &RunRecord) -> Option<f64> {
        match self.source {
            Source::Run(of) => of(run),
            Source::Stats(of) => of(stats(run)?),
            Source::Collections(total, of) => measures::total(run, total, of),
        }
    }

    /// How it is made of the figures of collections, if it is.
    #[cfg(test)]
    pub(crate) fn total(&self) -> Option<Total> {
        match self.source {
            Source::Collections(total, _) => Some(total),
            _ => None,
        }
    }

    /// The title with the unit, for a column or an axis.
    pub(crate) fn heading(&self) -> String {
        format!("{} {}", self.title, self.unit.name()).trim_end().to_owned()
    }

    const fn shown<R>(shown: &Shown<R>, source: Source) -> Metric {
        Metric {
            key: shown.key,
            title: shown.title,
            unit: shown.unit,
            column: u16::MAX,
            source,
        }
    }
}

/// The figures that are fields of records, in the order of the records.
fn fields() -> impl Iterator<Item = Metric> {
    let run = RunRecord::SHOWN
        .iter()
        .map(|shown| Metric::shown(shown, Source::Run(shown.of)));
    let stats = RunStats::SHOWN
        .iter()
        .map(|shown| Metric::shown(shown, Source::Stats(shown.of)));
    let collections = CollectionRecord::SHOWN
        .iter()
        .zip(CollectionRecord::TOTALS)
        .map(|(shown, total)| Metric::shown(shown, Source::Collections(*total, shown.of)));
    run.chain(stats).chain(collections)
}

/// The figure of a run's record, or of its totals, that has this key. A key that is not there fails
/// the build.
const fn field(key: &str) -> Metric {
    if let Some(shown) = find(RunRecord::SHOWN, key) {
        return Metric::shown(shown, Source::Run(shown.of));
    }
    match find(RunStats::SHOWN, key) {
        Some(shown) => Metric::shown(shown, Source::Stats(shown.of)),
        None => panic!("no field with this key is shown"),
    }
}

const fn find<R>(table: &'static [Shown<R>], key: &str) -> Option<&'static Shown<R>> {
    let mut at = 0;
    while at < table.len() {
        if is_same(table[at].key, key) {
            return Some(&table[at]);
        }
        at += 1;
    }
    None
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

macro_rules! metrics {
    ($($name:ident $key:literal $($title:literal $unit:ident $of:expr)?;)*) => {
        $(
            #[doc = concat!("The figure `", $key, "`.")]
            pub(crate) const $name: Metric = Metric {
                column: Column::$name as u16,
                ..metrics!(@one $key $($title $unit $of)?)
            };
        )*
        /// The numbers of the figures that have a name here.
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "they are the names of constants")]
        enum Column {
            $($name),*
        }
        /// The figures that have a name here, in the order of CSV files.
        const NAMED: &[Metric] = &[$($name),*];
    };
    (@one $key:literal) => { field($key) };
    (@one $key:literal $title:literal $unit:ident $of:expr) => {
        Metric { key: $key, title: $title, unit: Unit::$unit, column: u16::MAX, source: Source::Run($of) }
    };
}

/// All figures, in the order of CSV files and of their columns.
pub(crate) fn all() -> impl Iterator<Item = Metric> {
    NAMED.iter().copied().chain(unnamed())
}

/// The number of figures.
pub(crate) fn columns() -> usize {
    static COUNT: LazyLock<usize> = LazyLock::new(|| all().count());
    *COUNT
}

/// The figures that are fields of records and have no name here.
pub(crate) fn unnamed() -> impl Iterator<Item = Metric> {
    let fields = fields().filter(|field| !NAMED.contains(field));
    fields
        .zip(NAMED.len() as u16..)
        .map(|(field, column)| Metric { column, ..field })
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

metrics! {
    GC_ELAPSED "gc_elapsed_seconds" "GC" Seconds measured!(gc_elapsed_seconds);
    MUT_ELAPSED "mut_elapsed_seconds" "mutator" Seconds measured!(mut_elapsed_seconds);
    TOTAL_ELAPSED "total_elapsed_seconds" "total" Seconds total_elapsed;
    PEAK_IN_USE "peak_in_use_bytes";
    MAX_RSS "max_rss_bytes";
    MAX_PAUSE "max_pause_seconds" "max pause" Milliseconds longest_pause;
    GCS "gcs" "GCs" Count measured_count!(gcs);
    MAJOR_GCS "major_gcs" "major GCs" Count measured_count!(major_gcs);
    COPIED "copied_bytes" "copied" Mebibytes measured_count!(copied_bytes);
    ALLOCATED "allocated_bytes" "allocated" Mebibytes measured_count!(allocated_bytes);
    MAX_LIVE "max_live_bytes";
    MAX_SLOP "max_slop_bytes";
    FRAGMENTATION "fragmentation_bytes";
    GC_CPU "gc_cpu_seconds" "GC CPU" Seconds measured!(gc_cpu_seconds);
    MUT_CPU "mut_cpu_seconds" "mutator CPU" Seconds measured!(mut_cpu_seconds);
    TOTAL_CPU "total_cpu_seconds" "total CPU" Seconds total_cpu;
    PROCESS_CPU "process_cpu_seconds" "CPU" Seconds process_cpu;
    PAR_GCS "par_gcs" "parallel GCs" Count measures::par_gcs;
    PAR_COPIED "par_copied_bytes";
    WORK_BALANCE "work_balance";
    OLD_WORK_BALANCE "old_work_balance";
    SEQUENTIAL "sequential_share" "sequential" Percent measures::sequential_share;
    SYNC "sync_elapsed_seconds" "stopping" Milliseconds measured!(sync_elapsed_seconds);
    MAX_SYNC "max_sync_seconds";
    SETUP_ELAPSED "setup_elapsed_seconds" "set-up" Seconds |r| stats(r)?.phases.as_ref()?.setup.total_elapsed_seconds;
    WHOLE_ELAPSED "whole_elapsed_seconds" "whole run" Seconds |r| stats(r)?.total_elapsed_seconds;
    INIT_ELAPSED "init_elapsed_seconds";
    EXIT_ELAPSED "exit_elapsed_seconds";
    LATENCY_MEAN "latency_mean_seconds" "mean latency" Milliseconds |r| r.latency.as_ref()?.mean_ns.map(|ns| ns * 1e-9);
    LATENCY_P50 "latency_p50_seconds" "latency 50 %" Milliseconds |r| nanoseconds(r.latency.as_ref()?.p50_ns);
    LATENCY_P90 "latency_p90_seconds" "latency 90 %" Milliseconds |r| nanoseconds(r.latency.as_ref()?.p90_ns);
    LATENCY_P99 "latency_p99_seconds" "latency 99 %" Milliseconds |r| nanoseconds(r.latency.as_ref()?.p99_ns);
    LATENCY_P99_9 "latency_p99_9_seconds" "latency 99.9 %" Milliseconds |r| nanoseconds(r.latency.as_ref()?.p99_9_ns);
    LATENCY_P99_99 "latency_p99_99_seconds" "latency 99.99 %" Milliseconds |r| nanoseconds(r.latency.as_ref()?.p99_99_ns);
    LATENCY_MAX "latency_max_seconds" "max latency" Milliseconds |r| nanoseconds(r.latency.as_ref()?.max_ns);
    METERED_1_P99 "metered_1_ms_p99_seconds" "metered in 1 ms, 99 %" Milliseconds |r| metered(r, 1, |m| m.p99_ns);
    METERED_10_P99 "metered_10_ms_p99_seconds" "metered in 10 ms, 99 %" Milliseconds |r| metered(r, 10, |m| m.p99_ns);
    METERED_100_P99 "metered_100_ms_p99_seconds" "metered in 100 ms, 99 %" Milliseconds |r| metered(r, 100, |m| m.p99_ns);
    METERED_P99 "metered_run_p99_seconds" "metered in the whole run, 99 %" Milliseconds |r| metered(r, 0, |m| m.p99_ns);
    METERED_1_P99_9 "metered_1_ms_p99_9_seconds" "metered in 1 ms, 99.9 %" Milliseconds |r| metered(r, 1, |m| m.p99_9_ns);
    METERED_10_P99_9 "metered_10_ms_p99_9_seconds" "metered in 10 ms, 99.9 %" Milliseconds |r| metered(r, 10, |m| m.p99_9_ns);
    METERED_100_P99_9 "metered_100_ms_p99_9_seconds" "metered in 100 ms, 99.9 %" Milliseconds |r| metered(r, 100, |m| m.p99_9_ns);
    METERED_P99_9 "metered_run_p99_9_seconds" "metered in the whole run, 99.9 %" Milliseconds |r| metered(r, 0, |m| m.p99_9_ns);
    WALL "wall_seconds";
    USER "user_seconds";
    SYSTEM "system_seconds";
    LOAD "load_average";
    INVOLUNTARY "involuntary_context_switches";
    VOLUNTARY "voluntary_context_switches";
    MINOR_FAULTS "minor_page_faults";
    MAJOR_FAULTS "major_page_faults";
    STEAL "steal_seconds" "steal" Seconds |r| r.conditions.as_ref()?.steal_seconds;
    OTHERS "others_cpu_seconds" "other programs" Seconds |r| r.conditions.as_ref()?.others_cpu_seconds;
    MEMORY_STALL "memory_stall_seconds" "waiting for memory" Seconds |r| r.conditions.as_ref()?.memory_stall_seconds;
    QUOTA_STALL "quota_stall_seconds" "stopped by quota" Seconds |r| r.conditions.as_ref()?.quota_stall_seconds;
    FREQUENCY "frequency_mhz" "clock in MHz" Count |r| r.conditions.as_ref()?.frequency_mhz;
    INSTRUCTIONS "instructions" "instructions" Count |r| count(r.counters.as_ref()?.instructions);
    CYCLES "cycles" "cycles" Count |r| count(r.counters.as_ref()?.cycles);
    LLC_MISSES "llc_misses" "LLC misses" Count |r| count(r.counters.as_ref()?.llc_misses);
    DTLB_MISSES "dtlb_misses" "dTLB misses" Count |r| count(r.counters.as_ref()?.dtlb_misses);
    TASK_CLOCK "task_clock_seconds" "task clock" Seconds |r| nanoseconds(r.counters.as_ref()?.task_clock_ns);
    COUNTED_FAULTS "page_faults" "page faults" Count |r| count(r.counters.as_ref()?.page_faults);
    COUNTED_SWITCHES "context_switches" "context switches" Count |r| count(r.counters.as_ref()?.context_switches);
    MMU_1 "least_utilisation_1_ms" "utilisation in 1 ms" Percent |r| measures::least_utilisation(r, "1 ms");
    MMU_10 "least_utilisation_10_ms" "utilisation in 10 ms" Percent |r| measures::least_utilisation(r, "10 ms");
    MMU_100 "least_utilisation_100_ms" "utilisation in 100 ms" Percent |r| measures::least_utilisation(r, "100 ms");
    MMU_1000 "least_utilisation_1000_ms" "utilisation in 1000 ms" Percent |r| measures::least_utilisation(r, "1000 ms");
    BMU_1 "bounded_utilisation_1_ms" "bounded in 1 ms" Percent |r| measures::bounded_utilisation(r, 1_000_000);
    BMU_10 "bounded_utilisation_10_ms" "bounded in 10 ms" Percent |r| measures::bounded_utilisation(r, 10_000_000);
    BMU_100 "bounded_utilisation_100_ms" "bounded in 100 ms" Percent |r| measures::bounded_utilisation(r, 100_000_000);
    BMU_1000 "bounded_utilisation_1000_ms" "bounded in 1000 ms" Percent |r| measures::bounded_utilisation(r, 1_000_000_000);
    GC_SHARE "gc_share" "GC share" Percent measures::collection_share;
    MUT_LLC_MISSES "mut_llc_misses_share" "mutator's share of LLC misses" Percent |r| measures::mutator_share(r, |c| c.llc_misses);
    MUT_DTLB_MISSES "mut_dtlb_misses_share" "mutator's share of dTLB misses" Percent |r| measures::mutator_share(r, |c| c.dtlb_misses);
    MUT_INSTRUCTIONS "mut_instructions_share" "mutator's share of instructions" Percent |r| measures::mutator_share(r, |c| c.instructions);
    MUT_CYCLES "mut_cycles_share" "mutator's share of cycles" Percent |r| measures::mutator_share(r, |c| c.cycles);
    MUT_TASK_CLOCK "mut_task_clock_share" "mutator's share of task clock" Percent |r| measures::mutator_share(r, |c| c.task_clock_ns);
    MUT_PAGE_FAULTS "mut_page_faults_share" "mutator's share of page faults" Percent |r| measures::mutator_share(r, |c| c.page_faults);
    COUNTED_AT_PAUSES "pause_counters_least_share" "least part of the time counted" Percent measures::counted_at_pauses;
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

/// The mutator's shares of what performance counters counted.
pub(crate) const MUTATOR_SHARES: &[Metric] = &[
    MUT_LLC_MISSES,
    MUT_DTLB_MISSES,
    MUT_INSTRUCTIONS,
    MUT_CYCLES,
    MUT_TASK_CLOCK,
    MUT_PAGE_FAULTS,
];

/// The columns of the table of measures of collection, before the figures that have no name here.
const MEASURES: &[Metric] = &[
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

/// The columns of the table of measures of collection.
pub(crate) fn measures() -> impl Iterator<Item = Metric> {
    MEASURES.iter().copied().chain(unnamed())
}

/// The minimum mutator utilisation, each with the length of its window in milliseconds.
pub(crate) const UTILISATION: &[(f64, Metric)] = &[(1.0, MMU_1), (10.0, MMU_10), (100.0, MMU_100), (1000.0, MMU_1000)];

/// The bounded mutator utilisation, each with the least length of its windows in milliseconds.
pub(crate) const BOUNDED_UTILISATION: &[(f64, Metric)] =
    &[(1.0, BMU_1), (10.0, BMU_10), (100.0, BMU_100), (1000.0, BMU_1000)];

/// The figures that `compare` judges: less is better.
pub(crate) const COMPARED: &[Metric] = &[TOTAL_ELAPSED, TOTAL_CPU, GC_CPU, MUT_CPU, PEAK_IN_USE, LATENCY_P99_9];

/// The figures that `compare` judges in addition where collections were parallel: their elapsed
/// time can grow while their CPU time stays the same.
pub(crate) const COMPARED_PARALLEL: &[Metric] = &[GC_ELAPSED];
