//! Whole worlds under shuttle's scheduler (`.ci/shuttle`): two threads in one heap, GC threads, and
//! the background thread of concurrent collectors. Another thread may run at every lock, atomic
//! access, access to a slot and read of a header. Schedules are random, or by PCT: a few changes of
//! priority at random points. The checker checks the heap after each collection.
#![cfg(gclab_shuttle)]

mod cycles;
mod exchanges;
#[path = "../../../docs/examples/plain_counting.rs"]
mod plain_counting;

use gclab_collectors::{Compacting, Copying, Parallel, TwoSpace};
use gclab_core::closure::{Closure, Ptr};
use gclab_core::collector::Collector;
use gclab_core::config::{Config, FromGeneration};
use gclab_core::mutator::{Handle, MutArray, Mutator, MutatorKind, Request};
use gclab_core::stats::Statistics;
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use shuttle::Runner;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use std::sync::Arc;

/// The number of schedules of each kind for each program.
fn schedules() -> usize {
    std::env::var("GCLAB_SCHEDULES").map_or(200, |text| text.parse().expect("a number"))
}

#[derive(Closure)]
#[allow(dead_code)]
struct List {
    value: u64,
    next: Option<Ptr<List>>,
}

/// The number of conses of each list.
const LENGTH: u64 = 160;

/// Puts a list into the thread's slot of a shared array, and reads the other slots.
fn program<M: MutatorKind>(m: &mut Mutator<'_, M>, table: &Handle<MutArray<List>>, number: usize) {
    m.frame(|m, [list]| {
        let list = list.put_option(m, None);
        for value in 0..LENGTH {
            let (view, cell) = m.alloc_with(|m| List::new(value, list.get(m)));
            list.set(view, Some(cell));
            if value % 16 == 15 {
                table.open(m).set(m, number, list.get(m));
                m.collect(if number == 0 { Request::Full } else { Request::Minor });
            }
            let other = table.open(m).get(m, 1 - number);
            assert!(other.is_none_or(|other| other.value(m) % 16 == 15));
        }
        let (mut at, mut left) = (list.get(m), LENGTH);
        while let Some(cell) = at {
            left -= 1;
            assert_eq!(cell.value(m), left);
            at = cell.next(m);
        }
        assert_eq!(left, 0);
    });
}

fn world<C: Collector>(config: &Config) {
    let mut world = World::new::<C>(config).expect("a small heap");
    Checker::install(&mut world);
    let table = world.enter(|m| {
        m.frame(|m, [array]| {
            // Large enough for its slots to be shared.
            let array = array.put(m.alloc_array::<List>(600, |_| None));
            m.handle(array.get(m))
        })
    });
    let table = table.expect("room");
    let statistics = in_two_threads(world, table, |m, table, number| program(m, table, number));
    assert!(statistics.collections_count() >= 4);
}

/// Runs `program` in two threads, which share `data`, and have numbers.
fn in_two_threads<M: MutatorKind, T: Send + Sync + 'static>(
    world: World<M>,
    data: T,
    program: impl for<'h> Fn(&mut Mutator<'h, M>, &T, usize) + Copy + Send + 'static,
) -> Statistics {
    let (world, data) = (Arc::new(world), Arc::new(data));
    let threads: Vec<_> = (0..2)
        .map(|number| {
            let (world, data) = (Arc::clone(&world), Arc::clone(&data));
            shuttle::thread::spawn(move || world.enter(|m| program(m, &data, number)).expect("room"))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    drop(data);
    Arc::into_inner(world).expect("the threads are gone").finish()
}

/// Two capabilities and as many GC threads.
fn config() -> Config {
    Config {
        capabilities: 2,
        gc_threads: 2,
        allocation_area: Bytes::kib(8),
        reserve: Bytes(64 << 20),
        huge_pages: false,
        ..Config::default()
    }
}

fn explore(scheduler: impl Scheduler + 'static, run: impl Fn() + Send + Sync + 'static) {
    let mut settings = shuttle::Config::new();
    settings.stack_size = 1 << 20;
    Runner::new(scheduler, settings).run(run);
}

fn under<C: Collector>(scheduler: impl Scheduler + 'static, balance: FromGeneration) {
    explore(scheduler, move || {
        world::<C>(&Config {
            load_balance: Some(balance),
            ..config()
        })
    });
}

#[test]
fn random_schedules() {
    under::<Copying>(RandomScheduler::new(schedules()), FromGeneration::Off);
    under::<Parallel>(RandomScheduler::new(schedules()), FromGeneration::Off);
    under::<Parallel>(RandomScheduler::new(schedules()), FromGeneration::From(0));
    under::<TwoSpace>(RandomScheduler::new(schedules()), FromGeneration::From(0));
    under::<Compacting>(RandomScheduler::new(schedules()), FromGeneration::From(0));
}

#[test]
fn schedules_of_few_changes() {
    under::<Copying>(PctScheduler::new(3, schedules()), FromGeneration::Off);
    under::<Parallel>(PctScheduler::new(3, schedules()), FromGeneration::Off);
    under::<Parallel>(PctScheduler::new(3, schedules()), FromGeneration::From(0));
    under::<TwoSpace>(PctScheduler::new(3, schedules()), FromGeneration::From(0));
    under::<Compacting>(PctScheduler::new(3, schedules()), FromGeneration::From(0));
}
