//! Policies: how far a heap should grow before a major collection. The limit says how far it can
//! grow.

use super::live::{Live, MajorStrategy};
use crate::words::Bytes;
use std::time::Duration;

/// The figures that a policy gets from a collection. Policies read no clock: all times are in here.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measured {
    /// Whether everything was collected.
    pub major: bool,
    /// Bytes that are live, or were not collected.
    pub live: Bytes,
    /// Bytes that the next major collection will find in addition to those at the end of the last
    /// collection: the bytes allocated, in a heap of one generation; with several, the bytes
    /// promoted less those that died young. `None` if it is unknown, because everything was
    /// collected.
    pub arrived: Option<f64>,
    /// The running time of the program since the last collection.
    pub running: Duration,
    /// The duration of the collection.
    pub collecting: Duration,
}

/// A rule for how far a heap should grow.
pub trait Policy: std::fmt::Debug + Send {
    /// The size to which the old generations may grow before they are collected, after their last
    /// collection left `live`.
    fn old_limit(&self, live: Bytes, strategy: MajorStrategy) -> Bytes;
    /// The allocation area of a heap in which every collection is major.
    fn area(&self, live: Live, strategy: MajorStrategy) -> Bytes;
    /// The bytes that may be allocated before the next collection, when live data stay in place.
    fn growth(&self, live: Bytes) -> Bytes;
    /// Whether the allocation area grows into the memory that `-H` leaves.
    fn takes_hints(&self) -> bool {
        true
    }
    /// Notes the figures of a collection that has ended.
    fn note(&mut self, _: &Measured) {}
}
