//! Finalisers and alarms, under every collector. (Random programs register finalisers, too.)

mod calls;

use crate::basics::config;
use gclab_collectors::{Compacting, Parallel, TwoSpace};
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::{Collector, CollectorVisitor};
use gclab_core::config::{Compact, Config, FromGeneration};
use gclab_core::mutator::{Gc, Handle, MutArray, Mutator, MutatorKind, NoGc, Request};
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

#[derive(Closure)]
#[allow(dead_code)]
struct Number {
    value: u64,
    next: Mut<Number>,
}

/// The values that finalisers recorded, in order.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<u64>>>);

impl Notes {
    fn add(&self, value: u64) {
        self.0.lock().expect("sound").push(value);
    }

    fn take(&self) -> Vec<u64> {
        std::mem::take(&mut self.0.lock().expect("sound"))
    }
}

fn world<C: Collector>(config: &Config) -> World<gclab_core::collector::KindOf<C>> {
    let mut world = World::new::<C>(config).expect("a small heap");
    world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
    world
}

/// Finalisers used to take unbounded memory.
#[derive(Clone, Copy)]
struct Countless;

impl CollectorVisitor for Countless {
    type Output = ();
    fn visit<C: Collector>(self) {
        let config = Config {
            max_heap: Some(Bytes::mib(12)),
            ..config::<C>(128 << 10)
        };
        // They die in the end, which makes room for others.
        for (all, fits) in [(20_000, true), (200_000, false)] {
            let world = World::new::<C>(&config).expect("a small heap");
            let kept = || {
                world.enter(|m| {
                    m.frame(|m, [kept]| {
                        let kept = kept.put(m.alloc(|_| Number::new(0, None)));
                        (0..all).for_each(|_| m.finalise_last(kept.get(m), |_| {}));
                        m.alloc_mut_bytes(2 << 20);
                    });
                    m.collect(Request::Full);
                })
            };
            let ended: Vec<_> = (0..3).map(|_| kept().is_ok()).collect();
            assert_eq!(ended, [fits; 3], "{}: {all} finalisers", C::DESCRIPTION.name);
        }
    }
}

#[test]
fn finalisers_count_under_the_limit() {
    crate::under_every_collector(Countless);
}

/// Allocates a list of the numbers up to `value`, calls `finalise` with it, and drops it.
fn list<'h, M: MutatorKind>(
    m: &mut Mutator<'h, M>,
    value: u64,
    finalise: impl for<'m> FnOnce(&'m NoGc<'h, M>, Gc<'m, 'h, Number>),
) {
    m.frame(|m, [list]| {
        let list = list.put(m.alloc(|_| Number::new(0, None)));
        for value in 1..=value {
            let (m, longer) = m.alloc_with(|m| Number::new(value, Some(list.get(m))));
            list.set(m, longer);
        }
        finalise(m, list.get(m));
    });
}

fn sum<'h, M: MutatorKind>(m: &NoGc<'h, M>, list: Gc<'_, 'h, Number>) -> u64 {
    let (mut sum, mut at) = (0, Some(list));
    while let Some(number) = at {
        sum += number.value(m);
        at = number.next(m);
    }
    sum
}

