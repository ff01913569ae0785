//! Where finalisers run, and when alarms ring.

use super::{Notes, Number, list, sum, world};
use crate::basics::config;
use gclab_collectors::Parallel;
use gclab_core::collector::{Cause, Collector, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::mutator::{Alarm, Handle, Request};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

under_every_collector! {
    fn an_alarm_rings_after_each_major_collection<C>() {
        let (world, notes) = (world::<C>(&config::<C>(16 << 10)), Notes::default());
        let rung = Arc::new(AtomicU64::new(0));
        let ran = world.enter(|m| {
            let count = Arc::clone(&rung);
            let alarm = m.create_alarm(move |m| {
                list(m, 3, |_, _| ());
                assert!(count.fetch_add(1, Relaxed) != 1, "the second time");
            });
            m.collect(Request::Full);
            assert_eq!(rung.load(Relaxed), 1);
            assert!(catch_unwind(AssertUnwindSafe(|| m.collect(Request::Full))).is_err());
            m.collect(Request::Full);
            assert_eq!(rung.load(Relaxed), 3);
            // Two collections happen before the alarm can ring again.
            let noted = notes.clone();
            list(m, 1, |m, it| {
                m.finalise(it, move |m, _: Handle<Number>| {
                    m.collect(Request::Full);
                    m.collect(Request::Full);
                    noted.add(1);
                });
            });
            m.collect(Request::Full);
            assert_eq!((notes.take(), rung.load(Relaxed)), (vec![1], 4));
            m.collect(Request::Full);
            assert_eq!(rung.load(Relaxed), 5);
            m.delete_alarm(alarm);
            m.collect(Request::Full);
            assert_eq!(rung.load(Relaxed), 5);
        });
        ran.expect("room enough");
    }

    fn an_alarm_may_end_itself_while_it_rings<C>() {
        let (world, notes) = (world::<C>(&config::<C>(16 << 10)), Notes::default());
        let (itself, owned) = (Arc::new(Mutex::new(None::<Alarm>)), Arc::new(()));
        let ran = world.enter(|m| {
            let (noted, own, value) = (notes.clone(), Arc::clone(&itself), Arc::clone(&owned));
            let alarm = m.create_alarm(move |m| {
                noted.add(Arc::strong_count(&value) as u64);
                let alarm = own.lock().expect("sound").take().expect("it rings once");
                m.delete_alarm(alarm);
                m.collect(Request::Full);
            });
            *itself.lock().expect("sound") = Some(alarm);
            m.collect(Request::Full);
            m.collect(Request::Full);
            assert_eq!(notes.take(), [2]);
            assert_eq!(Arc::strong_count(&owned), 1, "its function is dropped");
        });
        ran.expect("room enough");
    }

    /// A thread outside the heap collects, and runs the finalisers with the mutator of the blocked
    /// thread. They allocate, collect and block.
    fn an_idle_collection_runs_finalisers_in_the_blocking_call<C>() {
        let (world, notes) = (world::<C>(&config::<C>(16 << 10)), Notes::default());
        let (say, hear) = channel();
        let ran = world.enter(|m| {
            let (noted, rung) = (notes.clone(), notes.clone());
            // Before the finaliser: `ocaml` runs the two in order of creation.
            let alarm = m.create_alarm(move |_| rung.add(1));
            list(m, 4, |m, list| m.finalise(list, move |m, list: Handle<Number>| {
                m.collect(Request::Full);
                m.blocking(|| ());
                noted.add(sum(m, list.open(m)));
                self::list(m, 100, |_, _| ());
                say.send(()).expect("it waits");
            }));
            m.blocking(|| thread::scope(|scope| {
                scope.spawn(|| world.collect_if_idle(Duration::ZERO, Duration::ZERO));
                hear.recv().expect("they run in the call");
            }));
            assert_eq!(notes.take(), [10, 1]);
            m.delete_alarm(alarm);
            m.collect(Request::Full);
            assert!(notes.take().is_empty());
        });
        ran.expect("room enough");
        let collections = world.finish().collections;
        let idle = collections.iter().filter(|one| one.before.cause == Cause::Idle);
        assert_eq!(idle.count(), 1);
    }

    fn a_panic_of_such_a_finaliser_is_one_of_the_blocking_call<C>() {
        let world = world::<C>(&config::<C>(16 << 10));
        let ran = world.enter(|m| {
            list(m, 4, |m, list| m.finalise(list, |_, _: Handle<Number>| panic!("on purpose")));
            let collect = || thread::scope(|scope| {
                scope.spawn(|| world.collect_if_idle(Duration::ZERO, Duration::ZERO));
            });
            let call = catch_unwind(AssertUnwindSafe(|| m.blocking(collect)));
            assert_eq!(call.expect_err("it panics").downcast_ref(), Some(&"on purpose"));
            m.collect(Request::Full);
        });
        ran.expect("room enough");
    }

    /// No thread is inside, so a free capability runs them.
    fn an_idle_collection_runs_finalisers_of_a_heap_that_nobody_uses<C>() {
        let (world, notes) = (world::<C>(&config::<C>(16 << 10)), Notes::default());
        let noted = notes.clone();
        let ran = world.enter(|m| list(m, 4, |m, list| m.finalise(list, move |m, list| noted.add(sum(m, list.open(m))))));
        ran.expect("room enough");
        world.collect_if_idle(Duration::ZERO, Duration::ZERO);
        assert_eq!(notes.take(), [10]);
    }
}

/// The thread that registered it is inside, but does nothing with the heap.
#[test]
fn any_thread_runs_finalisers() {
    let config = Config {
        capabilities: 2,
        ..config::<Parallel>(16 << 10)
    };
    let (world, notes) = (world::<Parallel>(&config), Notes::default());
    let ran_by = Arc::new(Mutex::new(None));
    let registered = world.enter(|m| {
        let (noted, by) = (notes.clone(), Arc::clone(&ran_by));
        list(m, 9, |m, list| {
            m.finalise(list, move |m, list: Handle<Number>| {
                noted.add(sum(m, list.open(m)));
                *by.lock().expect("sound") = Some(thread::current().id());
            });
        });
        m.blocking(|| {
            thread::scope(|scope| {
                let other = scope.spawn(|| world.enter(|m| m.collect(Request::Full)).expect("room enough"));
                let id = other.thread().id();
                other.join().expect("no panic");
                assert_eq!(*ran_by.lock().expect("sound"), Some(id));
            });
            assert_eq!(notes.take(), [45]);
        });
    });
    registered.expect("room enough");
}
