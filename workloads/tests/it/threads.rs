//! Threads: their number and order do not change a checksum, and they share a heap's memory.

use gclab_collectors::All;
use gclab_core::collector::{CollectorList, Description};
use gclab_core::config::Parameter;
use gclab_core::world::EnterError;
use gclab_proof::tier;
use gclab_workloads::RunError;

use crate::run::Run;

#[test]
fn threads_do_not_change_the_checksums_of_what_they_share() {
    for (workload, rest) in [
        ("par_shared", &["256", "1024", "20000"][..]),
        ("server", &["500", "100", "0"]),
    ] {
        let by = |threads| [&[threads], rest].concat();
        let alone = Run::new(workload, &by("1")).under("copying").unwrap().0;
        for (place, collector) in All::descriptions().iter().enumerate() {
            for threads in tier::rows(&["2", "4", "9"], place) {
                let run = Run::new(workload, &by(threads)).area(16 << 10).capabilities(4);
                let checksum = run.under(collector.name).expect("it fits").0;
                assert_eq!(checksum, alone, "{run:?} under {}", collector.name);
            }
        }
    }
}

/// Each capability has its own area, and a collection happens when the first of them is full.
/// Chunks from a common pool go to the capabilities that need them.
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
        // When the fastest thread's area is full, 15/32 of all areas are full if the threads run in
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
    for (place, collector) in All::descriptions().iter().enumerate() {
        for (workload, args) in tier::rows(&runs, place) {
            let run = Run::new(workload, args)
                .capabilities(4)
                .limit(3 << 20)
                .area(64 << 10)
                .unchecked();
            match run.under(collector.name) {
                Err(RunError::Heap(EnterError::Exhausted(_))) => {}
                other => panic!("{run:?} under {}: {other:?}", collector.name),
            }
        }
    }
}
