//! The traversal visits what is reachable, once, in order, without recursion.

use super::{Node, NodeFields, flags};
use gclab_collectors::Copying;
use gclab_core::words::Words;
use gclab_core::world::World;
use gclab_heap_traverse::{Traversal, Visit};

/// Visits everything in a world with these many nodes linked by `link`, and gives the words that a node was visited in.
fn visited(world: &World<Copying>, mut visit: impl FnMut(Words, bool) -> Visit) -> usize {
    let mut count = 0;
    world
        .inspect(|stopped| {
            let mut traversal = Traversal::new(stopped);
            for _again in 0..2 {
                count = 0;
                traversal.run(stopped.root_closures(), |closure, parent| {
                    count += 1;
                    visit(closure.words(), parent.is_none())
                });
            }
        })
        .expect("nobody is inside");
    count
}

#[test]
fn a_list_of_a_million_needs_no_stack() {
    let world = World::<Copying>::new(&flags(2)).expect("a small heap");
    let list = world
        .enter(|m| {
            m.frame(|m, [list]| {
                let list = list.put(m.alloc(|_| Node::new(0, None, None)));
                for i in 1..1_000_000 {
                    // Alternately through the first and the last pointer.
                    let (_, node) = m.alloc_with(|m| match i % 2 {
                        0 => Node::new(i, Some(list.get(m)), None),
                        _ => Node::new(i, None, Some(list.get(m))),
                    });
                    list.set(node);
                }
                let list = list.get(m);
                m.handle(list)
            })
        })
        .expect("room enough");
    assert_eq!(visited(&world, |_, _| Visit::Descend), 1_000_000);
    drop(list);
    assert_eq!(visited(&world, |_, _| Visit::Descend), 0);
}

#[test]
fn shared_and_cyclic_closures_are_visited_once_and_skipped_ones_end_it() {
    let world = World::<Copying>::new(&flags(2)).expect("a small heap");
    let _top = world
        .enter(|m| {
            m.frame(|m, [shared, left]| {
                let shared = shared.put(m.alloc(|_| Node::new(3, None, None)));
                let left = left.put(m.alloc(|m| Node::new(1, Some(shared.get(m)), None)));
                let (m, top) = m.alloc_with(|m| Node::new(0, Some(left.get(m)), Some(shared.get(m))));
                shared.get(m).set_right(m, Some(top));
                assert_eq!((top.value(), left.get(m).value(), shared.get(m).value()), (0, 1, 3));
                assert!(top.left() == Some(left.get(m)) && top.right() == left.get(m).left());
                (m.handle(top), m.handle(top))
            })
        })
        .expect("room enough");
    let mut roots = 0;
    let count = visited(&world, |words, is_root| {
        assert_eq!(words, Words(4));
        roots += usize::from(is_root);
        Visit::Descend
    });
    assert_eq!((count, roots), (3, 2), "two runs, one closure without a parent in each");
    assert_eq!(visited(&world, |_, _| Visit::Skip), 1);
}
