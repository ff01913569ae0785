//! Many weak handles: each follows its closure or is empty, whatever the number of GC threads.
//! (Random programs also have many weak handles.) Test builds share them from a few hundred
//! handles.

use crate::basics::config;
use gclab_collectors::{Compacting, Parallel, TwoSpace};
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::{Collector, CollectorVisitor};
use gclab_core::config::{Compact, Config, FromGeneration};
use gclab_core::mutator::{MutArray, Mutator, MutatorKind, Request, Root, WeakHandle};
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
