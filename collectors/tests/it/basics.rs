//! Small programs with known results, under every collector.

use crate::under_every_collector;
use gclab_collectors::Copying;
use gclab_core::closure::{Closure, Mut, Ptr};
use gclab_core::collector::{Collector, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::mutator::{ByteArray, Gc, MutVar, Mutator, MutatorKind, NoGc, Request};
use gclab_core::words::Bytes;
use gclab_core::world::{EnterError, World};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    depth: u64,
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

#[derive(Closure)]
#[allow(dead_code)]
struct Cell {
    value: u64,
    next: Mut<Cell>,
}

/// A small heap for a collector with `generations` generations.
pub(crate) fn config<C: Collector>(area: usize) -> Config {
    let generations = if C::DESCRIPTION.name == "two-space" { 1 } else { 2 };
    Config {
        allocation_area: Bytes(area),
        reserve: Bytes(4 << 30),
        generations,
        ..Config::default()
    }
}

fn make<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, depth: u64) -> Gc<'m, 'h, Tree> {
    if depth == 0 {
        return m.alloc(|_| Tree::new(0, None, None));
    }
    m.frame(|m, [l, r]| {
        let left = l.put(make(m, depth - 1));
        let right = r.put(make(m, depth - 1));
        m.alloc(|m| Tree::new(depth, Some(left.get(m)), Some(right.get(m))))
    })
}

fn make_and_count<M: MutatorKind>(m: &mut Mutator<'_, M>, depth: u64) -> u64 {
    let (m, tree) = m.with_view(|m| make(m, depth));
    count(m, tree)
}

fn count<'h, M: MutatorKind>(m: &NoGc<'h, M>, tree: Gc<'_, 'h, Tree>) -> u64 {
    let below = |child: Option<_>| child.map_or(0, |child| count(m, child));
    1 + below(tree.left(m)) + below(tree.right(m))
}

#[derive(Clone, Copy)]
struct Trees;
impl CollectorVisitor for Trees {
    type Output = ();
    fn visit<C: Collector>(self) {
        let world = World::new::<C>(&config::<C>(64 << 10)).expect("a small heap");
        let nodes = world
            .enter(|m| {
                m.frame(|m, [kept]| {
                    let kept = kept.put(make(m, 12));
                    let garbage: u64 = (0..20).map(|_| make_and_count(m, 10)).sum();
                    m.collect(Request::Full);
                    assert_eq!(kept.get(m).depth(m), 12);
                    count(m, kept.get(m)) + garbage
                })
            })
            .expect("room enough");
        assert_eq!(nodes, (1 << 13) - 1 + 20 * ((1 << 11) - 1));
        let statistics = world.finish();
        assert_eq!(statistics.allocated, nodes * 32);
        assert!(
            statistics.major_gcs > 1 && statistics.max_live >= ((1 << 13) - 1) * 32,
            "{statistics:?}"
        );
    }
}

#[test]
fn trees_survive() {
    under_every_collector(Trees);
}

#[test]
fn closures_that_survive_twice_are_promoted_and_no_longer_copied() {
    const CELL: usize = 32;
    let world = World::new::<Copying>(&config::<Copying>(1 << 20)).expect("a small heap");
    world
        .enter(|m| {
            m.frame(|m, [list]| {
                let list = list.put_option::<Tree>(m, None);
                for i in 0..100 {
                    let (m, cell) = m.alloc_with(|m| Tree::new(i, list.get(m), None));
                    list.set(m, Some(cell));
                }
                m.collect(Request::Minor);
                // The old cells are reachable from a younger one, not from a root.
                let (view, newest) = m.alloc_with(|m| Tree::new(100, list.get(m), None));
                list.set(view, Some(newest));
                m.collect(Request::Minor);
                m.collect(Request::Minor);
                m.collect(Request::Minor);
            });
        })
        .expect("room enough");
    let statistics = world.finish();
    let copied: Vec<_> = statistics
        .collections
        .iter()
        .map(|c| (c.work.copied.0, c.work.promoted.0))
        .collect();
    assert_eq!(
        copied[..4],
        [(100 * CELL, 0), (101 * CELL, 100 * CELL), (CELL, CELL), (0, 0)]
    );
}

