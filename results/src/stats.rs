//! A run's statistics as recorded, from the [`Statistics`] of a heap or of a foreign runtime.

use gclab_core::stats::{Collection, GcThread, PhaseTimes, Sharing, Slices, Statistics, Times, Utilisation};
use gclab_core::words::Bytes;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use std::collections::BTreeMap;

/// The totals of a run, by GHC's names with units, and all collections.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunStats {
    /// Bytes allocated by the mutator.
    pub allocated_bytes: Option<u64>,
    /// Bytes copied by all collections.
    pub copied_bytes: Option<u64>,
    /// Largest live data after a major collection.
    pub max_live_bytes: Option<u64>,
    /// Sum of the live data after each major collection; divided by `major_gcs` it is the mean
    /// residency.
    pub cumulative_live_bytes: Option<u64>,
    /// Largest bytes in large objects after a collection.
    pub max_large_objects_bytes: Option<u64>,
    /// Largest slop (bytes in live blocks without live data) after a major collection.
    pub max_slop_bytes: Option<u64>,
    /// Peak of memory mapped for the heap, in whole megablocks.
    pub peak_in_use_bytes: Option<u64>,
    /// The part of that peak that blocks never filled: memory lost to fragmentation.
    pub fragmentation_bytes: Option<u64>,
    /// Address space reserved for the heap.
    pub reserved_bytes: Option<u64>,
    /// All memory that the heap returned to the system.
    pub returned_bytes: Option<u64>,
    /// Peak of memory that counts under `-M`: megablocks, side tables, mark stacks, remembered
    /// sets.
    pub peak_taken_bytes: Option<u64>,
    /// Peak of the process's resident memory after a major collection.
    pub max_resident_bytes: Option<u64>,
    /// CPU time before the program started.
    pub init_cpu_seconds: Option<f64>,
    /// Elapsed time before the program started.
    pub init_elapsed_seconds: Option<f64>,
    /// CPU time of the program itself.
    pub mut_cpu_seconds: Option<f64>,
    /// Elapsed time of the program itself.
    pub mut_elapsed_seconds: Option<f64>,
    /// CPU time of all collections, and of the collector's concurrent work.
    pub gc_cpu_seconds: Option<f64>,
    /// Of this, CPU time of concurrent work. Absent if there was none.
    pub concurrent_cpu_seconds: Option<f64>,
    /// Elapsed time of all collections.
    pub gc_elapsed_seconds: Option<f64>,
    /// CPU time of work on the stopped heap other than collections: censuses, the checker, dumps.
    /// Absent if there was none.
    pub prof_cpu_seconds: Option<f64>,
    /// Elapsed time of the same work.
    pub prof_elapsed_seconds: Option<f64>,
    /// The part of `prof_elapsed_seconds` in retainer censuses (`-hr`): GHC's RP. Absent if there
    /// was none, like the next three.
    pub retainers_elapsed_seconds: Option<f64>,
    /// The part in other censuses: GHC's PROF.
    pub census_elapsed_seconds: Option<f64>,
    /// The part in the checker (`-DS`).
    pub check_elapsed_seconds: Option<f64>,
    /// The part in other looks at the stopped heap.
    pub inspect_elapsed_seconds: Option<f64>,
    /// CPU time after the end of the program.
    pub exit_cpu_seconds: Option<f64>,
    /// Elapsed time after the end of the program.
    pub exit_elapsed_seconds: Option<f64>,
    /// CPU time of the run inside the process.
    pub total_cpu_seconds: Option<f64>,
    /// Elapsed time of the run inside the process.
    pub total_elapsed_seconds: Option<f64>,
    /// The same for each phase of the run.
    pub phases: Option<RunPhases>,
    /// The pauses of the measured phase.
    pub pauses: Option<Pauses>,
    /// Elapsed time of each phase of the collections, by name, in seconds; see a collection's
    /// `phases_ns`.
    pub gc_phase_seconds: Option<BTreeMap<String, f64>>,
    /// Number of collections.
    pub gcs: Option<u64>,
    /// Number of collections of the oldest generation.
    pub major_gcs: Option<u64>,
    /// Number of pauses that did a slice of a cycle. Absent if there were none, like the next two.
    pub slices: Option<u64>,
    /// Number of cycles that ended with a slice.
    pub sliced_cycles: Option<u64>,
    /// Longest pause that did a slice.
    pub max_slice_seconds: Option<f64>,
    /// How long the run thrashed: it spent almost all of its time in consecutive major collections
    /// that freed almost nothing. Absent if it never did.
    pub thrashing_seconds: Option<f64>,
    /// Metrics that only some collectors or programs have, by name, with the unit in the name.
    /// Absent if there are none.
    pub figures: Option<BTreeMap<String, u64>>,
    /// Bytes copied by parallel collections.
    pub par_copied_bytes: Option<u64>,
    /// Sum over parallel collections of the bytes copied by the thread that copied most.
    pub cumulative_par_max_copied_bytes: Option<u64>,
    /// Sum over parallel collections of the bytes copied in balance (GHC's `par_balanced`).
    pub cumulative_par_balanced_copied_bytes: Option<u64>,
    /// Work balance of parallel collections: bytes copied in balance over bytes copied; 0 means
    /// serial, 1 perfect.
    pub work_balance: Option<f64>,
    /// Work balance as printed by GHC 7.4 to 8.2, for comparison with old logs.
    pub old_work_balance: Option<f64>,
    /// Elapsed time of parallel collections.
    pub par_elapsed_seconds: Option<f64>,
    /// The part of it in which several threads could work; the rest was sequential.
    pub par_shared_seconds: Option<f64>,
    /// Time until all mutators had stopped, over all collections. It is mutator time, not part of
    /// `gc_elapsed_seconds`.
    pub sync_elapsed_seconds: Option<f64>,
    /// Longest time until all mutators had stopped.
    pub max_sync_seconds: Option<f64>,
    /// The threads of parallel collections, each summed over all of them, with the leading thread
    /// first. Absent if there were none.
    pub gc_threads: Option<Vec<GcThread>>,
    /// Number of capabilities.
    pub capabilities: Option<u32>,
    /// By generation, youngest first.
    #[serde(default)]
    pub generations: Vec<Generation>,
    /// Bytes promoted in the measured phase. From here to `space_time_byte_seconds`, values come
    /// from the individual collections, and are absent if there were too many to keep.
    pub promoted_bytes: Option<u64>,
    /// Bytes of closures marked by slices in the measured phase. Absent without slices.
    pub marked_bytes: Option<u64>,
    /// Bytes of memory swept by slices in the measured phase. Absent without slices.
    pub swept_bytes: Option<u64>,
    /// Entries of remembered sets visited as roots in the measured phase.
    pub remembered: Option<u64>,
    /// In the measured phase, the largest number of passes of a collection over marked closures
    /// whose slots had not fitted on a mark stack; 0 if nothing was marked.
    pub mark_passes: Option<u64>,
    /// Bytes copied by minor collections in the measured phase. Absent if there were none.
    pub minor_copied_bytes: Option<u64>,
    /// Bytes allocated before minor collections in the measured phase. Absent if there were none.
    pub minor_allocated_bytes: Option<u64>,
    /// The integral of memory in use over the time of the whole run, in byte seconds. Memory is
    /// assumed to grow evenly between the ends of two collections, and to be constant before the
    /// first and after the last.
    pub space_time_byte_seconds: Option<f64>,
    /// Why the individual collections are not listed although there were some.
    pub collections_absent: Option<String>,
    /// Peak of memory for the run's statistics, on top of what counts under `-M`.
    pub statistics_bytes: Option<u64>,
    /// Other facts about the run, as text.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
}

