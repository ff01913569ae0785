//! The records of parallel collections, and sharing as the flags demand. (Random programs and the
//! tests of threads check that such collections are correct.) In test builds, a few hundred words
//! are enough to share.

use crate::basics::config;
use gclab_collectors::{Compacting, Parallel, TwoSpace};
use gclab_core::closure::{Closure, Ptr};
use gclab_core::collector::{Collector, KindOf};
use gclab_core::config::{Config, FromGeneration};
use gclab_core::events::{Event, EventKind, Listener};
use gclab_core::mutator::{Gc, Mutator, MutatorKind, Request};
use gclab_core::stats::{Collection, Sharing};
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use std::sync::{Barrier, mpsc};
use std::time::{Duration, Instant};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

/// The size of a node.
const NODE: u64 = 24;

fn tree<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, depth: u32) -> Gc<'m, 'h, Tree> {
    if depth == 0 {
        return m.alloc(|_| Tree::new(None, None));
    }
    m.frame(|m, [left, right]| {
        let (left, right) = (left.put(tree(m, depth - 1)), right.put(tree(m, depth - 1)));
        m.alloc(|m| Tree::new(Some(left.get(m)), Some(right.get(m))))
    })
}

/// A list with as many cells as a tree of depth `depth` has nodes.
fn list<'m, 'h>(m: &'m mut Mutator<'h, KindOf<Parallel>>, depth: u32) -> Gc<'m, 'h, Tree> {
    m.frame(|m, [first]| {
        let first = first.put_option(m, None);
        for _ in 1..2 << depth {
            let (m, cell) = m.alloc_with(|m| Tree::new(first.get(m), None));
            first.set(m, Some(cell));
        }
        first.get(m).expect("a cell at least")
    })
}

fn size(depth: u32) -> u64 {
    ((2 << depth) - 1) * NODE
}

/// Sends the record of each collection.
struct Records(mpsc::Sender<Collection>);

impl Listener for Records {
    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::End { collection, .. } = event.kind {
            self.0.send((*collection).clone()).expect("the test outlives the heap");
        }
    }
}

/// A world with `capabilities` and as many GC threads, so large that only requested collections
/// happen; and the records of its collections.
fn world(capabilities: u32, balance: FromGeneration) -> (World<KindOf<Parallel>>, mpsc::Receiver<Collection>) {
    world_of::<Parallel>(capabilities, balance, FromGeneration::From(0))
}

/// Like [`world`], under `C` and with this `-qg`.
fn world_of<C: Collector>(
    capabilities: u32,
    balance: FromGeneration,
    parallel: FromGeneration,
) -> (World<KindOf<C>>, mpsc::Receiver<Collection>) {
    let config = Config {
        capabilities,
        gc_threads: capabilities.max(2),
        load_balance: Some(balance),
        parallel_gc: parallel,
        ..config::<C>(8 << 20)
    };
    let mut world = World::new::<C>(&config).expect("a small heap");
    let (send, records) = mpsc::channel();
    world.listen(Box::new(Records(send)));
    world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
    (world, records)
}

/// The record of a major collection in which only the closures from `make` are live.
fn collected(
    balance: FromGeneration,
    make: impl for<'m, 'h> FnOnce(&'m mut Mutator<'h, KindOf<Parallel>>) -> Gc<'m, 'h, Tree>,
) -> Collection {
    let (world, records) = world(1, balance);
    let result = world.enter(|m| {
        m.frame(|m, [kept]| {
            let _kept = kept.put(make(m));
            m.collect(Request::Full);
        })
    });
    result.expect("room enough");
    records.recv().expect("one collection")
}

/// The bytes that a collection copied.
fn in_all(collection: &Collection) -> u64 {
    collection.work.copied.0 as u64
}

/// The sum of the bytes that its threads copied.
fn copied(collection: &Collection) -> u64 {
    collection.work.shared.threads.iter().map(|thread| thread.copied).sum()
}

const ALL: FromGeneration = FromGeneration::From(0);

#[test]
fn a_tree_is_shared_and_the_record_adds_up() {
    let record = collected(ALL, |m| tree(m, 15));
    assert_eq!((record.work.shared.sharing, record.threads()), (Sharing::Balanced, 2));
    assert_eq!(
        (copied(&record), in_all(&record), record.work.live.0 as u64),
        (size(15), size(15), size(15))
    );
    assert!(record.work.shared.parallel_ns > 0 && record.work.shared.parallel_ns <= record.time.elapsed_ns);
    for thread in &record.work.shared.threads {
        let all = thread.start_ns + thread.work_ns + thread.idle_ns + thread.termination_ns;
        assert_eq!(all, record.work.shared.parallel_ns, "{thread:?}");
    }
}

