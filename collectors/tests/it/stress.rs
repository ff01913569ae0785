//! Programs longer than random ones, under every collector and the checker.

use crate::basics::config;
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::{Collector, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::mutator::Request;
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;

#[derive(Closure)]
#[allow(dead_code)]
struct Node {
    value: u64,
    next: Mut<Node>,
}

/// Slots of the array: more than the number of entries (2^18) at which remembered sets first drop
/// duplicates.
const SLOTS: usize = 300_000;

#[derive(Clone, Copy)]
struct ManyStores;
impl CollectorVisitor for ManyStores {
    type Output = ();
    fn visit<C: Collector>(self) {
        let config = Config {
            allocation_area: Bytes(32 << 20),
            ..config::<C>(0)
        };
        let mut world = World::new::<C>(&config).expect("a heap");
        Checker::install(&mut world);
        let stored = |index: usize| (index * 7919 % SLOTS, (index / 100) as u64);
        world
            .enter(|m| {
                m.frame(|m, [array, node]| {
                    let array = array.put(m.alloc_array::<Node>(SLOTS, |_| None));
                    (0..2).for_each(|_| m.collect(Request::Full));
                    let node = node.put(m.alloc(|_| Node::new(0, None)));
                    // Stores to each slot twice, which fills the set with duplicates, and sometimes
                    // stores a new closure.
                    for index in (0..SLOTS).chain(0..SLOTS) {
                        let (slot, value) = stored(index);
                        if node.get(m).value(m) != value {
                            let (m, new) = m.alloc_with(|_| Node::new(value, None));
                            node.set(m, new);
                        }
                        array.get(m).set(m, slot, Some(node.get(m)));
                    }
                    for major in [false, false, true] {
                        m.collect(if major { Request::Full } else { Request::Minor });
                        for index in 0..SLOTS {
                            let (slot, value) = stored(index);
                            assert_eq!(array.get(m).get(m, slot).expect("stored").value(m), value);
                        }
                    }
                })
            })
            .expect("room enough");
    }
}

#[test]
fn more_stores_between_two_collections_than_are_kept_with_duplicates() {
    crate::under_every_collector(ManyStores);
}

#[derive(Clone, Copy)]
struct LongList;
impl CollectorVisitor for LongList {
    type Output = ();
    fn visit<C: Collector>(self) {
        const LENGTH: u64 = 400_000;
        let mut world = World::new::<C>(&config::<C>(1 << 20)).expect("a heap");
        Checker::install(&mut world);
        let last = world
            .enter(|m| {
                m.frame(|m, [first, last]| {
                    let first = first.put(m.alloc(|_| Node::new(0, None)));
                    let last = last.put(first.get(m));
                    // Appends at the end: each store goes into an older closure, often in an older
                    // step.
                    for value in 1..LENGTH {
                        let (m, node) = m.alloc_with(|_| Node::new(value, None));
                        last.get(m).set_next(m, Some(node));
                        last.set(m, node);
                    }
                    let mut node = first.get(m);
                    while let Some(next) = node.next(m) {
                        assert_eq!(next.value(m), node.value(m) + 1);
                        node = next;
                    }
                    node.value(m)
                })
            })
            .expect("room enough");
        assert_eq!(last, LENGTH - 1);
    }
}

#[test]
fn a_list_grows_at_its_old_end() {
    crate::under_every_collector(LongList);
}
