//! Shapes of heaps that fill a mark stack: marking needs no extra memory for them, and terminates.
//!
//! With debug assertions the stack holds some ten spans in heaps of this size, so all of these
//! shapes need several passes.

use crate::mark_sweep::MarkSweep;
use gclab_core::closure::{Closure, Mut, Ptr};
use gclab_core::collector::Collector;
use gclab_core::collector::KindOf;
use gclab_core::config::Config;
use gclab_core::mutator::{Mutator, Request};
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;

const SIZE: u64 = 100_000;

#[derive(Closure)]
#[allow(dead_code)]
struct Node {
    value: u64,
    left: Mut<Node>,
    right: Mut<Node>,
}

#[derive(Closure)]
#[allow(dead_code)]
struct Leaf {
    node: Ptr<Node>,
}

/// Runs `program` in a heap with the checker on.
fn checked(program: impl for<'h> FnOnce(&mut Mutator<'h, KindOf<MarkSweep>>)) {
    let config = Config {
        allocation_area: Bytes::mib(1),
        reserve: Bytes::gib(1),
        generations: 1,
        ..Config::default()
    };
    let mut world = World::new::<MarkSweep>(&config).expect("a small heap");
    world.listen(Box::new(Checker::new(&MarkSweep::DESCRIPTION).exact()));
    world.enter(program).expect("it fits");
}

/// Makes a list whose cells have a branch of two more closures each. For each cell a branch waits
/// on the stack.
fn spine(link_is_left: bool) {
    checked(|m| {
        m.frame(|m, [list, branch]| {
            let list = list.put_option(m, None);
            let branch = branch.put_option(m, None);
            for value in 0..SIZE {
                let (view, leaf) = m.alloc_with(|_| Node::new(value, None, None));
                branch.set(view, Some(leaf));
                let (view, above) = m.alloc_with(|m| Node::new(value, branch.get(m), None));
                branch.set(view, Some(above));
                let (view, node) = m.alloc_with(|m| match link_is_left {
                    true => Node::new(value, list.get(m), branch.get(m)),
                    false => Node::new(value, branch.get(m), list.get(m)),
                });
                list.set(view, Some(node));
            }
            branch.set(m, None);
            m.collect(Request::Full);
            let (mut node, mut length) = (list.get(m), 0);
            while let Some(this) = node {
                length += 1;
                assert_eq!(this.value(m), SIZE - length);
                let (next, branch) = match link_is_left {
                    true => (this.left(m), this.right(m)),
                    false => (this.right(m), this.left(m)),
                };
                let end = branch.and_then(|branch| branch.left(m)).expect("two closures");
                assert_eq!(end.value(m), this.value(m));
                node = next;
            }
            assert_eq!(length, SIZE);
        });
    });
}

#[test]
fn a_list_with_branches_to_the_right() {
    spine(true);
}

#[test]
fn a_list_with_branches_to_the_left() {
    spine(false);
}

#[test]
fn an_array_of_as_many_small_trees() {
    checked(|m| {
        m.frame(|m, [array, node]| {
            let array = array.put(m.alloc_array::<Leaf>(SIZE as usize, |_| None));
            let node = node.put_option(m, None);
            for index in 0..SIZE {
                let (view, new) = m.alloc_with(|_| Node::new(index, None, None));
                node.set(view, Some(new));
                let (m, leaf) = m.alloc_with(|m| Leaf::new(node.get(m).expect("set")));
                array.get(m).set(m, index as usize * 7919 % SIZE as usize, Some(leaf));
            }
            node.set(m, None);
            m.collect(Request::Full);
            for index in 0..SIZE {
                let leaf = array
                    .get(m)
                    .get(m, index as usize * 7919 % SIZE as usize)
                    .expect("stored");
                assert_eq!(leaf.node(m).value(m), index);
            }
        });
    });
}

#[test]
fn freed_memory_is_allocated_again() {
    let config = Config {
        allocation_area: Bytes::kib(256),
        reserve: Bytes::gib(1),
        generations: 1,
        ..Config::default()
    };
    let world = World::new::<MarkSweep>(&config).expect("a small heap");
    world
        .enter(|m| {
            m.frame(|m, [list, large]| {
                let list = list.put_option(m, None);
                let large = large.put_option(m, None);
                // Every other node lives, which leaves holes of one cell. Lists of 500 000 bytes
                // are made in them repeatedly.
                for round in 0..40 {
                    list.set(m, None);
                    for value in 0..20_000 {
                        m.alloc(|_| Node::new(value, None, None));
                        let (m, node) = m.alloc_with(|m| Node::new(value, list.get(m), None));
                        list.set(m, Some(node));
                    }
                    let (m, array) = m.with_view(|m| m.alloc_array::<Node>(20_000 + round, |_| None));
                    large.set(m, Some(array));
                }
            });
        })
        .expect("it fits");
    let statistics = world.finish();
    // Live: 640 000 bytes of nodes and an array of 160 000, or twice that while a new set replaces
    // an old one. -F doubles it again.
    assert!(statistics.peak_in_use <= 4 << 20, "{} bytes", statistics.peak_in_use);
}
