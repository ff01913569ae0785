//! What can go wrong with blocks, as values.

use crate::memory::MemoryError;
use crate::words::Bytes;

/// Why there is no memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exhausted {
    /// The limit set by `-M` would be exceeded.
    #[error("the limit is reached")]
    Limit,
    /// The reserved address space has no contiguous place for the run.
    #[error("the reserved address space is full; reserve more")]
    Reservation,
    /// The system refused.
    #[error("{0}")]
    System(MemoryError),
}

/// An allocation that cannot be had. The allocator is as before, and usable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no memory for {requested}: {in_use} in use, limit {}; {cause}", .limit.map_or("none".into(), |limit| limit.to_string()))]
pub struct OutOfMemory {
    /// The size of the run that was asked for.
    pub requested: Bytes,
    /// In allocated runs now.
    pub in_use: Bytes,
    /// The limit of committed megablocks, where there is one.
    pub limit: Option<Bytes>,
    /// What stood in the way.
    pub cause: Exhausted,
}

/// An invariant that does not hold. An error of the allocator, or of somebody who writes where he should not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("block {block}: {what}")]
pub struct BlockError {
    /// The number of the block where it showed.
    pub block: u32,
    /// What is wrong.
    pub what: String,
}
