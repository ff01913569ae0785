//! The slices of a run, and its concurrent cycles.

use super::{Collection, Cycle};

/// All pauses of a run that did a slice of a cycle, not all of it. Their time also counts for their
/// generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slices {
    /// Number of slices.
    pub count: u64,
    /// Cycles that ended with one.
    pub cycles: u64,
    /// Bytes of closures that they marked.
    pub marked: u64,
    /// Bytes of memory that they swept.
    pub swept: u64,
    /// Elapsed time of their pauses, in nanoseconds.
    pub elapsed_ns: u64,
    /// The longest of these pauses, in nanoseconds.
    pub max_pause_ns: u64,
}

impl Slices {
    /// Adds a collection, if it was a slice.
    pub(super) fn add(&mut self, collection: &Collection) {
        let (work, elapsed_ns) = (&collection.work, collection.time.elapsed_ns);
        if !work.cycle.is_slice() {
            return;
        }
        self.count += 1;
        self.cycles += u64::from(work.is_major());
        self.marked += work.marked.unwrap_or_default().0 as u64;
        self.swept += work.swept.unwrap_or_default().0 as u64;
        self.elapsed_ns += elapsed_ns;
        self.max_pause_ns = self.max_pause_ns.max(elapsed_ns);
    }
}

/// The cycles of a run that were marked concurrently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConcurrentCycles {
    /// Cycles that ended.
    pub count: u64,
    /// Elapsed time of the pauses that ended them, in nanoseconds.
    pub sync_ns: u64,
    /// The longest of these pauses, in nanoseconds.
    pub max_sync_ns: u64,
    /// The longest concurrent work of one of them, in nanoseconds.
    pub max_elapsed_ns: u64,
    /// Concurrent work since the last one ended, in nanoseconds.
    pub since_ns: u64,
}

impl ConcurrentCycles {
    /// Adds a collection, and the concurrent work before it.
    pub(super) fn add(&mut self, collection: &Collection) {
        self.since_ns += collection.before.concurrent.elapsed_ns;
        match collection.work.cycle {
            Cycle::Ended if self.since_ns > 0 => {}
            // A cycle was abandoned.
            Cycle::Whole => return self.since_ns = 0,
            _ => return,
        }
        let sync_ns = collection.time.elapsed_ns;
        self.count += 1;
        self.sync_ns += sync_ns;
        self.max_sync_ns = self.max_sync_ns.max(sync_ns);
        self.max_elapsed_ns = self.max_elapsed_ns.max(std::mem::take(&mut self.since_ns));
    }
}
