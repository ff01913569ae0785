//! Metered latency: the latency that requests of a closed loop would have had at an even pace.
//!
//! A closed loop has no schedule, so the start at which a request was due is synthesised. DaCapo's
//! *metered latency* (Blackburn and others, "Rethinking Java Performance Analysis", ASPLOS 2025)
//! spreads the real starts evenly over a *window* around each request: the first and last request
//! in the window keep their starts, and the others are equally spaced between them. The latency of
//! a request counts from the earlier of its two starts. A pause delays the later requests whose
//! windows reach across it: with a window of 10 ms, pauses of up to 5 ms. With the whole run as the
//! window, a pause delays all later requests until the program has caught up.
//!
//! Times are whole nanoseconds. One pass over the requests in order of their starts finds all
//! windows, so each window length costs O(requests) after the sort.

use std::time::Duration;

/// Limit on requests whose times are kept: a table of 64 MiB.
pub(crate) const MOST_TIMES: usize = 1 << 22;

/// The times of a request, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Times {
    /// Its start, from an origin common to all requests of the run.
    pub(crate) start: u64,
    /// The time from its start to its answer.
    pub(crate) latency: u64,
}

/// Calls `record` with the metered latency of each request, over windows of this length, or over
/// the whole run for `None`. The requests are sorted by start.
pub(crate) fn metered(sorted: &[Times], window: Option<Duration>, mut record: impl FnMut(Duration)) {
    let half = window.map_or(u64::MAX, |window| (window.as_nanos() / 2) as u64);
    let (mut first, mut end) = (0, 0);
    for (at, request) in sorted.iter().enumerate() {
        while sorted[first].start < request.start.saturating_sub(half) {
            first += 1;
        }
        while end < sorted.len() && sorted[end].start <= request.start.saturating_add(half) {
            end += 1;
        }
        let (begin, last) = (sorted[first].start, sorted[end - 1].start);
        // A request alone in its window keeps its start.
        let gaps = (end - 1 - first).max(1) as u128;
        let even = begin + (u128::from(last - begin) * (at - first) as u128 / gaps) as u64;
        let waited = request.start.saturating_sub(even);
        record(Duration::from_nanos(request.latency.saturating_add(waited)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICROSECOND: u64 = 1000;

    /// The metered latencies in nanoseconds, in ascending order.
    fn all(requests: &[Times], window: Option<Duration>) -> Vec<u64> {
        let mut latencies = Vec::new();
        metered(requests, window, |latency| latencies.push(latency.as_nanos() as u64));
        assert_eq!(latencies.len(), requests.len());
        latencies.sort_unstable();
        latencies
    }

    /// A request of 10 µs every 100 µs, and a pause of 2 ms in the hundredth. The requests held up
    /// by the pause follow without gaps.
    fn paused() -> Vec<Times> {
        let mut requests = Vec::new();
        let mut now = 0;
        for number in 0..1000 {
            let pause = if number == 100 { 2000 * MICROSECOND } else { 0 };
            let latency = 10 * MICROSECOND + pause;
            requests.push(Times { start: now, latency });
            now = (now + latency).max((number + 1) * 100 * MICROSECOND);
        }
        requests
    }

    /// Counting from real starts, only one request is slow. A window of 1 ms lies on one side of
    /// the pause, so it makes no other late. Wider ones make those after the pause late, by no more
    /// than the pause.
    #[test]
    fn a_pause_delays_the_requests_after_it() {
        let requests = paused();
        let own = requests.iter().filter(|request| request.latency > 20 * MICROSECOND);
        assert_eq!(own.count(), 1);
        let late = [Some(1), Some(10), None].map(|window| all(&requests, window.map(Duration::from_millis))[990]);
        let [one, ten, whole] = late;
        assert_eq!(one, 10 * MICROSECOND);
        assert!(ten > 500 * MICROSECOND && ten <= whole, "{ten} {whole}");
        assert!(whole > 1000 * MICROSECOND && whole < 2010 * MICROSECOND, "{whole}");
    }

    /// By hand: starts at 0, 1, 2 and 9 µs. Over the whole run they are due at 0, 3, 6 and 9 µs, so
    /// none is late. Starts at 0, 7, 8 and 9 µs are due at the same times: two are late, by 4 and
    /// by 2 µs.
    #[test]
    fn four_requests_by_hand() {
        let found = |starts: [u64; 4], window: Option<Duration>| {
            let latency = 100;
            let requests = starts.map(|start| Times {
                start: start * MICROSECOND,
                latency,
            });
            all(&requests, window)
        };
        assert_eq!(found([0, 1, 2, 9], None), [100; 4]);
        assert_eq!(found([0, 7, 8, 9], None), [100, 100, 2100, 4100]);
        // A window of 2 µs: the starts at 7, 8 and 9 µs are even, and the first one is alone.
        assert_eq!(found([0, 7, 8, 9], Some(Duration::from_micros(2))), [100; 4]);
    }

    /// Even starts stay where they are, whatever the window.
    #[test]
    fn even_requests_keep_their_starts() {
        let requests: Vec<Times> = (0..500)
            .map(|number| Times {
                start: number * 50 * MICROSECOND,
                latency: 30,
            })
            .collect();
        for window in [Some(1), Some(10), Some(100), None] {
            assert_eq!(all(&requests, window.map(Duration::from_millis)), [30; 500]);
        }
    }

    #[test]
    fn no_request_has_no_latency() {
        assert!(all(&[], None).is_empty());
        let one = [Times { start: 5, latency: 7 }];
        assert_eq!(all(&one, Some(Duration::from_millis(1))), [7]);
    }
}