impl From<&Statistics> for RunStats {
    fn from(stats: &Statistics) -> RunStats {
        RunStats {
            allocated_bytes: Some(stats.allocated),
            copied_bytes: Some(stats.copied),
            max_live_bytes: Some(stats.max_live),
            cumulative_live_bytes: Some(stats.cumulative_live),
            max_large_objects_bytes: Some(stats.max_large),
            max_slop_bytes: Some(stats.max_slop),
            peak_in_use_bytes: Some(stats.peak_in_use),
            fragmentation_bytes: Some(stats.peak_fragmentation),
            reserved_bytes: Some(stats.reserved),
            returned_bytes: Some(stats.returned),
            peak_taken_bytes: Some(stats.peak_taken),
            max_resident_bytes: stats.max_resident,
            init_cpu_seconds: seconds(stats.init.cpu_ns),
            init_elapsed_seconds: seconds(stats.init.elapsed_ns),
            mut_cpu_seconds: seconds(stats.mutator.cpu_ns),
            mut_elapsed_seconds: seconds(stats.mutator.elapsed_ns),
            gc_cpu_seconds: seconds(stats.gc.cpu_ns),
            concurrent_cpu_seconds: if_any(stats.concurrent).and_then(|times| seconds(times.cpu_ns)),
            gc_elapsed_seconds: seconds(stats.gc.elapsed_ns),
            prof_cpu_seconds: if_any(stats.looks.total()).and_then(|times| seconds(times.cpu_ns)),
            prof_elapsed_seconds: elapsed(stats.looks.total()),
            retainers_elapsed_seconds: elapsed(stats.looks.retainers),
            census_elapsed_seconds: elapsed(stats.looks.census),
            check_elapsed_seconds: elapsed(stats.looks.check),
            inspect_elapsed_seconds: elapsed(stats.looks.inspect),
            exit_cpu_seconds: seconds(stats.exit.cpu_ns),
            exit_elapsed_seconds: seconds(stats.exit.elapsed_ns),
            total_cpu_seconds: seconds(stats.total.cpu_ns),
            total_elapsed_seconds: seconds(stats.total.elapsed_ns),
            phases: Some(stats.into()),
            pauses: Some((stats, stats.pauses.exceeded_by_one_in([2, 10, 100, 1000])).into()),
            gc_phase_seconds: phase_seconds(&stats.gc_phases),
            gcs: Some(stats.collections_count()),
            major_gcs: Some(stats.major_gcs),
            slices: of_slices(stats, |slices| slices.count),
            sliced_cycles: of_slices(stats, |slices| slices.cycles),
            max_slice_seconds: of_slices(stats, |slices| slices.max_pause_ns).and_then(seconds),
            thrashing_seconds: Some(stats.thrashing.elapsed_ns).filter(|&ns| ns > 0).and_then(seconds),
            figures: figures(stats),
            par_copied_bytes: Some(stats.par_copied),
            cumulative_par_max_copied_bytes: in_parallel(stats, stats.cumulative_par_max),
            cumulative_par_balanced_copied_bytes: in_parallel(stats, stats.cumulative_par_balanced),
            work_balance: Some(stats.work_balance()).filter(|_| stats.par_copied > 0),
            old_work_balance: Some(stats.old_work_balance()).filter(|_| stats.par_copied > 0),
            par_elapsed_seconds: in_parallel(stats, stats.sharings.elapsed_ns).and_then(seconds),
            par_shared_seconds: in_parallel(stats, stats.sharings.parallel_ns).and_then(seconds),
            sync_elapsed_seconds: seconds(stats.sync_ns),
            max_sync_seconds: seconds(stats.max_sync_ns),
            gc_threads: in_parallel(stats, stats.sharings.threads.clone()),
            capabilities: Some(stats.capabilities),
            generations: (0..stats.generations.len())
                .map(|number| (stats, number).into())
                .collect(),
            promoted_bytes: total(stats, |c| Some(c.work.promoted)),
            marked_bytes: total(stats, |c| c.work.marked),
            swept_bytes: total(stats, |c| c.work.swept),
            remembered: all(stats, |c| c.work.counted.remembered).map(Iterator::sum),
            mark_passes: all(stats, |c| c.work.counted.mark_passes).and_then(Iterator::max),
            minor_copied_bytes: minor(stats, |c| c.work.copied),
            minor_allocated_bytes: minor(stats, |c| c.before.allocated),
            space_time_byte_seconds: space_time(stats),
            collections_absent: stats.collections_absent.clone(),
            statistics_bytes: Some(stats.statistics_bytes),
            metadata: [("side_tables_bytes".to_owned(), stats.metadata.to_string())].into(),
        }
    }
}

