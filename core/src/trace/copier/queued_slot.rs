//! Slots between their discovery and the evacuation of their referents.

use crate::closure::Slot;
use crate::prefetch::PrefetchRing;
use std::ptr::NonNull;

/// Slots between discovery and evacuation: enough for the time that a line takes to come from
/// memory (`docs/heap.md`).
const QUEUED_SLOTS: usize = 16;

/// The slots whose referents are on their way into the cache.
pub(super) type SlotRing = PrefetchRing<QueuedSlot, QUEUED_SLOTS>;

/// A slot whose referent is being prefetched. Bit 0, which no slot's address has, says that the
/// referent does not go to the workspace that is being scavenged.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueuedSlot(NonNull<u64>);

impl QueuedSlot {
    /// The slot, tagged with `leaves_lane`.
    ///
    /// # Safety
    /// `slot` is not null.
    #[inline(always)]
    pub unsafe fn new(slot: Slot, leaves_lane: bool) -> QueuedSlot {
        let tagged = slot.0.wrapping_byte_add(usize::from(leaves_lane));
        // SAFETY: the caller's promise; the tag changes bit 0 only.
        QueuedSlot(unsafe { NonNull::new_unchecked(tagged) })
    }

    /// Whether the referent goes elsewhere than to the lane that is being scavenged.
    #[inline(always)]
    pub fn leaves_lane(self) -> bool {
        self.0.as_ptr().addr() & 1 != 0
    }

    /// The slot, if its referent goes to the lane that is being scavenged.
    #[inline(always)]
    pub fn in_lane(self) -> Option<Slot> {
        (!self.leaves_lane()).then_some(Slot(self.0.as_ptr()))
    }

    /// The slot without its tag.
    #[inline(always)]
    pub fn slot(self) -> Slot {
        Slot(self.0.as_ptr().map_addr(|address| address & !1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_come_out_of_the_ring_as_they_went_in() {
        let slot = |i: usize| Slot((0x4200_0000_0000 + i * 8) as *mut u64);
        // SAFETY: no address is null.
        let queued = |i: usize| unsafe { QueuedSlot::new(slot(i), i.is_multiple_of(3)) };
        let mut ring = SlotRing::new();
        let mut out: Vec<QueuedSlot> = (0..100).filter_map(|i| ring.push(queued(i))).collect();
        assert!(out.iter().enumerate().all(|(i, q)| q.slot() == slot(i)));
        out.extend(std::iter::from_fn(|| ring.hand().pop_newest()));
        out.extend((100..200).filter_map(|i| ring.push(queued(i))));
        out.extend(std::iter::from_fn(|| ring.hand().pop_newest()));
        out.sort_by_key(|q| q.slot());
        for (i, q) in out.iter().enumerate() {
            assert_eq!((q.slot(), q.leaves_lane()), (slot(i), i % 3 == 0));
        }
        assert_eq!(out.len(), 200);
    }
}
