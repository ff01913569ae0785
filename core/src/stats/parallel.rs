//! What is known of a collection that several threads may share.

use super::WorkSearch;

/// How the work of a collection was shared out, or why it was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// There is one GC thread, or the collector knows of one only.
    #[default]
    Alone,
    /// The generation is younger than those that are collected in parallel (`-qg`).
    Younger,
    /// There was never so much work waiting that another thread would have been worth waking.
    TooLittle,
    /// Without load balancing (`-qb`): only one capability had anything to be collected.
    OneOwner,
    /// In parallel, each thread what its capabilities had (no load balancing).
    Owners,
    /// In parallel, with load balancing.
    Balanced,
}

impl Sharing {
    /// Every one, in order.
    pub const ALL: [Sharing; 6] = [
        Sharing::Alone,
        Sharing::Younger,
        Sharing::TooLittle,
        Sharing::OneOwner,
        Sharing::Owners,
        Sharing::Balanced,
    ];

    /// Its name in run records.
    pub fn name(self) -> &'static str {
        match self {
            Sharing::Alone => "alone",
            Sharing::Younger => "younger",
            Sharing::TooLittle => "too little",
            Sharing::OneOwner => "one owner",
            Sharing::Owners => "owners",
            Sharing::Balanced => "balanced",
        }
    }

    /// Whether it is one of those in parallel.
    pub fn is_parallel(self) -> bool {
        matches!(self, Sharing::Owners | Sharing::Balanced)
    }
}

/// What one thread did in a parallel collection. Times in nanoseconds of elapsed time; they add up to that of the parallel part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GcThread {
    /// Bytes that it copied.
    pub copied: u64,
    /// From the moment it was called until it took part. All of the parallel part if it came too late.
    pub start_ns: u64,
    /// With work.
    pub work_ns: u64,
    /// Without work, while others had some, and later it had some again.
    pub idle_ns: u64,
    /// From the end of its last work until no thread had any.
    pub termination_ns: u64,
    /// CPU time; that of the thread that leads is not counted here (it is the collecting thread's own).
    pub cpu_ns: u64,
    /// How often it looked for work.
    pub search: WorkSearch,
}

/// The parallel side of a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// How it was shared out.
    pub sharing: Sharing,
    /// The threads of a parallel collection, the one that led it first; empty if it was sequential.
    pub threads: Vec<GcThread>,
    /// Nanoseconds of the pause during which threads other than the leading one could work; the rest of it was sequential.
    pub parallel_ns: u64,
}
