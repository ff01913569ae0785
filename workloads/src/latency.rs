//! Latency of requests: a histogram, and what it counts from.
//!
//! A *closed loop* sends a request when the one before it has been answered: a pause delays one request on each thread, and those that would have come
//! meanwhile are not sent, so that hardly any latency shows it. That is *coordinated omission* (Gil Tene). An *open loop* has a schedule:
//! each request has an intended start, whatever became of those before it, and its latency counts from there. An answer that had to wait in line
//! is as late as a user would find it.
//!
//! A histogram holds nanoseconds to three significant digits in constant memory, so recording allocates nothing and takes some nanoseconds.

use hdrhistogram::Histogram;
use std::time::Duration;

/// The longest latency that is told from longer ones.
const LONGEST: Duration = Duration::from_secs(3600);

/// Significant decimal digits of what is recorded.
const DIGITS: u8 = 3;

/// How long requests took.
#[derive(Clone)]
pub struct Latency {
    histogram: Histogram<u64>,
    /// Requests that are to start in a second, in an open loop; `None` for a closed loop.
    rate: Option<u64>,
}

impl std::fmt::Debug for Latency {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the thousands of counts.
        let mut shown = f.debug_struct("Latency");
        shown.field("requests", &self.requests()).field("rate", &self.rate);
        for rarer in [2, 10, 100, 1000, 10_000] {
            shown.field(&format!("one_in_{rarer}_ns"), &self.exceeded_by_one_in(rarer));
        }
        shown
            .field("mean_ns", &self.mean_ns())
            .field("max_ns", &self.max_ns())
            .finish()
    }
}

impl Latency {
    /// Nothing recorded yet, of requests of which `rate` are to start in a second, or each after the one before it.
    pub fn new(rate: Option<u64>) -> Self {
        let histogram =
            Histogram::new_with_bounds(1, LONGEST.as_nanos() as u64, DIGITS).expect("constants that are legal");
        Latency { histogram, rate }
    }

    /// A request was answered after `latency`.
    pub fn record(&mut self, latency: Duration) {
        self.histogram
            .saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Counts what another thread has recorded as well.
    pub fn add(&mut self, other: &Latency) {
        self.histogram.add(&other.histogram).expect("the same bounds");
    }

    /// Requests that are to start in a second; latency counts from when they are. `None`: each starts after the one before it, and latency counts from there.
    pub fn rate(&self) -> Option<u64> {
        self.rate
    }

    /// Requests answered.
    pub fn requests(&self) -> u64 {
        self.histogram.len()
    }

    /// Arithmetic mean in nanoseconds; 0 if there were no requests.
    pub fn mean_ns(&self) -> f64 {
        self.histogram.mean()
    }

    /// The longest in nanoseconds; 0 if there were no requests.
    pub fn max_ns(&self) -> u64 {
        self.histogram.max()
    }

    /// The least latency, in nanoseconds, that a share of `1 - 1/rarer` of the requests do not exceed (nearest rank): 2 for the median, 1000 for 99.9 %. `None` if
    /// there are fewer than `rarer` requests: then nobody knows.
    pub fn exceeded_by_one_in(&self, rarer: u64) -> Option<u64> {
        (self.requests() >= rarer).then(|| self.histogram.value_at_quantile(1.0 - 1.0 / rarer as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_what_was_recorded() {
        let mut halves = [Latency::new(Some(1000)), Latency::new(Some(1000))];
        for microseconds in 1..=1000_u64 {
            halves[microseconds as usize % 2].record(Duration::from_micros(microseconds));
        }
        let [mut all, odd] = halves;
        assert_eq!(all.requests(), 500);
        all.add(&odd);
        // Values that stand for others are within the last of three digits.
        let near = |found: u64, microseconds: u64| found.abs_diff(microseconds * 1000) <= microseconds;
        for (rarer, microseconds) in [(2, 500), (10, 900), (100, 990), (1000, 999)] {
            let found = all.exceeded_by_one_in(rarer).expect("enough");
            assert!(near(found, microseconds), "{found} for {microseconds} us");
        }
        assert_eq!(
            (all.exceeded_by_one_in(10_000), all.requests(), all.rate()),
            (None, 1000, Some(1000))
        );
        assert!(
            near(all.max_ns(), 1000) && (all.mean_ns() - 500_500.0).abs() < 1000.0,
            "{all:?}"
        );
    }

    #[test]
    fn what_takes_longer_than_can_be_told_counts_as_the_longest() {
        let mut latency = Latency::new(None);
        latency.record(Duration::MAX);
        assert!(latency.max_ns() >= LONGEST.as_nanos() as u64);
        assert_eq!((latency.requests(), latency.exceeded_by_one_in(2)), (1, None));
    }
}