/// A value from the slices of a run, if it had any.
fn of_slices<R>(stats: &Statistics, figure: impl Fn(&Slices) -> R) -> Option<R> {
    (stats.slices.count > 0).then(|| figure(&stats.slices))
}

fn seconds(nanoseconds: u64) -> Option<f64> {
    Some(nanoseconds as f64 / 1e9)
}

/// `times`, unless there is none.
fn if_any(times: Times) -> Option<Times> {
    Some(times).filter(|times| times.elapsed_ns > 0)
}

/// Elapsed seconds, unless there is no time.
fn elapsed(times: Times) -> Option<f64> {
    if_any(times).and_then(|times| seconds(times.elapsed_ns))
}

/// The collector's own metrics by name; `None` if there are none.
fn figures(stats: &Statistics) -> Option<BTreeMap<String, u64>> {
    let figures = stats.figures.iter();
    let by_name: BTreeMap<_, _> = figures.map(|figure| (figure.name.to_owned(), figure.value)).collect();
    (!by_name.is_empty()).then_some(by_name)
}

/// Seconds of each phase by name; `None` if none was recorded.
fn phase_seconds(times: &PhaseTimes) -> Option<BTreeMap<String, f64>> {
    let by_name: BTreeMap<_, _> = times
        .taken()
        .map(|(phase, ns)| (phase.name().to_owned(), ns as f64 / 1e9))
        .collect();
    (!by_name.is_empty()).then_some(by_name)
}

