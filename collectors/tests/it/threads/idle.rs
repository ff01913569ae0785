//! Idle collections: one for each time that no thread runs, and none while one does.

use super::{busy, checked, of_many};
use gclab_collectors::All;
use gclab_core::collector::{Cause, Collector, CollectorList, CollectorVisitor};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);
const NONE: Duration = Duration::ZERO;

under_every_collector! {
    fn an_idle_heap_is_collected_once_and_a_thread_that_runs_prevents_it<C>() {
        let world = checked::<C>(&of_many::<C>(2, 16 << 10));
        let (met, stop) = (&Barrier::new(2), &AtomicBool::new(false));
        let idle = || {
            let collections = world.statistics().expect("this thread is outside").collections;
            let idle: Vec<_> = collections.iter().filter(|one| one.before.cause == Cause::Idle).collect();
            assert!(idle.iter().all(|one| one.work.major && one.forced()));
            idle.len()
        };
        assert_eq!(world.collect_if_idle(NONE, NONE), NONE);
        assert_eq!(idle(), 0, "no thread has run");
        thread::scope(|s| {
            s.spawn(|| world.enter(|m| {
                busy(m, 10);
                m.blocking(|| (met.wait(), met.wait()));
                while !stop.load(Relaxed) {
                    m.safepoint();
                    if world.threads().len() > 1 {
                        busy(m, 1);
                    }
                }
                m.blocking(|| (met.wait(), met.wait()));
            }).expect("room enough"));
            met.wait();
            // The time counts from the first question.
            let left = world.collect_if_idle(HOUR, NONE);
            assert!(left <= HOUR && left > HOUR / 2, "{left:?}");
            assert_eq!(idle(), 0);
            thread::sleep(Duration::from_millis(2));
            world.collect_if_idle(Duration::from_millis(1), NONE);
            assert_eq!(idle(), 1);
            world.collect_if_idle(NONE, NONE);
            assert_eq!(idle(), 1, "no thread has run since");

            met.wait();
            let runs = || world.threads().iter().any(|one| one.state == gclab_core::world::ThreadState::Running);
            while !runs() {
                thread::yield_now();
            }
            world.collect_if_idle(NONE, NONE);
            assert_eq!(idle(), 1, "a thread runs");
            stop.store(true, Relaxed);

            met.wait();
            let left = world.collect_if_idle(NONE, HOUR);
            assert!(left > HOUR / 2, "{left:?}");
            assert_eq!(idle(), 1, "too soon after the last one");
            world.collect_if_idle(NONE, NONE);
            assert_eq!(idle(), 2);
            met.wait();
        });
        assert_eq!(idle(), 2, "the thread that left is not idle for long enough");
    }
}
