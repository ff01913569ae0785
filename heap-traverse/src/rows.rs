//! Adjacency lists in two arrays ("compressed sparse rows"): the one structure for graphs, trees
//! and flows.
//!
//! **Invariant**: there is one start more than there are rows, starts do not decrease, and the last
//! start is the number of targets. (A value made by `Default` has no start and no rows.)
//!
//! **Memory**: 4 bytes for each row and 4 for each target.

use crate::fetch::fetch;
use crate::memory::{OutOfMemory, with_capacity};
use std::ops::Deref;

/// How many pairs ahead memory is fetched when rows are filled: about the time of a memory access.
const AHEAD: usize = 32;

/// Rows of numbers, their own or borrowed. Row i is `targets[starts[i]..starts[i + 1]]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rows<S = Vec<u32>> {
    starts: S,
    targets: S,
}

impl Rows {
    /// No rows yet, with room for `rows` rows and `targets` targets.
    pub(crate) fn with_capacity(rows: u32, targets: u32) -> Result<Self, OutOfMemory> {
        let mut starts = with_capacity(rows as usize + 1)?;
        starts.push(0);
        let targets = with_capacity(targets as usize)?;
        Ok(Rows { starts, targets })
    }

    /// Appends a row. Returns false, and appends no row, if it would need numbers of `limit` or
    /// more.
    #[inline]
    pub(crate) fn push(&mut self, targets: impl IntoIterator<Item = u32>, limit: u32) -> bool {
        self.targets.extend(targets);
        let fits = self.targets.len() < limit as usize && self.starts.len() < limit as usize;
        if fits {
            self.starts.push(self.targets.len() as u32);
        }
        fits
    }

    /// Returns unused memory.
    pub(crate) fn shrink(&mut self) {
        self.starts.shrink_to_fit();
        self.targets.shrink_to_fit();
    }

    /// Replaces everything by `rows` rows, made from pairs of a row and a target. `pair` returns
    /// the pair of a number below `pairs`, or none if there is no pair of this number. Each row has
    /// its targets in the order of the pairs.
    ///
    /// # Panics
    /// If there are 2^32 pairs or more.
    pub(crate) fn fill(&mut self, rows: usize, pairs: usize, pair: impl Fn(usize) -> Option<(u32, u32)>) {
        assert!(u32::try_from(pairs).is_ok(), "{pairs} pairs are too many for a table");
        let starts = &mut self.starts;
        starts.clear();
        starts.resize(rows + 1, 0);
        for (row, _) in (0..pairs).filter_map(&pair) {
            starts[row as usize] += 1;
        }
        let mut sum = 0;
        for start in &mut *starts {
            // The end of the row at first. Each pair moves it one place towards the start.
            sum += *start;
            *start = sum;
        }
        self.targets.clear();
        self.targets.resize(sum as usize, 0);
        for at in (0..pairs).rev() {
            if let Some((row, _)) = at.checked_sub(2 * AHEAD).and_then(&pair) {
                fetch(starts, row);
            }
            if let Some((row, _)) = at.checked_sub(AHEAD).and_then(&pair) {
                fetch(&self.targets, starts[row as usize].wrapping_sub(1));
            }
            let Some((row, target)) = pair(at) else { continue };
            let start = &mut starts[row as usize];
            *start -= 1;
            self.targets[*start as usize] = target;
        }
    }
}

impl<S: Deref<Target = [u32]>> Rows<S> {
    /// Rows made elsewhere, which keep the invariant.
    pub(crate) fn of(starts: S, targets: S) -> Self {
        Rows { starts, targets }
    }

    /// The same rows, borrowed.
    pub(crate) fn view(&self) -> Rows<&[u32]> {
        Rows::of(&self.starts, &self.targets)
    }

    /// The targets of row `row`.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn row(&self, row: u32) -> &[u32] {
        let row = row as usize;
        &self.targets[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// The number of rows.
    pub(crate) fn count(&self) -> u32 {
        self.starts.len().saturating_sub(1) as u32
    }

    /// All targets, row after row.
    #[inline]
    pub(crate) fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// The place of the first target of row `row` among all targets. For the number of rows it is
    /// the number of targets.
    #[inline]
    pub(crate) fn start(&self, row: u32) -> u32 {
        self.starts[row as usize]
    }

    /// Prefetches the start of row `row`.
    #[inline]
    pub(crate) fn fetch_start(&self, row: u32) {
        fetch(&self.starts, row);
    }

    /// Prefetches the first targets of row `row`.
    #[inline]
    pub(crate) fn fetch_row(&self, row: u32) {
        fetch(&self.targets, self.starts[row as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;

    #[test]
    #[should_panic(expected = "too many for a table")]
    fn pairs_beyond_32_bits_are_refused() {
        Rows::default().fill(1, 1 << 32, |_| None);
    }

    #[test]
    fn filled_rows_have_their_targets_in_the_order_of_the_pairs() {
        let pairs: Vec<(u32, u32)> = (0..1000).map(|i| (i * 7919 % 10, i)).collect();
        let mut rows = Rows::default();
        // The second filling replaces the first.
        for skipped in [2, 3] {
            rows.fill(11, pairs.len(), |at| {
                Some(pairs[at]).filter(|(_, target)| target % skipped != 0)
            });
            let mut expected = Rows::with_capacity(0, 0).unwrap();
            for row in 0..11 {
                let targets = pairs.iter().filter(|(of, target)| *of == row && target % skipped != 0);
                assert!(expected.push(targets.map(|(_, target)| *target), u32::MAX));
            }
            assert_eq!(rows, expected);
        }
    }
}
