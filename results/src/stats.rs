//! The figures of a run in its record: totals ([`RunStats`]) and every collection ([`Pause`]), as made from [`gclab_stats`].
//!
//! The figures of a collection are the rows of [`gclab_stats::collection_figures!`]. Those of a run stand here: each field has its documentation, its
//! type, and the expression that gets it from [`Statistics`]. `docs/results.md` follows from both.

use crate::schema::documented;
use gclab_stats::{Collection, Sharing, Statistics, collection_figures};
use gclab_words::Bytes;
use std::collections::BTreeMap;

documented! {
    /// The totals of a run, by GHC's names with their units, and every collection.
    #[derive(Default)]
    pub struct RunStats from stats: &Statistics {
        /// Bytes allocated by the mutator.
        pub allocated_bytes: Option<u64> = Some(stats.allocated),
        /// Bytes copied by all collections.
        pub copied_bytes: Option<u64> = Some(stats.copied),
        /// Largest live data after a major collection.
        pub max_live_bytes: Option<u64> = Some(stats.max_live),
        /// Sum of the live data after each major collection; divided by `major_gcs` it is the mean residency.
        pub cumulative_live_bytes: Option<u64> = Some(stats.cumulative_live),
        /// Largest bytes in large objects after a collection.
        pub max_large_objects_bytes: Option<u64> = Some(stats.max_large),
        /// Largest slop (bytes in live blocks that hold no live data) after a major collection.
        pub max_slop_bytes: Option<u64> = Some(stats.max_slop),
        /// Most memory that the heap had mapped at any moment, whole megablocks.
        pub peak_in_use_bytes: Option<u64> = Some(stats.peak_in_use),
        /// Of the peak, what blocks never filled: memory lost to fragmentation.
        pub fragmentation_bytes: Option<u64> = Some(stats.peak_fragmentation),
        /// Address space that was reserved for the heap.
        pub reserved_bytes: Option<u64> = Some(stats.reserved),
        /// All that the heap gave back to the system.
        pub returned_bytes: Option<u64> = Some(stats.returned),
        /// Most of all that counts under `-M` at any moment: megablocks, side tables, mark stacks, remembered sets.
        pub peak_taken_bytes: Option<u64> = Some(stats.peak_taken),
        /// Most memory of the process that was resident after a major collection.
        pub max_resident_bytes: Option<u64> = stats.max_resident,
        /// CPU time before the program began.
        pub init_cpu_seconds: Option<f64> = seconds(stats.init.cpu_ns),
        /// Elapsed time before the program began.
        pub init_elapsed_seconds: Option<f64> = seconds(stats.init.elapsed_ns),
        /// CPU time of the program itself.
        pub mut_cpu_seconds: Option<f64> = seconds(stats.mutator.cpu_ns),
        /// Elapsed time of the program itself.
        pub mut_elapsed_seconds: Option<f64> = seconds(stats.mutator.elapsed_ns),
        /// CPU time of all collections.
        pub gc_cpu_seconds: Option<f64> = seconds(stats.gc.cpu_ns),
        /// Elapsed time of all collections.
        pub gc_elapsed_seconds: Option<f64> = seconds(stats.gc.elapsed_ns),
        /// CPU time of those who looked at the stopped heap: censuses of profiles, the checker. Absent if nobody did.
        pub prof_cpu_seconds: Option<f64> = seconds(stats.prof.cpu_ns).filter(|_| was_inspected(stats)),
        /// Elapsed time of the same.
        pub prof_elapsed_seconds: Option<f64> = seconds(stats.prof.elapsed_ns).filter(|_| was_inspected(stats)),
        /// CPU time of closing down.
        pub exit_cpu_seconds: Option<f64> = seconds(stats.exit.cpu_ns),
        /// Elapsed time of closing down.
        pub exit_elapsed_seconds: Option<f64> = seconds(stats.exit.elapsed_ns),
        /// CPU time of the run inside the process.
        pub total_cpu_seconds: Option<f64> = seconds(stats.total.cpu_ns),
        /// Elapsed time of the run inside the process.
        pub total_elapsed_seconds: Option<f64> = seconds(stats.total.elapsed_ns),
        /// Number of collections.
        pub gcs: Option<u64> = Some(stats.collections_count()),
        /// Number of collections of the oldest generation.
        pub major_gcs: Option<u64> = Some(stats.major_gcs),
        /// Bytes copied by parallel collections.
        pub par_copied_bytes: Option<u64> = Some(stats.par_copied),
        /// Sum over parallel collections of the bytes copied by the thread that copied most.
        pub cumulative_par_max_copied_bytes: Option<u64> = in_parallel(stats, stats.cumulative_par_max),
        /// Sum over parallel collections of the bytes copied in balance (GHC's `par_balanced`).
        pub cumulative_par_balanced_copied_bytes: Option<u64> = in_parallel(stats, stats.cumulative_par_balanced),
        /// Work balance of parallel collections: 0 serial, 1 perfect; bytes copied in balance over bytes copied.
        pub work_balance: Option<f64> = Some(stats.work_balance()).filter(|_| stats.par_copied > 0),
        /// Work balance as GHC 7.4 to 8.2 printed it, to be held against old logs.
        pub old_work_balance: Option<f64> = Some(stats.old_work_balance()).filter(|_| stats.par_copied > 0),
        /// Elapsed time of the pauses of parallel collections.
        pub par_elapsed_seconds: Option<f64> = in_parallel(stats, stats.sharings.elapsed_ns).and_then(seconds),
        /// Of these, the time in which several threads could work; the rest was sequential.
        pub par_shared_seconds: Option<f64> = in_parallel(stats, stats.sharings.parallel_ns).and_then(seconds),
        /// Time until all mutators had stopped, over all collections; it is mutator time and in no pause of `gc_elapsed_seconds`.
        pub sync_elapsed_seconds: Option<f64> = seconds(stats.sync_ns),
        /// Longest time until all mutators had stopped.
        pub max_sync_seconds: Option<f64> = seconds(stats.max_sync_ns),
        /// Threads of parallel collections, summed over them by place: the one that led first. Absent without any.
        pub gc_threads: Option<Vec<GcThread>> = in_parallel(stats, stats.sharings.threads.iter().map(GcThread::from).collect()),
        /// Number of capabilities.
        pub capabilities: Option<u32> = Some(stats.capabilities),
        /// Counts by generation, youngest first.
        #[serde(default)]
        pub generations: Vec<Generation> = (0..stats.generations.len()).map(|number| (stats, number).into()).collect(),
        /// Every collection, in order of time.
        #[serde(default)]
        pub collections: Vec<Pause> = stats.collections.iter().map(Pause::from).collect(),
        /// Anything else the run wants to say about itself, as text.
        #[serde(default)]
        pub metadata: BTreeMap<String, String> = [("side_tables_bytes".to_owned(), stats.metadata.to_string())].into(),
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
        pub collections: u64 = of.0.generations[of.1].collections,
        /// How many of them were parallel.
        pub par_collections: Option<u64> = Some(of.0.generations[of.1].par_collections),
        /// CPU time of them all, in seconds.
        pub cpu_seconds: Option<f64> = seconds(of.0.generations[of.1].cpu_ns),
        /// Elapsed time of them all, in seconds.
        pub elapsed_seconds: Option<f64> = seconds(of.0.generations[of.1].elapsed_ns),
        /// Longest of them, elapsed, in seconds.
        pub max_pause_seconds: Option<f64> = seconds(of.0.generations[of.1].max_pause_ns),
        /// How often each way to share the work among threads was taken: a count by name (`docs/parallel.md`).
        pub sharing: Option<BTreeMap<String, u64>> = Some(sharing_counts(of.0, of.1)),
    }
}