under_every_collector! {
    fn a_finaliser_gets_its_closure_whole_and_once<C>() {
        let (world, notes) = (world::<C>(&config::<C>(16 << 10)), Notes::default());
        let ran = world.enter(|m| {
            let mut weak = None;
            let noted = notes.clone();
            list(m, 100, |m, list| {
                weak = Some(m.weak_handle(list));
                m.finalise(list, move |m, list: Handle<Number>| noted.add(sum(m, list.open(m))));
            });
            let weak = weak.expect("made");
            assert!(notes.take().is_empty());
            m.collect(Request::Full);
            assert_eq!(notes.take(), [5050]);
            // Running its finaliser kept it alive for one more collection.
            assert!(weak.open(m).is_some());
            m.collect(Request::Full);
            assert!(weak.open(m).is_none());
            m.collect(Request::Full);
            assert!(notes.take().is_empty());
        });
        ran.expect("room enough");
    }

    fn finalisers_run_in_reverse_and_last_ones_at_the_end<C>() {
        let (world, notes) = (world::<C>(&config::<C>(16 << 10)), Notes::default());
        let ran = world.enter(|m| {
            for number in 0..4 {
                let (first, last) = (notes.clone(), notes.clone());
                list(m, 1, |m, list| {
                    m.finalise_last(list, move |_| last.add(10 + number));
                    if number % 2 == 0 {
                        m.finalise(list, move |_, _: Handle<Number>| first.add(number));
                    }
                });
            }
            m.collect(Request::Full);
            // The closures with two finalisers survived one more collection.
            assert_eq!(notes.take(), [2, 0, 13, 11]);
            m.collect(Request::Full);
            assert_eq!(notes.take(), [12, 10]);
        });
        ran.expect("room enough");
    }

    fn finalisers_of_old_and_young_closures_are_of_one_order<C>() {
        let (world, notes) = (world::<C>(&config::<C>(16 << 10)), Notes::default());
        let ran = world.enter(|m| {
            m.frame(|m, [old, older]| {
                let old = old.put(m.alloc(|_| Number::new(1, None)));
                let older = older.put(m.alloc(|_| Number::new(1, None)));
                m.collect(Request::Minor);
                for (number, root) in [&older, &old].into_iter().enumerate() {
                    let (of_old, of_young) = (notes.clone(), notes.clone());
                    let number = 2 * number as u64;
                    m.finalise(root.get(m), move |_, _: Handle<Number>| of_old.add(number));
                    list(m, 1, |m, list| {
                        m.finalise(list, move |_, _: Handle<Number>| of_young.add(number + 1));
                    });
                }
                for root in [&old, &older] {
                    let (m, other) = m.alloc_with(|_| Number::new(1, None));
                    root.set(m, other);
                }
                m.collect(Request::Full);
                assert_eq!(notes.take(), [3, 2, 1, 0]);
            });
        });
        ran.expect("room enough");
    }

    fn weak_handles_are_empty_when_a_last_finaliser_runs<C>() {
        let (world, notes) = (world::<C>(&config::<C>(16 << 10)), Notes::default());
        let ran = world.enter(|m| {
            let noted = notes.clone();
            list(m, 5, |m, list| {
                let weak = m.weak_handle(list);
                m.finalise_last(list, move |m| noted.add(u64::from(weak.open(m).is_none())));
            });
            m.collect(Request::Full);
            assert_eq!(notes.take(), [1]);
        });
        ran.expect("room enough");
    }

    fn a_finaliser_may_keep_its_closure_and_register_it_again<C>() {
        fn again<M: MutatorKind>(m: &mut Mutator<'_, M>, list: &Handle<Number>, notes: Notes, times: u64) {
            notes.add(sum(m, list.open(m)));
            if times > 0 {
                let list = list.open(m);
                m.finalise(list, move |m, list| again(m, &list, notes, times - 1));
            }
        }
        let (world, notes) = (world::<C>(&config::<C>(16 << 10)), Notes::default());
        let kept = Arc::new(Mutex::new(None));
        let ran = world.enter(|m| {
            let (noted, keep) = (notes.clone(), Arc::clone(&kept));
            list(m, 3, |m, list| m.finalise(list, move |m, list| again(m, &list, noted, 2)));
            list(m, 4, |m, list| {
                m.finalise(list, move |_, list: Handle<Number>| *keep.lock().expect("sound") = Some(list));
            });
            for _ in 0..5 {
                m.collect(Request::Full);
            }
            assert_eq!(notes.take(), [6, 6, 6]);
            let kept = kept.lock().expect("sound").take().expect("kept");
            assert_eq!(sum(m, kept.open(m)), 10);
        });
        ran.expect("room enough");
    }

    /// Every allocation collects, including the finaliser's own.
    fn a_finaliser_may_allocate_and_collect<C>() {
        let config = Config { stress: Some(1), ..config::<C>(16 << 10) };
        let (world, notes) = (world::<C>(&config), Notes::default());
        let ran = world.enter(|m| {
            for value in 0..30 {
                let noted = notes.clone();
                list(m, value, |m, it| {
                    m.finalise(it, move |m, it: Handle<Number>| {
                        list(m, 10, |_, _| ());
                        m.collect(Request::Full);
                        noted.add(sum(m, it.open(m)));
                    });
                });
            }
            m.collect(Request::Full);
            let mut noted = notes.take();
            noted.sort_unstable();
            assert!(noted.into_iter().eq((0..30).map(|value| value * (value + 1) / 2)));
        });
        ran.expect("room enough");
    }

    fn a_finaliser_never_runs_inside_an_initialiser_or_another_one<C>() {
        thread_local!(static INSIDE: Cell<bool> = const { Cell::new(false) });
        let config = Config { stress: Some(1), ..config::<C>(16 << 10) };
        let (world, notes) = (world::<C>(&config), Notes::default());
        let ran = world.enter(|m| {
            for _ in 0..50 {
                let noted = notes.clone();
                list(m, 2, |m, it| {
                    m.finalise(it, move |m, _: Handle<Number>| {
                        assert!(!INSIDE.replace(true));
                        list(m, 3, |_, _| ());
                        INSIDE.set(false);
                        noted.add(1);
                    });
                });
                m.alloc(|_| {
                    INSIDE.set(true);
                    let number = Number::new(1, None);
                    INSIDE.set(false);
                    number
                });
            }
            m.collect(Request::Full);
            assert_eq!(notes.take().len(), 50);
        });
        ran.expect("room enough");
    }

    fn a_finaliser_lets_the_next_one_begin<C>() {
        let (world, notes) = (world::<C>(&config::<C>(16 << 10)), Notes::default());
        let ran = world.enter(|m| {
            for released in [false, true] {
                for number in 1..=2 {
                    let noted = notes.clone();
                    list(m, number, |m, list| {
                        m.finalise(list, move |m, _: Handle<Number>| {
                            if released {
                                m.finalise_release();
                            }
                            noted.add(number);
                            m.collect(Request::Minor);
                            noted.add(10 + number);
                        });
                    });
                }
                m.collect(Request::Full);
            }
            assert_eq!(notes.take(), [2, 12, 1, 11, 2, 1, 11, 12]);
        });
        ran.expect("room enough");
    }

    fn a_panic_of_a_finaliser_comes_out_of_the_allocation<C>() {
        let (world, notes) = (world::<C>(&config::<C>(16 << 10)), Notes::default());
        let ran = world.enter(|m| {
            let noted = notes.clone();
            list(m, 1, |m, list| m.finalise(list, move |_, _: Handle<Number>| noted.add(1)));
            list(m, 2, |m, list| m.finalise(list, |_, _: Handle<Number>| panic!("on purpose")));
            assert!(catch_unwind(AssertUnwindSafe(|| m.collect(Request::Full))).is_err());
            assert!(notes.take().is_empty());
            m.collect(Request::Minor);
            assert_eq!(notes.take(), [1]);
        });
        ran.expect("room enough");
    }

    fn a_finaliser_that_never_ran_is_dropped_with_the_world<C>() {
        let owned = Arc::new(());
        let world = world::<C>(&config::<C>(16 << 10));
        let ran = world.enter(|m| {
            m.frame(|m, [kept]| {
                let kept = kept.put(m.alloc(|_| Number::new(1, None)));
                let (handle, owned) = (m.handle(kept.get(m)), Arc::clone(&owned));
                m.finalise(kept.get(m), move |_, _: Handle<Number>| drop((handle, owned)));
            });
        });
        ran.expect("room enough");
        assert_eq!(Arc::strong_count(&owned), 2);
        world.finish();
        assert_eq!(Arc::strong_count(&owned), 1);
    }
}

