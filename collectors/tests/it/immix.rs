//! Mark-region heaps: ages by marks, returned holes, and large objects beside them.

use crate::basics::config;
use gclab_collectors::{GenImmix, Immix, MarkSweep, StickyImmix};
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::{Collector, KindOf};
use gclab_core::config::Config;
use gclab_core::events::{Event, EventKind, Listener};
use gclab_core::mutator::{ByteArray, MutArray, Mutator, MutatorKind, NoGc, Request, Root, WeakHandle};
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use std::sync::mpsc::{Sender, channel};

#[derive(Closure)]
#[allow(dead_code)]
struct Node {
    value: u64,
    next: Mut<Node>,
}

/// Runs `program` in a world with a checker.
fn run<C: Collector>(config: &Config, program: impl for<'h> FnOnce(&mut Mutator<'h, KindOf<C>>)) {
    let mut world = World::new::<C>(config).expect("a small heap");
    world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
    world.enter(program).expect("room enough");
}

/// A closure reachable only through a weak handle.
fn dropped<M: MutatorKind>(m: &mut Mutator<'_, M>) -> WeakHandle<Node> {
    let (m, node) = m.alloc_with(|_| Node::new(1, None));
    m.weak_handle(node)
}

fn ages_by_marks<C: Collector>() {
    run::<C>(&config::<C>(1 << 20), |m| {
        let young = dropped(m);
        let old = m.frame(|m, [node]| {
            let node = node.put(m.alloc(|_| Node::new(2, None)));
            m.collect(Request::Minor);
            m.weak_handle(node.get(m))
        });
        assert!(young.open(m).is_none(), "it died young");
        for _ in 0..3 {
            m.collect(Request::Minor);
            assert!(old.open(m).is_some_and(|node| node.value(m) == 2), "it is old");
        }
        m.collect(Request::Full);
        assert!(old.open(m).is_none(), "a major collection finds it dead");
    });
}

#[test]
fn a_marked_closure_is_old_until_the_next_major_collection() {
    ages_by_marks::<StickyImmix>();
    ages_by_marks::<GenImmix>();
}

fn old_closures_lead_to_young_ones<C: Collector>() {
    const COUNT: usize = 300;
    run::<C>(&config::<C>(1 << 20), |m| {
        m.frame(|m, [array]| {
            // Every second one dies, which leaves holes between the others.
            let array = array.put(m.alloc_array::<Node>(COUNT, |_| None));
            for value in 0..2 * COUNT {
                let (view, node) = m.alloc_with(|_| Node::new(value as u64, None));
                array.get(view).set(view, value / 2, Some(node));
                _ = m.alloc_bytes_filled(150, 7);
            }
            for round in 0..4_u8 {
                m.collect(if round == 2 { Request::Full } else { Request::Minor });
                for index in 0..COUNT {
                    let (view, node) = m.alloc_with(|_| Node::new(u64::from(round), None));
                    let holder = array.get(view).get(view, index).expect("a node");
                    holder.set_next(view, Some(node));
                }
                m.collect(Request::Minor);
                for index in 0..COUNT {
                    let holder = array.get(m).get(m, index).expect("a node");
                    let next = holder.next(m).expect("another");
                    assert_eq!(
                        (holder.value(m), next.value(m)),
                        (2 * index as u64 + 1, u64::from(round))
                    );
                }
            }
        });
    });
}

#[test]
fn closures_reachable_only_from_old_ones_survive_minor_collections() {
    old_closures_lead_to_young_ones::<StickyImmix>();
    old_closures_lead_to_young_ones::<GenImmix>();
}

/// Rows of all sizes, from a few words to large objects, die among others. Each kept row still has
/// its number.
fn rows_among_holes<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    const ROWS: usize = 120;
    m.frame(|m, [rows]| {
        let rows = rows.put(m.alloc_array::<MutArray<Node>>(ROWS, |_| None));
        let mut values = [0; ROWS];
        for round in 0..3000_usize {
            // The multipliers have no common factors with the moduli: any unsorted order will do.
            let (index, kind) = (round * 37 % ROWS, round * 7 % 50);
            let length = if kind == 0 { 500 } else { kind * kind % 97 };
            m.frame(|m, [node]| {
                let node = node.put(m.alloc(|_| Node::new(round as u64, None)));
                let (m, row) = m.with_view(|m| m.alloc_array::<Node>(length + 1, |_| None));
                row.set(m, length, Some(node.get(m)));
                if kind % 3 != 0 {
                    rows.get(m).set(m, index, Some(row));
                    values[index] = round as u64;
                }
            });
            if round % 150 == 149 {
                m.collect(if round % 600 == 599 {
                    Request::Full
                } else {
                    Request::Minor
                });
                for (index, &value) in values.iter().enumerate() {
                    let Some(row) = rows.get(m).get(m, index) else { continue };
                    let last = row.get(m, row.len() - 1).expect("a number");
                    assert_eq!(last.value(m), value, "row {index} of round {round}");
                }
            }
        }
    });
}

#[test]
fn rows_of_all_sizes_survive_among_holes() {
    run::<Immix>(&config::<Immix>(1 << 20), rows_among_holes);
    run::<StickyImmix>(&config::<StickyImmix>(1 << 20), rows_among_holes);
    run::<GenImmix>(&config::<GenImmix>(1 << 20), rows_among_holes);
}

/// Puts a number into each slot of `array`. After the next collection, each is followed by a hole
/// of some 600 bytes.
fn scatter<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, array: &Root<'_, 'h, MutArray<Node>>) {
    for index in 0..array.get(m).len() {
        put(m, array, index);
        _ = m.alloc_bytes_filled(600, 7);
    }
}

