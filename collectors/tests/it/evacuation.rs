//! Defragmentation: collectors that otherwise leave closures in place move those of fragmented
//! blocks.

use crate::basics::config;
use gclab_collectors::{GenImmix, Immix, StickyImmix};
use gclab_core::closure::{Closure, Mut, Ptr};
use gclab_core::collector::{Collector, KindOf};
use gclab_core::config::{Config, FromGeneration};
use gclab_core::mutator::{Handle, MutArray, MutByteArray, Mutator, MutatorKind, Request, Root, WeakHandle};
use gclab_core::stats::{Collection, Statistics};
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[derive(Closure)]
#[allow(dead_code)]
struct Node {
    value: u64,
    next: Mut<Node>,
    leaf: Option<Ptr<Leaf>>,
}

#[derive(Closure)]
#[allow(dead_code)]
struct Leaf {
    value: u64,
}

/// The size of a node and its leaf.
const SIZE: usize = 48;
const NODES: usize = 60_000;
/// One node in this many survives.
const KEPT: usize = 64;

type Kept<'f, 'h> = Root<'f, 'h, MutArray<Node>>;

/// Weak handles of live nodes and of others, and how many finalisers of the live ones ran.
#[derive(Default)]
struct Handles {
    live: Vec<WeakHandle<Node>>,
    dead: Vec<WeakHandle<Node>>,
    finalised: Arc<AtomicUsize>,
}

/// Runs `program` in a world with a checker. Returns the statistics.
fn run<C: Collector>(config: &Config, program: impl for<'h> FnOnce(&mut Mutator<'h, KindOf<C>>)) -> Statistics {
    let mut world = World::new::<C>(config).expect("a small heap");
    world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
    world.enter(program).expect("room enough");
    world.finish()
}

/// Allocates nodes with a leaf each, and keeps a few, each pointing to the next.
fn fragment<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, kept: &Kept<'_, 'h>) -> Handles {
    let mut handles = Handles::default();
    for value in 0..NODES {
        m.frame(|m, [leaf]| {
            let leaf = leaf.put(m.alloc(|_| Leaf::new(value as u64)));
            let (view, node) = m.alloc_with(|m| Node::new(value as u64, None, Some(leaf.get(m))));
            let (array, index) = (kept.get(view), value / KEPT);
            match value % KEPT {
                0 => {
                    if let Some(before) = index.checked_sub(1).and_then(|before| array.get(view, before)) {
                        before.set_next(view, Some(node));
                    }
                    array.set(view, index, Some(node));
                    handles.live.push(view.weak_handle(node));
                    let count = Arc::clone(&handles.finalised);
                    if index % 2 == 0 {
                        view.finalise(node, move |_, _: Handle<Node>| _ = count.fetch_add(1, Relaxed));
                    } else {
                        view.finalise_last(node, move |_| _ = count.fetch_add(1, Relaxed));
                    }
                }
                1 => handles.dead.push(view.weak_handle(node)),
                _ => {}
            }
        });
    }
    handles
}

/// Checks that each kept node is found in the array, from its predecessor, and from its weak
/// handle; that no other node is, and that no finaliser has run.
fn check<'h, M: MutatorKind>(m: &Mutator<'h, M>, kept: &Kept<'_, 'h>, handles: &Handles) {
    let array = kept.get(m);
    for (index, handle) in handles.live.iter().enumerate() {
        let node = array.get(m, index).expect("a node");
        let value = (index * KEPT) as u64;
        assert_eq!(
            (node.value(m), node.leaf(m).map(|leaf| leaf.value(m))),
            (value, Some(value))
        );
        assert_eq!(handle.open(m).map(|weak| weak == node), Some(true), "node {index}");
        if let Some(before) = index.checked_sub(1).and_then(|before| array.get(m, before)) {
            assert!(before.next(m).is_some_and(|next| next == node), "node {index}");
        }
    }
    assert!(handles.dead.iter().all(|handle| handle.open(m).is_none()));
    assert_eq!(handles.finalised.load(Relaxed), 0, "a finaliser ran early");
}

/// The collections of a program that fragments its heap and requests some.
fn collections_of<C: Collector>(gc_threads: u32) -> Vec<Collection> {
    let config = Config {
        gc_threads,
        parallel_gc: FromGeneration::From(0),
        load_balance: Some(FromGeneration::From(0)),
        ..config::<C>(8 << 20)
    };
    let statistics = run::<C>(&config, |m| {
        m.frame(|m, [kept]| {
            let kept = kept.put(m.alloc_array::<Node>(NODES.div_ceil(KEPT), |_| None));
            let handles = fragment(m, &kept);
            for _ in 0..8 {
                m.collect(Request::Full);
                check(m, &kept, &handles);
            }
        });
    });
    // The last collection is at the end of the run.
    statistics.collections[..8].to_vec()
}

