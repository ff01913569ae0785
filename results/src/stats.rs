//! The figures of a run in its record: totals ([`RunStats`]) and all collections
//! ([`CollectionRecord`]). They are made from the data of [`gclab_core::stats`].
//!
//! The figures of a collection are the rows of [`gclab_core::collection_figures!`]. The figures of
//! a run are the fields here: each has its documentation, its type, and its value in terms of
//! [`Statistics`]. The tables of `docs/results.md` come from both.

use crate::schema::{Total, documented};
use gclab_core::collection_figures;
use gclab_core::stats::{Cause, Collection, Cycle, PhaseTimes, Sharing, Slices, Statistics, Times};
use gclab_core::words::Bytes;
use std::collections::BTreeMap;

documented! {
    /// The totals of a run, by GHC's names with their units, and all collections.
    #[derive(Default)]
    pub struct RunStats from stats: &Statistics {
        /// Bytes allocated by the mutator.
        pub allocated_bytes: Option<u64> => Some(stats.allocated),
        /// Bytes copied by all collections.
        pub copied_bytes: Option<u64> => Some(stats.copied),
        /// Largest live data after a major collection.
        #[shown("max live", Mebibytes)]
        pub max_live_bytes: Option<u64> => Some(stats.max_live),
        /// Sum of the live data after each major collection; this sum over `major_gcs` is the mean
        /// residency.
        pub cumulative_live_bytes: Option<u64> => Some(stats.cumulative_live),
        /// Largest bytes in large objects after a collection.
        #[shown("max large objects", Mebibytes)]
        pub max_large_objects_bytes: Option<u64> => Some(stats.max_large),
        /// Largest slop (bytes in live blocks that hold no live data) after a major collection.
        #[shown("max slop", Mebibytes)]
        pub max_slop_bytes: Option<u64> => Some(stats.max_slop),
        /// Most memory that the heap had mapped at any moment, in whole megablocks.
        #[shown("peak", Mebibytes)]
        pub peak_in_use_bytes: Option<u64> => Some(stats.peak_in_use),
        /// The part of the peak that blocks never filled: memory lost to fragmentation.
        #[shown("fragmentation", Mebibytes)]
        pub fragmentation_bytes: Option<u64> => Some(stats.peak_fragmentation),
        /// Address space that was reserved for the heap.
        pub reserved_bytes: Option<u64> => Some(stats.reserved),
        /// All memory that the heap returned to the system.
        #[shown("returned", Mebibytes)]
        pub returned_bytes: Option<u64> => Some(stats.returned),
        /// Most memory that counts under `-M` at any moment: megablocks, side tables, mark stacks,
        /// remembered sets.
        pub peak_taken_bytes: Option<u64> => Some(stats.peak_taken),
        /// Most memory of the process that was resident after a major collection.
        pub max_resident_bytes: Option<u64> => stats.max_resident,
        /// CPU time before the program began.
        pub init_cpu_seconds: Option<f64> => seconds(stats.init.cpu_ns),
        /// Elapsed time before the program began.
        #[shown("init", Seconds)]
        pub init_elapsed_seconds: Option<f64> => seconds(stats.init.elapsed_ns),
        /// CPU time of the program itself.
        pub mut_cpu_seconds: Option<f64> => seconds(stats.mutator.cpu_ns),
        /// Elapsed time of the program itself.
        pub mut_elapsed_seconds: Option<f64> => seconds(stats.mutator.elapsed_ns),
        /// CPU time of all collections.
        pub gc_cpu_seconds: Option<f64> => seconds(stats.gc.cpu_ns),
        /// Elapsed time of all collections.
        pub gc_elapsed_seconds: Option<f64> => seconds(stats.gc.elapsed_ns),
        /// CPU time of work on the stopped heap other than collections: censuses of profiles, the
        /// checker, dumps. Absent without any.
        pub prof_cpu_seconds: Option<f64> => if_any(stats.looks.total()).and_then(|times| seconds(times.cpu_ns)),
        /// Elapsed time of the same work.
        pub prof_elapsed_seconds: Option<f64> => elapsed(stats.looks.total()),
        /// The part of `prof_elapsed_seconds` in censuses by retainers (`-hr`): GHC's RP. Absent
        /// without any, as are the next three.
        pub retainers_elapsed_seconds: Option<f64> => elapsed(stats.looks.retainers),
        /// The part in other censuses of heap profiles: GHC's PROF.
        pub census_elapsed_seconds: Option<f64> => elapsed(stats.looks.census),
        /// The part in the checker (`-DS`).
        pub check_elapsed_seconds: Option<f64> => elapsed(stats.looks.check),
        /// The part in other looks at the stopped heap.
        pub inspect_elapsed_seconds: Option<f64> => elapsed(stats.looks.inspect),
        /// CPU time after the end of the program.
        pub exit_cpu_seconds: Option<f64> => seconds(stats.exit.cpu_ns),
        /// Elapsed time after the end of the program.
        #[shown("exit", Seconds)]
        pub exit_elapsed_seconds: Option<f64> => seconds(stats.exit.elapsed_ns),
        /// CPU time of the run inside the process.
        pub total_cpu_seconds: Option<f64> => seconds(stats.total.cpu_ns),
        /// Elapsed time of the run inside the process.
        pub total_elapsed_seconds: Option<f64> => seconds(stats.total.elapsed_ns),
        /// The same figures for each phase of the run.
        pub phases: Option<RunPhases> => Some(stats.into()),
        /// The pauses of the measured phase.
        pub pauses: Option<Pauses> => Some((stats, stats.pauses.exceeded_by_one_in([2, 10, 100, 1000])).into()),
        /// Elapsed time of each phase of the collections, by name, in seconds; see `phases_ns` of a
        /// collection.
        pub gc_phase_seconds: Option<BTreeMap<String, f64>> => phase_seconds(&stats.gc_phases),
        /// Number of collections.
        pub gcs: Option<u64> => Some(stats.collections_count()),
        /// Number of collections of the oldest generation.
        pub major_gcs: Option<u64> => Some(stats.major_gcs),
        /// Number of pauses that did a slice of a cycle. Absent without any, as are the next two.
        #[shown("slices", Count)]
        pub slices: Option<u64> => of_slices(stats, |slices| slices.count),
        /// Number of cycles that ended with a slice.
        pub sliced_cycles: Option<u64> => of_slices(stats, |slices| slices.cycles),
        /// Longest pause that did a slice.
        #[shown("longest slice", Milliseconds)]
        pub max_slice_seconds: Option<f64> => of_slices(stats, |slices| slices.max_pause_ns).and_then(seconds),
        /// Figures that only some collectors or programs have, by name, with the unit in the name.
        /// Absent without any.
        pub figures: Option<BTreeMap<String, u64>> => figures(stats),
        /// Bytes copied by parallel collections.
        #[shown("copied in parallel", Mebibytes)]
        pub par_copied_bytes: Option<u64> => Some(stats.par_copied),
        /// Sum over parallel collections of the bytes copied by the thread that copied most.
        pub cumulative_par_max_copied_bytes: Option<u64> => in_parallel(stats, stats.cumulative_par_max),
        /// Sum over parallel collections of the bytes copied in balance (GHC's `par_balanced`).
        pub cumulative_par_balanced_copied_bytes: Option<u64> => in_parallel(stats, stats.cumulative_par_balanced),
        /// Work balance of parallel collections: bytes copied in balance over bytes copied; 0 is
        /// serial, 1 is perfect.
        #[shown("balance", Percent)]
        pub work_balance: Option<f64> => Some(stats.work_balance()).filter(|_| stats.par_copied > 0),
        /// Work balance as GHC 7.4 to 8.2 printed it, for comparison with old logs.
        #[shown("old balance", Percent)]
        pub old_work_balance: Option<f64> => Some(stats.old_work_balance()).filter(|_| stats.par_copied > 0),
        /// Elapsed time of parallel collections.
        pub par_elapsed_seconds: Option<f64> => in_parallel(stats, stats.sharings.elapsed_ns).and_then(seconds),
        /// The part of it in which several threads could work; the rest was sequential.
        pub par_shared_seconds: Option<f64> => in_parallel(stats, stats.sharings.parallel_ns).and_then(seconds),
        /// Time until all mutators had stopped, over all collections. It is mutator time, and no
        /// part of `gc_elapsed_seconds`.
        pub sync_elapsed_seconds: Option<f64> => seconds(stats.sync_ns),
        /// Longest time until all mutators had stopped.
        #[shown("longest stopping", Milliseconds)]
        pub max_sync_seconds: Option<f64> => seconds(stats.max_sync_ns),
        /// The threads of parallel collections, each summed over all of them; the leading thread
        /// comes first. Absent without any.
        pub gc_threads: Option<Vec<GcThread>> => in_parallel(stats, stats.sharings.threads.iter().map(GcThread::from).collect()),
        /// Number of capabilities.
        pub capabilities: Option<u32> => Some(stats.capabilities),
        /// Counts by generation, youngest first.
        pub generations: Vec<Generation> = default => (0..stats.generations.len()).map(|number| (stats, number).into()).collect(),
        /// All collections, in order of time. Empty if they would take more than 4 MiB of memory,
        /// as some ten thousand do.
        pub collections: Vec<CollectionRecord> = default => stats.collections.iter().map(CollectionRecord::from).collect(),
        /// Why `collections` is empty although there were some.
        pub collections_absent: Option<String> => stats.collections_absent.clone(),
        /// Most memory that the statistics of the run took, in addition to what counts under `-M`.
        pub statistics_bytes: Option<u64> => Some(stats.statistics_bytes),
        /// Other facts about the run, as text.
        pub metadata: BTreeMap<String, String> = default => [("side_tables_bytes".to_owned(), stats.metadata.to_string())].into(),
    }
}

