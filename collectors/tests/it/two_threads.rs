//! Two threads in one heap, collected by two threads: small enough for Miri under tree borrows
//! (`.ci/miri`). Stacked borrows reject crossbeam-epoch, which the list of threads uses.

use crate::basics::config;
use gclab_collectors::{Compacting, Parallel, TwoSpace};
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::Collector;
use gclab_core::config::{Config, FromGeneration};
use gclab_core::mutator::{Gc, Handle, MutArray, Mutator, MutatorKind, NoGc, OptionRoot, Request};
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Barrier;
use std::thread;

#[derive(Closure)]
#[allow(dead_code)]
struct List {
    value: u64,
    next: Mut<List>,
}

/// The number of rounds; both threads collect in each.
const ROUNDS: u64 = if cfg!(miri) { 2 } else { 400 };

/// The length of a list. With debug assertions, a collection without load balancing is shared if it
/// is expected to copy a kibibyte.
const CELLS: u64 = 60;

/// Puts a list of the numbers from `first`, in descending order, into `list`.
fn grow<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, list: &OptionRoot<'_, 'h, List>, first: u64) {
    list.set(m, None);
    for value in first..first + CELLS {
        let (m, cell) = m.alloc_with(|m| List::new(value, list.get(m)));
        list.set(m, Some(cell));
    }
}

/// Checks a list made by [`grow`].
fn check<'h, M: MutatorKind>(m: &NoGc<'h, M>, list: Option<Gc<'_, 'h, List>>) {
    let (mut at, mut length) = (list, 0);
    while let Some(cell) = at {
        let next = cell.next(m);
        assert!(next.is_none_or(|next| next.value(m) + 1 == cell.value(m)));
        (at, length) = (next, length + 1);
    }
    assert!(length == 0 || length == CELLS, "{length}");
}

/// Exchanges lists with the other thread through `shared`, by roots, handles and weak handles,
/// across collections, blocking calls and panics.
fn program<M: MutatorKind>(m: &mut Mutator<'_, M>, number: u64, shared: &Handle<MutArray<List>>, both: &Barrier) {
    m.frame(|m, [list, other]| {
        let (list, other) = (list.put_option(m, None), other.put_option(m, None));
        for round in 0..ROUNDS {
            grow(m, &list, round << 8 | number << 7);
            let (strong, weak) = {
                let first = list.get(m).expect("grown");
                (m.handle(first), m.weak_handle(first))
            };
            other.set(m, shared.open(m).swap(m, 0, list.get(m)));
            // The other thread may collect while this one waits.
            m.blocking(|| both.wait());
            m.collect(if number == 0 { Request::Full } else { Request::Minor });
            assert!(weak.open(m) == Some(strong.open(m)) && list.get(m) == weak.open(m));
            drop(strong);
            let unwound = catch_unwind(AssertUnwindSafe(|| {
                m.frame(|m, [slot]| {
                    let slot = slot.put(m.alloc(|_| List::new(0, None)));
                    m.blocking(|| {
                        if number < 2 {
                            resume_unwind(Box::new(()))
                        }
                    });
                    slot.get(m).value(m)
                })
            }));
            assert!(unwound.is_err());
            check(m, other.get(m));
            check(m, list.get(m));
            check(m, shared.open(m).get(m, 0));
        }
    });
}

/// Runs both threads' program under `C`, with collections shared in this way.
fn run<C: Collector>(load_balance: FromGeneration) {
    let of_two = Config {
        capabilities: 2,
        gc_threads: 2,
        load_balance: Some(load_balance),
        // The tables of a large heap take Miri a long time, and the machine's memory size is in a
        // file.
        reserve: Bytes(64 << 20),
        max_heap: Some(Bytes(32 << 20)),
        ..config::<C>(16 << 10)
    };
    let mut world = World::new::<C>(&of_two).expect("a small heap");
    world.listen(Box::new(Checker::new(&C::DESCRIPTION)));
    let shared = world
        .enter(|m| {
            let (m, array) = m.with_view(|m| m.alloc_array::<List>(1, |_| None));
            m.handle(array)
        })
        .expect("room enough");
    let both = Barrier::new(2);
    thread::scope(|s| {
        for number in 0..2 {
            let (world, shared, both) = (&world, &shared, &both);
            s.spawn(move || {
                world.enter(|m| program(m, number, shared, both)).expect("room enough");
            });
        }
    });
    drop(shared);
    let statistics = world.finish();
    let shared = |collection: &&gclab_core::stats::Collection| {
        collection.work.shared.sharing == gclab_core::stats::Sharing::Owners
    };
    let shared = statistics.collections.iter().filter(shared).count();
    assert!(load_balance != FromGeneration::Off || shared > 0 || !cfg!(debug_assertions));
}

#[test]
fn without_load_balancing() {
    run::<Parallel>(FromGeneration::Off);
}

#[test]
#[cfg_attr(miri, ignore = "a collection of so few closures is not shared")]
fn with_load_balancing() {
    run::<Parallel>(FromGeneration::From(0));
}

#[test]
fn without_load_balancing_and_of_one_generation() {
    run::<TwoSpace>(FromGeneration::Off);
}

#[test]
#[cfg_attr(miri, ignore = "a collection of so few closures is not shared")]
fn with_load_balancing_and_of_one_generation() {
    run::<TwoSpace>(FromGeneration::From(0));
}

#[test]
#[cfg_attr(miri, ignore = "a collection of so few closures is not shared")]
fn with_load_balancing_and_compaction() {
    run::<Compacting>(FromGeneration::From(0));
}
