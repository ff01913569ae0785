//! Idle collections: one whenever no thread runs, and none while one does.

use super::{busy, checked, of_many};
use gclab_core::collector::{Cause, Collector, CollectorVisitor};
use std::sync::mpsc::{TryRecvError, channel};
use std::thread;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);
const NONE: Duration = Duration::ZERO;

under_every_collector! {
    fn an_idle_heap_is_collected_once_and_a_thread_that_runs_prevents_it<C>() {
        let world = &checked::<C>(&of_many::<C>(2, 16 << 10));
        // If an assertion fails, `go` is dropped, which ends the thread.
        let ((resting, rests), (go, goes)) = (channel(), channel());
        let idle = || {
            let collections = world.statistics().expect("this thread is outside").collections;
            let idle: Vec<_> = collections.iter().filter(|one| one.before.cause == Cause::Idle).collect();
            assert!(idle.iter().all(|one| one.work.is_major() && one.forced()));
            idle.len()
        };
        assert_eq!(world.collect_if_idle(NONE, NONE), NONE);
        assert_eq!(idle(), 0, "no thread has run");
        thread::scope(move |s| {
            s.spawn(move || world.enter(|m| {
                let rest = || (resting.send(()), goes.recv());
                busy(m, 10);
                let _ = m.blocking(rest);
                while goes.try_recv() == Err(TryRecvError::Empty) {
                    m.safepoint();
                    if world.threads().len() > 1 {
                        busy(m, 1);
                    }
                }
                let _ = m.blocking(rest);
            }).expect("room enough"));
            rests.recv().expect("the thread rests");
            // The time starts with the first question.
            let left = world.collect_if_idle(HOUR, NONE);
            assert!(left <= HOUR && left > HOUR / 2, "{left:?}");
            assert_eq!(idle(), 0);
            thread::sleep(Duration::from_millis(2));
            world.collect_if_idle(Duration::from_millis(1), NONE);
            assert_eq!(idle(), 1);
            world.collect_if_idle(NONE, NONE);
            assert_eq!(idle(), 1, "no thread has run since");

            go.send(()).expect("the thread waits");
            let runs = || world.threads().iter().any(|one| one.state == gclab_core::world::ThreadState::Running);
            while !runs() {
                thread::yield_now();
            }
            world.collect_if_idle(NONE, NONE);
            assert_eq!(idle(), 1, "a thread runs");
            go.send(()).expect("the thread runs");

            rests.recv().expect("the thread rests");
            let left = world.collect_if_idle(NONE, HOUR);
            assert!(left > HOUR / 2, "{left:?}");
            assert_eq!(idle(), 1, "too soon after the last one");
            world.collect_if_idle(NONE, NONE);
            assert_eq!(idle(), 2);
            go.send(()).expect("the thread waits");
        });
        assert_eq!(idle(), 2, "the thread that left is not idle for long enough");
    }
}
