//! Closures in lines: ages by marks.

use crate::basics::config;
use gclab_collectors::StickyImmix;
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::{Collector, KindOf};
use gclab_core::config::Config;
use gclab_core::mutator::{Mutator, MutatorKind, WeakHandle};
use gclab_core::world::World;
use gclab_heap_traverse::Checker;

#[derive(Closure)]
#[allow(dead_code)]
struct Node {
    value: u64,
    next: Mut<Node>,
}

/// Runs `program` in a world with a checker. Returns its collections.
fn run<C: Collector>(config: &Config, program: impl for<'h> FnOnce(&mut Mutator<'h, KindOf<C>>)) {
    let mut world = World::new::<C>(config).expect("a small heap");
    world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
    world.enter(program).expect("room enough");
}

/// A closure that nothing keeps, with a weak handle.
fn dropped<M: MutatorKind>(m: &mut Mutator<'_, M>) -> WeakHandle<Node> {
    let (m, node) = m.alloc_with(|_| Node::new(1, None));
    m.weak_handle(node)
}

#[test]
fn a_marked_closure_is_old_until_the_next_major_collection() {
    run::<StickyImmix>(&config::<StickyImmix>(1 << 20), |m| {
        let young = dropped(m);
        let old = m.frame(|m, [node]| {
            let node = node.put(m.alloc(|_| Node::new(2, None)));
            m.collect(false);
            m.weak_handle(node.get(m))
        });
        assert!(young.open(m).is_none(), "it died young");
        for _ in 0..3 {
            m.collect(false);
            assert!(old.open(m).is_some_and(|node| node.value(m) == 2), "it is old");
        }
        m.collect(true);
        assert!(old.open(m).is_none(), "a major collection finds it dead");
    });
}

#[test]
fn closures_that_only_old_ones_lead_to_survive_minor_collections() {
    const COUNT: usize = 300;
    run::<StickyImmix>(&config::<StickyImmix>(1 << 20), |m| {
        m.frame(|m, [array]| {
            // Every second one dies, so the others lie among holes.
            let array = array.put(m.alloc_array::<Node>(COUNT, |_| None));
            for value in 0..2 * COUNT {
                let (view, node) = m.alloc_with(|_| Node::new(value as u64, None));
                array.get(view).set(view, value / 2, Some(node));
                _ = m.alloc_bytes_filled(150, 7);
            }
            for round in 0..4_u8 {
                m.collect(round == 2);
                for index in 0..COUNT {
                    let (view, node) = m.alloc_with(|_| Node::new(u64::from(round), None));
                    let holder = array.get(view).get(view, index).expect("a node");
                    holder.set_next(view, Some(node));
                }
                m.collect(false);
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
