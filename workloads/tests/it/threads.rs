//! Threads: any number on any number of capabilities. Their order does not change the checksum.

use gclab_collectors::All;
use gclab_core::collector::{CollectorList, Description};
use gclab_core::config::Parameter;
use gclab_core::world::EnterError;
use gclab_workloads::{RunError, WorkloadDescription, WorkloadList};

use crate::run::Run;

/// The workloads that have threads: those with an argument `T`.
fn threaded() -> impl Iterator<Item = &'static WorkloadDescription> {
    let all = gclab_workloads::All::descriptions().into_iter();
    all.filter(|description| description.args.iter().any(|arg| arg.name == "T"))
}
#[test]
fn capabilities_do_not_change_checksums() {
    assert!(threaded().count() >= 4);
    for description in threaded() {
        for (capabilities, area) in [(1, 64), (2, 64), (3, 16), (4, 32)] {
            let run = Run::new(description.name, description.test.args)
                .capabilities(capabilities)
                .area(area << 10);
            for (collector, checksum, statistics) in run.everywhere() {
                assert_eq!(Some(checksum), description.test.checksum, "{run:?} under {collector}");
                assert!(statistics.collections_count() > 1, "{run:?} under {collector}");
            }
        }
    }
}

#[test]
fn threads_do_not_change_the_checksums_of_what_they_share() {
    for (workload, rest) in [
        ("par_shared", &["256", "1024", "20000"][..]),
        ("server", &["500", "100", "0"]),
    ] {
        let by = |threads| [&[threads], rest].concat();
        let alone = Run::new(workload, &by("1")).under("copying").unwrap().0;
        for threads in ["2", "4", "9"] {
            let run = Run::new(workload, &by(threads)).area(16 << 10).capabilities(4);
            for (collector, checksum, _) in run.everywhere() {
                assert_eq!(checksum, alone, "{run:?} under {collector}");
            }
        }
    }
}

#[test]
fn collecting_all_the_time_on_many_threads_changes_nothing() {
    for description in threaded() {
        let stress = &description.stress;
        let calm = Run::new(description.name, stress.args);
        let expected = calm.under("two-space").unwrap().0;
        // Less often than on one thread: each collection has to stop three.
        let run = calm.capabilities(3).stress(stress.every * 4 + 1);
        for (collector, checksum, _) in run.everywhere() {
            assert_eq!(checksum, expected, "{run:?} under {collector}");
        }
    }
}

/// Each capability has an area of its own, and a collection comes when the first of them is full.
/// Chunks of one pool go to the capabilities that need them.
#[test]
fn chunks_save_collections_where_threads_allocate_at_unequal_rates() {
    let run = Run::new("par_skewed", &["4", "20000", "50"])
        .capabilities(4)
        .area(64 << 10)
        .unchecked();
    let cuts = |collector: &&'static Description| collector.honours(Parameter::Chunk);
    for collector in All::descriptions().into_iter().filter(cuts) {
        let whole = run.under(collector.name).unwrap();
        let chunks = run.clone().chunk(8 << 10).under(collector.name).unwrap();
        assert_eq!(whole.0, chunks.0);
        let [whole, chunks] = [whole.1, chunks.1].map(|statistics| statistics.collections_count());
        // When the last thread's area is full, 15/32 of all areas are full if the threads run in
        // step; less if not.
        assert!(
            chunks * 3 < whole * 2,
            "{}: {chunks} collections with chunks, {whole} without",
            collector.name
        );
    }
}

#[test]
fn an_exhausted_heap_ends_all_threads() {
    let runs = [
        ("par_trees", &["4", "16"][..]),
        ("par_skewed", &["4", "40000", "40000"]),
        ("par_shared", &["4", "16384", "65536", "200000"]),
        ("server", &["4", "20000", "4000", "0"]),
    ];
    for (workload, args) in runs {
        let run = Run::new(workload, args)
            .capabilities(4)
            .limit(3 << 20)
            .area(64 << 10)
            .unchecked();
        for collector in All::descriptions() {
            match run.under(collector.name) {
                Err(RunError::Heap(EnterError::Exhausted(_))) => {}
                other => panic!("{run:?} under {}: {other:?}", collector.name),
            }
        }
    }
}
