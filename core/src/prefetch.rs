//! Prefetches: requests to bring memory into the cache before it is read.

use crate::words::Addr;

/// Offset from a closure's start, in bytes, at which its second cache line is looked for: a small
/// closure may straddle two lines.
const SECOND_LINE: u64 = 40;

/// Prefetches the closure at `address`.
#[inline(always)]
pub(crate) fn prefetch_closure(address: Addr) {
    prefetch_line(address);
    prefetch_line(Addr((address.0 as u64).wrapping_add(SECOND_LINE) as usize));
}

/// Prefetches the cache line at `address`. Any address is allowed: prefetching unmapped memory does
/// nothing.
#[inline(always)]
pub fn prefetch_line(address: Addr) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch has no architectural effect, at any address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.0 as *const i8);
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = address;
}

/// Items between their discovery, when they are prefetched, and their use, `N` items later.
///
/// An item comes out of [`PrefetchRing::push`] when `N` more have been pushed. When nothing is left
/// to push, `RingHand::pop_newest` and [`PrefetchRing::pop_oldest`] empty the ring.
///
/// Invariant: the items are the latest ones, in places `next - len..next` modulo `N`, without a
/// gap; all other places are `None`. So `push` needs no length: it checks the place that it writes.
/// If `T` has a niche (`Option<T>` is no larger), that is a load, a store, an addition and a
/// branch, so using this type costs the copying loop nothing.
#[derive(Debug)]
pub struct PrefetchRing<T, const N: usize> {
    places: [Option<T>; N],
    /// Pushes minus pops of the newest: where the next item goes.
    next: usize,
    /// No item lies before this place. Only [`PrefetchRing::pop_oldest`] keeps it.
    oldest: usize,
}

impl<T: Copy, const N: usize> PrefetchRing<T, N> {
    /// An empty ring.
    #[inline(always)]
    pub fn new() -> Self {
        const { assert!(N.is_power_of_two(), "places are chosen by a mask") };
        PrefetchRing {
            places: [None; N],
            next: 0,
            oldest: 0,
        }
    }

    /// Adds an item. Returns the oldest one if the ring was full.
    #[inline(always)]
    pub fn push(&mut self, item: T) -> Option<T> {
        self.hand().push(item)
    }

    /// Takes the oldest item, which has had the most time to reach the cache.
    #[inline(always)]
    pub fn pop_oldest(&mut self) -> Option<T> {
        loop {
            let behind = self.next.wrapping_sub(self.oldest);
            if behind == 0 {
                return None;
            }
            if behind > N {
                // Pushes leave `oldest` behind.
                self.oldest = self.next.wrapping_sub(N);
            }
            let item = self.places[self.oldest % N].take();
            self.oldest = self.oldest.wrapping_add(1);
            // Empty places come first only if the newest items were popped before.
            if item.is_some() {
                return item;
            }
        }
    }

    /// Whether a push would return an item.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.places[self.next % N].is_some()
    }

    /// The ring with its position in the hand: for a loop that keeps the position in a register.
    #[inline(always)]
    pub(crate) fn hand(&mut self) -> RingHand<'_, T, N> {
        RingHand {
            places: &mut self.places,
            next: self.next,
            home: &mut self.next,
        }
    }
}

/// A [`PrefetchRing`] while a loop pushes to it. The ring has its position back when the hand is
/// dropped.
#[derive(Debug)]
pub(crate) struct RingHand<'r, T, const N: usize> {
    places: &'r mut [Option<T>; N],
    next: usize,
    home: &'r mut usize,
}

impl<T: Copy, const N: usize> RingHand<'_, T, N> {
    /// Adds an item. Returns the oldest one if the ring was full.
    #[inline(always)]
    pub(crate) fn push(&mut self, item: T) -> Option<T> {
        let oldest = self.places[self.next % N].replace(item);
        self.next = self.next.wrapping_add(1);
        oldest
    }

    /// Takes the newest item.
    #[inline(always)]
    pub(crate) fn pop_newest(&mut self) -> Option<T> {
        let newest = self.next.wrapping_sub(1);
        let item = self.places[newest % N].take()?;
        self.next = newest;
        Some(item)
    }

    /// Whether no item waits.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.places[self.next.wrapping_sub(1) % N].is_none()
    }
}

impl<T, const N: usize> Drop for RingHand<'_, T, N> {
    #[inline(always)]
    fn drop(&mut self) {
        *self.home = self.next;
    }
}

impl<T: Copy, const N: usize> Default for PrefetchRing<T, N> {
    fn default() -> Self {
        PrefetchRing::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::num::NonZeroU32;

    proptest! {
        #[test]
        fn every_item_comes_out_once_and_in_order(steps in proptest::collection::vec(0..8u8, 1..400)) {
            let mut ring: PrefetchRing<NonZeroU32, 8> = PrefetchRing::new();
            let mut model = VecDeque::new();
            for (number, step) in (1..).zip(steps) {
                let item = NonZeroU32::new(number).expect("numbers begin with 1");
                prop_assert_eq!(ring.is_full(), model.len() == 8);
                match step {
                    0 => prop_assert_eq!(ring.hand().pop_newest(), model.pop_back()),
                    1 => prop_assert_eq!(ring.pop_oldest(), model.pop_front()),
                    _ => {
                        let oldest = if model.len() == 8 { model.pop_front() } else { None };
                        prop_assert_eq!(ring.push(item), oldest);
                        model.push_back(item);
                    }
                }
            }
            let left: Vec<_> = std::iter::from_fn(|| ring.pop_oldest()).collect();
            prop_assert_eq!(left, Vec::from(model));
            prop_assert_eq!(ring.hand().pop_newest(), None);
        }
    }
}