#[test]
fn fragmented_blocks_are_emptied_and_all_pointers_follow() {
    for gc_threads in [1, 2] {
        for collections in [
            collections_of::<Immix>(gc_threads),
            collections_of::<StickyImmix>(gc_threads),
        ] {
            let slop = |collection: &Collection| collection.work.slop.0;
            let (first, last) = (&collections[0], &collections[7]);
            assert!(slop(first) > NODES * SIZE * 9 / 10, "{first:?}");
            // The reserve may be a single run, taken by one thread. Then the other moves nothing.
            let most = slop(first) / if gc_threads == 1 { 10 } else { 1 };
            assert!(slop(last) < most, "{last:?}");
            let copied: usize = collections.iter().map(|collection| collection.work.copied.0).sum();
            let live = NODES / KEPT * SIZE;
            assert_eq!(first.work.copied, Bytes::ZERO, "nothing is known of its blocks yet");
            let least = if gc_threads == 1 { live * 3 / 4 } else { 1 };
            assert!(
                (least..=live * 7).contains(&copied),
                "{copied} of {live} bytes were copied"
            );
        }
    }
}

/// A heap of 8 MiB with 4 MiB of nodes, most of which die when the heap is nearly full. Then large
/// objects of a block each need more than the memory outside the nodes' blocks.
fn large_objects_after_nodes<C: Collector>() {
    const NODES: usize = 90_000;
    const LARGE: usize = 3500;
    const COUNT: usize = 1000;
    let config = Config {
        max_heap: Some(Bytes::mib(8)),
        ..config::<C>(1 << 20)
    };
    let statistics = run::<C>(&config, |m| {
        m.frame(|m, [nodes, large]| {
            let nodes = nodes.put(m.alloc_array::<Node>(NODES, |_| None));
            let large = large.put(m.alloc_array::<MutByteArray>(COUNT, |_| None));
            for index in 0..NODES {
                m.frame(|m, [leaf]| {
                    let leaf = leaf.put(m.alloc(|_| Leaf::new(index as u64)));
                    let (m, node) = m.alloc_with(|m| Node::new(index as u64, None, Some(leaf.get(m))));
                    nodes.get(m).set(m, index, Some(node));
                });
            }
            for index in 0..COUNT {
                if index == COUNT / 5 {
                    let dead = (0..NODES).filter(|index| index % KEPT != 0);
                    dead.for_each(|index| nodes.get(m).set(m, index, None));
                    m.collect(Request::Full);
                }
                let (m, bytes) = m.with_view(|m| m.alloc_mut_bytes(LARGE));
                large.get(m).set(m, index, Some(bytes));
            }
            for index in (0..NODES).step_by(KEPT) {
                let node = nodes.get(m).get(m, index).expect("a node");
                assert_eq!(node.leaf(m).map(|leaf| leaf.value(m)), Some(index as u64));
            }
        });
    });
    let moved: usize = statistics
        .collections
        .iter()
        .map(|collection| collection.work.copied.0)
        .sum();
    assert!(moved > 0, "{}: nothing moved", C::DESCRIPTION.name);
}

#[test]
fn a_reserve_is_kept_for_when_memory_is_short() {
    large_objects_after_nodes::<Immix>();
    large_objects_after_nodes::<StickyImmix>();
    large_objects_after_nodes::<GenImmix>();
}

/// The minor collections, with an area of `area`, of a program that fragments its heap and requests
/// no collection.
fn minor_collections(area: Bytes) -> Vec<Collection> {
    let statistics = run::<GenImmix>(&config::<GenImmix>(area.0), |m| {
        m.frame(|m, [kept]| {
            let kept = kept.put(m.alloc_array::<Node>(NODES.div_ceil(KEPT), |_| None));
            let handles = fragment(m, &kept);
            m.collect(Request::Minor);
            check(m, &kept, &handles);
        });
    });
    let [collections @ .., _] = &statistics.collections[..] else {
        panic!("no collection");
    };
    assert!(collections.iter().all(|collection| !collection.is_major()));
    collections.to_vec()
}

#[test]
fn survivors_of_a_nursery_move_together() {
    let collections = minor_collections(Bytes::kib(256));
    let last = collections.last().expect("several collections");
    assert!(collections.len() > 8, "{collections:?}");
    let moved: usize = collections.iter().map(|collection| collection.work.copied.0).sum();
    let promoted: usize = collections.iter().map(|collection| collection.work.promoted.0).sum();
    // The array of nodes is a large object, which does not move.
    assert_eq!(moved, promoted - last.work.large.0, "{last:?}");
    // The last block of each collection is filled later.
    assert!(last.work.slop < Bytes::kib(64), "{last:?}");
}
