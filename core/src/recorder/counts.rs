//! What the heap tells the recorder.

use gclab_stats::{Shared, Tasks, WorkSearch};

/// What a collection counted, told to [`Recorder::gc_end`](super::Recorder::gc_end). Sizes in bytes; see [`Collection`](gclab_stats::Collection) for what each means.
#[derive(Clone, Debug, Default)]
pub struct GcCounts {
    /// Oldest generation collected.
    pub generation: u32,
    /// Whether all generations were collected.
    pub major: bool,
    /// Whether somebody asked for it.
    pub forced: bool,
    /// GC threads that took part, at least 1.
    pub threads: u32,
    /// Allocated by all capabilities since the start of the world: the recorder takes the difference.
    pub allocated_total: u64,
    /// Copied.
    pub copied: u64,
    /// Live after it.
    pub live: u64,
    /// Of `live`: large objects.
    pub large: u64,
    /// Block space minus `live`.
    pub slop: u64,
    /// Megablocks mapped.
    pub in_use: u64,
    /// Mapped and unused.
    pub fragmentation: u64,
    /// All that counts under the limit.
    pub taken: u64,
    /// Given back to the system.
    pub returned: u64,
    /// Copied by the busiest thread (0 when sequential).
    pub par_max: u64,
    /// Copied in balance (0 when sequential).
    pub par_balanced: u64,
    /// Copied into a generation that was not itself collected.
    pub promoted: u64,
    /// Remembered entries scanned.
    pub remembered: u64,
    /// CPU time in nanoseconds of the GC threads other than the one that calls `gc_end`.
    pub workers_cpu_ns: u64,
    /// Searches for work, by all threads (zeros when sequential).
    pub search: WorkSearch,
    /// How the work was shared out, and what each thread did.
    pub shared: Shared,
}

/// What the heap knows at the end of a run, told to [`Recorder::finish`](super::Recorder::finish). Sizes in bytes; see [`Statistics`](gclab_stats::Statistics).
#[derive(Clone, Copy, Debug, Default)]
pub struct FinalCounts {
    /// Allocated by all capabilities since the start of the world.
    pub allocated_total: u64,
    /// Most megablocks mapped at any moment.
    pub peak_in_use: u64,
    /// Most blocks allocated at any moment.
    pub peak_blocks: u64,
    /// Of the peak of megablocks, what blocks never filled.
    pub peak_fragmentation: u64,
    /// Tables beside the heap.
    pub metadata: u64,
    /// Addresses reserved.
    pub reserved: u64,
    /// Ever given back to the system.
    pub returned: u64,
    /// Most that counted under the limit at any moment.
    pub peak_taken: u64,
    /// Threads of the run.
    pub tasks: Tasks,
}
