//! Sampled closures ([`crate::mutator::Tracker`]), as plain data.

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

/// The news of a sampled closure, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SampleEvent {
    Allocated(u64, Sampled),
    Promoted(u64),
    Died(u64),
}
