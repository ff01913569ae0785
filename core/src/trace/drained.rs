//! How the serial part of a tracing ends.

/// Whether a thread that traces alone has done all of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drained {
    /// Nothing is left.
    All,
    /// The work that is left reaches the limit at which workers are woken.
    WorthSharing,
}
