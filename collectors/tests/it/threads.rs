//! Many threads in one heap, under every collector: their data are intact, whichever thread
//! collects.

use crate::basics::flags;
use gclab_collectors::{All, Copying};
use gclab_core::closure::{Closure, Mut, Ptr};
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor, KindOf};
use gclab_core::config::Config;
use gclab_core::events::{Event, Listener, Phase};
use gclab_core::mutator::{Gc, Handle, MutVar, Mutator, MutatorKind, NoGc, OptionRoot, WeakHandle};
use gclab_core::words::Bytes;
use gclab_core::world::{EnterError, ThreadState, World};
use gclab_heap_traverse::Checker;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

#[derive(Closure)]
#[allow(dead_code)]
struct List {
    value: u64,
    next: Mut<List>,
}

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

/// Makes a test that runs `program` under every collector.
macro_rules! under_every_collector {
    ($($(#[$meta:meta])* fn $name:ident<$c:ident>() $body:block)*) => {$(
        $(#[$meta])*
        #[test]
        fn $name() {
            #[derive(Clone, Copy)]
            struct Program;
            impl CollectorVisitor for Program {
                type Output = ();
                fn visit<$c: Collector>(self) $body
            }
            for description in All::descriptions() {
                All::with(description.name, Program).expect("listed");
            }
        }
    )*};
}

/// The configuration of a small heap with `capabilities`.
fn of_many<C: Collector>(capabilities: u32, area: usize) -> Config {
    Config {
        capabilities,
        ..flags::<C>(area)
    }
}

/// A world whose whole heap is checked after each collection.
fn checked<C: Collector>(flags: &Config) -> World<KindOf<C>> {
    let mut world = World::new::<C>(flags).expect("a small heap");
    Checker::install(&mut world);
    world
}

fn make<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, depth: u32) -> Gc<'m, 'h, Tree> {
    if depth == 0 {
        return m.alloc(|_| Tree::new(None, None));
    }
    m.frame(|m, [l, r]| {
        let left = l.put(make(m, depth - 1));
        let right = r.put(make(m, depth - 1));
        m.alloc(|m| Tree::new(Some(left.get(m)), Some(right.get(m))))
    })
}

fn make_and_count<M: MutatorKind>(m: &mut Mutator<'_, M>, depth: u32) -> u64 {
    let (m, tree) = m.with_view(|m| make(m, depth));
    count(m, tree)
}

fn count<'h, M: MutatorKind>(m: &NoGc<'h, M>, tree: Gc<'_, 'h, Tree>) -> u64 {
    let below = |child: Option<_>| child.map_or(0, |child| count(m, child));
    1 + below(tree.left(m)) + below(tree.right(m))
}

/// Puts `value` in front of `root`.
fn push<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, root: &OptionRoot<'_, 'h, List>, value: u64) {
    let (m, list) = m.alloc_with(|m| List::new(value, root.get(m)));
    root.set(m, Some(list));
}

fn sum<'h, M: MutatorKind>(m: &NoGc<'h, M>, mut list: Option<Gc<'_, 'h, List>>) -> u64 {
    let mut sum = 0;
    while let Some(cell) = list {
        sum += cell.value(m);
        list = cell.next(m);
    }
    sum
}

/// Makes trees that live and die and a list that grows, and stores into closures that are old by
/// then.
fn busy<M: MutatorKind>(m: &mut Mutator<'_, M>, rounds: u64) {
    m.frame(|m, [tree, list, array]| {
        let tree = tree.put(make(m, 7));
        let list = list.put_option(m, None);
        let array = array.put(m.alloc_array::<List>(20, |_| None));
        for round in 0..rounds {
            assert_eq!(make_and_count(m, 5), 63);
            push(m, &list, round);
            array.get(m).set(m, (round % 20) as usize, list.get(m));
            if round % 16 == 0 {
                m.alloc_mut_bytes(5000);
            }
        }
        assert_eq!(count(m, tree.get(m)), 255);
        assert_eq!(sum(m, list.get(m)), rounds * rounds.saturating_sub(1) / 2);
        for at in 0..rounds.min(20) {
            let newest = (0..rounds).rev().find(|round| round % 20 == at).expect("stored");
            assert_eq!(array.get(m).get(m, at as usize).expect("stored").value(m), newest);
        }
    });
}

