//! Faults of a heap, and their descriptions.

use gclab_core::block::Region;
use gclab_core::words::Addr;
use gclab_core::world::{ClosureView, Stopped};
use std::fmt;

/// The checks, one for each kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Check {
    /// The block allocator's invariants hold, and its runs are the collector's.
    Blocks,
    /// The state of each block fits its region.
    States,
    /// Regions hold closures, one after another.
    Closures,
    /// Roots lead to closures.
    Roots,
    /// Weak handles are empty or lead to closures.
    Weak,
    /// Pointers of reachable closures lead to closures.
    Pointers,
    /// Pointers from old to young closures are remembered, and no others.
    Remembered,
    /// Pointers of all other kept closures lead to kept closures: no marked closure leads to an
    /// unmarked one.
    Kept,
    /// The figures of the collection fit the heap.
    Statistics,
    /// The collection kept only reachable closures.
    Exact,
    /// While a snapshot is marked, and at the end of marking, the heap still contains every closure
    /// that was reachable when marking began.
    Snapshot,
    /// A collector that counts references has counted all of them, and no others.
    Counts,
    /// In a profiled heap each reachable closure has a side word, of an era that has begun.
    SideWords,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Check::Blocks => "blocks",
            Check::States => "states of blocks",
            Check::Closures => "closures",
            Check::Roots => "roots",
            Check::Weak => "weak handles",
            Check::Pointers => "pointers",
            Check::Remembered => "remembered set",
            Check::Kept => "kept closures",
            Check::Statistics => "statistics",
            Check::Exact => "floating garbage",
            Check::Snapshot => "the snapshot",
            Check::Counts => "reference counts",
            Check::SideWords => "side words",
        })
    }
}

/// A fault of a heap: the check that failed, and a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The check that found the fault.
    pub check: Check,
    what: String,
}

impl Fault {
    pub(super) fn new(check: Check, what: impl Into<String>) -> Self {
        Fault {
            check,
            what: what.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the check of {} failed: {}", self.check, self.what)
    }
}

impl std::error::Error for Fault {}

/// Describes a region.
pub(super) fn region(region: &Region) -> String {
    format!(
        "the region {}–{} (step {}{}, {:?})",
        region.start,
        region.end,
        region.step,
        if region.large { ", large" } else { "" },
        region.run
    )
}

/// Describes a closure.
pub(super) fn closure(stopped: &Stopped<'_>, closure: ClosureView<'_>) -> String {
    let info = closure.info();
    format!(
        "the {} {}::{} at {} ({} words, in {:?})",
        info.kind.name(),
        info.module,
        info.name,
        closure.addr(),
        closure.words().0,
        stopped.state(closure.addr())
    )
}

/// Describes a place that an address leads to, instead of a closure.
pub(super) fn place(stopped: &Stopped<'_>, address: Addr) -> String {
    if !address.0.is_multiple_of(8) {
        return format!("{address}, which is not aligned");
    }
    match stopped.blocks().run_of(address) {
        None => format!("{address}, in no allocated block"),
        Some(run) => format!(
            "{address}, where no closure starts (in {run:?}, {:?})",
            stopped.state(address)
        ),
    }
}
