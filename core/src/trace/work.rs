//! What copiers take from each other.

/// Work for a copier, which passes from worker to worker.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WorkItem {
    pub from: *mut u64,
    pub to: *mut u64,
    pub kind: WorkKind,
}

/// What lies between the two ends of a work item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorkKind {
    /// Closures that were copied into this step, one behind the other, to be scavenged.
    Closures(u8),
    /// Slots of a large object in this step, to be scavenged.
    Slots(u8),
    /// Slots of handles.
    Roots,
    /// Addresses of remembered slots.
    Remembered,
}

// SAFETY: the addresses of memory that only the worker with the item works on. The item is not `Copy`: there is one of it.
unsafe impl Send for WorkItem {}
