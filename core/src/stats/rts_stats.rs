//! The statistics of a running program as GHC's module `GHC.Stats` shows them.
//!
//! Names, units and meanings are those of `RTSStats` and `GCDetails` in GHC 9.0. The figures of
//! compact regions and of the non-moving collector are left out: neither exists here. (The records
//! of runs and the texts of `-s` come from [`Statistics`]; a test compares the two.)

use super::{Collection, Statistics, Times};

/// The figures of a run up to one moment. Sizes are in bytes, times in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RtsStats {
    /// Number of collections.
    pub gcs: u64,
    /// Number of collections of all generations.
    pub major_gcs: u64,
    /// Bytes allocated. (GHC has those up to the last collection.) The bytes that other threads
    /// allocated since their allocators last ran out are not known yet.
    pub allocated_bytes: u64,
    /// Most bytes live after a major collection.
    pub max_live_bytes: u64,
    /// Most bytes of large objects after a major collection.
    pub max_large_objects_bytes: u64,
    /// Most slop after a major collection.
    pub max_slop_bytes: u64,
    /// Most bytes of memory in use, in whole megablocks.
    pub max_mem_in_use_bytes: u64,
    /// Sum of the live bytes after major collections.
    pub cumulative_live_bytes: u64,
    /// Bytes copied by all collections.
    pub copied_bytes: u64,
    /// Of these, bytes copied by parallel collections.
    pub par_copied_bytes: u64,
    /// Sum of the bytes that the busiest thread of each parallel collection copied.
    pub cumulative_par_max_copied_bytes: u64,
    /// Sum of the bytes that parallel collections copied in balance.
    pub cumulative_par_balanced_copied_bytes: u64,
    /// CPU time until the heap stood.
    pub init_cpu_ns: u64,
    /// Elapsed time until the heap stood.
    pub init_elapsed_ns: u64,
    /// CPU time of the program itself.
    pub mutator_cpu_ns: u64,
    /// Elapsed time of the program itself.
    pub mutator_elapsed_ns: u64,
    /// CPU time of collections.
    pub gc_cpu_ns: u64,
    /// Elapsed time of collections.
    pub gc_elapsed_ns: u64,
    /// CPU time since the start.
    pub cpu_ns: u64,
    /// Elapsed time since the start.
    pub elapsed_ns: u64,
    /// The last collection; `None` before the first.
    pub gc: Option<GcDetails>,
}

/// The figures of one collection. Sizes are in bytes, times in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GcDetails {
    /// The oldest generation that was collected, from 0.
    pub r#gen: u32,
    /// Number of threads that collected.
    pub threads: u32,
    /// Bytes allocated since the collection before.
    pub allocated_bytes: u64,
    /// Bytes live afterwards; generations that were not collected count as a whole.
    pub live_bytes: u64,
    /// The part of these in large objects.
    pub large_objects_bytes: u64,
    /// Bytes of live blocks that hold no live data.
    pub slop_bytes: u64,
    /// Bytes of memory in use, in whole megablocks.
    pub mem_in_use_bytes: u64,
    /// Bytes copied by the collection.
    pub copied_bytes: u64,
    /// Bytes of memory in use that no block uses.
    pub block_fragmentation_bytes: u64,
    /// Bytes copied by the thread that copied most; 0 if one thread collected.
    pub par_max_copied_bytes: u64,
    /// Bytes copied in balance; 0 if one thread collected.
    pub par_balanced_copied_bytes: u64,
    /// Time until all mutators had stopped.
    pub sync_elapsed_ns: u64,
    /// CPU time of all threads that collected.
    pub cpu_ns: u64,
    /// Elapsed time with the mutators stopped.
    pub elapsed_ns: u64,
}

/// The error if no flag asks for statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotEnabled;

impl std::fmt::Display for NotEnabled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the statistics of this program are not enabled: +RTS -T (or -t, -s, -S) enables them")
    }
}

impl std::error::Error for NotEnabled {}

/// The figures that [`Statistics`] only has at its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Bytes allocated by all threads.
    pub allocated: u64,
    /// Most bytes of megablocks mapped.
    pub peak_in_use: u64,
    /// Time until the heap stood.
    pub init: Times,
    /// Time of the program itself.
    pub mutator: Times,
    /// All time since the start.
    pub total: Times,
}

impl RtsStats {
    /// The figures of a run from its sums and maxima, its totals, and its last collection.
    pub fn new(sums: &Statistics, totals: &Totals, last: Option<&Collection>) -> Self {
        RtsStats {
            gcs: sums.collections_count(),
            major_gcs: sums.major_gcs,
            allocated_bytes: totals.allocated,
            max_live_bytes: sums.max_live,
            max_large_objects_bytes: sums.max_large,
            max_slop_bytes: sums.max_slop,
            max_mem_in_use_bytes: totals.peak_in_use,
            cumulative_live_bytes: sums.cumulative_live,
            copied_bytes: sums.copied,
            par_copied_bytes: sums.par_copied,
            cumulative_par_max_copied_bytes: sums.cumulative_par_max,
            cumulative_par_balanced_copied_bytes: sums.cumulative_par_balanced,
            init_cpu_ns: totals.init.cpu_ns,
            init_elapsed_ns: totals.init.elapsed_ns,
            mutator_cpu_ns: totals.mutator.cpu_ns,
            mutator_elapsed_ns: totals.mutator.elapsed_ns,
            gc_cpu_ns: sums.gc.cpu_ns,
            gc_elapsed_ns: sums.gc.elapsed_ns,
            cpu_ns: totals.total.cpu_ns,
            elapsed_ns: totals.total.elapsed_ns,
            gc: last.map(GcDetails::from),
        }
    }
}

impl From<&Statistics> for RtsStats {
    /// The figures of a whole run. The last collection is absent if the list of collections is.
    fn from(statistics: &Statistics) -> Self {
        let totals = Totals {
            allocated: statistics.allocated,
            peak_in_use: statistics.peak_in_use,
            init: statistics.init,
            mutator: statistics.mutator,
            total: statistics.total,
        };
        RtsStats::new(statistics, &totals, statistics.collections.last())
    }
}

impl From<&Collection> for GcDetails {
    fn from(collection: &Collection) -> Self {
        let (work, time, memory) = (&collection.work, &collection.time, &collection.memory);
        GcDetails {
            r#gen: work.generation,
            threads: collection.threads(),
            allocated_bytes: collection.before.allocated.0 as u64,
            live_bytes: work.live.0 as u64,
            large_objects_bytes: work.large.0 as u64,
            slop_bytes: work.slop.0 as u64,
            mem_in_use_bytes: memory.in_use.0 as u64,
            copied_bytes: work.copied.0 as u64,
            block_fragmentation_bytes: memory.fragmentation.0 as u64,
            par_max_copied_bytes: collection.par_max().unwrap_or(0),
            par_balanced_copied_bytes: collection.par_balanced().unwrap_or(0),
            sync_elapsed_ns: collection.before.sync_ns,
            cpu_ns: time.cpu_ns,
            elapsed_ns: time.elapsed_ns,
        }
    }
}