#[derive(Closure)]
#[allow(dead_code)]
struct Boxed {
    value: u64,
}

#[test]
fn promotions_from_remembered_slots_are_anticipated() {
    const SLOTS: usize = 100_000;
    let config = config::<Copying>(512 << 10);
    let world = World::new::<Copying>(&config).expect("a small heap");
    world
        .enter(|m| {
            m.frame(|m, [array]| {
                let array = array.put(m.alloc_array::<Boxed>(SLOTS, |_| None));
                for i in 0..10 * SLOTS {
                    let (m, boxed) = m.alloc_with(|_| Boxed::new(i as u64));
                    array.get(m).set(m, i * 7919 % SLOTS, Some(boxed));
                }
            });
        })
        .expect("room enough");
    let statistics = world.finish();
    let mut limit = usize::MAX;
    for collection in statistics.collections.iter().filter(|c| !c.forced()) {
        if collection.work.is_major() {
            limit = (collection.work.live.0 as f64 * config.old_factor) as usize;
        } else {
            assert!(collection.work.live.0 <= limit, "limit {limit}: {collection:?}");
        }
    }
    assert!(limit < usize::MAX, "no major collection");
}

#[derive(Closure)]
#[allow(dead_code)]
struct Owner {
    data: Ptr<ByteArray>,
}

#[derive(Clone, Copy)]
struct LargeObjects;
impl CollectorVisitor for LargeObjects {
    type Output = ();
    fn visit<C: Collector>(self) {
        let world = World::new::<C>(&config::<C>(1 << 20)).expect("a small heap");
        world
            .enter(|m| {
                m.frame(|m, [owner]| {
                    let owner = m.frame(|m, [data]| {
                        let data = data.put(m.alloc_bytes_filled(100_000, 7));
                        owner.put(m.alloc(|m| Owner::new(data.get(m))))
                    });
                    (0..3).for_each(|_| m.collect(Request::Full));
                    assert_eq!(owner.get(m).data(m).len(), 100_000);
                });
            })
            .expect("room enough");
        let statistics = world.finish();
        // The owner has two words. If it is promoted, it may be compacted twice afterwards.
        assert!(
            statistics.collections[..3].iter().all(|c| c.work.copied <= Bytes(48)),
            "more than its owner was copied: {statistics:?}"
        );
    }
}

#[test]
fn large_objects_are_not_copied() {
    under_every_collector(LargeObjects);
}

#[derive(Clone, Copy)]
struct Stores;
impl CollectorVisitor for Stores {
    type Output = ();
    fn visit<C: Collector>(self) {
        let world = World::new::<C>(&config::<C>(32 << 10)).expect("a small heap");
        world
            .enter(|m| {
                m.frame(|m, [array, var, large]| {
                    let array = array.put(m.alloc_array::<Cell>(300, |_| None));
                    let large = large.put(m.alloc_array::<Cell>(5000, |_| None));
                    let var = var.put(m.alloc(|_| MutVar::<Cell>::new(None)));
                    for i in 0..50_000u64 {
                        let (m, cell) = m.alloc_with(|_| Cell::new(i, None));
                        array.get(m).set(m, i as usize % 300, Some(cell));
                        large.get(m).set(m, i as usize % 5000, Some(cell));
                        cell.set_next(m, var.get(m).read(m).filter(|_| i % 100 != 0));
                        var.get(m).write(m, Some(cell));
                    }
                    for i in 49_700..50_000u64 {
                        assert_eq!(array.get(m).get(m, i as usize % 300).expect("stored").value(m), i);
                    }
                    for i in 45_000..50_000u64 {
                        assert_eq!(large.get(m).get(m, i as usize % 5000).expect("stored").value(m), i);
                    }
                    let mut cell = var.get(m).read(m);
                    for i in (49_900..50_000).rev() {
                        assert_eq!(cell.expect("linked").value(m), i);
                        cell = cell.and_then(|cell| cell.next(m));
                    }
                    assert!(cell.is_none());
                })
            })
            .expect("room enough");
    }
}