/// Thousands of closures die at once, each with its own list, after the GC threads have shared the
/// live ones.
fn many_with_several_gc_threads<C: Collector>(config: &Config) {
    const COUNT: usize = 2000;
    let (world, notes) = (world::<C>(config), Notes::default());
    let ran = world.enter(|m| {
        m.frame(|m, [kept]| {
            let kept = kept.put(m.alloc_array::<Number>(COUNT, |_| None));
            for round in 0..3 {
                fill(m, &kept, &notes, COUNT);
                m.collect(Request::Minor);
                for index in (round..COUNT).step_by(2) {
                    kept.get(m).set(m, index, None);
                }
                m.collect(Request::Full);
                let mut noted = notes.take();
                noted.sort_unstable();
                let died = (round..COUNT).step_by(2).map(|index| index as u64 + 6);
                // Numbers that `fill` overwrote died, too.
                noted.dedup();
                assert!(
                    died.clone().all(|value| noted.binary_search(&value).is_ok()),
                    "{noted:?}"
                );
            }
        });
    });
    ran.expect("room enough");
}

fn fill<'h, M: MutatorKind>(
    m: &mut Mutator<'h, M>,
    kept: &gclab_core::mutator::Root<'_, 'h, MutArray<Number>>,
    notes: &Notes,
    count: usize,
) {
    for index in 0..count {
        let noted = notes.clone();
        list(m, 3, |m, list| {
            kept.get(m).set(m, index, Some(list));
        });
        let (m, head) = m.alloc_with(|m| Number::new(index as u64, kept.get(m).get(m, index)));
        kept.get(m).set(m, index, Some(head));
        m.finalise(head, move |m, head: Handle<Number>| noted.add(sum(m, head.open(m))));
    }
}

#[test]
fn many_closures_are_finalised_with_any_number_of_gc_threads() {
    for gc_threads in [1, 2, 4] {
        let config = Config {
            capabilities: 1,
            gc_threads,
            load_balance: Some(FromGeneration::From(0)),
            parallel_gc: FromGeneration::From(0),
            ..config::<Parallel>(64 << 10)
        };
        many_with_several_gc_threads::<Parallel>(&config);
        let compact = Compact::Always;
        many_with_several_gc_threads::<Compacting>(&Config {
            compact,
            ..config.clone()
        });
        many_with_several_gc_threads::<TwoSpace>(&Config {
            generations: 1,
            ..config
        });
    }
}
