//! Sampled closures ([`crate::mutator::Tracker`]) as plain data, and the interface of trackers.

use crate::profile::StackId;
use crate::words::Words;

/// A closure with sampled words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sampled {
    pub(crate) closure: u64,
    pub(crate) words: Words,
    /// How many words of it are sampled.
    pub(crate) samples: u32,
    /// The stack of cost centres in which it was allocated.
    pub(crate) stack: StackId,
    pub(crate) is_large: bool,
}

/// An event of a sampled closure, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SampleEvent {
    Allocated(u64, Sampled),
    Promoted(u64),
    Died(u64),
}

/// Why Memprof cannot start or stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MemprofError {
    /// It runs already, with another tracker.
    Started,
    /// It does not run.
    NotStarted,
    /// This is not a rate.
    Rate(f64),
}

impl std::fmt::Display for MemprofError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MemprofError::Started => f.write_str("memprof is already sampling: stop it before starting it again"),
            MemprofError::NotStarted => f.write_str("memprof is not sampling: start it before stopping it"),
            MemprofError::Rate(rate) => write!(f, "memprof cannot sample at a rate of {rate}: expected 0 to 1"),
        }
    }
}

impl std::error::Error for MemprofError {}

/// A tracker of any type, with the values of its closures.
pub(crate) trait Track: Send {
    fn event(&mut self, event: SampleEvent);
}
