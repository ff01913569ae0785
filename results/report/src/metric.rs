//! The figures of a run that tables, charts and comparisons show: how to read each from a record
//! and how to print it. `docs/measures.md` has the formulas, the units, and the blind spots.
//!
//! Times of the program and of collections, pauses, allocation and copying cover the measured phase
//! of a run. Figures about memory and parallel collections cover the whole run, as do all figures
//! of a foreign program.

pub(crate) use gclab_results::Unit;
use gclab_results::inference::Effect;
use gclab_results::{Counters, MeteredLatency, Program, RunPhase, RunRecord, RunStats};
use serde::Serializer;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// A figure of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Metric {
    /// The name in CSV files: the record's key if there is one.
    pub(crate) key: &'static str,
    /// The name in tables and charts.
    pub(crate) title: &'static str,
    /// The unit in which it is written.
    pub(crate) unit: Unit,
    /// Where it is in a record.
    source: Source,
    /// Whether more is better: only possible for a program's own figures.
    pub(crate) more_is_better: bool,
}

/// The place of a figure in a record.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// What this function returns; `None` if the run lacks it.
    Record(fn(&RunRecord) -> Option<f64>),
    /// The figure with this name that a program's `stats` extracts from its output, and whether its
    /// unit is a time or a rate.
    Own(&'static str, bool),
}

impl PartialEq for Metric {
    fn eq(&self, other: &Metric) -> bool {
        self.key == other.key
    }
}

/// gclab's collectors and GHC count memory in use in megablocks of this many bytes.
pub(crate) const MEGABLOCK: f64 = 1_048_576.0;

impl Metric {
    /// The figure of a run; `None` if the run lacks it.
    pub(crate) fn of(&self, run: &RunRecord) -> Option<f64> {
        let value = match self.source {
            Source::Record(read) => read(run)?,
            Source::Own(name, _) => *run.figures.as_ref()?.get(name)?,
        };
        value.is_finite().then_some(value)
    }

    /// The figure with this name that `stats` of `program` extracts from its output.
    pub(crate) fn own(name: &str, program: Option<&Program>) -> Metric {
        let unit = program.and_then(|program| program.unit(name)).unwrap_or_default();
        let key = lasting(name);
        Metric {
            key,
            title: lasting(format!("{name} {unit}").trim_end()),
            unit: Unit::Count,
            source: Source::Own(
                key,
                ["s", "ms", "us", "µs", "ns"].contains(&unit) || unit.ends_with("/s"),
            ),
            more_is_better: program.is_some_and(|program| program.more_is_better(name)),
        }
    }

    /// The title with the unit, for a column or an axis.
    pub(crate) fn heading(&self) -> String {
        format!("{} {}", self.title, self.unit.name()).trim_end().to_owned()
    }

    /// Whether it is a program's own figure.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.source, Source::Own(..))
    }

    /// Whether other programs disturb it: a time or a rate.
    pub(crate) fn is_time(&self) -> bool {
        matches!(self.unit, Unit::Seconds | Unit::Milliseconds) || matches!(self.source, Source::Own(_, true))
    }

    /// Whether it is the elapsed time of a run, which the CPU time can contradict.
    pub(crate) fn is_elapsed(&self) -> bool {
        [TOTAL_ELAPSED, WALL].contains(self)
    }

    /// Whether both sides of an effect are the same. So are peaks that differ by less than the unit
    /// in which they are counted: the interval of their ratio then contains 1.
    pub(crate) fn is_same(&self, effect: &Effect) -> bool {
        let is_small = *self == PEAK_IN_USE && (effect.base - effect.new).abs() <= MEGABLOCK;
        effect.base == effect.new || is_small && effect.ci95().is_some_and(|ci| ci.contains(1.0))
    }
}

/// The same text, kept until the process ends. There are few names of figures.
fn lasting(text: &str) -> &'static str {
    static ALL: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    match all.get(text) {
        Some(known) => known,
        None => {
            let new: &str = Box::leak(text.into());
            all.insert(new);
            new
        }
    }
}

