//! The cause and the outcome of a collection: plain data that mutators, collectors and the world
//! exchange.

use crate::block::OutOfMemory;
use crate::stats::Work;
pub use crate::stats::{Cause, Request};
use crate::words::Bytes;

/// The answer to a mutator whose allocator has run out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refill {
    /// The allocator has room again.
    Ready,
    /// A collection is due first.
    Collect,
}

/// The generations that a collection will collect, as the collector decides at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// The oldest generation to collect, from 0.
    pub generation: u32,
    /// Whether all generations will be collected.
    pub major: bool,
}

/// There is no memory for a collection ([`crate::heap::Heap::prepare`]): nothing was condemned, and
/// the heap is unchanged.
///
/// Only functions that start a collection return it, so `?` never leaves a collection half done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotBegun(pub OutOfMemory);

/// A collector's account of a collection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// The work that it did, for its record.
    pub work: Work,
    /// Of the live bytes, those that became old since the snapshot of the cycle that ended. They were
    /// not checked for reachability, so the heap does not grow for them.
    pub newer: Bytes,
    /// The oldest generation will be collected in place, so no room for a copy of it is needed.
    pub in_place: bool,
    /// The heap is intact, but there is no room to continue. Unless everything was collected, the
    /// world collects once more, with [`Cause::Shortage`].
    pub exhausted: Option<OutOfMemory>,
}

impl From<Work> for Outcome {
    /// The outcome of a collection after which there is room to continue, and to copy.
    fn from(work: Work) -> Outcome {
        Outcome {
            work,
            ..Outcome::default()
        }
    }
}
