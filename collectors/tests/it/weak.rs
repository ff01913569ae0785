//! Many weak handles: each follows its closure or is empty, whatever the number of GC threads.
//! (Random programs also have many weak handles.) Test builds share them from a few hundred
//! handles. Ephemerons, and sets of weak handles.

use crate::basics::config;
use gclab_collectors::{Compacting, Parallel, TwoSpace};
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::{Collector, CollectorVisitor};
use gclab_core::config::{Compact, Config, FromGeneration};
use gclab_core::mutator::{Any, Ephemeron, MutArray, Mutator, MutatorKind, Request, Root, WeakHandle, WeakSet};
use gclab_core::stats::{Collection, Sharing};
use gclab_core::world::World;
use gclab_heap_traverse::Checker;

#[derive(Closure)]
#[allow(dead_code)]
struct Number {
    value: u64,
    before: Mut<Number>,
}

/// The number of closures, each with a weak handle: several slices of the table, and part of one.
const COUNT: usize = 1500;

/// Fills `kept` with numbers, and returns a weak handle for each.
fn fill<'h, M: MutatorKind>(
    m: &mut Mutator<'h, M>,
    kept: &Root<'_, 'h, MutArray<Number>>,
) -> Vec<Option<WeakHandle<Number>>> {
    let number = |value| {
        let (m, number) = m.alloc_with(|_| Number::new(value as u64, None));
        kept.get(m).set(m, value, Some(number));
        Some(m.weak_handle(number))
    };
    (0..COUNT).map(number).collect()
}

/// Checks that each handle leads to its number if that is kept, and is empty otherwise.
fn check<'h, M: MutatorKind>(
    m: &Mutator<'h, M>,
    kept: &Root<'_, 'h, MutArray<Number>>,
    handles: &[Option<WeakHandle<Number>>],
) {
    for (value, handle) in handles.iter().enumerate() {
        let Some(handle) = handle else { continue };
        let (found, number) = (handle.open(m), kept.get(m).get(m, value));
        assert!(found == number, "handle {value} leads elsewhere");
        assert!(
            found.is_none_or(|found| found.value(m) == value as u64),
            "number {value} is another"
        );
    }
}

/// Collects repeatedly while numbers die and handles are dropped and made. Returns the records.
fn collections<C: Collector>(config: &Config) -> Vec<Collection> {
    let mut world = World::new::<C>(config).expect("a small heap");
    world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
    let session = world.enter(|m| {
        m.frame(|m, [kept]| {
            let kept = kept.put(m.alloc_array::<Number>(COUNT, |_| None));
            let mut handles = fill(m, &kept);
            for round in 0..6 {
                // Nothing dies in the first round.
                for value in (0..COUNT).filter(|value| value % 7 < round) {
                    kept.get(m).set(m, value, None);
                }
                m.collect(Request::Full);
                check(m, &kept, &handles);
                // Every eleventh handle is dropped, and the vacant slots are reused.
                handles
                    .iter_mut()
                    .skip(round)
                    .step_by(11)
                    .for_each(|handle| *handle = None);
                for value in (round..COUNT).step_by(22) {
                    handles[value] = kept.get(m).get(m, value).map(|number| m.weak_handle(number));
                }
            }
            m.collect(Request::Minor);
            check(m, &kept, &handles);
        });
    });
    session.expect("room enough");
    world.finish().collections
}

#[derive(Clone, Copy)]
struct AnyNumberOfThreads;
impl CollectorVisitor for AnyNumberOfThreads {
    type Output = ();
    fn visit<C: Collector>(self) {
        for gc_threads in [1, 2, 3, 8] {
            for stress in [None, Some(300)] {
                collections::<C>(&Config {
                    gc_threads,
                    stress,
                    load_balance: Some(FromGeneration::From(0)),
                    ..config::<C>(64 << 10)
                });
            }
        }
    }
}

#[test]
fn each_weak_handle_follows_its_closure_or_is_empty() {
    crate::under_every_collector(AnyNumberOfThreads);
}

/// Whether the value of this link of a chain is an array that holds the next key, and not the key itself.
fn is_in_array(link: usize) -> bool {
    !link.is_multiple_of(3)
}

/// Numbers and arrays, large ones, too, of which each but the first is kept by an ephemeron alone: the
/// one before it is its key. The last is made first.
fn chain<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, first: &Root<'_, 'h, MutArray<Any>>) -> Vec<Ephemeron<Any, Any>> {
    let link = |number: usize| {
        m.frame(|m, [key, array]| {
            let array = array.put(m.alloc_array::<Any>(1, |_| None));
            let key = match number % 4 {
                0 => key.put(m.alloc(|_| Number::new(number as u64, None)).erase()),
                1 => key.put(m.alloc_array::<Any>(1000, |_| None).erase()),
                _ => key.put(m.alloc_array::<Any>(number % 7, |_| None).erase()),
            };
            let next = first.get(m).get(m, 0).expect("there is one");
            array.get(m).set(m, 0, Some(next));
            let value = if is_in_array(number) {
                array.get(m).erase()
            } else {
                next
            };
            let ephemeron = m.ephemeron(key.get(m), value);
            first.get(m).set(m, 0, Some(key.get(m)));
            ephemeron
        })
    };
    (0..30).map(link).collect()
}