/// How often each way to share was taken in collections of `generation`, without those that never were.
fn sharing_counts(stats: &Statistics, generation: usize) -> BTreeMap<String, u64> {
    Sharing::ALL
        .into_iter()
        .map(|sharing| (sharing.name().to_owned(), stats.sharings.count(generation, sharing)))
        .filter(|(_, count)| *count > 0)
        .collect()
}

documented! {
    /// What one thread did in parallel collections. The times, but for `cpu_ns`, add up to the part in which several threads could work.
    #[derive(Default, Eq)]
    pub struct GcThread from thread: &gclab_stats::GcThread {
        /// Bytes that it copied.
        pub copied_bytes: u64 = thread.copied,
        /// From the moment it was called until it took part.
        pub start_ns: u64 = thread.start_ns,
        /// With work.
        pub work_ns: u64 = thread.work_ns,
        /// Without work, while others had some, and later it had some again.
        pub idle_ns: u64 = thread.idle_ns,
        /// From the end of its last work until no thread had any.
        pub termination_ns: u64 = thread.termination_ns,
        /// CPU time; the leading thread's is of the whole pause.
        pub cpu_ns: u64 = thread.cpu_ns,
        /// How often it looked whether others had work (GHC's `any_work`).
        pub any_work: u64 = thread.search.any_work,
        /// Of these: found none (GHC's `no_work`).
        pub no_work: u64 = thread.search.no_work,
        /// How often it looked for its next piece of work (GHC's `scav_find_work`).
        pub scav_find_work: u64 = thread.search.scav_find_work,
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
                $($( $(#[doc = $doc])+ pub $key: $record_type = collection.$part.$field.recorded(), )*)*
                $( $(#[doc = $derived_doc])+ pub $derived_key: $derived_type = collection.$method().recorded(), )*
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
