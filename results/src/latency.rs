//! Latency of requests in a run record: percentiles of a histogram with three significant digits.

use crate::schema::documented;

documented! {
    /// The latency of the requests of a run. A percentile is the least latency that this share of
    /// the requests does not exceed (nearest rank). It is absent where no request could exceed it
    /// because there were too few: 99.99 needs 10,000 requests.
    #[derive(Default)]
    pub struct Latency {
        /// Number of requests answered.
        pub requests: u64,
        /// Number of requests that were to start in a second, in an open loop: the latency of each
        /// counts from the time at which it was to start. Absent in a closed loop, where each
        /// request starts after the one before it, and its latency counts from its start.
        pub rate_per_second: Option<u64>,
        /// Arithmetic mean, in nanoseconds.
        pub mean_ns: Option<f64>,
        /// Median, in nanoseconds.
        pub p50_ns: Option<u64>,
        /// Latency that 90 % of the requests do not exceed.
        pub p90_ns: Option<u64>,
        /// Latency that 99 % of the requests do not exceed.
        pub p99_ns: Option<u64>,
        /// Latency that 99.9 % of the requests do not exceed.
        pub p99_9_ns: Option<u64>,
        /// Latency that 99.99 % of the requests do not exceed.
        pub p99_99_ns: Option<u64>,
        /// The greatest latency, in nanoseconds.
        pub max_ns: Option<u64>,
        /// Metered latency of a closed loop, for each length of a window; absent in an open loop,
        /// and of more than four million requests.
        pub metered: Option<Vec<MeteredLatency>>,
    }
}

documented! {
    /// The latency of the requests of a closed loop, counted from the starts that they would have
    /// had if those in a window around each were even (DaCapo's metered latency). Percentiles as of
    /// [`Latency`].
    #[derive(Default)]
    pub struct MeteredLatency {
        /// Length of the window, in nanoseconds; absent if the window is the whole run.
        pub window_ns: Option<u64>,
        /// Median of the metered latencies.
        pub p50_ns: Option<u64>,
        /// Latency that 90 % of the requests do not exceed.
        pub p90_ns: Option<u64>,
        /// Latency that 99 % of the requests do not exceed.
        pub p99_ns: Option<u64>,
        /// Latency that 99.9 % of the requests do not exceed.
        pub p99_9_ns: Option<u64>,
        /// Latency that 99.99 % of the requests do not exceed.
        pub p99_99_ns: Option<u64>,
        /// The greatest latency, in nanoseconds.
        pub max_ns: Option<u64>,
    }
}

impl Latency {
    /// The metered latency with the window of this length, or of the whole run (`None`); `None` if
    /// the record lacks it.
    pub fn metered_in(&self, window_ns: Option<u64>) -> Option<&MeteredLatency> {
        self.metered.as_ref()?.iter().find(|one| one.window_ns == window_ns)
    }
}
