//! The prefetch queue: slots that were found and wait until the closure they point to has come into the cache.

use crate::block::BlockState;
use crate::closure::Slot;

/// Slots between discovery and evacuation: enough for the time that a line takes to come from memory (`docs/heap.md`).
const DEPTH: usize = 16;

/// Where the second cache line of a small closure that straddles two is looked for: this many bytes behind its start.
const SECOND_LINE: usize = 40;

/// Lanes of as many steps as the state of a block can tell apart.
pub(super) const MAX_LANES: usize = 32;

/// The first lane of a step; the one for closures without pointers follows.
#[inline(always)]
pub(super) const fn first_lane(step: u8) -> usize {
    (step as usize - 1) * 2
}

/// A slot on its way, with what is known of it: `lane << 56 | large << 52 | holder << 48 | slot`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry(u64);

impl Entry {
    const NONE: Entry = Entry(0);
    const SLOT: u64 = (1 << 48) - 1;
    const LARGE: u64 = 1 << 52;

    #[inline(always)]
    pub fn slot(self) -> Slot {
        Slot((self.0 & Entry::SLOT) as *mut u64)
    }

    /// The step of the closure that the slot belongs to, 0 for roots.
    #[inline(always)]
    pub fn holder(self) -> u8 {
        (self.0 >> 48) as u8 & 0xf
    }

    /// The step that the referent goes to.
    #[inline(always)]
    pub fn dest(self) -> u8 {
        (self.first_lane() / 2) as u8 + 1
    }

    /// The first lane of that step.
    #[inline(always)]
    pub fn first_lane(self) -> usize {
        (self.0 >> 56) as usize
    }

    #[inline(always)]
    pub fn is_large(self) -> bool {
        self.0 & Entry::LARGE != 0
    }
}

/// Where referents go: for each step of a holder and each state of the referent's block, an [`Entry`] without its slot. A
/// table, so that the loop that finds slots does nothing but look it up.
#[derive(Debug)]
pub(super) struct Routes {
    rows: [[u64; ROW]; 16],
}

/// States without their spare bits.
const ROW: usize = 64;

impl Routes {
    /// One step up, or to the step of the holder if that is older; no further than `oldest`.
    pub fn new(oldest: u8) -> Self {
        let mut rows = [[0; ROW]; 16];
        for holder in 0..=oldest {
            for (state, entry) in rows[usize::from(holder)].iter_mut().enumerate() {
                let state = BlockState(state as u8);
                let dest = (state.step() + 1).min(oldest).max(holder);
                let large = if state.is_large() { Entry::LARGE } else { 0 };
                *entry = (first_lane(dest) as u64) << 56 | u64::from(holder) << 48 | large;
            }
        }
        Routes { rows }
    }

    /// The routes from closures of step `holder`.
    #[inline(always)]
    pub fn from(&self, holder: u8) -> &[u64; ROW] {
        &self.rows[usize::from(holder) % 16]
    }
}

/// The entry of `slot`, whose referent's block has this state.
#[inline(always)]
pub(super) fn entry(routes: &[u64; ROW], slot: Slot, state: BlockState) -> Entry {
    Entry(slot.0 as u64 | routes[usize::from(state.0) % ROW])
}

/// A ring of entries. What is pushed comes out when as many more have been pushed as the ring has places; when nothing is left
/// to push, [`Queue::pop`] takes the newest. So the entries are always the latest ones, without a gap, and one index will do.
#[derive(Debug)]
pub(super) struct Queue {
    ring: [Entry; DEPTH],
    next: usize,
}

impl Queue {
    pub fn new() -> Self {
        Queue {
            ring: [Entry::NONE; DEPTH],
            next: 0,
        }
    }

    /// Add an entry; gives the oldest back if the ring was full.
    #[inline(always)]
    pub fn push(&mut self, entry: Entry) -> Option<Entry> {
        let oldest = std::mem::replace(&mut self.ring[self.next], entry);
        self.next = (self.next + 1) % DEPTH;
        (oldest.0 != 0).then_some(oldest)
    }

    /// Take the newest entry.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Entry> {
        let newest = (self.next + DEPTH - 1) % DEPTH;
        let entry = std::mem::replace(&mut self.ring[newest], Entry::NONE);
        if entry.0 == 0 {
            return None;
        }
        self.next = newest;
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
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch has no architectural effect, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address as *const i8);
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(i: usize) -> Slot {
        Slot((0x4200_0000_0000 + i * 8) as *mut u64)
    }

    #[test]
    fn every_entry_comes_out_once_the_old_ones_in_order() {
        let routes = Routes::new(2);
        let mut queue = Queue::new();
        let nursery = BlockState::NURSERY.condemned(true);
        let mut out: Vec<Entry> = (0..100)
            .filter_map(|i| queue.push(entry(routes.from(0), slot(i), nursery)))
            .collect();
        assert!(out.iter().enumerate().all(|(i, e)| e.slot() == slot(i)));
        out.extend(std::iter::from_fn(|| queue.pop()));
        out.extend((100..200).filter_map(|i| queue.push(entry(routes.from(0), slot(i), nursery))));
        out.extend(std::iter::from_fn(|| queue.pop()));
        let mut slots: Vec<_> = out.iter().map(|e| e.slot()).collect();
        slots.sort();
        assert_eq!(slots, (0..200).map(slot).collect::<Vec<_>>());
    }

    #[test]
    fn referents_go_one_step_up_or_to_their_holder() {
        let routes = Routes::new(3);
        let route = |holder: u8, state: BlockState| {
            let entry = entry(routes.from(holder), slot(1), state.condemned(true));
            assert_eq!(
                (entry.holder(), entry.is_large(), entry.slot()),
                (holder, state.is_large(), slot(1))
            );
            entry.dest()
        };
        assert_eq!(route(0, BlockState::NURSERY), 1);
        assert_eq!(route(1, BlockState::AGED.large()), 2);
        assert_eq!(route(0, BlockState::of_generation(2)), 3);
        assert_eq!(route(3, BlockState::NURSERY.large()), 3);
    }
}
