//! Latency of requests in a run record: percentiles of a histogram with three significant digits.

use crate::schema::documented;

documented! {
    /// How long the requests of a run took. A percentile is the least latency that so large a share of the requests does not exceed (nearest rank); it is absent
    /// where there were too few requests for one to exceed it: 99.99 needs 10,000.
    #[derive(Default)]
    pub struct Latency {
        /// Requests answered.
        pub requests: u64,
        /// Requests that were to start in a second, an open loop: latency counts from when each was to start. Absent: a closed loop, where each starts after the one before it and counts from there.
        pub rate_per_second: Option<u64>,
        /// Arithmetic mean.
        pub mean_ns: Option<f64>,
        /// Median.
        pub p50_ns: Option<u64>,
        /// What 90 % of the requests do not exceed.
        pub p90_ns: Option<u64>,
        /// What 99 % do not exceed.
        pub p99_ns: Option<u64>,
        /// What 99.9 % do not exceed.
        pub p99_9_ns: Option<u64>,
        /// What 99.99 % do not exceed.
        pub p99_99_ns: Option<u64>,
        /// The longest.
        pub max_ns: Option<u64>,
    }
}
