//! The prefetch queue: slots that were found and wait until the closure they point to has come into the cache.

use crate::closure::Slot;

/// Slots between discovery and evacuation. Sixteen cover a memory latency; deeper queues gain on closures of one fixed
/// size and lose on mixed ones (`docs/performance.md`).
const DEPTH: usize = 16;

/// Where the second cache line of a small closure that straddles two is looked for: this many bytes behind its start.
const SECOND_LINE: usize = 40;

/// A slot on its way, with what is known of it already.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry(u64);

impl Entry {
    const SLOT: u64 = (1 << 48) - 1;
    const LARGE: u64 = 1 << 63;

    /// `holder` is the step of the closure that `slot` belongs to (0 for roots), `dest` the step its referent goes to.
    #[inline(always)]
    pub fn new(slot: Slot, holder: u8, dest: u8, large: bool) -> Entry {
        Entry(slot.0 as u64 | (holder as u64) << 48 | (dest as u64) << 56 | if large { Entry::LARGE } else { 0 })
    }

    #[inline(always)]
    pub fn slot(self) -> Slot {
        Slot((self.0 & Entry::SLOT) as *mut u64)
    }

    #[inline(always)]
    pub fn holder(self) -> u8 {
        (self.0 >> 48) as u8
    }

    #[inline(always)]
    pub fn dest(self) -> u8 {
        (self.0 >> 56) as u8 & 0x7f
    }

    #[inline(always)]
    pub fn is_large(self) -> bool {
        self.0 & Entry::LARGE != 0
    }
}

/// A ring of entries, first in, first out.
#[derive(Debug)]
pub(super) struct Queue {
    ring: [Entry; DEPTH],
    head: usize,
    tail: usize,
}

impl Queue {
    pub fn new() -> Self {
        Queue {
            ring: [Entry(0); DEPTH],
            head: 0,
            tail: 0,
        }
    }

    /// Add an entry; gives the oldest back if the ring was full.
    #[inline(always)]
    pub fn push(&mut self, entry: Entry) -> Option<Entry> {
        let place = &mut self.ring[self.head % DEPTH];
        let oldest = std::mem::replace(place, entry);
        self.head = self.head.wrapping_add(1);
        if self.head.wrapping_sub(self.tail) > DEPTH {
            self.tail = self.tail.wrapping_add(1);
            Some(oldest)
        } else {
            None
        }
    }

    /// Take the oldest entry.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Entry> {
        if self.head == self.tail {
            return None;
        }
        let entry = self.ring[self.tail % DEPTH];
        self.tail = self.tail.wrapping_add(1);
        Some(entry)
    }
}

/// Bring the closure at `address` towards the cache.
#[inline(always)]
pub(super) fn prefetch(address: u64) {
    prefetch_line(address);
    prefetch_line(address.wrapping_add(SECOND_LINE as u64));
}

/// Bring the cache line at `address` towards the cache.
#[inline(always)]
pub(super) fn prefetch_line(address: u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no architectural effect, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address as *const i8);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_out_in_order_and_whole() {
        let mut queue = Queue::new();
        let entry = |i: usize| {
            Entry::new(
                Slot((0x4200_0000_0000 + i * 8) as *mut u64),
                (i % 13) as u8,
                (i % 11) as u8,
                i % 3 == 0,
            )
        };
        let mut out = Vec::new();
        for i in 0..100 {
            out.extend(queue.push(entry(i)));
        }
        out.extend(std::iter::from_fn(|| queue.pop()));
        assert_eq!(out.len(), 100);
        for (i, e) in out.into_iter().enumerate() {
            assert_eq!(e.slot().0 as usize, 0x4200_0000_0000 + i * 8);
            assert_eq!(
                (e.holder() as usize, e.dest() as usize, e.is_large()),
                (i % 13, i % 11, i % 3 == 0)
            );
        }
    }
}
