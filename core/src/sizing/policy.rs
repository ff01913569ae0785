//! Policies: how far a heap should grow before it is collected in full. How far it can is the limit's to say.

use super::live::{Live, Shape};
use crate::words::Bytes;
use std::time::Duration;

/// What a policy learns from a collection. Policies read no clock: all that they know of time is in here.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measured {
    /// Whether everything was collected.
    pub in_full: bool,
    /// What is live, or not collected.
    pub live: Bytes,
    /// How much more there is for the next collection in full than when the last collection ended, in bytes: what was allocated in a heap of one
    /// generation; with several what was promoted, less what has died young. `None` if nobody can tell, since everything was collected.
    pub arrived: Option<f64>,
    /// How long the program ran since the last collection.
    pub running: Duration,
    /// How long the collection took.
    pub collecting: Duration,
}

/// How far a heap should grow.
pub trait Policy: std::fmt::Debug + Send {
    /// The size to which the old generations may grow before they are collected, when their last collection left `live`.
    fn old_limit(&self, live: Bytes, shape: Shape) -> Bytes;
    /// The allocation area of a heap that is collected in full each time.
    fn area(&self, live: Live, shape: Shape) -> Bytes;
    /// What may be allocated before the next collection, when what is live stays where it is.
    fn growth(&self, live: Bytes) -> Bytes;
    /// Whether the allocation area grows into what `-H` leaves.
    fn takes_hints(&self) -> bool {
        true
    }
    /// A collection has ended.
    fn note(&mut self, _: &Measured) {}
}
