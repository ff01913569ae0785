//! The pace that memory outside the heap sets ([`gclab_core::mutator::Foreign`]).

use super::pace::CustomRatios;
use gclab_core::collector::{Refill, Roots};
use gclab_core::words::{Bytes, Words};

/// Sums of such memory, as fractions of the bounds that the ratios `m` and `M` set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outside {
    /// Of closures in the minor heap. Above 1 a minor collection is due.
    minor: f64,
    /// Of closures in the major heap, since the last slice. Above 1 after an allocation, a slice is
    /// due.
    major: f64,
}

impl Outside {
    /// A closure that owns `bytes` is allocated, while the heaps have these words.
    pub(super) fn allocated(&mut self, ratios: &CustomRatios, bytes: Bytes, heap: Words, minor_heap: Words) -> Refill {
        let charge = ratios.charge(bytes, heap, minor_heap);
        self.minor += charge.minor;
        self.major += charge.major;
        if self.minor_is_due() || self.slice_is_due() {
            Refill::Collect
        } else {
            Refill::Ready
        }
    }

    /// Whether a minor collection is due.
    pub(super) fn minor_is_due(&self) -> bool {
        self.minor > 1.0
    }

    /// Whether enough of the major heap's was used since the last slice that one is due.
    pub(super) fn slice_is_due(&self) -> bool {
        self.major > 1.0
    }

    /// After a minor collection, before which the major heap had `heap` words: the survivors are
    /// now in the major heap.
    pub(super) fn promoted(&mut self, roots: Roots<'_>, ratios: &CustomRatios, heap: Words) {
        self.minor = 0.0;
        roots.for_each_foreign_survivor(|bytes| self.major += ratios.charge(bytes, heap, heap).at_promotion);
    }

    /// A slice starts: takes the share of a cycle that is owed for such memory.
    pub(super) fn take_owed(&mut self) -> f64 {
        std::mem::take(&mut self.major).min(1.0)
    }
}
