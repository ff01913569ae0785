//! How entering or starting a world can fail.

use crate::block::OutOfMemory;
use crate::memory::MemoryError;
use crate::stats::NotEnabled;

/// A world that could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The system refused address space or memory.
    #[error("the heap could not be made: {0}")]
    Memory(#[from] MemoryError),
    /// The limit on memory leaves no room for the first allocation area.
    #[error("the heap could not be made: {0}")]
    OutOfMemory(#[from] OutOfMemory),
}

/// The heap is exhausted: live data leaves no room to continue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("heap exhausted under the {collector} collector: {cause}")]
pub struct Exhausted {
    /// The collector that could not make room.
    pub collector: &'static str,
    /// The requested size, the memory in use, and the limit.
    pub cause: OutOfMemory,
}

/// The payload that unwinds a session whose heap is exhausted, or that was interrupted. Sessions in
/// several worlds may be nested: each takes only its own.
pub(super) struct Leave {
    /// Address of the world, which does not move during a session.
    pub(super) world: usize,
    /// The error that `World::enter` returns.
    pub(super) why: EnterError,
}

/// The reason why `World::enter` did not return a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnterError {
    /// The heap is exhausted. The world can still be asked for its statistics.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// This thread is inside already.
    #[error("this thread is already inside the heap")]
    Entered,
    /// The run was interrupted ([`World::interrupt`](super::World::interrupt)). The world can still
    /// be asked for its statistics.
    #[error("the run was interrupted")]
    Interrupted,
}

/// Statistics that a program cannot read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RtsStatsError {
    /// No flag asks for statistics.
    #[error(transparent)]
    NotEnabled(#[from] NotEnabled),
    /// This thread is inside: it should call [`crate::mutator::Mutator::rts_stats`].
    #[error(transparent)]
    Enter(#[from] EnterError),
}