#[test]
fn a_second_thread_gets_a_part_of_a_tree() {
    // The system decides when a helper runs; in one of many collections it will.
    let begun = Instant::now();
    while collected(ALL, |m| tree(m, 17)).work.shared.threads[1].copied == 0 {
        assert!(begun.elapsed() < Duration::from_secs(120), "no part in two minutes");
    }
}

#[test]
fn a_list_is_not_shared_however_long() {
    let record = collected(ALL, |m| list(m, 15));
    assert_eq!((record.work.shared.sharing, record.threads()), (Sharing::TooLittle, 1));
    assert_eq!(in_all(&record), size(15));
}

#[test]
fn small_collections_are_not_shared() {
    let record = collected(ALL, |m| tree(m, 3));
    assert_eq!((record.work.shared.sharing, record.threads()), (Sharing::TooLittle, 1));
}

#[test]
fn a_large_array_is_cut_into_work_items() {
    let (world, records) = world(1, ALL);
    let result = world.enter(|m| {
        m.frame(|m, [array]| {
            let array = array.put(m.alloc_array::<Tree>(5000, |_| None));
            for i in 0..5000 {
                let (m, node) = m.with_view(node_of);
                array.get(m).set(m, i, Some(node));
            }
            m.collect(Request::Full);
        })
    });
    result.expect("room enough");
    let record = records.recv().expect("one collection");
    assert_eq!(
        (record.work.shared.sharing, copied(&record)),
        (Sharing::Balanced, 5000 * NODE)
    );
    let items: u64 = record
        .work
        .shared
        .threads
        .iter()
        .map(|thread| thread.search.scav_find_work)
        .sum();
    assert!(items >= 1, "{record:?}");
}

/// So many stores into an old array that the remembered set becomes a bitmap, which two threads
/// share.
#[test]
fn the_bits_of_a_remembered_set_are_shared() {
    const SLOTS: usize = 300_000;
    let config = Config {
        gc_threads: 2,
        load_balance: Some(ALL),
        ..config::<Parallel>(16 << 20)
    };
    let mut world = World::new::<Parallel>(&config).expect("a small heap");
    let (send, records) = mpsc::channel();
    world.listen(Box::new(Records(send)));
    world.listen(Box::new(Checker::new(&Parallel::DESCRIPTION).exact()));
    let result = world.enter(|m| {
        m.frame(|m, [array]| {
            let array = array.put(m.alloc_array::<Tree>(SLOTS, |_| None));
            m.collect(Request::Full);
            m.collect(Request::Full);
            for i in 0..SLOTS {
                let (m, node) = m.with_view(node_of);
                array.get(m).set(m, i, Some(node));
            }
            m.collect(Request::Minor);
        })
    });
    result.expect("room enough");
    let record = records.try_iter().last().expect("three collections");
    assert_eq!(record.work.shared.sharing, Sharing::Balanced);
    assert_eq!(copied(&record), SLOTS as u64 * NODE);
}

fn node_of<'m, 'h>(m: &'m mut Mutator<'h, KindOf<Parallel>>) -> Gc<'m, 'h, Tree> {
    m.alloc(|_| Tree::new(None, None))
}

#[test]
fn many_handles_are_shared() {
    let (world, records) = world(1, ALL);
    let result = world.enter(|m| {
        let handles: Vec<_> = (0..2000)
            .map(|_| {
                let (m, node) = m.with_view(node_of);
                m.handle(node)
            })
            .collect();
        m.collect(Request::Full);
        assert!(handles.iter().all(|handle| handle.open(m).left(m).is_none()));
    });
    result.expect("room enough");
    let record = records.recv().expect("one collection");
    assert_eq!(
        (record.work.shared.sharing, copied(&record)),
        (Sharing::Balanced, 2000 * NODE)
    );
}

#[test]
fn younger_generations_are_left_to_one_thread() {
    let config = Config {
        parallel_gc: FromGeneration::From(1),
        gc_threads: 2,
        load_balance: Some(ALL),
        ..config::<Parallel>(8 << 20)
    };
    let mut world = World::new::<Parallel>(&config).expect("a small heap");
    let (send, records) = mpsc::channel();
    world.listen(Box::new(Records(send)));
    let result = world.enter(|m| {
        m.frame(|m, [kept]| {
            let _kept = kept.put(tree(m, 12));
            m.collect(Request::Minor);
            m.collect(Request::Full);
        })
    });
    result.expect("room enough");
    let sharings: Vec<Sharing> = records.try_iter().map(|record| record.work.shared.sharing).collect();
    assert_eq!(sharings, [Sharing::Younger, Sharing::Balanced]);
}

