//! The figures of a run in its record: totals ([`RunStats`]) and all collections ([`Pause`]). They
//! are made from the data of [`gclab_stats`].
//!
//! The figures of a collection are the rows of [`gclab_stats::collection_figures!`]. The figures of
//! a run are the fields here: each has its documentation, its type, and its value in terms of
//! [`Statistics`]. The tables of `docs/results.md` come from both.

use crate::schema::documented;
use gclab_stats::{Collection, Sharing, Statistics, collection_figures};
use gclab_words::Bytes;
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
        pub max_live_bytes: Option<u64> => Some(stats.max_live),
        /// Sum of the live data after each major collection; this sum over `major_gcs` is the mean
        /// residency.
        pub cumulative_live_bytes: Option<u64> => Some(stats.cumulative_live),
        /// Largest bytes in large objects after a collection.
        pub max_large_objects_bytes: Option<u64> => Some(stats.max_large),
        /// Largest slop (bytes in live blocks that hold no live data) after a major collection.
        pub max_slop_bytes: Option<u64> => Some(stats.max_slop),
        /// Most memory that the heap had mapped at any moment, in whole megablocks.
        pub peak_in_use_bytes: Option<u64> => Some(stats.peak_in_use),
        /// The part of the peak that blocks never filled: memory lost to fragmentation.
        pub fragmentation_bytes: Option<u64> => Some(stats.peak_fragmentation),
        /// Address space that was reserved for the heap.
        pub reserved_bytes: Option<u64> => Some(stats.reserved),
        /// All memory that the heap returned to the system.
        pub returned_bytes: Option<u64> => Some(stats.returned),
        /// Most memory that counts under `-M` at any moment: megablocks, side tables, mark stacks,
        /// remembered sets.
        pub peak_taken_bytes: Option<u64> => Some(stats.peak_taken),
        /// Most memory of the process that was resident after a major collection.
        pub max_resident_bytes: Option<u64> => stats.max_resident,
        /// CPU time before the program began.
        pub init_cpu_seconds: Option<f64> => seconds(stats.init.cpu_ns),
        /// Elapsed time before the program began.
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
        /// checker. Absent without any.
        pub prof_cpu_seconds: Option<f64> => seconds(stats.prof.cpu_ns).filter(|_| was_inspected(stats)),
        /// Elapsed time of the same work.
        pub prof_elapsed_seconds: Option<f64> => seconds(stats.prof.elapsed_ns).filter(|_| was_inspected(stats)),
        /// CPU time after the end of the program.
        pub exit_cpu_seconds: Option<f64> => seconds(stats.exit.cpu_ns),
        /// Elapsed time after the end of the program.
        pub exit_elapsed_seconds: Option<f64> => seconds(stats.exit.elapsed_ns),
        /// CPU time of the run inside the process.
        pub total_cpu_seconds: Option<f64> => seconds(stats.total.cpu_ns),
        /// Elapsed time of the run inside the process.
        pub total_elapsed_seconds: Option<f64> => seconds(stats.total.elapsed_ns),
        /// Number of collections.
        pub gcs: Option<u64> => Some(stats.collections_count()),
        /// Number of collections of the oldest generation.
        pub major_gcs: Option<u64> => Some(stats.major_gcs),
        /// Bytes copied by parallel collections.
        pub par_copied_bytes: Option<u64> => Some(stats.par_copied),
        /// Sum over parallel collections of the bytes copied by the thread that copied most.
        pub cumulative_par_max_copied_bytes: Option<u64> => in_parallel(stats, stats.cumulative_par_max),
        /// Sum over parallel collections of the bytes copied in balance (GHC's `par_balanced`).
        pub cumulative_par_balanced_copied_bytes: Option<u64> => in_parallel(stats, stats.cumulative_par_balanced),
        /// Work balance of parallel collections: bytes copied in balance over bytes copied; 0 is
        /// serial, 1 is perfect.
        pub work_balance: Option<f64> => Some(stats.work_balance()).filter(|_| stats.par_copied > 0),
        /// Work balance as GHC 7.4 to 8.2 printed it, for comparison with old logs.
        pub old_work_balance: Option<f64> => Some(stats.old_work_balance()).filter(|_| stats.par_copied > 0),
        /// Elapsed time of the pauses of parallel collections.
        pub par_elapsed_seconds: Option<f64> => in_parallel(stats, stats.sharings.elapsed_ns).and_then(seconds),
        /// The part of these pauses in which several threads could work; the rest was sequential.
        pub par_shared_seconds: Option<f64> => in_parallel(stats, stats.sharings.parallel_ns).and_then(seconds),
        /// Time until all mutators had stopped, over all collections. It is mutator time and in no
        /// pause of `gc_elapsed_seconds`.
        pub sync_elapsed_seconds: Option<f64> => seconds(stats.sync_ns),
        /// Longest time until all mutators had stopped.
        pub max_sync_seconds: Option<f64> => seconds(stats.max_sync_ns),
        /// The threads of parallel collections, each summed over all of them; the leading thread
        /// comes first. Absent without any.
        pub gc_threads: Option<Vec<GcThread>> => in_parallel(stats, stats.sharings.threads.iter().map(GcThread::from).collect()),
        /// Number of capabilities.
        pub capabilities: Option<u32> => Some(stats.capabilities),
        /// Counts by generation, youngest first.
        pub generations: Vec<Generation> = default => (0..stats.generations.len()).map(|number| (stats, number).into()).collect(),
        /// All collections, in order of time.
        pub collections: Vec<Pause> = default => stats.collections.iter().map(Pause::from).collect(),
        /// Other facts about the run, as text.
        pub metadata: BTreeMap<String, String> = default => [("side_tables_bytes".to_owned(), stats.metadata.to_string())].into(),
    }
}

