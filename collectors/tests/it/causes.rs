//! Why a collection happened, according to its record, and what follows from that.

use crate::basics::config;
use gclab_collectors::All;
use gclab_core::collector::{Cause, Collector, CollectorList, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::mutator::Request;
use gclab_core::stats::Statistics;
use gclab_core::words::{Bytes, Words};
use gclab_core::world::World;

const LARGE: usize = 7 << 20;

/// Allocates large arrays, of which only one fits at a time.
struct Short {
    decay: f64,
}

impl CollectorVisitor for Short {
    type Output = (&'static str, Statistics);
    fn visit<C: Collector>(self) -> Self::Output {
        let config = Config {
            decay: self.decay,
            // No other thread marks, so that two runs have the same collections.
            slice_limit: Some(Words(1 << 20)),
            max_heap: Some(Bytes::mib(14)),
            ..config::<C>(1 << 20)
        };
        let world = World::new::<C>(&config).expect("a heap");
        for _ in 0..12 {
            let session = world.enter(|m| {
                m.frame(|m, [array]| {
                    let array = array.put(m.alloc_bytes_filled(LARGE, 1));
                    // Makes the array old: minor collections will not free it.
                    for _ in 0..40_000 {
                        m.alloc_bytes_filled(100, 1);
                    }
                    array.get(m).as_slice()[LARGE - 1]
                })
            });
            assert_eq!(session.expect("one fits"), 1);
        }
        (C::DESCRIPTION.name, world.finish())
    }
}

/// Collections for lack of memory used to count as requested by the program, so the heap kept less
/// and less memory (`-Fd`), as if the program were idle.
#[test]
fn a_collection_for_lack_of_memory_was_not_requested() {
    let mut shortages = 0;
    for description in All::descriptions() {
        let short = |decay| All::with(description.name, Short { decay }).expect("listed");
        let (name, statistics) = short(0.01);
        let [collections @ .., end] = &statistics.collections[..] else {
            panic!("{name}: no collections")
        };
        assert!(collections.len() > 3, "{name}");
        assert_eq!((end.before.cause, end.forced()), (Cause::Final, true), "{name}");
        assert!(collections.iter().all(|collection| !collection.forced()), "{name}");
        shortages += collections
            .iter()
            .filter(|one| one.before.cause == Cause::Shortage)
            .count();
        let (_, calm) = short(0.0);
        let held = |statistics: &Statistics| -> Vec<_> {
            let [collections @ .., _] = &statistics.collections[..] else {
                panic!("{name}: no collections")
            };
            collections.iter().map(|collection| collection.memory.in_use).collect()
        };
        assert_eq!(held(&statistics), held(&calm), "{name}");
    }
    assert!(shortages > 0, "no allocation was refused");
}

#[derive(Clone, Copy)]
struct Caused;

impl CollectorVisitor for Caused {
    type Output = ();
    fn visit<C: Collector>(self) {
        let config = Config {
            stress: Some(50),
            ..config::<C>(64 << 10)
        };
        let world = World::new::<C>(&config).expect("a heap");
        let session = world.enter(|m| {
            for _ in 0..120 {
                m.alloc_bytes_filled(100, 1);
            }
            m.collect(Request::Full);
            m.collect(Request::Minor);
        });
        session.expect("room enough");
        let causes: Vec<_> = world
            .finish()
            .collections
            .iter()
            .map(|collection| (collection.before.cause, collection.forced()))
            .collect();
        let expected = [
            (Cause::Stress, false),
            (Cause::Stress, false),
            (Cause::Asked(Request::Full), true),
            (Cause::Asked(Request::Minor), true),
            (Cause::Final, true),
        ];
        assert_eq!(causes, expected, "{}", C::DESCRIPTION.name);
    }
}

/// `-DZ` used to count as requested by the program.
#[test]
fn a_stress_collection_was_not_requested() {
    crate::under_every_collector(Caused);
}

#[derive(Clone, Copy)]
struct Phases;

impl CollectorVisitor for Phases {
    type Output = ();
    fn visit<C: Collector>(self) {
        let world = World::new::<C>(&config::<C>(64 << 10)).expect("a heap");
        world.enter(|m| m.collect(Request::Full)).expect("room enough");
        let statistics = world.finish();
        let name = C::DESCRIPTION.name;
        for collection in &statistics.collections {
            let phases: Vec<_> = collection.time.phases.taken().collect();
            let sum: u64 = phases.iter().map(|(_, ns)| ns).sum();
            assert!(sum > 0 && sum <= collection.time.elapsed_ns, "{name}: {collection:?}");
            let names: Vec<_> = phases.iter().map(|(phase, _)| phase.name()).collect();
            assert!(
                names.contains(&"trace") && names.contains(&"release"),
                "{name}: {names:?}"
            );
            assert_eq!(names.contains(&"move"), collection.work.compacted, "{name}: {names:?}");
            // If everything is free, `ocaml` compacts when the program asks, but not at exit.
            let compacts = name == "compacting" || name == "ocaml" && collection.before.cause != Cause::Final;
            assert_eq!(collection.work.compacted, compacts, "{name}");
        }
        let trace = |of: &gclab_core::stats::PhaseTimes| of.taken().map(|(_, ns)| ns).sum::<u64>();
        let each = statistics
            .collections
            .iter()
            .map(|collection| trace(&collection.time.phases));
        assert_eq!(trace(&statistics.gc_phases), each.sum::<u64>(), "{name}");
    }
}

#[test]
fn the_phases_of_a_collection_are_timed() {
    crate::under_every_collector(Phases);
}
