//! The greatest average pause, as ThreadScope computes it.

/// Limit on pauses kept: 24 MiB.
const MOST: usize = 1 << 20;

/// A capability stops for a collection, and resumes.
#[derive(Debug)]
struct CapPause {
    from: u64,
    to: u64,
    cap: u16,
}

/// The pauses of single capabilities.
#[derive(Debug, Default)]
pub(super) struct CapPauses(Vec<CapPause>);

impl CapPauses {
    /// Adds a pause. Capabilities may come one after another, as in the file.
    pub(super) fn add(&mut self, cap: u16, from: u64, to: u64) {
        if self.0.len() <= MOST {
            self.0.push(CapPause { from, to, cap });
        }
    }

    /// The greatest average over the capabilities that one collection stopped, in nanoseconds.
    /// `None` if no collection stopped several, or if there are more than [`MOST`] pauses.
    pub(super) fn greatest_average(mut self) -> Option<u64> {
        if self.0.len() > MOST {
            return None;
        }
        self.0.sort_unstable_by_key(|pause| pause.from);
        let (mut greatest, mut several) = (0, false);
        let mut rest = self.0.as_slice();
        while let Some(first) = rest.first() {
            let mut end = first.to;
            let is_next = |(place, pause): (usize, &CapPause)| {
                // A capability may stop again before another has resumed.
                let is_same = pause.from < end && rest[..place].iter().all(|other| other.cap != pause.cap);
                end = end.max(pause.to);
                !is_same
            };
            let count = rest
                .iter()
                .enumerate()
                .skip(1)
                .position(is_next)
                .map_or(rest.len(), |after| after + 1);
            let (collection, others) = rest.split_at(count);
            let sum: u128 = collection.iter().map(|pause| u128::from(pause.to - pause.from)).sum();
            greatest = greatest.max((sum / count as u128) as u64);
            several |= count > 1;
            rest = others;
        }
        several.then_some(greatest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greatest(pauses: &[(u16, u64, u64)]) -> Option<u64> {
        let mut all = CapPauses::default();
        pauses.iter().for_each(|&(cap, from, to)| all.add(cap, from, to));
        all.greatest_average()
    }

    #[test]
    fn the_average_is_over_the_capabilities_of_one_collection() {
        // In file order: capability 1 stops first and resumes last both times.
        let two = [(0, 10, 20), (0, 110, 120), (1, 5, 25), (1, 100, 140)];
        assert_eq!(greatest(&two), Some(25));
        // Capability 2 is still stopped when the others stop again.
        assert_eq!(
            greatest(&[(0, 0, 10), (1, 1, 3), (2, 5, 21), (0, 20, 60), (1, 20, 60)]),
            Some(40)
        );
        assert_eq!(greatest(&[(0, 0, 10), (1, 10, 30)]), None);
    }
}