fn seconds(nanoseconds: u64) -> Option<f64> {
    Some(nanoseconds as f64 / 1e9)
}

/// Whether a listener looked at the stopped heap. Most runs have none.
fn was_inspected(stats: &Statistics) -> bool {
    stats.prof.elapsed_ns > 0
}

/// `figure`, if there was a parallel collection: without one there is no work to be balanced.
fn in_parallel<T>(stats: &Statistics, figure: T) -> Option<T> {
    (!stats.sharings.threads.is_empty()).then_some(figure)
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
        /// Elapsed time of the longest one, in seconds.
        pub max_pause_seconds: Option<f64> => seconds(of.0.generations[of.1].max_pause_ns),
        /// How often each way to share the work among threads was chosen: a count by name
        /// (`docs/parallel.md`).
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
    pub struct GcThread from thread: &gclab_stats::GcThread {
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
        /// CPU time in nanoseconds; that of the leading thread is of the whole pause.
        pub cpu_ns: u64 => thread.cpu_ns,
        /// How often it looked whether other threads had work (GHC's `any_work`).
        pub any_work: u64 => thread.search.any_work,
        /// How often it found none then (GHC's `no_work`).
        pub no_work: u64 => thread.search.no_work,
        /// How often it looked for its next work item (GHC's `scav_find_work`).
        pub scav_find_work: u64 => thread.search.scav_find_work,
    }
}

/// Makes [`Pause`] from the table of a collection's figures.
macro_rules! record {
    (
        $( $(#[doc = $part_doc:literal])+ $part:ident : $Part:ident { $(
            $(#[doc = $doc:literal])+ $field:ident : $type:ty => $key:ident : $record_type:ty,
        )* } $(unrecorded { $($unrecorded:tt)* })? )*
        derived { $( $(#[doc = $derived_doc:literal])+ $method:ident => $derived_key:ident : $derived_type:ty, )* }
    ) => {
        documented! {
            /// One collection. The mutator stands still for `sync_ns + elapsed_ns`.
            #[derive(Default)]
            pub struct Pause from collection: &Collection {
                $($( $(#[doc = $doc])+ pub $key: $record_type => collection.$part.$field.recorded(), )*)*
                $( $(#[doc = $derived_doc])+ pub $derived_key: $derived_type => collection.$method().recorded(), )*
            }
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
    u32 => u32: |count| count;
    u64 => u64: |count| count;
    u32 => Option<u32>: Some;
    u64 => Option<u64>: Some;
    Option<u64> => Option<u64>: |count| count;
    Bytes => Option<u64>: |bytes| Some(bytes.0 as u64);
    Option<Bytes> => Option<u64>: |bytes| bytes.map(|bytes| bytes.0 as u64);
    &str => Option<String>: |text| Some(text.to_owned());
    Option<&[gclab_stats::GcThread]> => Option<Vec<GcThread>>: |threads| Some(threads?.iter().map(GcThread::from).collect());
}
