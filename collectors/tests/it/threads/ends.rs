//! A thread that ends in exhaustion or a panic leaves the heap to the others.

use super::{busy, checked, make, meet, of_many, push};
use gclab_core::collector::{Cause, Collector, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::events::{Event, EventKind, Listener, Phase};
use gclab_core::words::Bytes;
use gclab_core::world::{EnterError, World};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

under_every_collector! {
    fn exhaustion_ends_only_the_thread_that_asked_for_too_much<C>() {
        let config = Config { max_heap: Some(Bytes(16 << 20)), ..of_many::<C>(3, 16 << 10) };
        let world = checked::<C>(&config);
        let start = &Barrier::new(3);
        thread::scope(|s| {
            s.spawn(|| for _ in 0..3 {
                let result = world.enter(|m| m.frame(|m, [kept]| {
                    kept.put(make(m, 4));
                    m.alloc_mut_bytes(64 << 20);
                }));
                assert!(matches!(result, Err(EnterError::Exhausted(_))), "{result:?}");
                start.wait();
            });
            for _ in 0..2 {
                s.spawn(|| world.enter(|m| for _ in 0..3 {
                    busy(m, 30);
                    meet(m, start);
                }).expect("room enough"));
            }
        });
        world.enter(|m| busy(m, 10)).expect("usable");
    }

    fn all_that_fill_the_heap_meet_its_end<C>() {
        let config = Config { max_heap: Some(Bytes(8 << 20)), ..of_many::<C>(2, 16 << 10) };
        let world = World::new::<C>(&config).expect("a small heap");
        thread::scope(|s| for _ in 0..2 {
            s.spawn(|| {
                let result = world.enter(|m| m.frame(|m, [list]| {
                    let list = list.put_option(m, None);
                    (0..u64::MAX).for_each(|value| push(m, &list, value));
                }));
                assert!(matches!(result, Err(EnterError::Exhausted(_))), "{result:?}");
            });
        });
        world.enter(|m| busy(m, 50)).expect("usable");
    }

    /// A thread that allocates, one that loops over safepoints, one that blocks and then returns,
    /// and one that waits for a capability.
    fn an_interruption_ends_every_session<C>() {
        let world = checked::<C>(&of_many::<C>(3, 16 << 10));
        let (inside, back) = (&Barrier::new(4), &Barrier::new(2));
        thread::scope(|s| {
            let ended = [
                s.spawn(|| world.enter(|m| {
                    meet(m, inside);
                    (0..u64::MAX).for_each(|round| busy(m, round % 20));
                })),
                s.spawn(|| world.enter(|m| {
                    meet(m, inside);
                    loop { m.safepoint() }
                })),
                s.spawn(|| world.enter(|m| {
                    m.blocking(|| (inside.wait(), back.wait()));
                    loop { m.frame(|m, [kept]| _ = kept.put(make(m, 4))) }
                })),
            ];
            inside.wait();
            let waits = s.spawn(|| world.enter(|m| busy(m, 1)));
            world.interrupt().expect("this thread is outside");
            back.wait();
            for thread in ended.into_iter().chain([waits]) {
                assert_eq!(thread.join().expect("no panic"), Err(EnterError::Interrupted));
            }
        });
        assert_eq!(world.enter(|_| ()), Err(EnterError::Interrupted));
        let statistics = world.finish();
        assert_eq!(statistics.collections.last().map(|last| last.before.cause), Some(Cause::Final));
    }

    fn a_panic_of_one_thread_does_not_hang_the_others<C>() {
        let world = checked::<C>(&of_many::<C>(3, 16 << 10));
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| world.enter(|m| busy(m, 100)).expect("room enough"));
            }
            s.spawn(|| for round in 0..20 {
                let panic = catch_unwind(AssertUnwindSafe(|| world.enter(|m| {
                    busy(m, round);
                    std::panic::resume_unwind(Box::new("on purpose"))
                })));
                assert!(panic.is_err());
            });
        });
        world.enter(|m| busy(m, 10)).expect("usable");
    }

    fn a_listener_that_panics_lets_the_others_go_on<C>() {
        struct Panics(u32);
        impl Listener for Panics {
            fn event(&mut self, event: &Event<'_>) {
                if let EventKind::Phase(Phase::HeapTraced) = event.kind {
                    self.0 += 1;
                    if self.0 == 3 {
                        std::panic::resume_unwind(Box::new("on purpose"));
                    }
                }
            }
        }
        let mut world = checked::<C>(&of_many::<C>(2, 16 << 10));
        world.listen(Box::new(Panics(0)));
        let panics = AtomicUsize::new(0);
        thread::scope(|s| for _ in 0..2 {
            s.spawn(|| while catch_unwind(AssertUnwindSafe(|| world.enter(|m| busy(m, 100)))).is_err() {
                panics.fetch_add(1, Ordering::Relaxed);
            });
        });
        assert_eq!(panics.into_inner(), 1);
    }
}
