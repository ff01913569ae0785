//! Threads enter, stop for a collection or an inspection, and continue.

use super::{List, all_at_once, busy, checked, count, make, meet, of_many, push, sum};
use gclab_collectors::Copying;
use gclab_core::collector::{Collector, CollectorVisitor};
use gclab_core::events::{CapabilityEvent, CapabilityEventKind, Event, EventKind, Follows, Listener};
use gclab_core::mutator::{MutatorKind, Request};
use gclab_core::world::{EnterError, ThreadState, World};
use gclab_heap_traverse::Checker;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

under_every_collector! {
    fn no_more_threads_than_capabilities_are_inside<C>() {
        let world = checked::<C>(&of_many::<C>(2, 16 << 10));
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|s| for _ in 0..8 {
            s.spawn(|| for _ in 0..10 {
                world.enter(|m| {
                    most.fetch_max(1 + inside.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
                    assert!(world.threads().len() <= 2);
                    busy(m, 5);
                    inside.fetch_sub(1, Ordering::SeqCst);
                }).expect("room enough");
            });
        });
        assert!(most.into_inner() <= 2);
    }

    fn collections_do_not_wait_for_blocked_threads<C>() {
        let world = checked::<C>(&of_many::<C>(2, 16 << 10));
        let (collected, wait) = mpsc::channel();
        // The closure of a blocking call must be `Send`, which a shared receiver is not.
        let wait = std::sync::Mutex::new(wait);
        let blocked = &Barrier::new(2);
        let world = &world;
        thread::scope(|s| {
            s.spawn(move || world.enter(|m| m.frame(|m, [tree, list]| {
                let tree = tree.put(make(m, 6));
                let list = list.put_option(m, None);
                (0..10).for_each(|value| push(m, &list, value));
                let said: u32 = m.blocking(|| {
                    blocked.wait();
                    wait.lock().expect("no thread panicked").recv().expect("sent")
                });
                assert_eq!((said, count(m, tree.get(m)), sum(m, list.get(m))), (1, 127, 45));
                // The thread returns first, even if the call panics.
                let panic = catch_unwind(AssertUnwindSafe(|| m.blocking(|| {
                    blocked.wait();
                    assert_eq!(wait.lock().expect("no thread panicked").recv(), Ok(2));
                    std::panic::resume_unwind(Box::new("on purpose"))
                })));
                assert!(panic.is_err());
                assert_eq!((count(m, tree.get(m)), sum(m, list.get(m))), (127, 45));
                busy(m, 50);
            })).expect("room enough"));
            s.spawn(move || world.enter(|m| {
                for number in 1..=2 {
                    meet(m, blocked);
                    busy(m, 50);
                    (0..6).for_each(|round| m.collect(if round % 2 == 0 { Request::Full } else { Request::Minor }));
                    assert!(world.threads().iter().any(|thread| thread.state == ThreadState::Blocking));
                    collected.send(number).expect("received");
                }
                busy(m, 50);
            }).expect("room enough"));
        });
    }

    fn a_loop_that_does_not_allocate_stops_where_it_says<C>() {
        let world = checked::<C>(&of_many::<C>(2, 16 << 10));
        let (looping, done) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|s| {
            s.spawn(|| world.enter(|m| m.frame(|m, [tree]| {
                let tree = tree.put(make(m, 6));
                while !done.load(Ordering::Acquire) {
                    looping.store(true, Ordering::Release);
                    m.safepoint();
                }
                assert_eq!(count(m, tree.get(m)), 127);
                busy(m, 20);
            })).expect("room enough"));
            s.spawn(|| world.enter(|m| {
                while !looping.load(Ordering::Acquire) {
                    m.safepoint();
                }
                (0..20).for_each(|round| m.collect(if round % 3 == 0 { Request::Full } else { Request::Minor }));
                busy(m, 20);
                done.store(true, Ordering::Release);
            }).expect("room enough"));
        });
        assert!(world.finish().collections_count() >= 20);
    }

    fn a_slow_thread_does_not_delay_a_collection_until_its_chunk_is_full<C>() {
        // A chunk is at least an eighth of a mebibyte. Filling it with 24 bytes every 5 ms takes 27
        // s.
        let world = World::new::<C>(&of_many::<C>(2, 1 << 20)).expect("a small heap");
        let (slow, done) = (AtomicBool::new(false), AtomicBool::new(false));
        let begin = Instant::now();
        thread::scope(|s| {
            s.spawn(|| world.enter(|m| while !done.load(Ordering::Relaxed) {
                m.alloc(|_| List::new(1, None));
                slow.store(true, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(5));
            }).expect("room enough"));
            s.spawn(|| {
                while !slow.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
                world.enter(|m| (0..10).for_each(|_| {
                    m.collect(Request::Minor);
                    m.blocking(|| thread::sleep(Duration::from_millis(3)));
                })).expect("room enough");
                done.store(true, Ordering::Relaxed);
            });
        });
        assert!(begin.elapsed() < Duration::from_secs(120), "{:?}", begin.elapsed());
        let waited = world.finish().collections.iter().map(|collection| collection.before.sync_ns).collect::<Vec<_>>();
        assert!(waited.iter().any(|ns| *ns > 100_000), "a thread slept when it was to stop, and the record shows no wait: {waited:?}");
    }

    fn inspection_stops_the_world<C>() {
        let world = World::new::<C>(&of_many::<C>(2, 16 << 10)).expect("a small heap");
        let done = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    world.enter(|m| busy(m, 300)).expect("room enough");
                    done.fetch_add(1, Ordering::Relaxed);
                });
            }
            let mut allocated = 0;
            while done.load(Ordering::Relaxed) < 2 {
                let statistics = world.statistics().expect("not inside");
                assert!(statistics.allocated >= allocated);
                allocated = statistics.allocated;
                world.inspect(|stopped| {
                    let mut checker = Checker::new(&C::DESCRIPTION);
                    checker.check(stopped, None).expect("whole");
                    assert!(world.threads().iter().all(|other| other.state != ThreadState::Running));
                    // This thread counts as inside.
                    assert_eq!(world.enter(|_| ()), Err(EnterError::Entered));
                    assert!(matches!(world.statistics(), Err(EnterError::Entered)));
                    assert!(matches!(world.inspect(|_| ()), Err(EnterError::Entered)));
                }).expect("not inside");
            }
            let panic = catch_unwind(AssertUnwindSafe(|| world.inspect(|_| std::panic::resume_unwind(Box::new(())))));
            assert!(panic.is_err());
        });
        assert!(world.threads().is_empty());
        world.enter(|m| busy(m, 10)).expect("usable");
    }

    fn a_stop_without_a_collection_costs_no_room<C>() {
        let world = World::new::<C>(&of_many::<C>(2, 64 << 10)).expect("a small heap");
        let (allocated, looked) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|s| {
            s.spawn(|| world.enter(|m| for round in 1..=20 {
                m.alloc_bytes_filled(500, 0);
                allocated.store(round, Ordering::Relaxed);
                while looked.load(Ordering::Relaxed) < round {
                    m.safepoint();
                }
            }).expect("room enough"));
            for round in 1..=20 {
                while allocated.load(Ordering::Relaxed) < round {
                    thread::yield_now();
                }
                world.inspect(|_| ()).expect("not inside");
                looked.store(round, Ordering::Relaxed);
            }
        });
        assert_eq!(world.statistics().expect("not inside").collections_count(), 0);
    }

    fn a_listener_is_inside_with_the_thread_that_collects<C>() {
        struct Enters<M: MutatorKind>(Arc<OnceLock<World<M>>>, Arc<AtomicUsize>);
        impl<M: MutatorKind> Listener for Enters<M> {
            fn event(&mut self, event: &Event<'_>) {
                if matches!(event.kind, EventKind::RunStart(_)) {
                    return; // No thread is inside yet.
                }
                let world = self.0.get().expect("made");
                assert_eq!(world.enter(|_| ()), Err(EnterError::Entered));
                assert!(matches!(world.inspect(|_| ()), Err(EnterError::Entered)));
                let threads = world.threads();
                assert_eq!(threads.iter().filter(|other| other.state == ThreadState::Stopping).count(), 1);
                assert!(threads.iter().all(|other| other.state != ThreadState::Running));
                self.1.fetch_add(1, Ordering::Relaxed);
            }
        }
        let (cell, events) = (Arc::new(OnceLock::new()), Arc::new(AtomicUsize::new(0)));
        let mut world = World::new::<C>(&of_many::<C>(2, 16 << 10)).expect("a small heap");
        world.listen(Box::new(Enters(Arc::clone(&cell), Arc::clone(&events))));
        assert!(cell.set(world).is_ok());
        all_at_once(cell.get().expect("set"), 2, |m, _| busy(m, 50));
        assert!(events.load(Ordering::Relaxed) > 20);
    }
}

