//! The state of the major collector between two slices.

use gclab_core::trace::SlicedTrace;
use gclab_core::words::Words;

/// How far a cycle has got.
#[derive(Debug)]
pub(super) enum Stage {
    /// No cycle is in progress.
    Idle,
    /// The closures reachable when the cycle began are being marked.
    Marking(SlicedTrace),
    /// White closures are being freed.
    Sweeping,
}

/// Word counts of a cycle, from which the heap's overhead is estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CycleWords {
    /// Words of the heap when it began.
    pub heap: Words,
    /// Words that it marked, not counting closures promoted meanwhile.
    pub marked: Words,
}