/// `figure`, if there was a parallel collection: otherwise there is no work to balance.
fn in_parallel<T>(stats: &Statistics, figure: T) -> Option<T> {
    (!stats.sharings.threads.is_empty()).then_some(figure)
}

/// The phases of a run, one after another. `init_elapsed_seconds` and the three totals add up to
/// `total_elapsed_seconds`. If the program does not mark a measured phase, set-up takes no time,
/// and exit is what follows the end of the program.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunPhases {
    /// Whether the program marked the start of the measured phase.
    pub marked: bool,
    /// What the program does before the measured phase, such as reading input and building data.
    pub setup: RunPhase,
    /// The measured phase. Reports show its times and pauses.
    pub measured: RunPhase,
    /// The rest of the run, including the collection at its end.
    pub exit: RunPhase,
}

impl From<&Statistics> for RunPhases {
    fn from(stats: &Statistics) -> RunPhases {
        RunPhases {
            marked: stats.phases.marked,
            setup: (&stats.phases.setup).into(),
            measured: (&stats.phases.measured).into(),
            exit: (&stats.phases.exit).into(),
        }
    }
}

/// One phase of a run; the keys are the same as for the whole run.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunPhase {
    /// Its start, in seconds since the start of the run.
    pub start_seconds: f64,
    /// Elapsed time of the whole phase.
    pub total_elapsed_seconds: Option<f64>,
    /// CPU time of the whole phase.
    pub total_cpu_seconds: Option<f64>,
    /// Elapsed time of the program itself.
    pub mut_elapsed_seconds: Option<f64>,
    /// CPU time of the program itself.
    pub mut_cpu_seconds: Option<f64>,
    /// Elapsed time of collections.
    pub gc_elapsed_seconds: Option<f64>,
    /// CPU time of collections.
    pub gc_cpu_seconds: Option<f64>,
    /// Elapsed time of other work on the stopped heap. Absent if there was none.
    pub prof_elapsed_seconds: Option<f64>,
    /// Bytes allocated by the mutator.
    pub allocated_bytes: Option<u64>,
    /// Bytes copied by collections.
    pub copied_bytes: Option<u64>,
    /// Number of collections.
    pub gcs: Option<u64>,
    /// Number of collections of the oldest generation.
    pub major_gcs: Option<u64>,
    /// Time until all mutators had stopped, over all collections.
    pub sync_elapsed_seconds: Option<f64>,
    /// The longest time for which a collection kept the mutators from running, including the time
    /// to stop them. Absent without collections.
    pub max_pause_seconds: Option<f64>,
}

