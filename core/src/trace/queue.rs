//! The prefetch queue: slots that were found and wait until the closure they point to has come into the cache.

use crate::closure::Slot;

/// Slots between discovery and evacuation: enough for the time that a line takes to come from memory (`docs/heap.md`).
const DEPTH: usize = 16;

/// Lanes of as many steps as the state of a block can tell apart.
pub(super) const MAX_LANES: usize = 32;

/// The first lane of a step; the one for closures without pointers follows.
#[inline(always)]
pub(super) const fn first_lane(step: u8) -> usize {
    (step as usize - 1) * 2
}

/// A slot on its way. Bit 0, which no slot has, says that its referent does not come to the lane that is being scavenged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found(*mut u64);

impl Found {
    const NONE: Found = Found(std::ptr::null_mut());

    #[inline(always)]
    pub fn new(slot: Slot, elsewhere: bool) -> Found {
        Found(slot.0.wrapping_byte_add(usize::from(elsewhere)))
    }

    #[inline(always)]
    pub fn goes_elsewhere(self) -> bool {
        self.0.addr() & 1 != 0
    }

    #[inline(always)]
    pub fn slot(self) -> Slot {
        Slot(self.0.map_addr(|address| address & !1))
    }
}

/// A ring of what was found. What is pushed comes out when as many more have been pushed as the ring has places; when nothing is left
/// to push, [`Queue::pop`] takes the newest. So the slots are always the latest ones, without a gap, and one index will do.
#[derive(Debug)]
pub(super) struct Queue {
    ring: [Found; DEPTH],
    /// Slots pushed less slots popped.
    next: usize,
}

impl Queue {
    pub fn new() -> Self {
        Queue {
            ring: [Found::NONE; DEPTH],
            next: 0,
        }
    }

    /// Add a slot; gives the oldest back if the ring was full.
    #[inline(always)]
    pub fn push(&mut self, found: Found) -> Option<Found> {
        let oldest = std::mem::replace(&mut self.ring[self.next % DEPTH], found);
        self.next = self.next.wrapping_add(1);
        (!oldest.0.is_null()).then_some(oldest)
    }

    /// Take the newest slot.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Found> {
        let newest = self.next.wrapping_sub(1);
        let found = std::mem::replace(&mut self.ring[newest % DEPTH], Found::NONE);
        if found.0.is_null() {
            return None;
        }
        self.next = newest;
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_comes_out_once_the_old_ones_in_order() {
        let address = |i: usize| (0x4200_0000_0000 + i * 8) as *mut u64;
        let found = |i: usize| Found::new(Slot(address(i)), i.is_multiple_of(3));
        let mut queue = Queue::new();
        let mut out: Vec<Found> = (0..100).filter_map(|i| queue.push(found(i))).collect();
        assert!(out.iter().enumerate().all(|(i, &f)| f.slot().0 == address(i)));
        out.extend(std::iter::from_fn(|| queue.pop()));
        out.extend((100..200).filter_map(|i| queue.push(found(i))));
        out.extend(std::iter::from_fn(|| queue.pop()));
        out.sort_by_key(|&f| f.slot());
        for (i, f) in out.iter().enumerate() {
            assert_eq!((f.slot().0, f.goes_elsewhere()), (address(i), i % 3 == 0));
        }
        assert_eq!(out.len(), 200);
    }
}
