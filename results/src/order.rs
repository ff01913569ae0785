//! Sorting by code that the compiler makes once.
//!
//! Each call of the standard library's stable sort is compiled for its own comparison, and a report
//! has some forty. Here the comparison is called through a pointer, and only the moves of the
//! items are compiled anew. Cost: one allocation, and a call for each comparison. Use the standard
//! library where sorting is what takes the time.

use std::cmp::Ordering;

/// A stable sort for slices.
pub trait Arrange<T> {
    /// Puts the items in the order of `compare`; equal ones stay in their order.
    fn arrange_by(&mut self, compare: impl Fn(&T, &T) -> Ordering);

    /// Puts the items in the order of their keys; those with equal keys stay in their order.
    fn arrange_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K) {
        self.arrange_by(|one, other| key(one).cmp(&key(other)));
    }
}

impl<T> Arrange<T> for [T] {
    fn arrange_by(&mut self, compare: impl Fn(&T, &T) -> Ordering) {
        let mut sources = sources(self.len(), &|one, other| compare(&self[one], &self[other]));
        // Follows each circle of moves, and marks a place that is done by its own number.
        for start in 0..self.len() {
            let mut place = start;
            while sources[place] != start {
                let source = sources[place];
                self.swap(place, source);
                sources[place] = place;
                place = source;
            }
            sources[place] = place;
        }
    }
}

/// For each place of the sorted sequence the place that its item comes from.
fn sources(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut sources: Vec<usize> = (0..len).collect();
    sources.sort_by(|one, other| compare(*one, *other));
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every order of six items, some of them equal, is sorted as by the standard library.
    #[test]
    fn items_are_sorted_as_by_the_standard_library() {
        for number in 0..6_u32.pow(6) {
            let items = (0..6).map(|place| (number / 6_u32.pow(place) % 6, place));
            let mut expected: Vec<(u32, u32)> = items.collect();
            let mut arranged = expected.clone();
            expected.sort_by_key(|item| item.0);
            arranged.arrange_by_key(|item| item.0);
            assert_eq!(arranged, expected);
            expected.sort_by_key(|item| std::cmp::Reverse(item.1));
            arranged.arrange_by(|one, other| other.1.cmp(&one.1));
            assert_eq!(arranged, expected);
        }
    }
}
