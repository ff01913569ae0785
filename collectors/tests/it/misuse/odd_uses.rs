//! Odd uses of worlds, handles, roots and lengths.

use super::{Empty, List, ListFields, Tagged, TaggedFields, exercise, grow, ignore, panics, sum, world};
use crate::basics::config;
use gclab_collectors::Copying;
use gclab_core::closure::RecordShape;
use gclab_core::collector::{Collector, CollectorVisitor, KindOf};
use gclab_core::config::Config;
use gclab_core::events::{Event, EventKind, Listener};
use gclab_core::mutator::{Any, ByteArray, Gc, Handle, MutArray, MutVar, Request};
use gclab_core::words::Bytes;
use gclab_core::world::{EnterError, World};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

under_every_collector! {
    fn nothing_in_a_closure_is_allowed_too<C>() {
        world::<C>().enter(|m| m.frame(|m, [array, bytes, record, empty, tagged]| {
            let array = array.put(m.alloc_array::<List>(0, |_| None));
            let bytes = bytes.put(m.alloc_bytes(b""));
            let record = record.put(m.alloc_record(RecordShape { pointers: 0, bytes: 0 }));
            let empty = empty.put(m.alloc(|_| Empty::new()));
            let tagged = tagged.put(m.alloc(|m| Tagged::new(empty.get(m).erase())));
            for major in [false, false, false, true, true] {
                exercise(m);
                m.collect(if major { Request::Full } else { Request::Minor });
            }
            assert!(array.get(m).is_empty() && bytes.get(m).as_slice().is_empty() && record.get(m).data().is_empty());
            panics(|| array.get(m).get(m, 0));
            panics(|| array.get(m).set(m, 0, None));
            panics(|| record.get(m).get(m, 0));
            let what = tagged.get(m).what(m);
            assert!(what == empty.get(m).erase() && what.downcast::<Empty>().is_some());
            assert!(what.downcast::<List>().is_none() && what.downcast::<ByteArray>().is_none());
        })).expect("room enough");
    }

    fn arrays_and_variables_are_told_apart_by_the_type_they_point_to<C>() {
        let world = world::<C>();
        world.enter(|m| m.frame(|m, [lists, bytes, nested, things, var]| {
            let lists = lists.put(m.alloc_array::<List>(2, |_| None));
            let bytes = bytes.put(m.alloc_array::<ByteArray>(500, |_| None));
            let nested = nested.put(m.alloc_array(1, |m| Some(lists.get(m))));
            let things = things.put(m.alloc_array(1, |m| Some(nested.get(m).erase())));
            let var = var.put(m.alloc(|_| MutVar::<List>::new(None)));
            for major in [false, false, true] {
                {
                    let lists = lists.get(m).erase();
                    assert!(lists.downcast::<MutArray<List>>().is_some_and(|found| found.erase() == lists && found.len() == 2));
                    assert!(lists.downcast::<MutArray<Tagged>>().is_none() && lists.downcast::<MutArray<Any>>().is_none());
                    assert!(lists.downcast::<MutVar<List>>().is_none() && lists.downcast::<List>().is_none());
                    let bytes = bytes.get(m).erase();
                    assert!(bytes.downcast::<MutArray<ByteArray>>().is_some() && bytes.downcast::<MutArray<List>>().is_none());
                    let inner = things.get(m).get(m, 0).expect("put there");
                    assert!(inner.downcast::<MutArray<MutArray<List>>>().is_some());
                    assert!(inner.downcast::<MutArray<MutArray<Any>>>().is_none() && inner.downcast::<MutArray<MutVar<List>>>().is_none());
                    assert!(things.get(m).erase().downcast::<MutArray<Any>>().is_some() && inner.downcast::<Any>().is_none());
                    let var = var.get(m).erase();
                    assert!(var.downcast::<MutVar<List>>().is_some());
                    assert!(var.downcast::<MutVar<Any>>().is_none() && var.downcast::<MutArray<List>>().is_none());
                }
                exercise(m);
                m.collect(if major { Request::Full } else { Request::Minor });
            }
        })).expect("room enough");
    }

    fn a_view_that_comes_with_a_closure_finds_it_where_it_is<C>() {
        let world = world::<C>();
        world.enter(|m| m.frame(|m, [things]| {
            let things = things.put(m.alloc_array(1000, |_| None));
            for i in 0..1000 {
                // With an area of 32 KiB, some of these allocations collect, and move the array
                // that the view then reads.
                let (m, bytes) = m.with_view(|m| m.alloc_bytes(&[i as u8; 100]));
                things.get(m).set(m, i, Some(bytes.erase()));
            }
            m.collect(Request::Full);
            for i in 0..1000 {
                let bytes = things.get(m).get(m, i).and_then(Gc::downcast::<ByteArray>).expect("put there");
                assert_eq!(bytes.as_slice(), [i as u8; 100]);
            }
        })).expect("room enough");
    }

    fn a_world_is_entered_by_one_at_a_time<C>() {
        let world = world::<C>();
        world.enter(|m| {
            m.alloc(|_| {
                // Enters from inside an initialiser, whose space is already reserved.
                assert!(matches!(world.enter(|m| m.collect(Request::Full)), Err(EnterError::Entered)));
                assert!(matches!(world.statistics(), Err(EnterError::Entered)));
                assert!(matches!(world.inspect(|_| ()), Err(EnterError::Entered)));
                List::new(1, None)
            });
        }).expect("entered once");
    }

    fn a_stay_of_another_world_fits_into_an_initialiser<C>() {
        let (a, b) = (world::<C>(), world::<C>());
        a.enter(|m| m.frame(|m, [list]| {
            let list = list.put_option(m, None);
            for i in 0..1000 {
                let (m, cell) = m.alloc_with(|m| {
                    let value = if i % 50 == 0 { b.enter(|m| { exercise(m); i }).expect("another heap") } else { i };
                    List::new(value, list.get(m))
                });
                list.set(m, Some(cell));
            }
            assert_eq!(sum(m, list.get(m)), 499_500);
        })).expect("room enough");
    }

    fn handles_are_dropped_and_leaked_at_odd_times<C>() {
        static KEPT: Mutex<Vec<Handle<List>>> = Mutex::new(Vec::new());
        struct Drops;
        impl Listener for Drops {
            fn event(&mut self, event: &Event<'_>) {
                let drop_one = || drop(KEPT.lock().expect("not poisoned").pop());
                if let EventKind::End { stopped, .. } = event.kind {
                    // Panics during the walk over the table of handles.
                    stopped.for_each_root(|_, _| {
                        drop_one();
                        stopped.named_roots();
                    });
                }
                drop_one();
            }
        }
        let mut world = world::<C>();
        world.listen(Box::new(Drops));
        let leaked = world.enter(|m| {
            for i in 0..1000 {
                let (m, list) = m.alloc_with(|_| List::new(i, None));
                KEPT.lock().expect("not poisoned").push(m.handle(list));
                if i % 7 == 0 {
                    std::mem::forget(m.handle(list));
                    std::mem::forget(m.weak_handle(list));
                }
            }
            exercise(m);
            let (m, list) = m.alloc_with(|_| List::new(42, None));
            m.handle(list)
        }).expect("room enough");
        // Drops handles in the wrong heap, while unwinding, on another thread, and after the heap
        // is gone.
        let other = self::world::<C>();
        panics(|| other.enter(|m| leaked.open(m).value(m)));
        other.enter(exercise).expect("usable");
        assert_eq!(world.enter(|m| leaked.open(m).value(m)), Ok(42));
        drop(world);
        std::thread::spawn(move || drop(leaked)).join().expect("no panic");
        KEPT.lock().expect("not poisoned").clear();
    }

    fn an_alarm_is_deleted_in_its_own_heap<C>() {
        let (world, other) = (world::<C>(), world::<C>());
        let alarm = other.enter(|m| m.create_alarm(|_| unreachable!("deleted"))).expect("room enough");
        let ran = Arc::new(AtomicU64::new(0));
        world.enter(|m| {
            // It has the same number as the alarm.
            let count = Arc::clone(&ran);
            let (view, list) = m.with_view(|m| m.alloc(|_| List::new(1, None)));
            view.finalise(list, move |_, _| _ = count.fetch_add(1, Relaxed));
            panics(|| m.delete_alarm(alarm.clone()));
            m.collect(Request::Full);
        }).expect("usable");
        assert_eq!(ran.load(Relaxed), 1);
        other.enter(|m| {
            m.delete_alarm(alarm.clone());
            m.delete_alarm(alarm);
            m.collect(Request::Full);
        }).expect("room enough");
    }

    fn words_are_lent_to_threads<C>() {
        world::<C>().enter(|m| {
            let (m, array) = m.with_view(|m| m.alloc_mut_words(64));
            std::thread::scope(|s| {
                for part in array.words().chunks(16) {
                    s.spawn(|| part.iter().for_each(|word| word.store(7, Relaxed)));
                }
            });
            assert_eq!(array.words().iter().map(|word| word.load(Relaxed)).sum::<u64>(), 448);
            let _ = m;
        }).expect("room enough");
    }

    fn addresses_come_back_when_a_world_is_dropped<C>() {
        // Makes more worlds, one after another, than a process has address space for.
        for _ in 0..130 {
            let config = Config { reserve: Bytes(1 << 40), ..config::<C>(32 << 10) };
            let world = World::new::<C>(&config).expect("a heap");
            world.enter(|m| ignore(m.alloc_mut_bytes(1 << 20))).expect("room enough");
            let reserved = world.inspect(|stopped| stopped.blocks().accounting().reserved);
            assert_eq!(reserved, Ok(config.reserve));
        }
    }

    fn roots_may_be_swapped<C>() {
        world::<C>().enter(|m| m.frame(|m, [a, b, c]| {
            let (mut a, mut b) = (a.put_option(m, None), b.put_option(m, None));
            let c = c.put(m.alloc_array::<List>(1, |_| None));
            grow(m, &a, 10);
            grow(m, &b, 20);
            std::mem::swap(&mut a, &mut b);
            let array: Gc<'_, '_, MutArray<List>> = c.get(m);
            array.set(m, 0, b.get(m));
            exercise(m);
            assert_eq!((sum(m, a.get(m)), sum(m, c.get(m).get(m, 0))), (190, 45));
        })).expect("room enough");
    }
}

/// A world with one collector. Scoped threads share it, so it must be `Sync`.
type CopyingWorld = World<KindOf<Copying>>;

#[test]
fn threads_take_turns_in_a_world() {
    let world = CopyingWorld::new::<Copying>(&config::<Copying>(32 << 10)).expect("a heap");
    let handle = world
        .enter(|m| {
            let (m, list) = m.alloc_with(|_| List::new(0, None));
            m.handle(list)
        })
        .expect("room enough");
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                let mut turns = 0;
                while turns < 50 {
                    match world.enter(|m| {
                        exercise(m);
                        let (m, list) = m.alloc_with(|m| List::new(1, handle.open(m).next(m)));
                        handle.open(m).set_next(m, Some(list));
                    }) {
                        Ok(()) => turns += 1,
                        Err(error) => {
                            assert_eq!(error, EnterError::Entered);
                            std::thread::yield_now();
                        }
                    }
                }
            });
        }
    });
    assert_eq!(world.enter(|m| sum(m, Some(handle.open(m)))), Ok(200));
    // The world moves to another thread while no thread is inside, and is dropped there before its
    // handle.
    std::thread::spawn(move || world.enter(exercise))
        .join()
        .expect("no panic")
        .expect("room enough");
    drop(handle);
}