/// A figure of the slices of a run, if it had any.
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

/// The figures by name; `None` if there are none.
fn figures(stats: &Statistics) -> Option<BTreeMap<String, u64>> {
    let figures = stats.figures.iter();
    let by_name: BTreeMap<_, _> = figures.map(|figure| (figure.name.to_owned(), figure.value)).collect();
    (!by_name.is_empty()).then_some(by_name)
}

/// Seconds of each phase by name; `None` where none was noted.
fn phase_seconds(times: &PhaseTimes) -> Option<BTreeMap<String, f64>> {
    let by_name: BTreeMap<_, _> = times
        .taken()
        .map(|(phase, ns)| (phase.name().to_owned(), ns as f64 / 1e9))
        .collect();
    (!by_name.is_empty()).then_some(by_name)
}

/// `figure`, if there was a parallel collection: without one there is no work to be balanced.
fn in_parallel<T>(stats: &Statistics, figure: T) -> Option<T> {
    (!stats.sharings.threads.is_empty()).then_some(figure)
}

documented! {
    /// The phases of a run, one after the other. `init_elapsed_seconds` and the three totals add up
    /// to `total_elapsed_seconds`. In a run of a program that does not say what is measured, set-up
    /// takes no time, and exit is what follows the program's end.
    #[derive(Default)]
    pub struct RunPhases from stats: &Statistics {
        /// Whether the program said where the measured phase begins.
        pub marked: bool => stats.phases.marked,
        /// What the program does before the measured phase: it reads input and builds data.
        pub setup: RunPhase => (&stats.phases.setup).into(),
        /// The measured phase. Reports show its times and pauses.
        pub measured: RunPhase => (&stats.phases.measured).into(),
        /// The rest of the run, with the collection at its end.
        pub exit: RunPhase => (&stats.phases.exit).into(),
    }
}