#[test]
fn stores_into_old_closures_are_seen() {
    under_every_collector(Stores);
}

#[derive(Clone, Copy)]
struct Handles;
impl CollectorVisitor for Handles {
    type Output = ();
    fn visit<C: Collector>(self) {
        let world = World::new::<C>(&config::<C>(32 << 10)).expect("a small heap");
        let (kept, weak_kept, weak) = world
            .enter(|m| {
                let (m2, cell) = m.alloc_with(|_| Cell::new(7, None));
                let (kept, weak_kept) = (m2.handle(cell), m2.weak_handle(cell));
                let (m2, cell) = m.alloc_with(|_| Cell::new(8, None));
                (kept, weak_kept, m2.weak_handle(cell))
            })
            .expect("room enough");
        world
            .enter(|m| {
                m.collect(Request::Full);
                assert_eq!(kept.open(m).value(m), 7);
                assert!(weak_kept.open(m).expect("kept") == kept.open(m));
                assert!(weak.open(m).is_none());
                drop(kept);
                m.collect(Request::Full);
                assert!(weak_kept.open(m).is_none());
            })
            .expect("room enough");
    }
}

#[test]
fn handles_keep_and_weak_handles_do_not() {
    under_every_collector(Handles);
}

#[derive(Clone, Copy)]
struct Leak;
impl CollectorVisitor for Leak {
    type Output = ();
    fn visit<C: Collector>(self) {
        let config = Config {
            max_heap: Some(Bytes(8 << 20)),
            ..config::<C>(256 << 10)
        };
        let world = World::new::<C>(&config).expect("a small heap");
        let leak = world.enter(|m| {
            m.frame(|m, [list]| {
                let list = list.put_option::<Cell>(m, None);
                loop {
                    let (m, cell) = m.alloc_with(|m| Cell::new(1, list.get(m)));
                    list.set(m, Some(cell));
                }
            })
        });
        let Err(EnterError::Exhausted(exhausted)) = leak else {
            panic!("{leak:?}")
        };
        assert_eq!(exhausted.collector, C::DESCRIPTION.name);
        // The world is still usable.
        world
            .enter(|m| assert_eq!(make_and_count(m, 5), 63))
            .expect("room again");
        let statistics = world.finish();
        assert!(
            statistics.max_live > 2 << 20,
            "gave up at {} bytes of 8 MiB",
            statistics.max_live
        );
        assert!(
            statistics.peak_in_use <= 8 << 20,
            "{} bytes of 8 MiB",
            statistics.peak_in_use
        );
    }
}

#[test]
fn a_leak_exhausts_the_heap() {
    under_every_collector(Leak);
}

#[derive(Clone, Copy)]
struct Reentry;
impl CollectorVisitor for Reentry {
    type Output = ();
    fn visit<C: Collector>(self) {
        let world = World::new::<C>(&config::<C>(32 << 10)).expect("a small heap");
        world
            .enter(|_| assert_eq!(world.enter(|_| ()), Err(EnterError::Entered)))
            .expect("entered once");
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            world.enter(|m| {
                m.frame(|m, [slot]| {
                    slot.put(make(m, 3));
                    panic!("on purpose")
                })
            })
        }));
        assert!(panicked.is_err());
        world.enter(|m| m.collect(Request::Full)).expect("usable after a panic");
    }
}

#[test]
fn a_heap_is_entered_once_and_survives_panics() {
    under_every_collector(Reentry);
}
