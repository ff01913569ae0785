//! The figures that the world and the heap pass to the recorder.

use crate::stats::{Cause, Memory, PhaseTimes, Tasks, Thrashing, Work};

/// The parts of a collection's record that the collector, the world and the heap fill in, for
/// `Recorder::gc_end`.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// The collector's work.
    pub work: Work,
    /// Why it happened.
    pub cause: Cause,
    /// The time of its phases.
    pub phases: PhaseTimes,
    /// The CPU time of GC threads that `work` does not have.
    pub idle_cpu_ns: u64,
    /// Bytes allocated by all capabilities since the start of the world: the recorder takes the
    /// difference.
    pub allocated_total: u64,
    /// The heap's memory afterwards. The recorder reads `resident`.
    pub memory: Memory,
}

/// The figures that the heap knows at the end of a run, for
/// [`Recorder::finish`](super::Recorder::finish). Sizes are in bytes; see
/// [`Statistics`](crate::stats::Statistics).
#[derive(Clone, Copy, Debug, Default)]
pub struct FinalCounts {
    /// Allocated by all capabilities since the start of the world.
    pub allocated_total: u64,
    /// Most megablocks mapped at any moment.
    pub peak_in_use: u64,
    /// Most blocks allocated at any moment.
    pub peak_blocks: u64,
    /// The part of the peak of megablocks that blocks never filled.
    pub peak_fragmentation: u64,
    /// Tables outside the heap's blocks.
    pub metadata: u64,
    /// Bytes of addresses reserved.
    pub reserved: u64,
    /// Bytes ever returned to the system.
    pub returned: u64,
    /// Peak of what counts towards the limit.
    pub peak_taken: u64,
    /// The time in which the run thrashed.
    pub thrashing: Thrashing,
    /// Threads of the run.
    pub tasks: Tasks,
}