/// Runs `program` in `world` on `threads` threads at the same time.
fn all_at_once<M: MutatorKind>(world: &World<M>, threads: usize, program: impl Fn(&mut Mutator<'_, M>, usize) + Sync) {
    let (program, start) = (&program, &Barrier::new(threads));
    thread::scope(|s| {
        for number in 0..threads {
            s.spawn(move || {
                start.wait();
                world.enter(|m| program(m, number)).expect("room enough")
            });
        }
    });
}

/// Waits at a barrier in a blocking call.
fn meet<M: MutatorKind>(m: &mut Mutator<'_, M>, barrier: &Barrier) {
    m.blocking(|| _ = barrier.wait());
}

under_every_collector! {
    fn threads_do_not_see_each_other<C>() {
        for (capabilities, chunk, stress) in [(2, None, None), (4, None, None), (4, Some(4096), None), (3, None, Some(5)), (2, Some(4096), Some(1))] {
            let flags = Config { chunk: chunk.map(Bytes), stress, ..of_many::<C>(capabilities, 16 << 10) };
            let rounds = if stress.is_some() { 12 } else { 200 };
            let world = checked::<C>(&flags);
            all_at_once(&world, capabilities as usize, |m, _| busy(m, rounds));
            let statistics = world.finish();
            assert!(statistics.collections_count() > 5, "{} collections", statistics.collections_count());
            assert_eq!(statistics.tasks.bound, u64::from(capabilities));
        }
    }

    fn garbage_of_threads_that_have_left_is_collected_by_others<C>() {
        const SLOTS: usize = 64;
        let world = checked::<C>(&of_many::<C>(4, 16 << 10));
        let array = world.enter(|m| {
            let array = {
                let (m, array) = m.with_view(|m| m.alloc_array::<List>(SLOTS, |_| None));
                m.handle(array)
            };
            // It is old now, so stores into it must be remembered.
            (0..3).for_each(|_| m.collect(false));
            array
        }).expect("room enough");
        let stays = AtomicU64::new(0);
        thread::scope(|s| {
            for number in 0..8 {
                let (world, array, stays) = (&world, &array, &stays);
                s.spawn(move || for stay in 0..50 {
                    world.enter(|m| {
                        let (m, list) = m.alloc_with(|_| List::new(number * 1000 + stay, None));
                        // Only the remembered set of a capability that is idle now has this
                        // pointer.
                        array.open(m).set(m, number as usize * 8 + stay as usize % 8, Some(list));
                    }).expect("room enough");
                    world.enter(|m| busy(m, 5)).expect("room enough");
                    stays.fetch_add(2, Ordering::Relaxed);
                });
            }
        });
        world.enter(|m| {
            m.collect(false);
            for number in 0..8 {
                for slot in 0..8 {
                    let list = array.open(m).get(m, number * 8 + slot).expect("stored");
                    assert_eq!(list.value(m) as usize, number * 1000 + if slot < 2 { 48 + slot } else { 40 + slot });
                }
            }
        }).expect("room enough");
        assert_eq!(stays.into_inner(), 800);
        assert_eq!(world.finish().tasks.bound, 9);
    }

    fn the_remembered_set_of_an_idle_capability_is_not_lost<C>() {
        let world = checked::<C>(&of_many::<C>(2, 16 << 10));
        let var = world.enter(|m| {
            let var = {
                let (m, var) = m.alloc_with(|_| MutVar::<List>::new(None));
                m.handle(var)
            };
            (0..3).for_each(|_| m.collect(false));
            var
        }).expect("room enough");
        let (entered, left) = (&Barrier::new(2), &Barrier::new(2));
        thread::scope(|s| {
            // The first capability collects. The second one stores, and its thread leaves.
            s.spawn(|| world.enter(|m| {
                meet(m, entered);
                meet(m, left);
                assert!(world.threads().iter().all(|other| other.capability == Some(0)));
                busy(m, 50);
                m.collect(false);
                assert_eq!(var.open(m).read(m).expect("stored").value(m), 7);
            }).expect("room enough"));
            s.spawn(|| {
                entered.wait();
                world.enter(|m| {
                    let (m, list) = m.alloc_with(|_| List::new(7, None));
                    var.open(m).write(m, Some(list));
                }).expect("room enough");
                left.wait();
            });
        });
    }

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
        // The closure of a blocking call must be `Send`, and a shared receiver is not.
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
                    wait.lock().expect("nobody panicked").recv().expect("sent")
                });
                assert_eq!((said, count(m, tree.get(m)), sum(m, list.get(m))), (1, 127, 45));
                // The thread comes back first also when the call panics.
                let panic = catch_unwind(AssertUnwindSafe(|| m.blocking(|| {
                    blocked.wait();
                    assert_eq!(wait.lock().expect("nobody panicked").recv(), Ok(2));
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
                    (0..6).for_each(|round| m.collect(round % 2 == 0));
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
                (0..20).for_each(|round| m.collect(round % 3 == 0));
                busy(m, 20);
                done.store(true, Ordering::Release);
            }).expect("room enough"));
        });
        assert!(world.finish().collections_count() >= 20);
    }

    fn a_slow_thread_does_not_delay_a_collection_until_its_chunk_is_full<C>() {
        // To fill a mebibyte with 24 bytes in a millisecond takes three quarters of a minute.
        let world = World::new::<C>(&of_many::<C>(2, 1 << 20)).expect("a small heap");
        let (slow, done) = (AtomicBool::new(false), AtomicBool::new(false));
        let begin = Instant::now();
        thread::scope(|s| {
            s.spawn(|| world.enter(|m| while !done.load(Ordering::Relaxed) {
                m.alloc(|_| List::new(1, None));
                slow.store(true, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(1));
            }).expect("room enough"));
            s.spawn(|| {
                while !slow.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
                world.enter(|m| (0..10).for_each(|_| {
                    m.collect(false);
                    m.blocking(|| thread::sleep(Duration::from_millis(3)));
                })).expect("room enough");
                done.store(true, Ordering::Relaxed);
            });
        });
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
        let waited = world.finish().collections.iter().map(|collection| collection.before.sync_ns).collect::<Vec<_>>();
        assert!(waited.iter().any(|ns| *ns > 100_000), "a thread slept when it was to stop, and the record shows no wait: {waited:?}");
    }

    fn exhaustion_ends_only_the_thread_that_asked_for_too_much<C>() {
        let flags = Config { max_heap: Some(Bytes(16 << 20)), ..of_many::<C>(3, 16 << 10) };
        let world = checked::<C>(&flags);
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
        let flags = Config { max_heap: Some(Bytes(8 << 20)), ..of_many::<C>(2, 16 << 10) };
        let world = World::new::<C>(&flags).expect("a small heap");
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
                if let Event::Phase(Phase::HeapTraced) = event {
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

    fn handles_cross_threads_and_are_dropped_anywhere<C>() {
        for stress in [None, Some(7)] {
            let world = checked::<C>(&Config { stress, ..of_many::<C>(3, 16 << 10) });
            let (made, handles) = mpsc::channel::<(u64, Handle<List>, WeakHandle<List>)>();
            let handles = std::sync::Mutex::new(handles);
            let (opened, to_drop) = mpsc::channel();
            thread::scope(|s| {
                let world = &world;
                s.spawn(move || world.enter(|m| m.frame(|m, [list]| {
                    let list = list.put_option(m, None);
                    for value in 0..300 {
                        push(m, &list, value);
                        let gc = list.get(m).expect("pushed");
                        made.send((value, m.handle(gc), m.weak_handle(gc))).expect("received");
                        if value % 10 == 9 {
                            list.set(m, None);
                        }
                    }
                })).expect("room enough"));
                s.spawn(move || world.enter(|m| while let Ok((value, handle, weak)) = m.blocking(|| handles.lock().expect("nobody panicked").recv()) {
                    m.alloc_bytes_filled(500, 1);
                    let list = handle.open(m);
                    assert!(weak.open(m) == Some(list));
                    assert_eq!(sum(m, Some(list)), (value / 10 * 10..=value).sum::<u64>());
                    // The thread that made it sees this thread's addition.
                    let last = list.next(m).is_none();
                    assert_eq!(last, value % 10 == 0);
                    opened.send((handle, weak)).expect("received");
                }).expect("room enough"));
                // This thread is not in the heap while the two above collect.
                s.spawn(move || to_drop.into_iter().for_each(drop));
                s.spawn(move || world.enter(|m| busy(m, if stress.is_some() { 15 } else { 300 })).expect("room enough"));
            });
            world.enter(|m| m.collect(true)).expect("room enough");
            let live = world.inspect(|stopped| stopped.root_closures().len());
            assert_eq!(live, Ok(0));
        }
    }

    fn one_table_is_shared_by_all<C>() {
        const SLOTS: usize = 100;
        for (area, stress) in [(16 << 10, None), (1 << 20, None), (16 << 10, Some(3))] {
            let world = checked::<C>(&Config { stress, ..of_many::<C>(4, area) });
            let table = world.enter(|m| {
                let (m, table) = m.with_view(|m| m.alloc_array::<List>(SLOTS, |_| None));
                m.handle(table)
            }).expect("room enough");
            let steps = if stress.is_some() { 60 } else { 3000 };
            all_at_once(&world, 4, |m, number| {
                let mut state = number as u64 + 1;
                for _ in 0..steps {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    let (at, from) = ((state >> 33) as usize % SLOTS, (state >> 45) as usize % SLOTS);
                    // A cell whose value is the next one's plus 1, as in every chain that others
                    // make.
                    let (m, list) = m.alloc_with(|m| {
                        let next = table.open(m).get(m, from).filter(|next| next.value(m) < 20);
                        List::new(next.map_or(0, |next| next.value(m) + 1), next)
                    });
                    table.open(m).set(m, at, Some(list));
                }
            });
            world.enter(|m| {
                m.collect(true);
                for at in 0..SLOTS {
                    let mut list = table.open(m).get(m, at);
                    while let Some(cell) = list {
                        list = cell.next(m);
                        assert_eq!(cell.value(m), list.map_or(0, |next| next.value(m) + 1));
                    }
                }
            }).expect("room enough");
        }
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
                m.alloc_bytes_filled(1000, 0);
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
            fn event(&mut self, _: &Event<'_>) {
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

/// Collections while four threads allocate at rates 1 : 2 : 4 : 8, a kibibyte being the unit of a
/// round.
fn collections_at_unequal_rates(chunk: usize) -> u64 {
    let flags = Config {
        chunk: Some(Bytes(chunk)),
        ..of_many::<Copying>(4, 64 << 10)
    };
    let world = checked::<Copying>(&flags);
    let round = Barrier::new(4);
    all_at_once(&world, 4, |m, number| {
        for _ in 0..200 {
            for _ in 0..1 << number {
                m.alloc_bytes_filled(1024 - 16, 0);
            }
            meet(m, &round);
        }
    });
    world.statistics().expect("not inside").collections_count()
}

/// Without chunks the fastest thread fills its 64 KiB in 8 rounds, so 200 rounds have 25
/// collections. With chunks all threads share 256 KiB and fill 15 KiB in a round. A thread's last
/// chunk may be nearly empty, so a collection comes after slightly less than 17 rounds.
#[test]
fn chunks_leave_the_share_of_slow_threads_to_fast_ones() {
    let (without, with) = (collections_at_unequal_rates(0), collections_at_unequal_rates(4096));
    assert!((24..=26).contains(&without), "{without} collections without chunks");
    assert!((11..=13).contains(&with), "{with} collections with chunks");
}
