//! The pauses of the measured phase, in bounded memory.
//!
//! A *pause* here is the time for which a collection keeps the mutators from running, including the
//! time to stop them. Up to 2^20 pauses are kept, in 16 bytes each. Beyond that, a histogram of
//! their lengths replaces them, with three significant digits in a quarter of a MiB. Figures that
//! need single pauses are then absent, and [`Pauses::reason`] says why.

use hdrhistogram::Histogram;

use crate::stats::utilisation::Utilisation;

/// Limit on pauses kept individually.
const MOST: usize = 1 << 20;

/// The longest pause that the histogram distinguishes from longer ones: an hour, in nanoseconds.
const LONGEST_NS: u64 = 3600 * 1_000_000_000;

/// Significant decimal digits of a length in the histogram.
const DIGITS: u8 = 3;

/// One pause, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SinglePause {
    /// The moment at which the collection was requested, since the start of the run.
    pub start_ns: u64,
    /// The time from then until the mutators ran again.
    pub length_ns: u64,
}

/// The pauses of the measured phase of a run, in order of time.
#[derive(Clone, PartialEq)]
pub struct Pauses {
    kept: Kept,
    /// Limit on pauses kept individually.
    most: usize,
    /// The sum of all lengths.
    total_ns: u64,
    /// The longest one.
    longest_ns: u64,
}

#[derive(Clone, PartialEq)]
enum Kept {
    Each(Vec<SinglePause>),
    Lengths(Histogram<u64>),
}

/// Counts and times are integers, so equality is reflexive.
impl Eq for Pauses {}

impl Default for Pauses {
    fn default() -> Self {
        Pauses::keeping(MOST)
    }
}

impl std::fmt::Debug for Pauses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let single = self.each().is_some();
        write!(f, "Pauses({}, single: {single})", self.count())
    }
}

impl Pauses {
    /// No pauses so far; up to `most` will be kept singly.
    fn keeping(most: usize) -> Self {
        Pauses {
            kept: Kept::Each(Vec::new()),
            most,
            total_ns: 0,
            longest_ns: 0,
        }
    }

    /// Adds a pause that is later than all others.
    pub fn add(&mut self, pause: SinglePause) {
        // A damaged log may contain arbitrary times.
        self.total_ns = self.total_ns.saturating_add(pause.length_ns);
        self.longest_ns = self.longest_ns.max(pause.length_ns);
        match &mut self.kept {
            Kept::Each(each) if each.len() < self.most => each.push(pause),
            Kept::Each(each) => {
                let mut lengths = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("constants that are legal");
                each.iter()
                    .chain([&pause])
                    .for_each(|pause| lengths.saturating_record(pause.length_ns));
                self.kept = Kept::Lengths(lengths);
            }
            Kept::Lengths(lengths) => lengths.saturating_record(pause.length_ns),
        }
    }

    /// Forgets all pauses.
    pub fn clear(&mut self) {
        *self = Pauses::keeping(self.most);
    }

    /// The number of pauses.
    pub fn count(&self) -> u64 {
        match &self.kept {
            Kept::Each(each) => each.len() as u64,
            Kept::Lengths(lengths) => lengths.len(),
        }
    }

    /// The sum of their lengths, in nanoseconds.
    pub fn total_ns(&self) -> u64 {
        self.total_ns
    }

    /// The length of the longest one, in nanoseconds; 0 without any.
    pub fn longest_ns(&self) -> u64 {
        self.longest_ns
    }

    /// Each pause, unless there were too many.
    pub fn each(&self) -> Option<&[SinglePause]> {
        match &self.kept {
            Kept::Each(each) => Some(each),
            Kept::Lengths(_) => None,
        }
    }

    /// Why the single pauses are not known; `None` if they are.
    pub fn reason(&self) -> Option<String> {
        self.each().is_none().then(|| {
            format!(
                "the measured phase had {} pauses, of which a histogram was kept; up to {} are kept individually",
                self.count(),
                self.most
            )
        })
    }

    /// For each of `rarer`, the least length in nanoseconds that a share of `1 - 1/rarer` of the
    /// pauses do not exceed (nearest rank): 2 for the median, 1000 for 99.9 %. `None` if there are
    /// fewer than `rarer` pauses, which is too few to tell. From the histogram the length has three
    /// significant digits.
    pub fn exceeded_by_one_in<const N: usize>(&self, rarer: [u64; N]) -> [Option<u64>; N] {
        let count = self.count();
        // From 1: the rank is ceil(count x (1 - 1/rarer)), in whole numbers.
        let rank = |rarer: u64| (count >= rarer).then(|| (count - count / rarer).max(1));
        match &self.kept {
            Kept::Each(each) => {
                let mut sorted: Vec<u64> = each.iter().map(|pause| pause.length_ns).collect();
                sorted.sort_unstable();
                rarer.map(|rarer| rank(rarer).map(|rank| sorted[rank as usize - 1]))
            }
            Kept::Lengths(lengths) => {
                // The histogram rounds a quantile of the count up to a rank.
                let at = |rank: u64| lengths.value_at_quantile((rank as f64 - 0.5) / count as f64);
                // A value of the histogram is the end of its range, which may pass the longest.
                rarer.map(|rarer| rank(rarer).map(|rank| at(rank).min(self.longest_ns)))
            }
        }
    }

