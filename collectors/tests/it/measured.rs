//! The measured phase of a run.

use crate::basics::config;
use gclab_collectors::Copying;
use gclab_core::collector::KindOf;
use gclab_core::config::Config;
use gclab_core::mutator::{Mutator, MutatorKind, Request};
use gclab_core::world::{EnterError, World};

fn world(capabilities: u32) -> World<KindOf<Copying>> {
    let config = Config {
        capabilities,
        ..config::<Copying>(64 << 10)
    };
    World::new::<Copying>(&config).expect("a heap")
}

/// The size of an array of 100 bytes.
const ARRAY: u64 = 16 + 104;

fn allocate<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    m.alloc_bytes_filled(100, 1);
}

#[test]
fn what_a_mutator_measures_is_apart_to_the_byte() {
    let world = world(1);
    let session = world.enter(|m| {
        (0..3000).for_each(|_| allocate(m));
        m.collect(Request::Full);
        m.measure(|m| {
            (0..5000).for_each(|_| allocate(m));
            m.collect(Request::Full);
        });
        (0..70).for_each(|_| allocate(m));
    });
    session.expect("room enough");
    let statistics = world.finish();
    let phases = &statistics.phases;
    assert!(phases.marked);
    let all = [&phases.setup, &phases.measured, &phases.exit];
    assert_eq!(
        all.map(|phase| phase.allocated),
        [3000, 5000, 70].map(|times| times * ARRAY)
    );
    assert_eq!(all.map(|phase| phase.major_gcs), [1, 1, 1]);
    let collections: Vec<_> = all.map(|phase| phase.collections).to_vec();
    assert_eq!(collections.iter().sum::<u64>(), statistics.collections_count());
    assert_eq!((collections[2], statistics.pauses.count()), (1, collections[1]));
    assert!(collections[0] > 3 && collections[1] > 5, "{collections:?}");
    // The phases follow INIT and each other without gaps.
    let total = all.iter().fold(statistics.init, |sum, phase| sum + phase.total());
    assert_eq!(total.elapsed_ns, statistics.total.elapsed_ns);
}

#[test]
fn threads_are_measured_together() {
    let world = world(2);
    world.enter(allocate).expect("room enough");
    let threads = || {
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let session = world.enter(|m| (0..2000).for_each(|_| allocate(m)));
                    session.expect("room enough");
                });
            }
        });
    };
    world.measure(threads).expect("not inside");
    world.enter(allocate).expect("room enough");
    // A run has only one measured phase: this has no effect.
    world.measure(|| ()).expect("not inside");
    let phases = world.finish().phases;
    let allocated = [&phases.setup, &phases.measured, &phases.exit].map(|phase| phase.allocated);
    assert_eq!(allocated, [ARRAY, 4000 * ARRAY, ARRAY]);
}

#[test]
fn a_thread_inside_is_told_to_ask_its_mutator() {
    let world = world(1);
    let inside = world.enter(|_| world.measure(|| ()).err());
    assert!(matches!(inside, Ok(Some(EnterError::Entered))), "{inside:?}");
}

/// Without marks the whole program is measured, but the final collection is not a pause of it.
#[test]
fn without_marks_the_program_is_measured() {
    let world = world(1);
    world.enter(|m| m.collect(Request::Full)).expect("room enough");
    let statistics = world.finish();
    let phases = &statistics.phases;
    assert!(!phases.marked);
    assert_eq!((phases.measured.collections, phases.exit.collections), (1, 1));
    assert_eq!(statistics.pauses.count(), 1);
    assert_eq!(
        (phases.setup.total().elapsed_ns, phases.measured.mutator),
        (0, statistics.mutator)
    );
}
