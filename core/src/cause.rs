//! The cause and the outcome of a collection: plain data that mutators, collectors and the world
//! exchange.

use crate::block::OutOfMemory;
use crate::stats::Work;
pub use crate::stats::{Cause, Request};

/// The answer to a mutator whose allocator is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refill {
    /// The allocator has room again.
    Ready,
    /// A collection is due first.
    Collect,
}

/// The generations that a collection is to collect, as the collector finds when it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// The oldest generation to be collected, from 0.
    pub generation: u32,
    /// Whether all generations are to be collected.
    pub major: bool,
}

/// There is no memory for a collection ([`crate::heap::Heap::prepare`]): nothing was condemned, and
/// the heap is as it was.
///
/// Only functions that begin a collection return it, so `?` never leaves a collection half done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotBegun(pub OutOfMemory);

/// A collector's account of a collection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// The work that it did, for its record.
    pub work: Work,
    /// The oldest generation will be collected where it lies, so no room for a copy of it need be
    /// kept.
    pub in_place: bool,
    /// The heap is intact, but there is no room to go on. Unless everything was collected, the
    /// world collects once more, with [`Cause::Shortage`].
    pub exhausted: Option<OutOfMemory>,
}

impl From<Work> for Outcome {
    /// The outcome of a collection after which there is room to go on, and to copy.
    fn from(work: Work) -> Outcome {
        Outcome {
            work,
            ..Outcome::default()
        }
    }
}
