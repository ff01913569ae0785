//! Latency of requests: a histogram, and when latency starts counting.
//!
//! A *closed loop* sends each request once the previous one has been answered. A pause then delays
//! one request on each thread; those that would have arrived during the pause are never sent, so
//! hardly any latency shows it. This is *coordinated omission* (Gil Tene). An *open loop* has a
//! schedule: each request has an intended start that does not depend on earlier requests, and its
//! latency counts from there, including the time in the queue, as a user would see it.
//!
//! A histogram holds nanoseconds to three significant digits in constant memory. Recording
//! allocates nothing and takes some nanoseconds. In a closed loop the times of the requests are
//! kept too, 16 bytes each, for metered latency (`metered`).

use crate::metered::{MOST_TIMES, Times, metered};
use hdrhistogram::Histogram;
use std::time::Duration;

/// The longest latency that the histogram can tell from longer ones.
const LONGEST: Duration = Duration::from_secs(3600);

/// The lengths of the windows of metered latency; `None` is the whole run.
const WINDOWS: [Option<Duration>; 4] = [
    Some(Duration::from_millis(1)),
    Some(Duration::from_millis(10)),
    Some(Duration::from_millis(100)),
    None,
];

/// Significant decimal digits of a recorded latency.
const DIGITS: u8 = 3;

/// The latencies of the requests of a run.
#[derive(Clone)]
pub struct Latency {
    histogram: Histogram<u64>,
    /// Intended starts per second in an open loop; `None` for a closed loop.
    rate: Option<u64>,
    /// The times of the requests of a closed loop; `None` if not wanted, or too many.
    times: Option<Vec<Times>>,
}

impl std::fmt::Debug for Latency {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without its thousands of counts.
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
    /// An empty histogram for an open loop of `rate` requests a second, or for a closed loop
    /// (`None`).
    pub fn new(rate: Option<u64>) -> Self {
        let histogram =
            Histogram::new_with_bounds(1, LONGEST.as_nanos() as u64, DIGITS).expect("constants that are legal");
        Latency {
            histogram,
            rate,
            times: None,
        }
    }

    /// An empty histogram for a closed loop of at most `requests`, whose times are to be kept for
    /// [`Latency::metered`].
    pub fn closed(requests: u64) -> Self {
        let most = usize::try_from(requests).ok().filter(|most| *most <= MOST_TIMES);
        Latency {
            times: most.map(Vec::with_capacity),
            ..Latency::new(None)
        }
    }

    /// Records a request of a closed loop that started at `start`, from an origin common to the
    /// whole run, and was answered after `latency`.
    pub fn record_from(&mut self, start: Duration, latency: Duration) {
        self.record(latency);
        if let Some(times) = &mut self.times {
            let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            times.push(Times {
                start: nanoseconds(start),
                latency: nanoseconds(latency),
            });
        }
    }

    /// DaCapo's metered latencies of a closed loop, each with the length of its window (1, 10 and
    /// 100 ms, and `None` for the whole run): the latency counts from the start that the request
    /// would have had if the starts in a window around it were evenly spaced. Empty if the times of
    /// the requests were not kept: an open loop's starts are evenly spaced already.
    pub fn metered(&self) -> Vec<(Option<Duration>, Latency)> {
        let Some(mut sorted) = self.times.clone() else {
            return Vec::new();
        };
        sorted.sort_unstable();
        let with = |window| {
            let mut latency = Latency::new(None);
            metered(&sorted, window, |of_request| latency.record(of_request));
            (window, latency)
        };
        WINDOWS.map(with).to_vec()
    }

    /// Records a request that was answered after `latency`.
    pub fn record(&mut self, latency: Duration) {
        self.histogram
            .saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Adds the latencies recorded by another thread.
    pub fn add(&mut self, other: &Latency) {
        self.histogram.add(&other.histogram).expect("the same bounds");
        self.times = match (self.times.take(), &other.times) {
            (Some(mut mine), Some(theirs)) => {
                mine.extend_from_slice(theirs);
                Some(mine)
            }
            _ => None,
        };
    }

    /// Intended starts per second in an open loop; latency counts from the intended start. `None`
    /// for a closed loop: each request starts after the previous one, and latency counts from its
    /// start.
    pub fn rate(&self) -> Option<u64> {
        self.rate
    }

    /// The number of requests answered.
    pub fn requests(&self) -> u64 {
        self.histogram.len()
    }

    /// The arithmetic mean in nanoseconds; 0 if there were no requests.
    pub fn mean_ns(&self) -> f64 {
        self.histogram.mean()
    }

    /// The longest latency in nanoseconds; 0 if there were no requests.
    pub fn max_ns(&self) -> u64 {
        self.histogram.max()
    }

    /// The latency, in nanoseconds, that all but one in `rarer` requests do not exceed (nearest
    /// rank): 2 gives the median, 1000 the 99.9th percentile. `None` if there are fewer than
    /// `rarer` requests, too few to tell.
    pub fn exceeded_by_one_in(&self, rarer: u64) -> Option<u64> {
        (self.requests() >= rarer).then(|| self.histogram.value_at_quantile(1.0 - 1.0 / rarer as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_recorded_latencies() {
        let mut halves = [Latency::new(Some(1000)), Latency::new(Some(1000))];
        for microseconds in 1..=1000_u64 {
            halves[microseconds as usize % 2].record(Duration::from_micros(microseconds));
        }
        let [mut all, odd] = halves;
        assert_eq!(all.requests(), 500);
        all.add(&odd);
        // The histogram keeps three digits.
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

    /// The requests of two threads are merged in order; if one thread's times are missing, there is
    /// no metered latency.
    #[test]
    fn requests_of_all_threads_are_metered_together() {
        let millisecond = Duration::from_millis(1);
        let mut halves = [Latency::closed(1000), Latency::closed(1000)];
        for request in 0..1000_u32 {
            halves[request as usize % 2].record_from(request * millisecond / 10, millisecond);
        }
        let [mut all, odd] = halves;
        all.add(&odd);
        let windows = all.metered();
        assert_eq!(windows.len(), 4);
        for (window, metered) in windows {
            assert_eq!(metered.requests(), 1000);
            // Even starts, so each latency is the request's own.
            assert!(metered.max_ns().abs_diff(1_000_000) < 2000, "{window:?}: {metered:?}");
        }
        all.add(&Latency::new(None));
        assert!(all.metered().is_empty() && Latency::new(Some(5)).metered().is_empty());
        assert!(Latency::closed(1 << 40).metered().is_empty(), "too many requests");
    }

    #[test]
    fn latencies_above_the_range_count_as_the_longest() {
        let mut latency = Latency::new(None);
        latency.record(Duration::MAX);
        assert!(latency.max_ns() >= LONGEST.as_nanos() as u64);
        assert_eq!((latency.requests(), latency.exceeded_by_one_in(2)), (1, None));
    }
}
