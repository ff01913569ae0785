//! The pauses of the program and when they were, in bounded memory.
//!
//! Up to [`MOST`] pauses are kept individually. Beyond that neighbours are grouped: for an interval
//! that contains whole groups the time in pauses stays exact; the time of a group across its border
//! is spread evenly. The first and last pauses stay single, since the mutator's time begins and
//! ends between them.

use super::data::Interval;

/// Limit on pauses, or groups of them, kept: 24 MiB.
const MOST: usize = 1 << 20;

/// Pauses at either end that stay single.
const EDGE: usize = 64;

/// A pause, or a group of neighbouring ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    from: u64,
    to: u64,
    paused: u64,
}

impl Span {
    /// The time in pauses within an interval.
    fn paused(&self, within: Interval) -> u64 {
        let Some((from, to)) = within.clip((self.from, self.to)) else {
            return 0;
        };
        let share = u128::from(self.paused) * u128::from(to - from) / u128::from(self.to - self.from);
        share.min(u128::from(self.paused)) as u64
    }
}

/// The pauses so far.
#[derive(Debug)]
pub(super) struct Spans {
    spans: Vec<Span>,
    most: usize,
    grouped: bool,
}

impl Default for Spans {
    fn default() -> Self {
        Spans::keeping(MOST)
    }
}

impl Spans {
    fn keeping(most: usize) -> Self {
        Spans {
            spans: Vec::new(),
            most,
            grouped: false,
        }
    }

    /// Adds a pause. It is not empty.
    pub(super) fn add(&mut self, from: u64, to: u64) {
        if self.spans.len() == self.most {
            self.group();
        }
        let paused = to - from;
        self.spans.push(Span { from, to, paused });
    }

    /// Halves the number of spans.
    #[cold]
    fn group(&mut self) {
        self.grouped = true;
        self.spans.sort_unstable_by_key(|span| (span.from, span.to));
        let edge = EDGE.min(self.spans.len() / 4);
        let middle = self.spans.len() - edge;
        let pairs = self.spans[edge..middle].chunks(2).map(|pair| Span {
            from: pair[0].from,
            to: pair.iter().map(|span| span.to).max().unwrap_or(0),
            paused: pair.iter().fold(0, |sum, span| sum.saturating_add(span.paused)),
        });
        let edges = [&self.spans[..edge], &self.spans[middle..]];
        self.spans = edges[0]
            .iter()
            .copied()
            .chain(pairs)
            .chain(edges[1].iter().copied())
            .collect();
    }

    /// Sorts the pauses by time, and cuts off what overlaps an earlier one.
    pub(super) fn settle(&mut self) {
        if self.grouped {
            return;
        }
        self.spans.sort_unstable_by_key(|span| (span.from, span.to));
        let mut end = 0;
        self.spans.retain_mut(|span| {
            span.from = span.from.max(end);
            end = end.max(span.to);
            span.paused = span.to.saturating_sub(span.from);
            span.paused > 0
        });
    }

    /// Beginning and end of each pause, unless some are grouped.
    pub(super) fn each(&self) -> Option<impl Iterator<Item = (u64, u64)>> {
        let each = self.spans.iter().map(|span| (span.from, span.to));
        (!self.grouped).then_some(each)
    }

    /// The time in pauses within an interval.
    pub(super) fn paused(&self, within: Interval) -> u64 {
        let parts = self.spans.iter().map(|span| span.paused(within));
        parts.fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(from: u64, to: u64) -> Interval {
        Interval { from, to: Some(to) }
    }

    #[test]
    fn groups_keep_the_time_in_pauses() {
        let mut some = Spans::keeping(1000);
        // The second half comes first, as the block of another capability might.
        for n in (5000..10_000).chain(0..5000) {
            some.add(100 * n, 100 * n + 7);
        }
        some.settle();
        assert!(some.spans.len() <= 1000 && some.each().is_none());
        assert_eq!(some.paused(within(0, u64::MAX)), 70_000);
        // The mutator's time begins and ends between single pauses.
        assert_eq!(some.paused(within(1003, 998_902)), 70_000 - 73 - 75);
    }

    #[test]
    fn few_pauses_stay_single_and_do_not_overlap() {
        let mut some = Spans::keeping(1000);
        for (from, to) in [(20, 30), (5, 10), (25, 40), (26, 28)] {
            some.add(from, to);
        }
        some.settle();
        let each: Vec<_> = some.each().unwrap().collect();
        assert_eq!(each, [(5, 10), (20, 30), (30, 40)]);
        assert_eq!(some.paused(within(8, 35)), 17);
    }
}