/// How often the calling thread has waited so far.
fn waits() -> usize {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("Linux has it");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.expect("a line of it").trim().parse().expect("a number")
}

/// Counts how often a thread resumes after a stop.
struct Resumes(Arc<AtomicUsize>);

impl Listener for Resumes {
    fn follows(&self) -> Follows {
        Follows {
            threads: true,
            ..Follows::default()
        }
    }

    fn capability(&mut self, _: usize, events: &[CapabilityEvent]) {
        let runs = events.iter().filter(|event| event.kind == CapabilityEventKind::Run);
        self.0.fetch_add(runs.count(), Ordering::Relaxed);
    }

    fn event(&mut self, _: &Event<'_>) {}
}

/// A thread that waits while the world is stopped is not woken for another stop. So a thread waits
/// about once each time that it resumes, and one thread once more for each collection. The factor
/// allows for waits for the lock. (If each stop woke all of these threads, only for them to find
/// that another one stops the world, there would be dozens of waits.)
#[test]
fn a_stop_wakes_no_thread_already_stopped() {
    const THREADS: u32 = 128;
    let mut world = World::new::<Copying>(&of_many::<Copying>(THREADS, 8 << 10)).expect("a small heap");
    let resumed = Arc::new(AtomicUsize::new(0));
    world.listen(Box::new(Resumes(Arc::clone(&resumed))));
    let (waited, inside) = (AtomicUsize::new(0), Barrier::new(THREADS as usize));
    all_at_once(&world, THREADS as usize, |m, number| {
        meet(m, &inside);
        let before = waits();
        // It stops the world as soon as it resumes, while most others still wait for the end of the
        // last stop. Sometimes it sleeps a little, which makes that take longer.
        for i in 0..20 {
            m.collect(Request::Minor);
            if (i + number) % 4 == 0 {
                thread::sleep(Duration::from_millis(1));
            }
        }
        waited.fetch_add(waits() - before, Ordering::Relaxed);
    });
    let collections = world.finish().collections_count() as usize;
    let (waited, resumed) = (waited.into_inner(), resumed.load(Ordering::Relaxed));
    println!("{waited} waits, {resumed} resumptions, {collections} collections");
    assert!(
        collections > 10 && waited < 6 * (collections + resumed),
        "{waited} waits, {resumed} resumptions, {collections} collections"
    );
}