documented! {
    /// The figures of one phase of a run; the keys are those of the whole run.
    #[derive(Default)]
    pub struct RunPhase from phase: &gclab_core::stats::RunPhase {
        /// Its start in seconds since the start of the run.
        pub start_seconds: f64 => phase.start_ns as f64 / 1e9,
        /// Elapsed time of the whole phase.
        pub total_elapsed_seconds: Option<f64> => seconds(phase.total().elapsed_ns),
        /// CPU time of the whole phase.
        pub total_cpu_seconds: Option<f64> => seconds(phase.total().cpu_ns),
        /// Elapsed time of the program itself.
        pub mut_elapsed_seconds: Option<f64> => seconds(phase.mutator.elapsed_ns),
        /// CPU time of the program itself.
        pub mut_cpu_seconds: Option<f64> => seconds(phase.mutator.cpu_ns),
        /// Elapsed time of collections.
        pub gc_elapsed_seconds: Option<f64> => seconds(phase.gc.elapsed_ns),
        /// CPU time of collections.
        pub gc_cpu_seconds: Option<f64> => seconds(phase.gc.cpu_ns),
        /// Elapsed time of other work on the stopped heap. Absent without any.
        pub prof_elapsed_seconds: Option<f64> => elapsed(phase.looks),
        /// Bytes allocated by the mutator.
        pub allocated_bytes: Option<u64> => Some(phase.allocated),
        /// Bytes copied by collections.
        pub copied_bytes: Option<u64> => Some(phase.copied),
        /// Number of collections.
        pub gcs: Option<u64> => Some(phase.collections),
        /// Number of collections of the oldest generation.
        pub major_gcs: Option<u64> => Some(phase.major_gcs),
        /// Time until all mutators had stopped, over all collections.
        pub sync_elapsed_seconds: Option<f64> => seconds(phase.sync_ns),
        /// The longest time for which a collection kept the mutators from running, with the time to
        /// stop them. Absent without collections.
        pub max_pause_seconds: Option<f64> => Some(phase.max_pause_ns as f64 / 1e9).filter(|_| phase.collections > 0),
    }
}