impl From<&gclab_core::stats::RunPhase> for RunPhase {
    fn from(phase: &gclab_core::stats::RunPhase) -> RunPhase {
        RunPhase {
            start_seconds: phase.start_ns as f64 / 1e9,
            total_elapsed_seconds: seconds(phase.total().elapsed_ns),
            total_cpu_seconds: seconds(phase.total().cpu_ns),
            mut_elapsed_seconds: seconds(phase.mutator.elapsed_ns),
            mut_cpu_seconds: seconds(phase.mutator.cpu_ns),
            gc_elapsed_seconds: seconds(phase.gc.elapsed_ns),
            gc_cpu_seconds: seconds(phase.gc.cpu_ns),
            prof_elapsed_seconds: elapsed(phase.looks),
            allocated_bytes: Some(phase.allocated),
            copied_bytes: Some(phase.copied),
            gcs: Some(phase.collections),
            major_gcs: Some(phase.major_gcs),
            sync_elapsed_seconds: seconds(phase.sync_ns),
            max_pause_seconds: Some(phase.max_pause_ns as f64 / 1e9).filter(|_| phase.collections > 0),
        }
    }
}

/// The pauses of the measured phase: how long collections kept the mutators from running, including
/// the time to stop them. Up to 2^20 pauses are kept individually during the run. Beyond that there
/// is a histogram, and values that need individual pauses are absent.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Pauses {
    /// Number of pauses.
    pub count: u64,
    /// Their sum in nanoseconds.
    pub total_ns: u64,
    /// The median (nearest rank). Absent with fewer than two pauses.
    pub p50_ns: Option<u64>,
    /// The length that one pause in ten exceeds. Absent with fewer than ten pauses, and likewise
    /// for the others.
    pub p90_ns: Option<u64>,
    /// One in a hundred.
    pub p99_ns: Option<u64>,
    /// One in a thousand.
    pub p99_9_ns: Option<u64>,
    /// The longest pause. Absent without pauses.
    pub max_ns: Option<u64>,
    /// The minimum mutator utilisation, for windows of 1, 10, 100 and 1000 ms that fit into the
    /// measured phase: the smallest share of such a window in which the mutators could run, from 0
    /// to 1. Needs individual pauses.
    pub least_utilisation: Option<BTreeMap<String, f64>>,
    /// The bounded mutator utilisation, for the same windows: the smallest share of a window of
    /// this length or longer. Needs the list of individual collections.
    pub bounded_utilisation: Option<BTreeMap<String, f64>>,
    /// Why values that need individual pauses are absent; percentiles then have three significant
    /// digits.
    pub single_pauses_absent: Option<String>,
}

impl From<(&Statistics, [Option<u64>; 4])> for Pauses {
    fn from(of: (&Statistics, [Option<u64>; 4])) -> Pauses {
        Pauses {
            count: of.0.pauses.count(),
            total_ns: of.0.pauses.total_ns(),
            p50_ns: of.1[0],
            p90_ns: of.1[1],
            p99_ns: of.1[2],
            p99_9_ns: of.1[3],
            max_ns: Some(of.0.pauses.longest_ns()).filter(|_| of.0.pauses.count() > 0),
            least_utilisation: least_utilisation(of.0),
            bounded_utilisation: bounded_utilisation(of.0),
            single_pauses_absent: of.0.pauses.reason(),
        }
    }
}

/// The windows of the minimum mutator utilisation, in milliseconds.
const WINDOWS_MS: [u64; 4] = [1, 10, 100, 1000];

fn least_utilisation(stats: &Statistics) -> Option<BTreeMap<String, f64>> {
    let measured = measured_ns(stats);
    by_window(|window_ns| stats.pauses.least_utilisation(window_ns, measured))
}

fn bounded_utilisation(stats: &Statistics) -> Option<BTreeMap<String, f64>> {
    let pauses = all(stats, |c| {
        let begin = c.time.start_ns.saturating_sub(c.before.sync_ns);
        (begin, c.time.start_ns + c.time.elapsed_ns)
    })?;
    let utilisation = Utilisation::of(pauses, measured_ns(stats))?;
    by_window(|window_ns| utilisation.bound(window_ns))
}

