//! Each thread's data stays intact, and so does what threads share or leave behind.

use super::{List, ListFields, all_at_once, busy, checked, meet, of_many, push, sum};
use gclab_collectors::All;
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::mutator::{Handle, MutVar, Request, WeakHandle};
use gclab_core::words::Bytes;
use gclab_proof::tier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, mpsc};
use std::thread;

under_every_collector! {
    fn threads_do_not_see_each_other<C>() {
        let settings = [(2, None, None), (4, None, None), (4, Some(4096), None), (3, None, Some(5)), (2, Some(4096), Some(1))];
        let place = All::descriptions().iter().position(|description| description.name == C::DESCRIPTION.name);
        for &(capabilities, chunk, stress) in tier::rows(&settings, place.expect("listed")) {
            let config = Config { chunk: chunk.map(Bytes), stress, ..of_many::<C>(capabilities, 16 << 10) };
            let rounds = if stress.is_some() { 12 } else { 200 };
            let world = checked::<C>(&config);
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
            (0..3).for_each(|_| m.collect(Request::Minor));
            array
        }).expect("room enough");
        let sessions = AtomicU64::new(0);
        thread::scope(|s| {
            for number in 0..8 {
                let (world, array, sessions) = (&world, &array, &sessions);
                s.spawn(move || for session in 0..50 {
                    world.enter(|m| {
                        let (m, list) = m.alloc_with(|_| List::new(number * 1000 + session, None));
                        // Only the remembered set of a capability that is now idle has this
                        // pointer.
                        array.open(m).set(m, number as usize * 8 + session as usize % 8, Some(list));
                    }).expect("room enough");
                    world.enter(|m| busy(m, 5)).expect("room enough");
                    sessions.fetch_add(2, Ordering::Relaxed);
                });
            }
        });
        world.enter(|m| {
            m.collect(Request::Minor);
            for number in 0..8 {
                for slot in 0..8 {
                    let list = array.open(m).get(m, number * 8 + slot).expect("stored");
                    assert_eq!(list.value(m) as usize, number * 1000 + if slot < 2 { 48 + slot } else { 40 + slot });
                }
            }
        }).expect("room enough");
        assert_eq!(sessions.into_inner(), 800);
        assert_eq!(world.finish().tasks.bound, 9);
    }

    fn the_remembered_set_of_an_idle_capability_is_not_lost<C>() {
        let world = checked::<C>(&of_many::<C>(2, 16 << 10));
        let var = world.enter(|m| {
            let var = {
                let (m, var) = m.alloc_with(|_| MutVar::<List>::new(None));
                m.handle(var)
            };
            (0..3).for_each(|_| m.collect(Request::Minor));
            var
        }).expect("room enough");
        let (entered, left) = (&Barrier::new(2), &Barrier::new(2));
        thread::scope(|s| {
            // The first capability collects. The second one stores, and then its thread leaves.
            s.spawn(|| world.enter(|m| {
                meet(m, entered);
                meet(m, left);
                assert!(world.threads().iter().all(|other| other.capability == Some(0)));
                busy(m, 50);
                m.collect(Request::Minor);
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
                s.spawn(move || world.enter(|m| while let Ok((value, handle, weak)) = m.blocking(|| handles.lock().expect("no thread panicked").recv()) {
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
            world.enter(|m| m.collect(Request::Full)).expect("room enough");
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
                    // The cell's value is one more than the next cell's, as in every chain.
                    let (m, list) = m.alloc_with(|m| {
                        let next = table.open(m).get(m, from).filter(|next| next.value(m) < 20);
                        List::new(next.map_or(0, |next| next.value(m) + 1), next)
                    });
                    table.open(m).set(m, at, Some(list));
                }
            });
            world.enter(|m| {
                m.collect(Request::Full);
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
}
