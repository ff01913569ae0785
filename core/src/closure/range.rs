//! Ranges of the heap that have one owner, and pass from thread to thread.
//!
//! Neither type is `Copy`: the right to work on a range goes with the value.

use super::{ClosureRef, Extent, Slot};
use crate::words::{WORD, Words};

/// Adjacent slots.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SlotRange {
    next: *mut u64,
    end: *mut u64,
}

/// Adjacent closures.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ClosureRange {
    next: *mut u64,
    end: *mut u64,
}

// SAFETY: addresses. Memory is reached through `Slot` and `ClosureRef`, whose methods are unsafe.
unsafe impl Send for SlotRange {}
// SAFETY: as above.
unsafe impl Send for ClosureRange {}

impl SlotRange {
    /// A range without slots.
    pub const EMPTY: SlotRange = SlotRange {
        next: std::ptr::null_mut(),
        end: std::ptr::null_mut(),
    };

    /// The `count` slots from `first`.
    #[inline(always)]
    pub fn new(first: Slot, count: usize) -> Self {
        SlotRange {
            next: first.0,
            end: first.0.wrapping_add(count),
        }
    }

    /// The slots of a closure.
    #[inline(always)]
    pub fn of(extent: Extent) -> Self {
        let skipped = usize::from(mutant!("copy/pointer-field-skipped"));
        SlotRange::new(Slot(extent.first), extent.slots.saturating_sub(skipped))
    }

    /// Whether no slot is left.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.next >= self.end
    }

    /// The number of slots that are left.
    #[inline(always)]
    pub fn len(&self) -> usize {
        (self.end as usize - self.next as usize) / WORD
    }

    /// The first slot that is left, or the end of the range.
    pub fn first(&self) -> Slot {
        Slot(self.next)
    }

    /// Removes and returns the first `count` slots.
    ///
    /// # Panics
    /// If the range has fewer.
    #[inline(always)]
    pub fn split_front(&mut self, count: usize) -> SlotRange {
        assert!(count <= self.len(), "more slots than the range has");
        let front = SlotRange::new(Slot(self.next), count);
        self.next = front.end;
        front
    }

    /// Cuts the range into slices of at most `most` slots, in order.
    pub fn slices(mut self, most: usize) -> impl Iterator<Item = SlotRange> {
        std::iter::from_fn(move || (!self.is_empty()).then(|| self.split_front(self.len().min(most))))
    }
}

impl Iterator for SlotRange {
    type Item = Slot;

    #[inline(always)]
    fn next(&mut self) -> Option<Slot> {
        let slot = Slot(self.next);
        (!self.is_empty()).then(|| {
            self.next = self.next.wrapping_add(1);
            slot
        })
    }
}

impl ClosureRange {
    /// A range without closures.
    pub const EMPTY: ClosureRange = ClosureRange {
        next: std::ptr::null_mut(),
        end: std::ptr::null_mut(),
    };

    /// The closures from `first` up to `end`.
    ///
    /// # Safety
    /// From `first` to `end` there are whole closures with their headers, without gaps, as long as
    /// the range exists.
    #[inline(always)]
    pub unsafe fn new(first: ClosureRef, end: ClosureRef) -> Self {
        ClosureRange {
            next: first.0,
            end: end.0,
        }
    }

    /// Whether no closure is left.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.next >= self.end
    }

    /// Removes the next closure, and returns its slots.
    ///
    /// # Safety
    /// The closures have pointers, and lie in blocks of small closures.
    #[inline(always)]
    pub unsafe fn next_slots(&mut self) -> Option<SlotRange> {
        if self.is_empty() {
            return None;
        }
        let closure = ClosureRef(self.next);
        // SAFETY: the caller of `new` vouched for whole closures up to `end`; the caller's promise.
        let extent = unsafe { closure.extent_with_pointers(closure.header()) };
        self.next = self.next.wrapping_add(extent.words.0);
        Some(SlotRange::of(extent))
    }

    /// Words of the closures that are left.
    #[inline(always)]
    pub fn words(&self) -> Words {
        Words((self.end as usize - self.next as usize) / WORD)
    }

    /// Removes and returns the second half of the closures, which may be empty.
    pub fn split_half(&mut self) -> ClosureRange {
        let middle = self.next.wrapping_add(self.words().0 / 2);
        let mut cut = self.next;
        while cut < middle {
            // SAFETY: the caller of `new` vouched for whole closures up to `end`.
            cut = cut.wrapping_add(unsafe { ClosureRef(cut).words() }.0);
        }
        let half = ClosureRange {
            next: cut,
            end: self.end,
        };
        self.end = cut;
        half
    }
}

impl Iterator for ClosureRange {
    type Item = Extent;

    /// Takes the next closure off.
    #[inline(always)]
    fn next(&mut self) -> Option<Extent> {
        if self.is_empty() {
            return None;
        }
        // SAFETY: the caller of `new` vouched for whole closures up to `end`.
        let extent = unsafe { ClosureRef(self.next).extent() };
        self.next = self.next.wrapping_add(extent.words.0);
        Some(extent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "more slots than the range has")]
    fn a_range_is_not_split_beyond_its_end() {
        let mut words = [0_u64; 4];
        let mut range = SlotRange::new(Slot(words.as_mut_ptr()), 3);
        assert_eq!((range.split_front(2).len(), range.len()), (2, 1));
        range.split_front(2);
    }

    #[test]
    fn slices_cover_a_range_once_and_in_order() {
        let mut words = [0_u64; 7];
        let first = words.as_mut_ptr();
        for (count, lengths) in [(0, &[][..]), (3, &[3]), (6, &[3, 3]), (7, &[3, 3, 1])] {
            let slices: Vec<SlotRange> = SlotRange::new(Slot(first), count).slices(3).collect();
            assert!(slices.iter().map(SlotRange::len).eq(lengths.iter().copied()));
            let slots: Vec<_> = slices.into_iter().flatten().map(|slot| slot.0).collect();
            assert!(slots.into_iter().eq((0..count).map(|i| first.wrapping_add(i))));
        }
    }
}