/// The record of a collection by `C` with one generation, a live tree, and these flags.
fn collected_with_one_generation<C: Collector>(balance: FromGeneration, parallel: FromGeneration) -> Collection {
    let config = Config {
        generations: 1,
        gc_threads: 2,
        load_balance: Some(balance),
        parallel_gc: parallel,
        ..config::<C>(8 << 20)
    };
    let mut world = World::new::<C>(&config).expect("a small heap");
    let (send, records) = mpsc::channel();
    world.listen(Box::new(Records(send)));
    let result = world.enter(|m| {
        m.frame(|m, [kept]| {
            let _kept = kept.put(tree(m, 15));
            m.collect(Request::Full);
        })
    });
    result.expect("room enough");
    records.recv().expect("one collection")
}

#[test]
fn the_flags_decide_whether_one_generation_is_shared() {
    fn check<C: Collector>() -> Collection {
        // Every collection is one of generation 0.
        let record = |balance, parallel| collected_with_one_generation::<C>(balance, parallel);
        let sharing = |balance, parallel| record(balance, parallel).work.shared.sharing;
        assert_eq!(sharing(ALL, FromGeneration::Off), Sharing::Younger);
        assert_eq!(sharing(ALL, FromGeneration::From(1)), Sharing::Younger);
        assert_eq!(sharing(FromGeneration::From(1), ALL), Sharing::OneOwner);
        let balanced = record(ALL, ALL);
        assert_eq!(
            (balanced.work.shared.sharing, balanced.threads()),
            (Sharing::Balanced, 2)
        );
        balanced
    }
    let copying = check::<TwoSpace>();
    assert_eq!((copied(&copying), in_all(&copying)), (size(15), size(15)));
    check::<Compacting>();
}

/// Two threads keep a tree each, of these depths, while one of them requests two major collections.
/// Returns the record of the second. (The first one determines the amount of live data.)
fn collected_of_two<C: Collector>(depths: [u32; 2]) -> Collection {
    let (world, records) = world_of::<C>(2, FromGeneration::Off, FromGeneration::From(0));
    let (made, done) = (&Barrier::new(2), &Barrier::new(2));
    let world = &world;
    std::thread::scope(|s| {
        for (number, depth) in depths.into_iter().enumerate() {
            s.spawn(move || {
                let session = world.enter(|m| {
                    m.frame(|m, [kept]| {
                        let _kept = kept.put(tree(m, depth));
                        m.blocking(|| made.wait());
                        if number == 0 {
                            m.collect(Request::Full);
                            m.collect(Request::Full);
                        }
                        m.blocking(|| done.wait());
                    })
                });
                session.expect("room enough");
            });
        }
    });
    records.try_iter().nth(1).expect("two collections")
}

#[test]
fn without_balancing_the_data_of_a_capability_are_copied_by_one_thread() {
    for turn in 0..20 {
        let record = match turn % 2 {
            0 => collected_of_two::<Parallel>([14, 12]),
            _ => collected_of_two::<TwoSpace>([14, 12]),
        };
        assert_eq!(record.work.shared.sharing, Sharing::Owners, "{record:?}");
        let mut shares: Vec<u64> = record.work.shared.threads.iter().map(|thread| thread.copied).collect();
        shares.sort_unstable();
        // Each thread copies its own tree, or one copies both if the other came too late.
        let (small, great) = (size(12), size(14));
        assert!(
            shares == [small, great] || shares == [0, small + great],
            "{shares:?} of {small} and {great}"
        );
    }
}

#[test]
fn without_balancing_and_with_one_owner_no_helper_is_called() {
    let record = collected(FromGeneration::Off, |m| tree(m, 15));
    assert_eq!((record.work.shared.sharing, record.threads()), (Sharing::OneOwner, 1));
}

#[test]
fn chunks_with_room_are_filled_further() {
    let (world, records) = world(1, ALL);
    let result = world.enter(|m| {
        m.frame(|m, [kept, new]| {
            let (view, first) = m.with_view(|m| tree(m, 12));
            let kept = kept.put_option(view, Some(first));
            let new = new.put_option(m, None);
            for _ in 0..100 {
                // A little is promoted each time, by one thread or two.
                let (view, some) = m.with_view(|m| tree(m, 9));
                new.set(view, Some(some));
                let (view, both) = m.alloc_with(|m| Tree::new(kept.get(m), new.get(m)));
                kept.set(view, Some(both));
                new.set(view, None);
                m.collect(Request::Minor);
            }
        })
    });
    result.expect("room enough");
    let slop = records.try_iter().last().expect("collections").work.slop;
    // Two threads, two lanes, two steps, of 32 KiB each. Large closures would waste more, but there
    // are none.
    assert!(slop <= Bytes::kib(2 * 2 * 2 * 32), "{slop} wasted");
}
