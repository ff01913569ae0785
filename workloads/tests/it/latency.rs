//! Latency: all requests are recorded, and in an open loop the ones that queue are late.

use gclab_collectors::Copying;
use gclab_core::config::Config;
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_workloads::{All, Args, Latency, Workload, WorkloadList, WorkloadVisitor};
use std::time::{Duration, Instant};

/// Runs a workload with arguments on two capabilities.
struct Measured<'a>(&'a [&'a str]);

impl WorkloadVisitor for Measured<'_> {
    type Output = Option<Latency>;
    fn visit<W: Workload>(self, workload: &W) -> Option<Latency> {
        let config = Config {
            capabilities: 2,
            reserve: Bytes(8 << 30),
            ..Config::default()
        };
        let world = World::new::<Copying>(&config).expect("a small heap");
        let args = Args::parse(&W::DESCRIPTION, self.0).unwrap();
        workload.run(&world, &args).expect("room enough");
        workload.latency()
    }
}

fn measured(workload: &str, args: &[&str]) -> Option<Latency> {
    All::with(workload, Measured(args)).expect("a workload of the list")
}

#[test]
fn every_request_is_recorded() {
    for (rate, expected) in [("0", None), ("1000000", Some(1_000_000))] {
        let latency = measured("server", &["3", "3000", "100", rate]).expect("it answers requests");
        assert_eq!((latency.requests(), latency.rate()), (3000, expected));
        let percentiles = [2, 10, 100, 1000].map(|rarer| latency.exceeded_by_one_in(rarer).expect("enough requests"));
        assert!(
            percentiles.is_sorted() && percentiles[0] > 100 && latency.max_ns() >= percentiles[3],
            "{latency:?}"
        );
        assert!(latency.mean_ns() <= latency.max_ns() as f64);
    }
    assert!(measured("binary_trees", &["6"]).is_none());
}

/// Measures again until `holds` returns true: a busy machine may disturb one measurement, but not
/// all of them for two minutes.
fn in_the_end(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{what}, at each time");
    }
}

#[test]
fn requests_of_an_open_loop_start_when_they_should() {
    in_the_end("half of the requests were late", || {
        let before = Instant::now();
        let latency = measured("server", &["2", "200", "100", "1000"]).unwrap();
        assert!(before.elapsed() >= Duration::from_millis(199));
        latency.exceeded_by_one_in(2).unwrap() < 20_000_000
    });
}

#[test]
fn requests_that_queue_are_late() {
    let args = |rate| ["2", "3000", "100", rate];
    in_the_end("requests in line were not late", || {
        let alone = measured("server", &args("0")).unwrap();
        // All are due at once, so half of them wait for the other half.
        let in_line = measured("server", &args("1000000000")).unwrap();
        let [alone, in_line] = [alone, in_line].map(|latency| latency.exceeded_by_one_in(2).unwrap());
        in_line > 100 * alone
    });
}