under_every_collector! {
    fn an_ephemeron_is_open_as_long_as_its_key_lives<C>() {
        for (gc_threads, stress) in [(1, None), (2, None), (2, Some(7))] {
            let config = Config { gc_threads, stress, ..config::<C>(64 << 10) };
            let mut world = World::new::<C>(&config).expect("a small heap");
            world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
            let session = world.enter(|m| {
                m.frame(|m, [first]| {
                    let first = first.put(m.alloc_array::<Any>(1, |_| None));
                    let (view, last) = m.alloc_with(|_| Number::new(7, None));
                    first.get(view).set(view, 0, Some(last.erase()));
                    let chain = chain(m, &first);
                    for request in [Request::Minor, Request::Full, Request::Minor, Request::Compact] {
                        m.collect(request);
                        let mut next = first.get(m).get(m, 0);
                        for (link, ephemeron) in chain.iter().enumerate().rev() {
                            let (key, value) = ephemeron.open(m).expect("its key lives");
                            assert_eq!(Some(key), next);
                            let array = value.downcast::<MutArray<Any>>().filter(|_| is_in_array(link));
                            next = array.map_or(Some(value), |array| array.get(m, 0));
                        }
                        let last = next.and_then(|last| last.downcast::<Number>()).expect("a number");
                        assert_eq!(last.value(m), 7);
                    }
                    first.get(m).set(m, 0, None);
                    m.collect(Request::Full);
                    assert!(chain.iter().all(|ephemeron| ephemeron.open(m).is_none()));
                })
            });
            session.expect("room enough");
        }
    }

    fn a_weak_set_finds_what_lives_and_loses_what_died<C>() {
        const KEPT: usize = 50;
        let world = World::new::<C>(&config::<C>(64 << 10)).expect("a small heap");
        let session = world.enter(|m| {
            m.frame(|m, [kept]| {
                let kept = kept.put(m.alloc_array::<Number>(KEPT, |_| None));
                let mut set = WeakSet::default();
                for value in 0..10_000 {
                    let (view, number) = m.alloc_with(|_| Number::new(value as u64, None));
                    // Of two numbers each, the hash is the same.
                    set.insert(view, value as u64 / 2, number);
                    kept.get(view).set(view, value % KEPT, Some(number));
                    if value % 1000 == 0 {
                        m.collect(Request::Full);
                    }
                }
                m.collect(Request::Full);
                assert!(set.len() < 5000, "{} closures, of which {KEPT} live", set.len());
                for value in 0..10_000 {
                    let found = set.find(m, value / 2, |number| number.value(m) == value);
                    let number = kept.get(m).get(m, value as usize % KEPT);
                    assert_eq!(found, number.filter(|number| number.value(m) == value));
                }
            })
        });
        session.expect("room enough");
    }
}

#[test]
fn weak_handles_are_shared_only_with_load_balancing() {
    fn sharing<C: Collector>(load_balance: FromGeneration) -> Vec<Sharing> {
        // So large that only requested collections happen.
        let config = Config {
            gc_threads: 2,
            load_balance: Some(load_balance),
            compact: Compact::Always,
            ..config::<C>(8 << 20)
        };
        let mut records = collections::<C>(&config);
        // The last collection is the one at the end of the world.
        records.truncate(6);
        for record in &records {
            let (shared, parallel) = (&record.work.shared, record.work.shared.sharing.is_parallel());
            assert_eq!(shared.threads.len(), if parallel { 2 } else { 0 });
            assert_eq!(shared.parallel_ns > 0, parallel);
            assert!(shared.parallel_ns <= record.time.elapsed_ns);
        }
        records.iter().map(|record| record.work.shared.sharing).collect()
    }
    for balanced in [
        sharing::<TwoSpace>(FromGeneration::From(0)),
        sharing::<Parallel>(FromGeneration::From(0)),
        sharing::<Compacting>(FromGeneration::From(0)),
    ] {
        assert_eq!(balanced, [Sharing::Balanced; 6]);
    }
    for alone in [
        sharing::<TwoSpace>(FromGeneration::Off),
        sharing::<Parallel>(FromGeneration::Off),
        sharing::<Compacting>(FromGeneration::Off),
    ] {
        assert!(!alone.contains(&Sharing::Balanced), "{alone:?}");
    }
}
