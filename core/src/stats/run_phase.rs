//! The phases of a run: set-up, the measured phase, exit.

use super::Times;

/// The figures of one phase of a run. Times in nanoseconds, sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunPhase {
    /// Its start, in nanoseconds since the start of the run.
    pub start_ns: u64,
    /// Time of the program itself.
    pub mutator: Times,
    /// Time of collections.
    pub gc: Times,
    /// Time of looks at the stopped heap.
    pub looks: Times,
    /// Bytes allocated by all capabilities.
    pub allocated: u64,
    /// Bytes copied by collections.
    pub copied: u64,
    /// Number of collections.
    pub collections: u64,
    /// Of these, major ones.
    pub major_gcs: u64,
    /// Sum of the times until all mutators had stopped.
    pub sync_ns: u64,
    /// The longest time for which a collection kept the mutators from running: the time to stop
    /// them included.
    pub max_pause_ns: u64,
}

impl RunPhase {
    /// Returns the time of the whole phase.
    pub fn total(&self) -> Times {
        self.mutator + self.gc + self.looks
    }
}

/// The phases of a run. They follow each other: INIT ends where set-up begins, and the figures are
/// read where exit ends. So the times of INIT and of the three phases add up to the total.
///
/// A program says where its measured phase begins and ends. One that does not has no set-up, and is
/// measured until its end. The collection at the end of the run belongs to exit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunPhases {
    /// Whether the program said where its measured phase begins.
    pub marked: bool,
    /// Set-up: input is read, and data are built that the measured phase works on.
    pub setup: RunPhase,
    /// The measured phase.
    pub measured: RunPhase,
    /// Exit: the rest of the run.
    pub exit: RunPhase,
}
