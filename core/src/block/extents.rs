//! Extents of wholly free megablocks, ordered by address and by size.
//!
//! GHC walks a sorted list for each allocation and each free, and defers frees during a collection
//! to escape quadratic time. Here two balanced trees make every operation O(log n), so nothing is
//! deferred.
//!
//! Invariants: extents do not overlap or touch (they are coalesced); both trees hold the same
//! extents; `total` is their sum. `BlockAllocator::check` checks them.

use std::collections::{BTreeMap, BTreeSet};

/// A set of disjoint extents, in megablocks.
#[derive(Debug, Default)]
pub(super) struct Extents {
    /// First megablock to length.
    by_address: BTreeMap<u32, u32>,
    /// Pairs of length and first megablock.
    by_size: BTreeSet<(u32, u32)>,
    total: u32,
}

impl Extents {
    /// Megablocks in all extents.
    pub(super) fn total(&self) -> u32 {
        self.total
    }

    /// Adds an extent, and joins it to its neighbours.
    pub(super) fn insert(&mut self, first: u32, length: u32) {
        let (mut first, mut joined) = (first, length);
        if let Some((&before, &size)) = self.by_address.range(..first).next_back()
            && before + size == first
        {
            self.drop_entry(before, size);
            (first, joined) = (before, joined + size);
        }
        if let Some(&size) = self.by_address.get(&(first + joined)) {
            self.drop_entry(first + joined, size);
            joined += size;
        }
        self.add_entry(first, joined);
        self.total += length;
    }

    /// The first megablock of the smallest extent of at least `length`, the lowest of those.
    pub(super) fn best_fit(&self, length: u32) -> Option<u32> {
        self.by_size.range((length, 0)..).next().map(|&(_, first)| first)
    }

    /// Removes the low `length` megablocks of the extent that begins at `first`.
    pub(super) fn take_low(&mut self, first: u32, length: u32) {
        let size = self.by_address[&first];
        self.drop_entry(first, size);
        if size > length {
            self.add_entry(first + length, size - length);
        }
        self.total -= length;
    }

    /// Removes the high `length` megablocks of the extent that begins at `first`.
    pub(super) fn take_high(&mut self, first: u32, length: u32) {
        let size = self.by_address[&first];
        self.drop_entry(first, size);
        if size > length {
            self.add_entry(first, size - length);
        }
        self.total -= length;
    }

    /// The extent with the highest address: first megablock and length.
    pub(super) fn highest(&self) -> Option<(u32, u32)> {
        self.by_address
            .last_key_value()
            .map(|(&first, &length)| (first, length))
    }

    /// The length of the extent that begins at `first`.
    pub(super) fn starting_at(&self, first: u32) -> Option<u32> {
        self.by_address.get(&first).copied()
    }

    /// Whether a megablock lies in an extent.
    pub(super) fn contains(&self, megablock: u32) -> bool {
        let below = self.by_address.range(..=megablock).next_back();
        below.is_some_and(|(first, length)| first + length > megablock)
    }

    /// The first invariant that is broken, in words, for the checker.
    pub(super) fn fault(&self) -> Option<String> {
        let mut end = None;
        for (&first, &length) in &self.by_address {
            if length == 0 || end.is_some_and(|end| first <= end) {
                return Some(format!(
                    "the extent of {length} at megablock {first} is empty, or touches the one below"
                ));
            }
            if !self.by_size.contains(&(length, first)) {
                return Some(format!(
                    "the extent of {length} at megablock {first} is not in the order of sizes"
                ));
            }
            end = Some(first + length);
        }
        let sum: u32 = self.by_address.values().sum();
        (sum != self.total || self.by_size.len() != self.by_address.len())
            .then(|| format!("the total is {}, the extents hold {sum}", self.total))
    }

    fn add_entry(&mut self, first: u32, length: u32) {
        self.by_address.insert(first, length);
        self.by_size.insert((length, first));
    }

    fn drop_entry(&mut self, first: u32, length: u32) {
        self.by_address.remove(&first);
        self.by_size.remove(&(length, first));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_join_on_both_sides() {
        let mut extents = Extents::default();
        extents.insert(0, 2);
        extents.insert(5, 1);
        assert_eq!(
            (extents.best_fit(1), extents.best_fit(2), extents.best_fit(3)),
            (Some(5), Some(0), None)
        );
        extents.insert(2, 3);
        assert_eq!(
            (extents.highest(), extents.total(), extents.fault()),
            (Some((0, 6)), 6, None)
        );
    }

    #[test]
    fn both_ends_can_be_taken() {
        let mut extents = Extents::default();
        extents.insert(10, 6);
        extents.take_low(10, 1);
        extents.take_high(11, 2);
        assert_eq!(
            (extents.highest(), extents.total(), extents.fault()),
            (Some((11, 3)), 3, None)
        );
        extents.take_low(11, 3);
        assert_eq!((extents.highest(), extents.total(), extents.fault()), (None, 0, None));
    }
}