documented! {
    /// The pauses of the measured phase: the times for which collections kept the mutators from
    /// running, with the time to stop them. Up to 2^20 pauses are kept singly while the program
    /// runs. Beyond that there is a histogram, and figures that need single pauses are absent.
    #[derive(Default)]
    pub struct Pauses from of: (&Statistics, [Option<u64>; 4]) {
        /// Number of pauses.
        pub count: u64 => of.0.pauses.count(),
        /// Their sum in nanoseconds.
        pub total_ns: u64 => of.0.pauses.total_ns(),
        /// The median: the nearest rank. Absent with fewer than two pauses.
        pub p50_ns: Option<u64> => of.1[0],
        /// The length that one pause in ten exceeds. Absent with fewer than ten pauses; so on for
        /// the others.
        pub p90_ns: Option<u64> => of.1[1],
        /// One in a hundred.
        pub p99_ns: Option<u64> => of.1[2],
        /// One in a thousand.
        pub p99_9_ns: Option<u64> => of.1[3],
        /// The longest pause. Absent without any.
        pub max_ns: Option<u64> => Some(of.0.pauses.longest_ns()).filter(|_| of.0.pauses.count() > 0),
        /// The minimum mutator utilisation, for windows of 1, 10, 100 and 1000 ms that fit into the
        /// measured phase: the least share of such a window in which the mutators could run, from 0
        /// to 1. Needs single pauses.
        pub least_utilisation: Option<BTreeMap<String, f64>> => least_utilisation(of.0),
        /// Why figures that need single pauses are absent; percentiles then have three significant
        /// digits.
        pub single_pauses_absent: Option<String> => of.0.pauses.reason(),
    }
}

