//! The pauses of the program, or its looks at the heap, the first and last of them individually.
//!
//! The mutator's time begins and ends within cells. Both moments lie among the first or the last
//! pauses, so those are never merged.

use std::collections::VecDeque;

use super::series::{Entry, Series};

/// Pauses at either end that stay single.
const EDGE: usize = 64;

/// The pauses so far.
#[derive(Debug)]
pub(super) struct Pauses<T> {
    first: Vec<T>,
    middle: Series<T>,
    last: VecDeque<T>,
}

impl<T> Default for Pauses<T> {
    fn default() -> Self {
        Pauses {
            first: Vec::new(),
            middle: Series::default(),
            last: VecDeque::new(),
        }
    }
}

impl<T: Entry> Pauses<T> {
    /// Appends a pause. Returns whether that added an entry.
    pub(super) fn push(&mut self, pause: T, step: u64) -> bool {
        if self.first.len() < EDGE {
            self.first.push(pause);
            return true;
        }
        self.last.push_back(pause);
        if self.last.len() <= EDGE {
            return true;
        }
        let oldest = self.last.pop_front();
        oldest.is_some_and(|oldest| self.middle.push(oldest, step))
    }

    /// Merges the pauses of each cell. Returns the number of entries.
    pub(super) fn coarsen(&mut self, step: u64) -> usize {
        self.first.len() + self.middle.coarsen(step) + self.last.len()
    }

    pub(super) fn into_entries(self) -> Vec<T> {
        let mut all = self.first;
        all.extend(self.middle.into_entries());
        all.extend(self.last);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::{Collections, GENERATIONS, Pause};
    use super::*;

    #[test]
    fn the_first_and_the_last_pauses_stay_single() {
        let mut pauses = Pauses::default();
        for n in 0..1000 {
            let mut generations = [Collections::default(); GENERATIONS];
            generations[0].count = 1;
            let pause = Pause {
                from: 10 * n,
                to: 10 * n + 5,
                generations,
            };
            pauses.push(pause, 1);
        }
        assert_eq!(pauses.coarsen(1 << 30), 2 * EDGE + 1);
        let all = pauses.into_entries();
        let counts: Vec<u64> = all.iter().map(Pause::count).collect();
        assert_eq!(counts[EDGE], 1000 - 2 * EDGE as u64);
        assert!(
            counts
                .iter()
                .enumerate()
                .all(|(place, count)| place == EDGE || *count == 1)
        );
        assert!(all.is_sorted_by_key(|pause| pause.from));
    }
}
