//! The events of a run, as data.

use crate::cause::{Cause, Due};
use crate::heap::Kept;
use crate::inspect::Stopped;
use crate::stats::{Collection, Look, Phase, Statistics};
use crate::words::Bytes;
use crate::workers::{GcThreadState, Stretch};

/// An announcement of a run.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// When, in nanoseconds by the run recorder's clock. Times of collections are the recorder's
    /// own readings, so they match the statistics to the digit.
    pub time_ns: u64,
    /// The number of the capability that it happens on; `None` if it concerns the whole run, or a
    /// GC thread without a capability.
    pub capability: Option<usize>,
    /// The kind of event, and its data.
    pub kind: EventKind<'a>,
}

/// The kind of an [`Event`], with its data.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum EventKind<'a> {
    /// The listener starts receiving events.
    RunStart(&'a RunInfo),
    /// The mutators have stopped; a collection begins.
    Start {
        /// Why, and thereby whether the collection was requested ([`Cause::is_forced`]).
        cause: Cause,
        /// The generations that the collector finds due, if it says so. Without room to collect
        /// them it may collect all instead; the record says which generation was collected.
        due: Option<Due>,
        /// When the collection was requested, by the clock of `time_ns`.
        requested_ns: u64,
        /// Whether several threads may share the work.
        parallel: bool,
        /// Bytes allocated by each capability since the world started.
        allocated: &'a [u64],
    },
    /// There is no memory for the collection that was about to start: the heap is unchanged, and
    /// the program ends as exhausted.
    NotBegun,
    /// A phase is over.
    Phase(Phase),
    /// A GC thread starts to work, runs out of work, or is done with the collection. These events
    /// come after the phases, with the times at which they happened, in order for each thread.
    GcThread {
        /// The number of the worker; the thread that collects is 0.
        worker: usize,
        /// Its state from now on.
        state: GcThreadState,
    },
    /// The mutators have stopped. The collector has done this since they last ran.
    Concurrent(Stretch),
    /// A major collection has returned memory to the system, or had none to return.
    Returned(Kept),
    /// What a major collection has left in cells, by size, if the collector has any.
    Cells(&'a [CellsOfSize]),
    /// The collection is over, and its record is complete.
    Recorded {
        /// The record of the collection.
        collection: &'a Collection,
        /// Bytes in blocks that are allocated, afterwards.
        blocks: Bytes,
    },
    /// The collection is over and the heap consistent; the mutators are still stopped. Only
    /// listeners that look at the heap at that point receive this ([`super::Listener::look`]), each
    /// in a separate look.
    End {
        /// The record of the collection.
        collection: &'a Collection,
        /// The heap.
        stopped: &'a Stopped<'a>,
    },
    /// The program marks the start of a part here. The mutators are stopped, but this is not a
    /// collection. Only listeners that look at the heap at that point receive this; the others find
    /// the marker among its capability's events.
    Marker {
        /// The name of the part that begins.
        name: &'a str,
        /// The heap.
        stopped: &'a Stopped<'a>,
    },
    /// A look at the stopped heap begins: a census, a check, another look by a listener or a tool.
    /// Its start and end are the recorder's clock readings, as for collections.
    LookStart(Look),
    /// The look is over.
    LookEnd(Look),
    /// The run is over.
    RunEnd {
        /// Its statistics.
        statistics: &'a Statistics,
        /// Bytes allocated by each capability.
        allocated: &'a [u64],
    },
}

/// The cells of one size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CellsOfSize {
    /// The size of each.
    pub size: Bytes,
    /// Segments with free cells.
    pub active: u32,
    /// Segments without.
    pub filled: u32,
    /// Cells in use.
    pub live: u32,
}

/// The facts about a run that are known when it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunInfo {
    /// The name of the collector.
    pub collector: &'static str,
    /// Whether the collector can share its work among threads.
    pub parallel: bool,
    /// The number of capabilities (`-N`).
    pub capabilities: u32,
    /// The number of generations (`-G`).
    pub generations: u32,
    /// The limit on memory (`-M`); `None` without one.
    pub max_heap: Option<Bytes>,
    /// The initial size of a capability's allocation area; `-A` under a collector without
    /// allocation areas, and 0 without a heap.
    pub allocation_area: Bytes,
}
