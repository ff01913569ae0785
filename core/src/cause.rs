//! The cause and the outcome of a collection: plain data that mutators, collectors and the world
//! exchange.

use crate::block::OutOfMemory;
use crate::words::Bytes;
use gclab_stats::Shared;

/// Why a collection happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The allocation area is used up, or as much was allocated in large objects.
    Allocation,
    /// The program asked for it; a major one if `major`.
    Asked {
        /// Whether everything is to be collected.
        major: bool,
    },
    /// `-DZ<n>`: the n-th allocation.
    Stress,
    /// The last collection of a run, which measures how much is still live.
    Final,
}

impl Cause {
    pub(crate) fn asked(major: bool) -> Cause {
        Cause::Asked { major }
    }

    /// Whether everything is to be collected, against the collector's own policy if need be.
    pub fn forces_major(self) -> bool {
        matches!(self, Cause::Asked { major: true } | Cause::Final)
    }
}

/// The answer to a mutator whose allocator is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refill {
    /// The allocator has room again.
    Ready,
    /// A collection is due first.
    Collect,
}

/// There is no memory for a collection ([`crate::heap::Heap::prepare`]): nothing was condemned, and
/// the heap is as it was.
///
/// Only functions that begin a collection return it, so that `?` cannot leave one that has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotBegun(pub OutOfMemory);

/// The collector's figures of a collection, in addition to those that the heap counts itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// The oldest generation that was collected.
    pub generation: u32,
    /// Whether everything was collected.
    pub major: bool,
    /// Bytes that closures were copied (or moved) to.
    pub copied: Bytes,
    /// Of these, bytes copied into a generation that was not itself collected; none in a major
    /// collection.
    pub promoted: Bytes,
    /// Live bytes, as far as they are known: uncollected generations count whole.
    pub live: Bytes,
    /// Of the live, bytes of large objects.
    pub large: Bytes,
    /// Bytes of blocks that hold live closures beyond the closures themselves.
    pub slop: Bytes,
    /// The oldest generation will be collected where it lies, so no room for a copy of it need be
    /// kept.
    pub in_place: bool,
    /// Entries of remembered sets that were visited.
    pub remembered: u64,
    /// How several threads shared the work, if the collector can have that.
    pub shared: Shared,
    /// The heap is intact, but there is no room to go on.
    pub exhausted: Option<OutOfMemory>,
}