/// Puts a new number, its index, into a slot of `array`.
fn put<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, array: &Root<'_, 'h, MutArray<Node>>, index: usize) {
    let (m, node) = m.alloc_with(|_| Node::new(index as u64, None));
    array.get(m).set(m, index, Some(node));
}

/// Checks that each slot of `array` has its number.
fn is_whole<'h, M: MutatorKind>(m: &NoGc<'h, M>, array: &Root<'_, 'h, MutArray<Node>>) {
    for index in 0..array.get(m).len() {
        let node = array.get(m).get(m, index).expect("a number");
        assert_eq!(node.value(m), index as u64);
    }
}

/// A collection takes holes back from mutators. Each is handed out again only once.
fn holes_given_back<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    m.frame(|m, [old, young]| {
        let old = old.put(m.alloc_array::<Node>(100, |_| None));
        let young = young.put(m.alloc_array::<Node>(3000, |_| None));
        scatter(m, &old);
        for major in [true, false, true, true] {
            m.collect(Request::Full);
            // The mutator gets some holes, but uses only one. Others have been found ahead.
            put(m, &young, 0);
            m.collect(if major { Request::Full } else { Request::Minor });
            (0..3000).for_each(|index| put(m, &young, index));
            is_whole(m, &old);
            is_whole(m, &young);
        }
    });
}

#[test]
fn a_returned_hole_is_handed_out_once() {
    run::<Immix>(&config::<Immix>(1 << 20), holes_given_back);
    run::<StickyImmix>(&config::<StickyImmix>(1 << 20), holes_given_back);
    run::<GenImmix>(&config::<GenImmix>(1 << 20), holes_given_back);
}

/// Medium closures among small ones go to an overflow area. A collection takes back the rest of it.
fn overflows<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    const ROWS: usize = 10;
    m.frame(|m, [old, young, rows]| {
        let old = old.put(m.alloc_array::<Node>(100, |_| None));
        let young = young.put(m.alloc_array::<Node>(3000, |_| None));
        let rows = rows.put(m.alloc_array::<ByteArray>(ROWS, |_| None));
        scatter(m, &old);
        for major in [true, false, true] {
            m.collect(Request::Full);
            for row in 0..ROWS {
                if row == ROWS / 2 {
                    m.collect(if major { Request::Full } else { Request::Minor });
                }
                // The mutator is in a hole that is too small for the row.
                put(m, &young, row);
                let (m, bytes) = m.with_view(|m| m.alloc_bytes_filled(1000, row as u8));
                rows.get(m).set(m, row, Some(bytes));
            }
            (0..3000).for_each(|index| put(m, &young, index));
            is_whole(m, &old);
            is_whole(m, &young);
            for row in 0..ROWS {
                let bytes = rows.get(m).get(m, row).expect("a row");
                assert!(bytes.as_slice().iter().all(|&byte| byte == row as u8), "row {row}");
            }
        }
    });
}

#[test]
fn the_rest_of_an_overflow_is_handed_out_once() {
    run::<Immix>(&config::<Immix>(1 << 20), overflows);
    run::<StickyImmix>(&config::<StickyImmix>(1 << 20), overflows);
    run::<GenImmix>(&config::<GenImmix>(1 << 20), overflows);
}

/// Large objects that die immediately take no more memory than a few collections leave.
fn large_objects_die<C: Collector>() {
    let mut world = World::new::<C>(&config::<C>(1 << 20)).expect("a small heap");
    world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
    let session = world.enter(|m| (0..200).for_each(|_| _ = m.alloc_mut_bytes(256 << 10)));
    session.expect("room enough");
    let (name, statistics) = (C::DESCRIPTION.name, world.finish());
    let peak = Bytes(statistics.peak_in_use as usize);
    assert!(peak <= Bytes::mib(8), "{name}: 50 MiB that died took {peak}");
    let [collections @ .., _] = &statistics.collections[..] else {
        panic!("{name}: no collection")
    };
    let are_major = C::DESCRIPTION.generations.1 == 1;
    assert!(collections.len() > 10, "{name}: one for each MiB");
    assert!(
        collections.iter().all(|each| each.work.is_major() == are_major),
        "{name}"
    );
}

#[test]
fn dead_large_objects_are_freed_at_the_next_collection() {
    large_objects_die::<MarkSweep>();
    large_objects_die::<Immix>();
    large_objects_die::<StickyImmix>();
    large_objects_die::<GenImmix>();
}

/// Reports, after each collection, the bytes that count towards the limit besides megablocks and
/// side tables.
struct OtherMemory(Sender<Bytes>);

impl Listener for OtherMemory {
    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::End { stopped, .. } = event.kind {
            let accounting = stopped.blocks().accounting();
            let other = accounting.taken - accounting.committed() - accounting.side;
            self.0.send(other).expect("the test receives it");
        }
    }
}

#[test]
fn the_lists_of_holes_count_under_the_limit() {
    const COUNT: usize = 20_000;
    let mut world = World::new::<Immix>(&config::<Immix>(32 << 20)).expect("a small heap");
    let (sender, sizes) = channel();
    world.listen(Box::new(OtherMemory(sender)));
    let session = world.enter(|m| {
        m.frame(|m, [array]| {
            let array = array.put(m.alloc_array::<Node>(COUNT, |_| None));
            scatter(m, &array);
            m.collect(Request::Full);
            // The mutator gets holes of 600 bytes, for 40 numbers each.
            (0..COUNT).for_each(|index| put(m, &array, index));
            m.collect(Request::Full);
        });
    });
    session.expect("room enough");
    drop(world);
    let sizes: Vec<Bytes> = sizes.iter().collect();
    // 24 bytes a hole, each of which has room for 30 numbers.
    assert!(sizes[1] >= Bytes(COUNT / 30 * 24), "{sizes:?}");
}
