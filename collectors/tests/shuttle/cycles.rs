//! Whole cycles of the collectors that mark concurrently. One thread begins and ends them; both hide
//! closures from the marker meanwhile, open weak handles, store new closures into old ones, and block.

use crate::{config, explore, in_two_threads, schedules};
use gclab_collectors::{Concurrent, Nonmoving};
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::{Collector, KindOf};
use gclab_core::config::Config;
use gclab_core::mutator::{Gc, Handle, Mutator, MutatorKind, NoGc, OptionRoot, Request, WeakHandle};
use gclab_core::stats::Cycle;
use gclab_core::words::{Bytes, Words};
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};

#[derive(Closure)]
#[allow(dead_code)]
struct Number {
    value: u64,
    next: Mut<Number>,
}

/// The numbers of each list: some looks of the marker whether a pause begins.
const LENGTH: u64 = 40;

/// Cycles that each world begins. The last may be under way when the world ends.
const CYCLES: u64 = 3;

/// What a thread has in the old generation.
struct Share {
    /// A list. Only its end leads to one more number.
    list: Handle<Number>,
    /// A number that leads to new ones.
    field: Handle<Number>,
    /// A number that nothing else leads to.
    lonely: WeakHandle<Number>,
}

fn extend<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, list: &OptionRoot<'_, 'h, Number>, length: u64) {
    for value in 0..length {
        let (m, number) = m.alloc_with(|m| Number::new(value, list.get(m)));
        list.set(m, Some(number));
    }
}

fn share<M: MutatorKind>(m: &mut Mutator<'_, M>) -> Share {
    m.frame(|m, [list, field, lonely]| {
        let list = list.put_option::<Number>(m, None);
        let field = field.put(m.alloc(|_| Number::new(6, None)));
        let lonely = lonely.put(m.alloc(|_| Number::new(8, None)));
        let (view, last) = m.alloc_with(|_| Number::new(7, None));
        list.set(view, Some(last));
        extend(m, &list, LENGTH);
        m.collect(Request::Full);
        Share {
            list: m.handle(list.get(m).expect("a list")),
            field: m.handle(field.get(m)),
            lonely: m.weak_handle(lonely.get(m)),
        }
    })
}

/// The end of a list of `length` numbers.
fn end<'m, 'h, M: MutatorKind>(m: &'m NoGc<'h, M>, mut list: Gc<'m, 'h, Number>, length: u64) -> Gc<'m, 'h, Number> {
    for value in (1..length).rev() {
        assert_eq!(list.value(m), value);
        list = list.next(m).expect("a number is left");
    }
    list
}

fn program<M: MutatorKind>(m: &mut Mutator<'_, M>, shares: &[Share; 2], number: usize) {
    m.frame(|m, [hidden, found, new]| {
        let hidden = hidden.put_option::<Number>(m, None);
        let found = found.put_option::<Number>(m, None);
        let new = new.put_option::<Number>(m, None);
        let Share { list, field, lonely } = &shares[number];
        for cycle in 0..CYCLES {
            if number == 0 {
                m.collect(Request::Slice(Words(0)));
            }
            // The marker may have come to the end of the list or not.
            let last = end(m, list.open(m), LENGTH);
            hidden.set(m, last.next(m));
            last.set_next(m, None);
            found.set(m, lonely.open(m));
            for length in [1, LENGTH] {
                new.set(m, None);
                extend(m, &new, length);
                field.open(m).set_next(m, new.get(m));
            }
            if let Some(other) = shares[1 - number].field.open(m).next(m) {
                end(m, other, other.value(m) + 1);
            }
            m.blocking(shuttle::thread::yield_now);
            if number == 0 && cycle + 1 < CYCLES {
                m.collect(Request::Cycle);
            }
            assert_eq!(hidden.get(m).map(|hidden| hidden.value(m)), Some(7));
            assert!(
                found
                    .get(m)
                    .is_none_or(|found| found.value(m) == 8 && Some(found) == lonely.open(m))
            );
            assert!(field.open(m).next(m) == new.get(m));
            end(m, list.open(m), LENGTH).set_next(m, hidden.get(m));
        }
    });
}

fn world<C: Collector, const MARKERS: usize>() {
    let config = Config {
        // A block for each thread, and some.
        allocation_area: Bytes::kib(128),
        own: vec![format!("markers={MARKERS}")],
        ..config()
    };
    let mut world = World::new::<C>(&config).expect("a small heap");
    world.listen(Box::new(Checker::new(world.collector()).exact()));
    let shares = world.enter(|m| [share(m), share(m)]).expect("room");
    let statistics = in_two_threads(world, shares, |m: &mut Mutator<'_, KindOf<C>>, shares, number| {
        program(m, shares, number)
    });
    let ended = statistics
        .collections
        .iter()
        .filter(|each| each.work.cycle == Cycle::Ended);
    assert!(ended.count() + 1 >= CYCLES as usize);
}

fn cycles<S: Scheduler + 'static>(scheduler: impl Fn() -> S) {
    explore(scheduler(), world::<Concurrent, 1>);
    explore(scheduler(), world::<Concurrent, 2>);
    explore(scheduler(), world::<Nonmoving, 1>);
}

#[test]
fn cycles_in_random_schedules() {
    cycles(|| RandomScheduler::new(schedules()));
}

#[test]
fn cycles_in_schedules_of_few_changes() {
    cycles(|| PctScheduler::new(3, schedules()));
}
