//! Memory outside the heap that closures own: how much faster it makes the collector work (`M`,
//! `m`, `n`).

use gclab_core::words::{Bytes, Words};

/// The three ratios for memory outside the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomRatios {
    /// `M`: such memory of dead closures in the major heap, in percent of that heap.
    pub major: u64,
    /// `m`: such memory of closures in the minor heap, in percent of that heap.
    pub minor: u64,
    /// `n`: how much of one minor-heap closure's memory counts there. The rest counts for the major
    /// heap at once.
    pub minor_max: Bytes,
}

/// What an allocation of such memory adds to two sums. When a sum exceeds 1, a slice or a minor
/// collection is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CustomCharge {
    /// For the minor heap, until its next collection.
    pub minor: f64,
    /// For the major heap, at once.
    pub major: f64,
    /// For the major heap when the closure is promoted.
    pub at_promotion: f64,
}

impl CustomRatios {
    /// The bound for the major heap: two thirds of a heap's overhead are garbage.
    pub fn most_in_major(&self, heap: Words) -> Bytes {
        Bytes(heap.to_bytes().0 / 150 * self.major as usize)
    }

    /// The bound for the minor heap.
    pub fn most_in_minor(&self, minor_heap: Words) -> Bytes {
        Bytes(minor_heap.to_bytes().0 / 100 * self.minor as usize)
    }

    /// The charge for `bytes` that a closure of the minor heap owns.
    pub fn charge(&self, bytes: Bytes, heap: Words, minor_heap: Words) -> CustomCharge {
        let (major, minor) = (self.most_in_major(heap), self.most_in_minor(minor_heap));
        let here = bytes.min(self.minor_max);
        CustomCharge {
            minor: part(here, minor),
            major: part(bytes - here, major).min(1.0),
            at_promotion: part(here, major).min(1.0),
        }
    }
}

/// A fraction of a bound. A zero bound counts as one byte.
fn part(bytes: Bytes, most: Bytes) -> f64 {
    bytes.0 as f64 / most.0.max(1) as f64
}
