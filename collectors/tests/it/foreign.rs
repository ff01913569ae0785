//! Closures that own memory outside the heap, under every collector.

use crate::basics::config;
use gclab_collectors::Copying;
use gclab_core::collector::{Collector, CollectorVisitor};
use gclab_core::config::{Compact, Config};
use gclab_core::mutator::{Any, Foreign, Handle, MutArray, Mutator, MutatorKind, Request};
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// A value that records its number when it is dropped.
struct Noted {
    number: u64,
    drops: Arc<Mutex<Vec<u64>>>,
}

impl Drop for Noted {
    fn drop(&mut self) {
        self.drops.lock().expect("sound").push(self.number);
    }
}

/// The numbers of dropped values, in order.
#[derive(Clone, Default)]
struct Drops(Arc<Mutex<Vec<u64>>>);

impl Drops {
    fn value(&self, number: u64) -> Noted {
        Noted {
            number,
            drops: Arc::clone(&self.0),
        }
    }

    fn take(&self) -> Vec<u64> {
        std::mem::take(&mut self.0.lock().expect("sound"))
    }
}

/// The size of each value.
const SIZE: Bytes = Bytes(1000);

fn world<C: Collector>(config: &Config) -> World<gclab_core::collector::KindOf<C>> {
    let mut world = World::new::<C>(config).expect("a small heap");
    world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
    world
}

/// Fills every third slot of an array with values and replaces some. After each round the remaining
/// values must be intact, and no others may have been dropped.
fn replace_some<M: MutatorKind>(m: &mut Mutator<'_, M>, drops: &Drops, rounds: u64) {
    m.frame(|m, [array]| {
        let array = array.put(m.alloc_array(30, |_| None));
        let mut dropped = Vec::new();
        for round in 0..rounds {
            for place in (0..30).step_by(3) {
                let number = round * 30 + place;
                let (m, closure) = m.with_view(|m| m.alloc_foreign(drops.value(number), SIZE));
                array.get(m).set(m, place as usize, Some(closure));
            }
            m.collect([Request::Minor, Request::Full, Request::Compact][round as usize % 3]);
            dropped.extend(drops.take());
            for place in (0..30).step_by(3) {
                let closure = array.get(m).get(m, place as usize).expect("kept");
                assert_eq!(closure.value(m).number, round * 30 + place);
            }
            assert!(dropped.iter().all(|number| *number < round * 30), "{dropped:?}");
        }
        m.collect(Request::Full);
        dropped.extend(drops.take());
        dropped.sort_unstable();
        let expected: Vec<_> = (0..30 * (rounds - 1)).filter(|number| number % 3 == 0).collect();
        assert_eq!(dropped, expected, "each value is dropped once");
    });
}

under_every_collector! {
    fn values_are_whole_while_their_closures_live_and_dropped_once_after<C>() {
        let (world, drops) = (world::<C>(&config::<C>(16 << 10)), Drops::default());
        world.enter(|m| replace_some(m, &drops, 12)).expect("room enough");
        drop(world);
        let mut dropped = drops.take();
        dropped.sort_unstable();
        assert_eq!(dropped, (330..360).step_by(3).collect::<Vec<_>>());
    }

    fn values_are_dropped_with_a_collection_at_each_allocation<C>() {
        let config = Config { stress: Some(1), ..config::<C>(16 << 10) };
        let (world, drops) = (world::<C>(&config), Drops::default());
        world.enter(|m| replace_some(m, &drops, 4)).expect("room enough");
    }

    fn statistics_have_the_bytes_outside_the_heap<C>() {
        let (world, drops) = (world::<C>(&config::<C>(16 << 10)), Drops::default());
        let kept = world.enter(|m| {
            let (view, kept) = m.with_view(|m| m.alloc_foreign(drops.value(0), SIZE));
            let kept = view.handle(kept);
            (1..5).for_each(|number| { m.alloc_foreign(drops.value(number), SIZE); });
            m.collect(Request::Full);
            assert_eq!(drops.take(), [1, 2, 3, 4]);
            m.alloc_foreign(drops.value(5), SIZE);
            kept
        });
        let statistics = world.finish();
        let figure = |name| statistics.figures.iter().find(|figure| figure.name == name).expect("there").value;
        assert_eq!(figure("foreign_closures"), 6);
        assert_eq!((figure("foreign_bytes"), figure("peak_foreign_bytes")), (6000, 5000));
        assert_eq!(figure("foreign_held_bytes"), 1000);
        drop(kept);
    }

    fn a_finaliser_still_has_the_value<C>() {
        let (world, drops) = (world::<C>(&config::<C>(16 << 10)), Drops::default());
        let ran = world.enter(|m| {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let note = Arc::clone(&seen);
            let (view, closure) = m.with_view(|m| m.alloc_foreign(drops.value(7), SIZE));
            let weak = view.weak_handle(closure);
            view.finalise(closure, move |m, closure: Handle<Foreign<Noted>>| {
                note.lock().expect("sound").push(closure.open(m).value(m).number);
            });
            m.collect(Request::Full);
            assert_eq!((seen.lock().expect("sound").as_slice(), drops.take()), ([7].as_slice(), vec![]));
            m.collect(Request::Full);
            assert!(weak.open(m).is_none());
            assert_eq!(drops.take(), [7]);
        });
        ran.expect("room enough");
    }
}