/// The windows of the minimum mutator utilisation, in milliseconds.
const WINDOWS_MS: [u64; 4] = [1, 10, 100, 1000];

fn least_utilisation(stats: &Statistics) -> Option<BTreeMap<String, f64>> {
    let measured = &stats.phases.measured;
    let whole = (measured.start_ns, measured.start_ns + measured.total().elapsed_ns);
    let by_window: BTreeMap<_, _> = WINDOWS_MS
        .into_iter()
        .filter_map(|ms| {
            let least = stats.pauses.least_utilisation(ms * 1_000_000, whole)?;
            Some((format!("{ms} ms"), least))
        })
        .collect();
    (!by_window.is_empty()).then_some(by_window)
}

impl RunStats {
    /// The collections of the measured phase, in order of time. In a record of a gclab that did not
    /// know phases these are all collections.
    pub fn measured_collections(&self) -> &[CollectionRecord] {
        let Some(phases) = &self.phases else {
            return &self.collections;
        };
        let before = |seconds: f64| {
            let ns = (seconds * 1e9).round() as u64;
            self.collections.partition_point(|pause| pause.start_ns < ns)
        };
        &self.collections[before(phases.measured.start_seconds)..before(phases.exit.start_seconds)]
    }
}

documented! {
    /// The collections of one generation.
    #[derive(Default)]
    pub struct Generation from of: (&Statistics, usize) {
        /// Number of collections of this generation.
        pub collections: u64 => of.0.generations[of.1].collections,
        /// How many of these collections were parallel.
        pub par_collections: Option<u64> => Some(of.0.generations[of.1].par_collections),
        /// CPU time of these collections, in seconds.
        pub cpu_seconds: Option<f64> => seconds(of.0.generations[of.1].cpu_ns),
        /// Elapsed time of these collections, in seconds.
        pub elapsed_seconds: Option<f64> => seconds(of.0.generations[of.1].elapsed_ns),
        /// Elapsed time of the longest one, in seconds, without the time to stop the mutators
        /// (GHC's max pause).
        pub max_pause_seconds: Option<f64> => seconds(of.0.generations[of.1].max_pause_ns),
        /// How often each way to share the work among threads was chosen: a count by name
        /// (`docs/parallel-collection.md`).
        pub sharing: Option<BTreeMap<String, u64>> => Some(sharing_counts(of.0, of.1)),
    }
}

/// How often each way to share was taken in collections of `generation`, without those that never
/// were.
fn sharing_counts(stats: &Statistics, generation: usize) -> BTreeMap<String, u64> {
    Sharing::ALL
        .into_iter()
        .map(|sharing| (sharing.name().to_owned(), stats.sharings.count(generation, sharing)))
        .filter(|(_, count)| *count > 0)
        .collect()
}

documented! {
    /// The work of one thread in parallel collections. The times other than `cpu_ns` add up to the
    /// part in which several threads could work.
    #[derive(Default, Eq)]
    pub struct GcThread from thread: &gclab_core::stats::GcThread {
        /// Bytes that the thread copied.
        pub copied_bytes: u64 => thread.copied,
        /// From the call until the thread took part, in nanoseconds.
        pub start_ns: u64 => thread.start_ns,
        /// Time with work, in nanoseconds.
        pub work_ns: u64 => thread.work_ns,
        /// Time without work while other threads had some, before it had some again, in
        /// nanoseconds.
        pub idle_ns: u64 => thread.idle_ns,
        /// From the end of its last work until no thread had any, in nanoseconds.
        pub termination_ns: u64 => thread.termination_ns,
        /// CPU time in nanoseconds; that of the leading thread is of the whole collection.
        pub cpu_ns: u64 => thread.cpu_ns,
        /// How often it looked whether other threads had work (GHC's `any_work`).
        pub any_work: u64 => thread.search.any_work,
        /// How often it found none then (GHC's `no_work`).
        pub no_work: u64 => thread.search.no_work,
        /// How often it looked for its next work item (GHC's `scav_find_work`).
        pub scav_find_work: u64 => thread.search.scav_find_work,
    }
}

