//! Every workload at its test size, under every collector: each checksum is that of the definition,
//! and all collectors agree on it.

use gclab_workloads::{All, WorkloadList};

use crate::run::Run;

#[test]
fn checksums_are_those_of_the_definitions() {
    for description in All::descriptions() {
        let run = Run::new(description.name, description.test.args);
        let results = run.everywhere();
        let expected = description.test.checksum.unwrap_or(results[0].1);
        for (collector, checksum, statistics) in results {
            assert_eq!(checksum, expected, "{run:?} under {collector}");
            assert!(
                statistics.collections_count() > 2,
                "{run:?} under {collector}: too small to collect"
            );
        }
    }
}

/// The checker looks at all live data after each collection: at so much of it in a run with a tiny
/// allocation area. A program with more live data has a larger area.
const CHECKED: u64 = 256 << 20;

fn with_a_tiny_allocation_area(workload: &str) {
    let description = All::descriptions()
        .into_iter()
        .find(|known| known.name == workload)
        .unwrap();
    let run = Run::new(workload, description.test.args);
    let (checksum, statistics) = run.clone().unchecked().under("copying").unwrap();
    let live = statistics
        .collections
        .iter()
        .map(|collection| collection.work.live.0 as u64);
    let area = (statistics.allocated * live.max().unwrap_or(0) / CHECKED).max(16 << 10);
    let run = run.area(area as usize);
    let expected = description.test.checksum.unwrap_or(checksum);
    for (collector, checksum, _) in run.everywhere() {
        assert_eq!(checksum, expected, "{run:?} under {collector}");
    }
}

#[test]
fn a_tiny_allocation_area_changes_nothing() {
    for description in All::descriptions() {
        with_a_tiny_allocation_area(description.name);
    }
}

#[test]
fn collecting_all_the_time_changes_nothing() {
    for description in All::descriptions() {
        collecting_often(description.name, description.stress.args, description.stress.every);
    }
    // A text so small that the index can be checked at every allocation.
    collecting_often("word_index", &["Cargo.toml", "1", "50"], 1);
}

fn collecting_often(workload: &str, args: &[&str], every: u64) {
    let calm = Run::new(workload, args);
    let expected = calm.under("two-space").unwrap().0;
    for (collector, checksum, statistics) in calm.stress(every).everywhere() {
        assert_eq!(checksum, expected, "{workload} {args:?} under {collector}");
        assert!(
            statistics.collections_count() > 20,
            "{workload} {args:?} under {collector}: the stress flag had no effect"
        );
    }
}