#[test]
fn compaction_moves_values_with_their_closures() {
    let config = Config {
        compact: Compact::Always,
        ..config::<gclab_collectors::Compacting>(16 << 10)
    };
    let (world, drops) = (world::<gclab_collectors::Compacting>(&config), Drops::default());
    world.enter(|m| replace_some(m, &drops, 12)).expect("room enough");
}

/// A value that panics when it is dropped.
struct Panics;

impl Drop for Panics {
    fn drop(&mut self) {
        panic!("a value that panics");
    }
}

#[test]
fn when_a_value_panics_the_others_are_dropped() {
    let (world, drops) = (world::<Copying>(&config::<Copying>(16 << 10)), Drops::default());
    let ran = world.enter(|m| {
        m.alloc_foreign(drops.value(1), SIZE);
        m.alloc_foreign(Panics, SIZE);
        m.alloc_foreign(drops.value(2), SIZE);
        let panicked = catch_unwind(AssertUnwindSafe(|| m.collect(Request::Full)));
        assert!(panicked.is_err());
        assert_eq!(drops.take(), [1]);
        m.collect(Request::Minor);
        assert_eq!(drops.take(), [2]);
    });
    ran.expect("room enough");
}

#[test]
fn threads_share_values_and_drop_each_once() {
    let config = Config {
        capabilities: 2,
        ..config::<gclab_collectors::Parallel>(16 << 10)
    };
    let (world, drops) = (world::<gclab_collectors::Parallel>(&config), Drops::default());
    let shared = world.enter(|m| {
        let (view, array) = m.with_view(|m| m.alloc_array::<Foreign<Noted>>(2, |_| None));
        view.handle(array)
    });
    let shared: Handle<MutArray<Foreign<Noted>>> = shared.expect("room enough");
    std::thread::scope(|scope| {
        for thread in 0..2_u64 {
            let (world, drops, shared) = (&world, &drops, &shared);
            scope.spawn(move || {
                let ran = world.enter(|m| {
                    for round in 0..500 {
                        let value = drops.value(thread * 1000 + round);
                        let (view, closure) = m.with_view(|m| m.alloc_foreign(value, SIZE));
                        let array = shared.open(view);
                        array.set(view, thread as usize, Some(closure));
                        if let Some(other) = array.get(view, 1 - thread as usize) {
                            assert_eq!(other.value(view).number / 1000, 1 - thread);
                        }
                        if round % 50 == 0 {
                            m.collect(Request::Minor);
                        }
                    }
                });
                ran.expect("room enough");
            });
        }
    });
    world
        .enter(|m| {
            m.collect(Request::Full);
            let array = shared.open(m);
            for (thread, last) in [499, 1499].into_iter().enumerate() {
                assert_eq!(array.get(m, thread).expect("kept").value(m).number, last);
            }
        })
        .expect("room enough");
    let mut dropped = drops.take();
    dropped.sort_unstable();
    let expected: Vec<_> = (0..499).chain(1000..1499).collect();
    assert_eq!(dropped, expected);
}

#[test]
fn a_foreign_closure_of_another_type_is_not_found() {
    let (world, drops) = (world::<Copying>(&config::<Copying>(16 << 10)), Drops::default());
    let ran = world.enter(|m| {
        let closure = m.alloc_foreign(drops.value(1), SIZE);
        assert_eq!(closure.info().name, "Foreign");
        assert!(closure.erase().downcast::<Any>().is_none());
    });
    ran.expect("room enough");
}
