//! Every workload under every collector, with the checker after each collection: the checksum
//! follows from the definition, and is the same with all settings.
//!
//! A quick run tries each pair of a workload and a collector with one setting of a table in turn.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use gclab_core::collector::CollectorList;
use gclab_core::stats::Statistics;
use gclab_proof::tier;
use gclab_workloads::{All, WorkloadDescription, WorkloadList};

use crate::run::Run;

type Description = &'static WorkloadDescription;

struct Setting {
    name: &'static str,
    /// Makes the run, given the statistics of an ordinary one at test size.
    run: fn(Description, &Statistics) -> Run<'static>,
    least_collections: u64,
}

const SETTINGS: [Setting; 3] = [
    Setting {
        name: "an ordinary allocation area",
        run: |workload, _| at_test_size(workload),
        least_collections: 3,
    },
    Setting {
        name: "a tiny allocation area",
        run: in_a_tiny_area,
        least_collections: 3,
    },
    Setting {
        name: "collections all the time",
        run: |workload, _| at_stress_size(workload).stress(workload.stress.every),
        least_collections: 21,
    },
];

/// For workloads that start threads.
const SETTINGS_OF_THREADS: [Setting; 4] = [
    Setting {
        name: "two capabilities",
        run: |workload, _| at_test_size(workload).capabilities(2).area(64 << 10),
        least_collections: 2,
    },
    Setting {
        name: "three capabilities with small areas",
        run: |workload, _| at_test_size(workload).capabilities(3).area(16 << 10),
        least_collections: 2,
    },
    Setting {
        name: "four capabilities",
        run: |workload, _| at_test_size(workload).capabilities(4).area(32 << 10),
        least_collections: 2,
    },
    // Less often than on one thread: each collection has to stop three.
    Setting {
        name: "three capabilities that collect all the time",
        run: |workload, _| {
            let every = workload.stress.every * 4 + 1;
            at_stress_size(workload).capabilities(3).stress(every)
        },
        least_collections: 2,
    },
];

fn at_test_size(workload: Description) -> Run<'static> {
    Run::new(workload.name, workload.test.args)
}

fn at_stress_size(workload: Description) -> Run<'static> {
    Run::new(workload.name, workload.stress.args)
}

/// The checker visits all live data after each collection. The area is chosen so that it visits
/// this many bytes in a run, but is at least 16 KiB.
const CHECKED: (u64, u64) = (64 << 20, 256 << 20);

fn in_a_tiny_area(workload: Description, ordinary: &Statistics) -> Run<'static> {
    let live = ordinary
        .collections
        .iter()
        .map(|collection| collection.work.live.0 as u64);
    let checked = tier::cases(CHECKED.0, CHECKED.1);
    let area = ordinary.allocated * live.max().unwrap_or(0) / checked;
    at_test_size(workload).area(area.max(16 << 10) as usize)
}

/// Runs a workload under each collector with settings of a table.
fn check(number: usize, workload: Description, table: &[Setting]) {
    let (checksum, ordinary) = at_test_size(workload).unchecked().under("copying").expect("it fits");
    let expected = workload.test.checksum.unwrap_or(checksum);
    let mut checksums = HashMap::from([(workload.test.args.to_vec(), expected)]);
    for (place, collector) in gclab_collectors::All::descriptions().iter().enumerate() {
        for setting in tier::rows(table, number + place) {
            let run = (setting.run)(workload, &ordinary);
            let what = format!(
                "{} under {} with {}: {run:?}",
                workload.name, collector.name, setting.name
            );
            let expected = *checksums.entry(run.args.clone()).or_insert_with(|| {
                let undisturbed = Run::new(workload.name, &run.args).under("two-space");
                undisturbed.expect("it fits").0
            });
            let (checksum, statistics) = run
                .under(collector.name)
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(checksum, expected, "{what}");
            let collections = statistics.collections_count();
            assert!(
                collections >= setting.least_collections,
                "{what}: only {collections} collections"
            );
        }
    }
}

#[test]
fn checksums_are_the_same_under_every_collector_with_all_settings() {
    let workloads = All::descriptions();
    let of_threads = |workload: &&Description| workload.args.iter().any(|arg| arg.name == "T");
    assert!(workloads.iter().filter(of_threads).count() >= 4);
    let next = AtomicUsize::new(0);
    thread::scope(|s| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            s.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(workload) = workloads.get(number) else { break };
                    check(number, workload, &SETTINGS);
                    if of_threads(&workload) {
                        check(number, workload, &SETTINGS_OF_THREADS);
                    }
                }
            });
        }
    });
}
