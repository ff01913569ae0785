//! Entries in order of time, merged when there are too many.
//!
//! Time is divided into *cells* of equal length, the *step*. Entries within the same cell are
//! merged into their sum; an entry that crosses the border of a cell stays as it is. So a sum over
//! whole cells is exact, whatever the step.

/// An entry of a series.
pub(super) trait Entry {
    /// The first moment, and the first moment after.
    fn span(&self) -> (u64, u64);

    /// Whether `next` only continues this entry.
    fn goes_on(&self, _next: &Self) -> bool {
        false
    }

    /// Merges `next`, which follows this entry, into it.
    fn take(&mut self, next: Self);
}

/// Entries in order of time.
#[derive(Debug)]
pub(super) struct Series<T>(Vec<T>);

impl<T> Default for Series<T> {
    fn default() -> Self {
        Series(Vec::new())
    }
}

impl<T: Entry> Series<T> {
    /// Appends an entry, or merges it into the last one. Returns whether the series grew.
    pub(super) fn push(&mut self, entry: T, step: u64) -> bool {
        if let Some(last) = self.0.last_mut() {
            let (from, to) = (last.span().0, entry.span().1);
            let one_cell = from / step == to.saturating_sub(1) / step;
            if one_cell || last.goes_on(&entry) {
                last.take(entry);
                return false;
            }
        }
        self.0.push(entry);
        true
    }

    /// Merges the entries of each cell of length `step`, a multiple of all earlier steps. Returns
    /// the number of entries.
    pub(super) fn coarsen(&mut self, step: u64) -> usize {
        for entry in std::mem::take(&mut self.0) {
            self.push(entry, step);
        }
        self.0.len()
    }

    pub(super) fn last(&self) -> Option<&T> {
        self.0.last()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn into_entries(self) -> Vec<T> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::Sample;
    use super::*;

    #[test]
    fn samples_of_one_cell_keep_their_last_their_largest_and_their_number() {
        let mut series = Series::default();
        for (at, value) in [(1, 5), (3, 9), (3, 2), (9, 1), (12, 7)] {
            series.push(Sample::single(at, value), 1);
        }
        assert_eq!(series.len(), 4);
        assert_eq!(series.coarsen(8), 2);
        let expected = [
            Sample {
                at: 3,
                last: 2,
                max: 9,
                count: 3,
            },
            Sample {
                at: 12,
                last: 7,
                max: 7,
                count: 2,
            },
        ];
        assert_eq!(series.into_entries(), expected);
    }
}
