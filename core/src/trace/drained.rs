//! How the serial part of a trace ends.

use crate::words::Words;

/// Whether a thread that traces alone has finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drained {
    /// Nothing is left.
    All,
    /// The remaining work reaches the limit at which workers are woken.
    WorthSharing,
    /// The slice's budget is used up.
    BudgetUsed,
}

/// How far a piece of longer work has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is done.
    Done,
    /// The budget is used up, and some of it is left.
    More,
}

/// Unbounded work.
pub(super) const UNBOUNDED: Words = Words(usize::MAX);