/// Makes [`CollectionRecord`] from the table of a collection's figures, and the table of those that
/// reports show.
macro_rules! record {
    (
        $( $(#[doc = $part_doc:literal])+ $part:ident : $Part:ident { $(
            $(#[doc = $doc:literal])+ $(#[shown($total:ident, $title:literal, $unit:ident)])?
            $field:ident : $type:ty => $key:ident : $record_type:ty,
        )* } $(counted $Counted:ident { $(
            $(#[doc = $counted_doc:literal])+ $(#[shown($counted_total:ident, $counted_title:literal, $counted_unit:ident)])?
            $counted:ident : u64 => $counted_key:ident : $counted_type:ty,
        )* })? $(unrecorded { $($unrecorded:tt)* })? )*
        derived { $(
            $(#[doc = $derived_doc:literal])+ $(#[shown($derived_total:ident, $derived_title:literal, $derived_unit:ident)])?
            $method:ident => $derived_key:ident : $derived_type:ty,
        )* }
    ) => {
        documented! {
            /// One collection. The mutator stands still for `sync_ns + elapsed_ns`.
            #[derive(Default)]
            pub struct CollectionRecord from collection: &Collection {
                $(
                    $(
                        $(#[doc = $doc])+ $(#[shown($title, $unit)])?
                        pub $key: $record_type => collection.$part.$field.recorded(),
                    )*
                    $($(
                        $(#[doc = $counted_doc])+ $(#[shown($counted_title, $counted_unit)])?
                        pub $counted_key: $counted_type => collection.$part.counted.$counted.recorded(),
                    )*)?
                )*
                $(
                    $(#[doc = $derived_doc])+ $(#[shown($derived_title, $derived_unit)])?
                    pub $derived_key: $derived_type => collection.$method().recorded(),
                )*
            }
        }

        impl CollectionRecord {
            /// How the figures of all collections make that of a run: for each of
            /// [`CollectionRecord::SHOWN`].
            pub const TOTALS: &'static [Total] = &[
                $( $( $(Total::$total,)? )* $( $( $(Total::$counted_total,)? )* )? )*
                $( $(Total::$derived_total,)? )*
            ];
        }
    };
}

collection_figures!(record);

/// A figure that a record writes as a `T`.
trait Recorded<T> {
    fn recorded(self) -> T;
}

macro_rules! recorded {
    ($($from:ty => $to:ty: $convert:expr;)*) => {
        $(impl Recorded<$to> for $from {
            fn recorded(self) -> $to {
                let convert: fn($from) -> $to = $convert;
                convert(self)
            }
        })*
    };
}

recorded! {
    bool => bool: |flag| flag;
    bool => Option<bool>: Some;
    Cause => Option<String>: |cause| Some(cause.name().to_owned());
    Cycle => Option<String>: |cycle| (cycle != Cycle::None).then(|| cycle.name().to_owned());
    u32 => u32: |count| count;
    u64 => u64: |count| count;
    u32 => Option<u32>: Some;
    u64 => Option<u64>: Some;
    Option<u64> => Option<u64>: |count| count;
    Bytes => Option<u64>: |bytes| Some(bytes.0 as u64);
    Option<Bytes> => Option<u64>: |bytes| bytes.map(|bytes| bytes.0 as u64);
    &str => Option<String>: |text| Some(text.to_owned());
    &PhaseTimes => Option<BTreeMap<String, u64>>: |times| {
        let by_name: BTreeMap<_, _> = times.taken().map(|(phase, ns)| (phase.name().to_owned(), ns)).collect();
        (!by_name.is_empty()).then_some(by_name)
    };
    Option<&[gclab_core::stats::GcThread]> => Option<Vec<GcThread>>: |threads| Some(threads?.iter().map(GcThread::from).collect());
}
