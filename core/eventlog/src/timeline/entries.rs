//! How pieces, pauses, samples and marks are merged.

use super::data::{Collections, Mark, Pause, Piece, STATES, Sample, SparkSample, State, Stretch};
use super::series::Entry;

impl Piece {
    /// A stretch of one state.
    pub(super) fn pure(state: State, from: u64, to: u64) -> Self {
        let mut times = [0; STATES];
        times[state as usize] = to - from;
        Piece { from, to, times }
    }

    /// The state, if there is only one.
    pub fn state(&self) -> Option<usize> {
        let mut states = (0..STATES).filter(|state| self.times[*state] > 0);
        let first = states.next()?;
        states.next().is_none().then_some(first)
    }
}

impl Entry for Piece {
    fn span(&self) -> (u64, u64) {
        (self.from, self.to)
    }

    fn goes_on(&self, next: &Self) -> bool {
        self.state().is_some() && self.state() == next.state()
    }

    fn take(&mut self, next: Self) {
        self.to = next.to;
        for (time, more) in self.times.iter_mut().zip(next.times) {
            *time += more;
        }
    }
}

impl Entry for Sample {
    fn span(&self) -> (u64, u64) {
        (self.at, self.at + 1)
    }

    fn take(&mut self, next: Self) {
        *self = Sample {
            at: next.at,
            last: next.last,
            max: self.max.max(next.max),
            count: self.count + next.count,
        };
    }
}

impl Entry for SparkSample {
    fn span(&self) -> (u64, u64) {
        (self.at, self.at + 1)
    }

    fn take(&mut self, next: Self) {
        *self = next;
    }
}

impl Entry for Pause {
    fn span(&self) -> (u64, u64) {
        (self.from, self.to.max(self.from + 1))
    }

    fn take(&mut self, next: Self) {
        self.to = self.to.max(next.to);
        for (sum, more) in self.generations.iter_mut().zip(next.generations) {
            *sum = Collections {
                count: sum.count + more.count,
                total_ns: sum.total_ns.saturating_add(more.total_ns),
                max_ns: sum.max_ns.max(more.max_ns),
                copied: sum.copied.saturating_add(more.copied),
            };
        }
    }
}

impl Entry for Stretch {
    fn span(&self) -> (u64, u64) {
        (self.from, self.to.max(self.from + 1))
    }

    fn take(&mut self, next: Self) {
        self.to = self.to.max(next.to);
        self.total_ns = self.total_ns.saturating_add(next.total_ns);
    }
}

impl Entry for Mark {
    fn span(&self) -> (u64, u64) {
        (self.at, self.at + 1)
    }

    fn take(&mut self, next: Self) {
        self.count += next.count;
        if next.is_marker && !self.is_marker {
            (self.is_marker, self.text) = (true, next.text);
        }
    }
}
