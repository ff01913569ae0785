//! Two threads exchange the fields of the same closures, under a collector that counts references: whoever
//! logs a field first must have the value that it had at the last collection.

use crate::plain_counting::PlainCounting;
use crate::{config, explore, in_two_threads, schedules};
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::KindOf;
use gclab_core::mutator::{Handle, MutVar, Mutator, MutatorKind, Request};
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};

#[derive(Closure)]
#[allow(dead_code)]
struct Number {
    value: u64,
    next: Mut<Number>,
}

/// Numbers that each thread puts into a variable between two collections.
const EXCHANGES: u64 = 3;

fn program<M: MutatorKind>(m: &mut Mutator<'_, M>, vars: &[Handle<MutVar<Number>>; 2], number: usize) {
    for round in 0..3 {
        for value in 0..EXCHANGES {
            for var in vars {
                let (view, new) = m.alloc_with(|_| Number::new(10 * round + value, None));
                let old = var.open(view).swap(view, Some(new));
                // The other thread may be some rounds ahead.
                assert!(old.is_none_or(|old| old.value(view) % 10 < EXCHANGES));
            }
        }
        if number == 0 {
            m.collect(Request::Minor);
        }
    }
}

fn under(scheduler: impl Scheduler + 'static) {
    explore(scheduler, || {
        let mut world = World::new::<PlainCounting>(&config()).expect("a small heap");
        Checker::install(&mut world);
        let var = |m: &mut Mutator<'_, KindOf<PlainCounting>>| {
            m.frame(|m, [var]| {
                let var = var.put(m.alloc(|_| MutVar::<Number>::new(None)));
                m.handle(var.get(m))
            })
        };
        let vars = world.enter(|m| {
            let vars = [var(m), var(m)];
            m.collect(Request::Minor);
            vars
        });
        in_two_threads(world, vars.expect("room"), program);
    });
}

#[test]
fn exchanges_in_random_schedules() {
    under(RandomScheduler::new(schedules()));
}

#[test]
fn exchanges_in_schedules_of_few_changes() {
    under(PctScheduler::new(3, schedules()));
}
