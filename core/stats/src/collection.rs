//! The record of one collection.

use super::Shared;

/// One collection: GHC's `GCDetails`, with its place in time.
///
/// Times are in nanoseconds, sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collection {
    /// Oldest generation that was collected, from 0.
    pub generation: u32,
    /// Whether every generation was collected.
    pub major: bool,
    /// Whether somebody asked for it (the program, a profiler, the end of the run), rather than a limit being reached.
    pub forced: bool,
    /// GC threads that took part; 1 is a sequential collection.
    pub threads: u32,
    /// Bytes allocated since the previous collection (or since the start), by all capabilities.
    pub allocated: u64,
    /// Bytes that closures were copied to. (GHC adds its mutable lists, which it rebuilds at every collection.)
    pub copied: u64,
    /// Bytes live after the collection; generations that were not collected count as live.
    pub live: u64,
    /// Of `live`: bytes of large objects.
    pub large: u64,
    /// Bytes of blocks that hold live data, less `live`: waste at block ends and by rounding up large objects.
    pub slop: u64,
    /// Bytes of megablocks mapped after the collection: megablocks x 1 MiB.
    pub in_use: u64,
    /// Bytes of mapped blocks that nobody uses, after the collection.
    pub fragmentation: u64,
    /// Bytes of all that counts under `-M`, after the collection: `in_use`, side tables, mark stacks, remembered sets.
    pub taken: u64,
    /// Bytes given back to the system at the end of the collection: megablocks, and pages of free groups of blocks.
    pub returned: u64,
    /// Bytes of the process that are resident (RSS) after the collection, the program's other memory included; after major collections only, and where
    /// the system says.
    pub resident: Option<u64>,
    /// Bytes copied by the thread that copied most; 0 when sequential.
    pub par_max: u64,
    /// Bytes that count as copied in balance, see [`par_balanced`]; 0 when sequential.
    pub par_balanced: u64,
    /// How the work was shared out among GC threads, and what each did.
    pub shared: Shared,
    /// Bytes copied into a generation that was not itself collected; none in a major collection.
    pub promoted: u64,
    /// Entries of the remembered set that were scanned as roots.
    pub remembered: u64,
    /// When the collection began (mutators stopped), since the start of the world.
    pub start_ns: u64,
    /// From the request until every mutator had stopped. Mutator time.
    pub sync_ns: u64,
    /// The pause: from `start_ns` until the mutators may go on.
    pub elapsed_ns: u64,
    /// CPU time of all GC threads in it.
    pub cpu_ns: u64,
    /// CPU time of the process since the start of the world, at the end of the collection.
    pub total_cpu_ns: u64,
    /// Page faults (minor and major) during the collection.
    pub faults: u64,
    /// Page faults since the end of the previous collection, or the start.
    pub faults_before: u64,
}
