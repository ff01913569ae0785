//! Every workload at its test size, under every collector: the checksums of the definitions, and the same under each collector.

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
                statistics.collections.len() > 2,
                "{run:?} under {collector}: too small to collect"
            );
        }
    }
}

fn with_a_tiny_allocation_area(workload: &str) {
    let description = All::descriptions()
        .into_iter()
        .find(|known| known.name == workload)
        .unwrap();
    let run = Run::new(workload, description.test.args).area(16 << 10);
    let results = run.everywhere();
    let expected = description.test.checksum.unwrap_or(results[0].1);
    for (collector, checksum, _) in results {
        assert_eq!(checksum, expected, "{run:?} under {collector}");
    }
}

#[test]
fn a_tiny_allocation_area_changes_nothing() {
    for description in All::descriptions() {
        with_a_tiny_allocation_area(description.name);
    }
}

/// At every allocation, or at every so many where there are too many.
#[test]
fn collecting_all_the_time_changes_nothing() {
    let runs = [
        ("binary_trees", &["6"][..], 1),
        ("gcbench", &["5", "4", "100"], 1),
        ("long_list", &["200", "100"], 1),
        ("mut_array", &["50", "1000"], 1),
        ("hash_churn", &["16", "64", "1000"], 1),
        ("message_window", &["50", "200", "16"], 1),
        ("heap_snapshot", &["-", "1"], 3001),
        ("word_index", &["Cargo.toml", "1", "50"], 1),
        ("par_trees", &["2", "6"], 1),
        ("par_skewed", &["3", "64", "2"], 1),
        ("par_shared", &["3", "16", "64", "1000"], 1),
        ("server", &["3", "20", "5", "0"], 7),
        ("hsc_env", &["20"], 1),
    ];
    for (workload, args, every) in runs {
        let calm = Run::new(workload, args);
        let expected = calm.under("two-space").unwrap().0;
        for (collector, checksum, statistics) in calm.stress(every).everywhere() {
            assert_eq!(checksum, expected, "{workload} {args:?} under {collector}");
            assert!(
                statistics.collections.len() > 20,
                "{workload} {args:?} under {collector}: the stress flag had no effect"
            );
        }
    }
}
