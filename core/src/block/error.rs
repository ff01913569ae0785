//! Failures of blocks, as values.

use crate::memory::MemoryError;
use crate::stats::Thrashing;
use crate::words::Bytes;

/// Why there is no memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Shortage {
    /// The limit set by `-M` would be exceeded.
    #[error("the limit is reached")]
    Limit,
    /// The reserved address space has no contiguous place for the run.
    #[error("the reserved address space is full; reserve more")]
    Reservation,
    /// Collections took almost all time and freed almost nothing: the run would not come to its
    /// end (`--gc-overhead-limit`).
    #[error("{0}")]
    Thrashing(Thrashing),
    /// The system refused.
    #[error("{0}")]
    System(MemoryError),
}

/// A failed allocation. The allocator is unchanged and usable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no memory for {requested}: {in_use} in use, limit {}; {cause}", .limit.map_or("none".into(), |limit| limit.to_string()))]
pub struct OutOfMemory {
    /// The size of the requested run.
    pub requested: Bytes,
    /// Bytes in allocated runs now.
    pub in_use: Bytes,
    /// The limit of committed megablocks, where there is one.
    pub limit: Option<Bytes>,
    /// The reason for the failure.
    pub cause: Shortage,
}

/// An invariant that does not hold: a bug of the allocator, or a write to memory that the writer
/// does not own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("block {block}: {what}")]
pub struct BlockError {
    /// The number of the block where the fault showed.
    pub block: u32,
    /// The fault in words.
    pub what: String,
}
