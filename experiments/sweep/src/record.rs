//! Converts the latencies and heap profiles of a run for its record. (The statistics of a run
//! become part of a record in `gclab_results`.)

use std::time::Duration;

use gclab_core::config::Breakdown;
use gclab_heap_traverse::profile::{self, Profile};
use gclab_results::{Census, HeapProfile, Latency, MeteredLatency};

/// The latency of answered requests.
pub fn latency(measured: &gclab_workloads::Latency) -> Latency {
    let some = measured.requests() > 0;
    Latency {
        requests: Some(measured.requests()),
        rate_per_second: measured.rate(),
        mean_ns: some.then(|| measured.mean_ns()),
        p50_ns: measured.exceeded_by_one_in(2),
        p90_ns: measured.exceeded_by_one_in(10),
        p99_ns: measured.exceeded_by_one_in(100),
        p99_9_ns: measured.exceeded_by_one_in(1000),
        p99_99_ns: measured.exceeded_by_one_in(10_000),
        max_ns: some.then(|| measured.max_ns()),
        metered: Some(metered(measured)).filter(|windows| some && !windows.is_empty()),
    }
}

/// The metered latency of a closed loop, for each length of a window.
fn metered(measured: &gclab_workloads::Latency) -> Vec<MeteredLatency> {
    let windows = measured.metered().into_iter();
    let of = |(window, latency): (Option<Duration>, gclab_workloads::Latency)| MeteredLatency {
        window_ns: window.map(|window| window.as_nanos() as u64),
        p50_ns: latency.exceeded_by_one_in(2),
        p90_ns: latency.exceeded_by_one_in(10),
        p99_ns: latency.exceeded_by_one_in(100),
        p99_9_ns: latency.exceeded_by_one_in(1000),
        p99_99_ns: latency.exceeded_by_one_in(10_000),
        max_ns: Some(latency.max_ns()),
    };
    windows.map(of).collect()
}

/// The censuses of a run.
pub fn heap_profile(profile: &Profile) -> HeapProfile {
    let census = |census: &profile::Census| Census {
        seconds: census.seconds,
        marker: census.marker.clone(),
        bands: census.bands.iter().cloned().collect(),
    };
    let set = |set: &profile::RetainerSet| {
        let names = set.retainers.iter().map(|retainer| retainer.full_name.clone());
        (set.id.to_string(), names.collect())
    };
    let by_retainers = profile.breakdown == Breakdown::Retainer;
    HeapProfile {
        breakdown: profile.breakdown.name().to_owned(),
        censuses: profile.censuses.iter().map(census).collect(),
        census_seconds: profile.census_seconds,
        retainer_sets: by_retainers.then(|| profile.sets.iter().map(set).collect()),
    }
}
