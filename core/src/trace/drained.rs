//! How the serial part of a tracing ends.

use crate::words::Words;

/// Whether a thread that traces alone has done all of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drained {
    /// Nothing is left.
    All,
    /// The work that is left reaches the limit at which workers are woken.
    WorthSharing,
    /// The budget of the slice is used up.
    BudgetUsed,
}

/// How far a part of a longer work has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All of it is done.
    Done,
    /// The budget is used up, and some of it is left.
    More,
}

/// Work without a bound.
pub(super) const UNBOUNDED: Words = Words(usize::MAX);