    /// The utilisation of the mutators between two moments; `None` if the single pauses are not
    /// known, or if there is no time between the two.
    pub fn utilisation(&self, span: (u64, u64)) -> Option<Utilisation> {
        let pauses = self.each()?.iter();
        let ends = |pause: &SinglePause| (pause.start_ns, pause.start_ns.saturating_add(pause.length_ns));
        Utilisation::of(pauses.map(ends), span)
    }

    /// The minimum mutator utilisation: the least share of a window of `window_ns` nanoseconds in
    /// which the mutators could run, over all windows between `from_ns` and `to_ns`. `None` if the
    /// single pauses are not known, or if no window fits.
    pub fn least_utilisation(&self, window_ns: u64, (from_ns, to_ns): (u64, u64)) -> Option<f64> {
        self.utilisation((from_ns, to_ns))?.least(window_ns)
    }

    /// Bytes of memory that the pauses take.
    pub fn bytes(&self) -> usize {
        match &self.kept {
            Kept::Each(each) => each.capacity() * size_of::<SinglePause>(),
            Kept::Lengths(lengths) => lengths.distinct_values() * size_of::<u64>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(most: usize, all: impl IntoIterator<Item = (u64, u64)>) -> Pauses {
        let mut pauses = Pauses::keeping(most);
        for (start_ns, length_ns) in all {
            pauses.add(SinglePause { start_ns, length_ns });
        }
        pauses
    }

    #[test]
    fn a_pause_takes_sixteen_bytes_and_a_million_and_more_a_histogram() {
        assert_eq!(size_of::<SinglePause>(), 16);
        let length = |n: u64| 1000 + n % 1000;
        let mut all = pauses(MOST, (0..MOST as u64).map(|n| (n * 10_000, length(n))));
        assert_eq!((all.bytes(), all.reason()), (16 << 20, None));
        let exact = all.exceeded_by_one_in([2, 1000]);
        assert_eq!(exact, [Some(1499), Some(1998)]);
        for n in 0..5 {
            all.add(SinglePause {
                start_ns: (MOST as u64 + n) * 10_000,
                length_ns: 7_654_321,
            });
        }
        assert!(all.bytes() < 512 << 10 && all.each().is_none(), "{}", all.bytes());
        assert_eq!(
            all.reason().as_deref(),
            Some(
                "the measured phase had 1048581 pauses, of which a histogram was kept; up to 1048576 are kept individually"
            )
        );
        assert_eq!((all.count(), all.longest_ns()), (MOST as u64 + 5, 7_654_321));
        for (near, exact) in all.exceeded_by_one_in([2, 1000]).into_iter().zip(exact) {
            let (near, exact) = (near.expect("enough") as f64, exact.expect("enough") as f64);
            assert!((near / exact - 1.0).abs() < 2e-3, "{near} for {exact}");
        }
        assert_eq!(all.least_utilisation(1_000_000, (0, 1 << 40)), None);
        all.clear();
        assert_eq!(all, Pauses::default());
    }

    #[test]
    fn percentiles_are_nearest_ranks_and_need_enough_pauses() {
        let nine = pauses(MOST, (1..=9).map(|n| (n * 100, 10 - n)));
        assert_eq!(
            nine.exceeded_by_one_in([1, 2, 3, 9, 10]),
            [Some(1), Some(5), Some(6), Some(8), None]
        );
        let few = pauses(3, (1..=9).map(|n| (n * 100, 10 - n)));
        assert_eq!(few.exceeded_by_one_in([2, 3, 9, 10]), [Some(5), Some(6), Some(8), None]);
        assert_eq!((few.total_ns(), few.longest_ns()), (45, 9));
        assert_eq!(pauses(MOST, []).exceeded_by_one_in([2]), [None]);
    }

    #[test]
    fn the_least_utilisation_is_that_of_the_worst_window() {
        // Two pauses of 10, 5 apart, and a long one by itself.
        let some = pauses(MOST, [(100, 10), (115, 10), (500, 18)]);
        let least = |window| some.least_utilisation(window, (0, 1000));
        assert_eq!(least(10), Some(0.0));
        assert_eq!(least(25), Some(0.2));
        assert_eq!(least(20), Some(0.1));
        assert_eq!(least(1000), Some(0.962));
        assert_eq!((least(1001), least(0)), (None, None));
        // Windows do not reach beyond the phase.
        assert_eq!(some.least_utilisation(20, (505, 600)), Some(0.35));
        assert_eq!(pauses(MOST, []).least_utilisation(5, (0, 10)), Some(1.0));
    }
}