/// The measured phase, in nanoseconds since the start of the run.
fn measured_ns(stats: &Statistics) -> (u64, u64) {
    let measured = &stats.phases.measured;
    (measured.start_ns, measured.start_ns + measured.total().elapsed_ns)
}

/// A value for each of [`WINDOWS_MS`] that has one, by window length.
fn by_window(of: impl Fn(u64) -> Option<f64>) -> Option<BTreeMap<String, f64>> {
    let windows = WINDOWS_MS.into_iter();
    let by_window: BTreeMap<_, _> = windows
        .filter_map(|ms| Some((format!("{ms} ms"), of(ms * 1_000_000)?)))
        .collect();
    (!by_window.is_empty()).then_some(by_window)
}

/// A value from each collection of the measured phase; `None` if there were none, or too many to
/// keep.
fn all<T>(stats: &Statistics, of: impl Fn(&Collection) -> T) -> Option<impl Iterator<Item = T>> {
    let collections = stats.measured_collections();
    (!collections.is_empty()).then(|| collections.iter().map(of))
}

/// The sum of a size over the collections of the measured phase; `None` if one of them lacks it.
fn total(stats: &Statistics, of: impl Fn(&Collection) -> Option<Bytes>) -> Option<u64> {
    all(stats, of)?.map(|bytes| Some(bytes?.0 as u64)).sum()
}

/// The sum of a size over the minor collections of the measured phase; `None` without any.
fn minor(stats: &Statistics, of: impl Fn(&Collection) -> Bytes) -> Option<u64> {
    let minor = stats.measured_collections().iter().filter(|c| !c.is_major());
    minor.map(|c| of(c).0 as u64).reduce(|sum, bytes| sum + bytes)
}

/// See [`RunStats::space_time_byte_seconds`].
fn space_time(stats: &Statistics) -> Option<f64> {
    let end = stats.total.elapsed_ns as f64 / 1e9;
    let after = |c: &Collection| {
        let seconds = (c.time.start_ns + c.time.elapsed_ns) as f64 / 1e9;
        (seconds.min(end), c.memory.in_use.0 as f64)
    };
    let points: Vec<(f64, f64)> = stats.collections.iter().map(after).collect();
    let (first, last) = (points.first()?, points.last()?);
    let between = points
        .windows(2)
        .map(|pair| (pair[1].0 - pair[0].0) * f64::midpoint(pair[0].1, pair[1].1));
    Some(first.0 * first.1 + between.sum::<f64>() + (end - last.0) * last.1)
}

/// The collections of one generation.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Generation {
    /// Number of collections of this generation.
    pub collections: u64,
    /// How many of these collections were parallel.
    pub par_collections: Option<u64>,
    /// CPU time of these collections, in seconds.
    pub cpu_seconds: Option<f64>,
    /// Elapsed time of these collections, in seconds.
    pub elapsed_seconds: Option<f64>,
    /// Elapsed time of the longest one, in seconds, without the time to stop the mutators (GHC's
    /// max pause).
    pub max_pause_seconds: Option<f64>,
    /// How often each way of sharing work among threads was chosen: counts by name
    /// (`docs/parallel-collection.md`).
    pub sharing: Option<BTreeMap<String, u64>>,
}

impl From<(&Statistics, usize)> for Generation {
    fn from(of: (&Statistics, usize)) -> Generation {
        Generation {
            collections: of.0.generations[of.1].collections,
            par_collections: Some(of.0.generations[of.1].par_collections),
            cpu_seconds: seconds(of.0.generations[of.1].cpu_ns),
            elapsed_seconds: seconds(of.0.generations[of.1].elapsed_ns),
            max_pause_seconds: seconds(of.0.generations[of.1].max_pause_ns),
            sharing: Some(sharing_counts(of.0, of.1)),
        }
    }
}

/// How often each way of sharing was chosen in collections of `generation`, leaving out ways that
/// never were.
fn sharing_counts(stats: &Statistics, generation: usize) -> BTreeMap<String, u64> {
    Sharing::ALL
        .into_iter()
        .map(|sharing| (sharing.name().to_owned(), stats.sharings.count(generation, sharing)))
        .filter(|(_, count)| *count > 0)
        .collect()
}