/// Writes a metric as its key.
pub(crate) fn key<S: Serializer>(metric: &Metric, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(metric.key)
}

macro_rules! metrics {
    ($($name:ident $key:literal $title:literal $unit:ident $of:expr;)*) => {
        $(
            #[doc = concat!("The figure `", $key, "`.")]
            pub(crate) const $name: Metric = Metric { key: $key, title: $title, unit: Unit::$unit, source: Source::Record($of), more_is_better: false };
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

fn stats(run: &RunRecord) -> Option<&RunStats> {
    run.stats.as_ref()
}

/// The measured phase. Only statistics of a program that reports none have no phases.
fn phase(run: &RunRecord) -> Option<&RunPhase> {
    Some(&stats(run)?.phases.as_ref()?.measured)
}

/// Makes a figure of the measured phase, or of the whole run if there are no phases.
macro_rules! measured {
    ($field:ident) => {
        |run| phase(run).map_or_else(|| stats(run)?.$field, |phase| phase.$field)
    };
}

/// Makes a count of the measured phase.
macro_rules! measured_count {
    ($field:ident) => {
        |run| count(phase(run).map_or_else(|| stats(run)?.$field, |phase| phase.$field))
    };
}

/// The elapsed time. For a foreign program it is wall-clock time, whatever its runtime reports, so
/// that programs with different runtimes can be compared.
fn total_elapsed(run: &RunRecord) -> Option<f64> {
    match run.runtime {
        None => measured!(total_elapsed_seconds)(run),
        Some(_) => run.wall_seconds,
    }
}

/// The CPU time of a foreign program, as the system counts it.
fn process_cpu(run: &RunRecord) -> Option<f64> {
    run.runtime.as_ref()?;
    Some(run.user_seconds? + run.system_seconds?)
}

/// The CPU time; for a foreign program, as the system counts it.
fn total_cpu(run: &RunRecord) -> Option<f64> {
    match run.runtime {
        None => measured!(total_cpu_seconds)(run),
        Some(_) => process_cpu(run),
    }
}

/// The longest stop of the mutator: the time to stop its threads and the collection itself.
fn longest_pause(run: &RunRecord) -> Option<f64> {
    let stats = stats(run)?;
    let by_generation = || {
        stats
            .generations
            .iter()
            .filter_map(|one| one.max_pause_seconds)
            .reduce(f64::max)
    };
    let by_pauses = || nanoseconds(stats.pauses.as_ref()?.max_ns);
    match phase(run) {
        Some(phase) => phase.max_pause_seconds,
        None => by_generation().or_else(by_pauses),
    }
}

/// A percentile of the metered latency with a window of this many milliseconds; 0 is the whole run.
fn metered(run: &RunRecord, window_ms: u64, of: fn(&MeteredLatency) -> Option<u64>) -> Option<f64> {
    let window = (window_ms > 0).then_some(window_ms * 1_000_000);
    nanoseconds(of(run.latency.as_ref()?.metered_in(window)?))
}

fn mutator_cpu(run: &RunRecord) -> Option<f64> {
    measured!(mut_cpu_seconds)(run).filter(|seconds| *seconds > 0.0)
}

/// Bytes allocated per second of mutator CPU time (GHC's allocation rate).
fn allocation_rate(run: &RunRecord) -> Option<f64> {
    Some(ALLOCATED.of(run)? / mutator_cpu(run)?)
}

/// Bytes promoted into an older generation per second of mutator CPU time.
fn promotion_rate(run: &RunRecord) -> Option<f64> {
    Some(stats(run)?.promoted_bytes? as f64 / mutator_cpu(run)?)
}

/// Bytes copied per byte allocated (mark/cons ratio).
fn mark_cons(run: &RunRecord) -> Option<f64> {
    Some(COPIED.of(run)? / ALLOCATED.of(run).filter(|bytes| *bytes > 0.0)?)
}

/// Bytes copied by minor collections per byte allocated before them. `None` if all collections were
/// major.
fn survival_rate(run: &RunRecord) -> Option<f64> {
    let stats = stats(run)?;
    let allocated = stats.minor_allocated_bytes.filter(|bytes| *bytes > 0)?;
    Some(stats.minor_copied_bytes? as f64 / allocated as f64)
}

/// The mean of the live bytes after each major collection.
fn mean_residency(run: &RunRecord) -> Option<f64> {
    let majors = stats(run)?.major_gcs.filter(|majors| *majors > 0)?;
    Some(stats(run)?.cumulative_live_bytes? as f64 / majors as f64)
}

/// The mean of memory in use over the time of the whole run.
fn mean_in_use(run: &RunRecord) -> Option<f64> {
    let end = stats(run)?.total_elapsed_seconds.filter(|seconds| *seconds > 0.0)?;
    Some(stats(run)?.space_time_byte_seconds? / end)
}

/// The share of the elapsed time of program and collections that is spent in collections.
fn collection_share(run: &RunRecord) -> Option<f64> {
    let (gc, mutator) = (GC_ELAPSED.of(run)?, MUT_ELAPSED.of(run)?);
    (gc + mutator > 0.0).then(|| gc / (gc + mutator))
}

/// The number of collections with several threads.
fn par_gcs(run: &RunRecord) -> Option<f64> {
    let counts: Option<Vec<u64>> = stats(run)?.generations.iter().map(|one| one.par_collections).collect();
    counts
        .filter(|counts| !counts.is_empty())
        .map(|counts| counts.iter().sum::<u64>() as f64)
}

/// The share of the pauses of parallel collections in which one thread worked alone.
fn sequential_share(run: &RunRecord) -> Option<f64> {
    let elapsed = stats(run)?.par_elapsed_seconds.filter(|seconds| *seconds > 0.0)?;
    Some(1.0 - stats(run)?.par_shared_seconds? / elapsed)
}

/// The minimum mutator utilisation for a window in the record.
fn least_utilisation(run: &RunRecord, window: &str) -> Option<f64> {
    stats(run)?
        .pauses
        .as_ref()?
        .least_utilisation
        .as_ref()?
        .get(window)
        .copied()
}

/// The bounded mutator utilisation for a window in the record.
fn bounded_utilisation(run: &RunRecord, window: &str) -> Option<f64> {
    stats(run)?
        .pauses
        .as_ref()?
        .bounded_utilisation
        .as_ref()?
        .get(window)
        .copied()
}

/// The mutator's share of what a counter counted in the mutator and in collections.
fn mutator_share(run: &RunRecord, of: fn(&Counters) -> Option<u64>) -> Option<f64> {
    let mutator = of(run.mut_counters.as_ref()?)? as f64;
    let collections = of(run.gc_counters.as_ref()?)? as f64;
    (mutator + collections > 0.0).then(|| mutator / (mutator + collections))
}

/// The smallest share of mutator or collection time for which a counter read at pauses was active.
/// `None` without such counters; 1 if all counted all the time.
fn counted_at_pauses(run: &RunRecord) -> Option<f64> {
    let share = |counters: &Counters| counters.least_share.unwrap_or(1.0);
    let mutator = share(run.mut_counters.as_ref()?);
    let collections = run.gc_counters.as_ref();
    Some(collections.map_or(mutator, |collections| share(collections).min(mutator)))
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
    METERED_1_P99 "metered_1_ms_p99_seconds" "metered in 1 ms, 99 %" Milliseconds |r| metered(r, 1, |m| m.p99_ns);
    METERED_10_P99 "metered_10_ms_p99_seconds" "metered in 10 ms, 99 %" Milliseconds |r| metered(r, 10, |m| m.p99_ns);
    METERED_100_P99 "metered_100_ms_p99_seconds" "metered in 100 ms, 99 %" Milliseconds |r| metered(r, 100, |m| m.p99_ns);
    METERED_P99 "metered_run_p99_seconds" "metered in the whole run, 99 %" Milliseconds |r| metered(r, 0, |m| m.p99_ns);
    METERED_1_P99_9 "metered_1_ms_p99_9_seconds" "metered in 1 ms, 99.9 %" Milliseconds |r| metered(r, 1, |m| m.p99_9_ns);
    METERED_10_P99_9 "metered_10_ms_p99_9_seconds" "metered in 10 ms, 99.9 %" Milliseconds |r| metered(r, 10, |m| m.p99_9_ns);
    METERED_100_P99_9 "metered_100_ms_p99_9_seconds" "metered in 100 ms, 99.9 %" Milliseconds |r| metered(r, 100, |m| m.p99_9_ns);
    METERED_P99_9 "metered_run_p99_9_seconds" "metered in the whole run, 99.9 %" Milliseconds |r| metered(r, 0, |m| m.p99_9_ns);
    WALL "wall_seconds" "wall" Seconds |r| r.wall_seconds;
    USER "user_seconds" "user" Seconds |r| r.user_seconds;
    SYSTEM "system_seconds" "system" Seconds |r| r.system_seconds;
    LOAD "load_average" "load" Count |r| r.load_average;
    INVOLUNTARY "involuntary_context_switches" "preempted" Count |r| count(r.involuntary_context_switches);
    VOLUNTARY "voluntary_context_switches" "waited" Count |r| count(r.voluntary_context_switches);
    MINOR_FAULTS "minor_page_faults" "minor faults" Count |r| count(r.minor_page_faults);
    MAJOR_FAULTS "major_page_faults" "major faults" Count |r| count(r.major_page_faults);
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
    MMU_1 "least_utilisation_1_ms" "utilisation in 1 ms" Percent |r| least_utilisation(r, "1 ms");
    MMU_10 "least_utilisation_10_ms" "utilisation in 10 ms" Percent |r| least_utilisation(r, "10 ms");
    MMU_100 "least_utilisation_100_ms" "utilisation in 100 ms" Percent |r| least_utilisation(r, "100 ms");
    MMU_1000 "least_utilisation_1000_ms" "utilisation in 1000 ms" Percent |r| least_utilisation(r, "1000 ms");
    BMU_1 "bounded_utilisation_1_ms" "bounded in 1 ms" Percent |r| bounded_utilisation(r, "1 ms");
    BMU_10 "bounded_utilisation_10_ms" "bounded in 10 ms" Percent |r| bounded_utilisation(r, "10 ms");
    BMU_100 "bounded_utilisation_100_ms" "bounded in 100 ms" Percent |r| bounded_utilisation(r, "100 ms");
    BMU_1000 "bounded_utilisation_1000_ms" "bounded in 1000 ms" Percent |r| bounded_utilisation(r, "1000 ms");
    GC_SHARE "gc_share" "GC share" Percent collection_share;
    MUT_LLC_MISSES "mut_llc_misses_share" "mutator's share of LLC misses" Percent |r| mutator_share(r, |c| c.llc_misses);
    MUT_DTLB_MISSES "mut_dtlb_misses_share" "mutator's share of dTLB misses" Percent |r| mutator_share(r, |c| c.dtlb_misses);
    MUT_INSTRUCTIONS "mut_instructions_share" "mutator's share of instructions" Percent |r| mutator_share(r, |c| c.instructions);
    MUT_CYCLES "mut_cycles_share" "mutator's share of cycles" Percent |r| mutator_share(r, |c| c.cycles);
    MUT_TASK_CLOCK "mut_task_clock_share" "mutator's share of task clock" Percent |r| mutator_share(r, |c| c.task_clock_ns);
    MUT_PAGE_FAULTS "mut_page_faults_share" "mutator's share of page faults" Percent |r| mutator_share(r, |c| c.page_faults);
    COUNTED_AT_PAUSES "pause_counters_least_share" "least part of the time counted" Percent counted_at_pauses;
    ALLOCATION_RATE "allocation_bytes_per_second" "allocation rate" MebibytesPerSecond allocation_rate;
    PROMOTION_RATE "promotion_bytes_per_second" "promotion rate" MebibytesPerSecond promotion_rate;
    SURVIVAL_RATE "survival_rate" "survival rate" Percent survival_rate;
    MARK_CONS "mark_cons" "mark/cons" Percent mark_cons;
    MEAN_RESIDENCY "mean_residency_bytes" "mean residency" Mebibytes mean_residency;
    MEAN_IN_USE "mean_in_use_bytes" "mean in use" Mebibytes mean_in_use;
    SPACE_TIME "space_time_byte_seconds" "space-time" MebibyteSeconds |r| stats(r)?.space_time_byte_seconds;
    LARGE_OBJECTS "max_large_objects_bytes" "max large objects" Mebibytes |r| count(stats(r)?.max_large_objects_bytes);
    RETURNED "returned_bytes" "returned" Mebibytes |r| count(stats(r)?.returned_bytes);
    SLICES "slices" "slices" Count |r| count(stats(r)?.slices);
    MAX_SLICE "max_slice_seconds" "longest slice" Milliseconds |r| stats(r)?.max_slice_seconds;
    PROMOTED "promoted_bytes" "promoted" Mebibytes |r| count(stats(r)?.promoted_bytes);
    MARKED "marked_bytes" "marked" Mebibytes |r| count(stats(r)?.marked_bytes);
    SWEPT "swept_bytes" "swept" Mebibytes |r| count(stats(r)?.swept_bytes);
    REMEMBERED "remembered" "remembered" Count |r| count(stats(r)?.remembered);
    MARK_PASSES "mark_passes" "mark passes" Count |r| count(stats(r)?.mark_passes);
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
    LARGE_OBJECTS,
    RETURNED,
    PROMOTED,
    REMEMBERED,
    SLICES,
    MAX_SLICE,
    MARKED,
    SWEPT,
    MARK_PASSES,
];

/// The minimum mutator utilisation, with the lengths of windows in milliseconds.
pub(crate) const UTILISATION: &[(f64, Metric)] = &[(1.0, MMU_1), (10.0, MMU_10), (100.0, MMU_100), (1000.0, MMU_1000)];

/// The bounded mutator utilisation, with the minimum lengths of windows in milliseconds.
pub(crate) const BOUNDED_UTILISATION: &[(f64, Metric)] =
    &[(1.0, BMU_1), (10.0, BMU_10), (100.0, BMU_100), (1000.0, BMU_1000)];

/// The figures that `compare` judges, including a program's own.
pub(crate) const COMPARED: &[Metric] = &[TOTAL_ELAPSED, TOTAL_CPU, GC_CPU, MUT_CPU, PEAK_IN_USE, LATENCY_P99_9];

#[cfg(test)]
mod tests {
    use super::*;
    use gclab_results::inference::Order;

    #[test]
    fn an_own_figure_is_a_time_by_its_unit() {
        let units = [("p99", "ms"), ("requests", "req/s"), ("retries", "")];
        let program = Program {
            units: Some(units.map(|(name, unit)| (name.to_owned(), unit.to_owned())).into()),
            ..Program::default()
        };
        let is_time = units.map(|(name, _)| Metric::own(name, Some(&program)).is_time());
        assert_eq!(is_time, [true, true, false]);
    }

    #[test]
    fn peaks_are_the_same_only_where_the_runs_scatter_by_a_megablock() {
        let same = |base: [f64; 6], new: [f64; 6]| {
            let [base, new] = [base, new].map(|one| (0..).zip(one.map(|peak| peak * MEGABLOCK)).collect::<Vec<_>>());
            PEAK_IN_USE.is_same(&Effect::of(&base, &new, Order::Interleaved).expect("an effect"))
        };
        assert!(same([2.0; 6], [2.0; 6]));
        assert!(!same([2.0; 6], [3.0; 6]));
        assert!(!same([2.4; 6], [2.8, 2.8, 2.81, 2.8, 2.8, 2.8]));
        assert!(same([2.0, 3.0, 2.0, 3.0, 2.0, 2.0], [3.0, 2.0, 3.0, 2.0, 2.0, 3.0]));
    }
}
