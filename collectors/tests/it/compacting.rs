//! Compaction keeps order, empties megablocks, and happens when it should.

use gclab_collectors::{Compacting, Copying};
use gclab_core::block::MEGABLOCK;
use gclab_core::closure::Closure;
use gclab_core::collector::Collector;
use gclab_core::config::{Compact, Config};
use gclab_core::events::{Event, EventKind, Listener};
use gclab_core::mutator::{MutArray, Request};
use gclab_core::words::{Addr, Bytes};
use gclab_core::world::{EnterError, World};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

#[derive(Closure)]
#[allow(dead_code)]
struct Cell {
    value: u64,
}

fn config(generations: u32) -> Config {
    Config {
        allocation_area: Bytes::kib(256),
        reserve: Bytes::gib(4),
        generations,
        compact: Compact::Always,
        ..Config::default()
    }
}

/// Records the addresses in the largest root's slots at the end of each requested collection.
struct Places(Arc<Mutex<Vec<Vec<Addr>>>>);

impl Listener for Places {
    fn event(&mut self, event: &Event<'_>) {
        let EventKind::End { collection, stopped } = event.kind else {
            return;
        };
        let largest = stopped.root_closures().into_iter().max_by_key(|root| root.words());
        if let Some(array) = largest.filter(|_| collection.forced()) {
            let places = array.slots().map(|(_, referent)| referent).collect();
            self.0.lock().expect("no thread panicked").push(places);
        }
    }
}

/// Makes `count` numbered cells in an array, and drops all but every `keep`-th. Returns their
/// addresses before and after.
fn thin(config: &Config, count: usize, keep: usize) -> [Vec<Addr>; 2] {
    let places = Arc::new(Mutex::new(Vec::new()));
    let mut world = World::new::<Compacting>(config).expect("a small heap");
    world.listen(Box::new(Places(Arc::clone(&places))));
    let session = world.enter(|m| {
        m.frame(|m, [cells]| {
            let cells = cells.put(m.alloc_array::<Cell>(count, |_| None));
            for value in 0..count {
                let (m, cell) = m.alloc_with(|_| Cell::new(value as u64));
                cells.get(m).set(m, value, Some(cell));
            }
            m.collect(Request::Full);
            for value in (0..count).filter(|value| value % keep != 0) {
                let (m, cells) = m.with_view::<MutArray<Cell>>(|m| cells.get(m));
                cells.set(m, value, None);
            }
            m.collect(Request::Full);
            for value in (0..count).step_by(keep) {
                let cell = cells.get(m).get(m, value).expect("it was kept");
                assert_eq!(cell.value(m), value as u64);
            }
        });
    });
    session.expect("room enough");
    drop(world);
    let mut places = places.lock().expect("no thread panicked");
    let after = places[1].iter().copied().step_by(keep).collect();
    let before = places.swap_remove(0).into_iter().step_by(keep).collect();
    [before, after]
}

fn megablocks(places: &[Addr]) -> usize {
    places
        .iter()
        .map(|at| at.0 / MEGABLOCK.0)
        .collect::<BTreeSet<_>>()
        .len()
}

#[test]
fn order_is_kept_and_whole_megablocks_are_emptied() {
    for generations in [1, 2, 3] {
        let (count, keep) = (1 << 20, 16);
        let [before, after] = thin(&config(generations), count, keep);
        assert_eq!(before.len(), after.len());
        let mut order: Vec<usize> = (0..before.len()).collect();
        order.sort_by_key(|&index| before[index]);
        assert!(
            order.windows(2).all(|pair| after[pair[0]] < after[pair[1]]),
            "-G{generations}: what was behind another is not any more"
        );
        // Of 16 MiB of cells 1 MiB survives, in chunks that alternate with the allocation area.
        assert!(
            megablocks(&before) >= 16 && megablocks(&after) <= 3,
            "-G{generations}: {} of {}",
            megablocks(&after),
            megablocks(&before)
        );
        assert!(
            before.iter().zip(&after).all(|(before, after)| after <= before),
            "something went up"
        );
    }
}

/// Whether a program with `live` live bytes stays within `limit` while it allocates much more.
fn lives_within<C: Collector>(live: Bytes, config: &Config) -> bool {
    let world = World::new::<C>(config).expect("a small heap");
    let session = world.enter(|m| {
        m.frame(|m, [cells]| {
            let count = live.0 / 24;
            let cells = cells.put(m.alloc_array::<Cell>(count, |_| None));
            for round in 0..3 {
                for value in 0..count {
                    let (m, cell) = m.alloc_with(|_| Cell::new(round + value as u64));
                    cells.get(m).set(m, value, Some(cell));
                }
            }
            (0..count).all(|value| {
                cells
                    .get(m)
                    .get(m, value)
                    .is_some_and(|cell| cell.value(m) == 2 + value as u64)
            })
        })
    });
    let statistics = world.finish();
    assert!(statistics.collections.len() > 2, "there are statistics either way");
    match session {
        Ok(whole) => {
            assert!(whole);
            true
        }
        Err(EnterError::Exhausted(_)) => false,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn four_fifths_of_the_limit_may_be_live_where_copying_is_exhausted() {
    for generations in [1, 2] {
        let config = Config {
            max_heap: Some(Bytes::mib(32)),
            compact: Compact::Never,
            ..config(generations)
        };
        let fifths = |count| Bytes(Bytes::mib(32).0 / 5 * count);
        assert!(lives_within::<Compacting>(fifths(4), &config), "-G{generations}");
        if generations == 2 {
            assert!(!lives_within::<Copying>(fifths(4), &config));
            assert!(lives_within::<Copying>(fifths(2), &config));
        }
    }
}

#[test]
fn compaction_starts_above_its_percentage() {
    // Closures that a compaction leaves in place are not copied; here the heap does not change, so
    // none is copied.
    let copied = |percent: f64| {
        let config = Config {
            max_heap: Some(Bytes::mib(64)),
            compact: Compact::Above(percent),
            ..config(2)
        };
        let world = World::new::<Compacting>(&config).expect("a small heap");
        let session = world.enter(|m| {
            m.frame(|m, [cells]| {
                let cells = cells.put(m.alloc_array::<Cell>(200_000, |_| None));
                for value in 0..200_000 {
                    let (m, cell) = m.alloc_with(|_| Cell::new(value as u64));
                    cells.get(m).set(m, value, Some(cell));
                }
                (0..4).for_each(|_| m.collect(Request::Full));
            });
        });
        session.expect("room enough");
        let statistics = world.finish();
        let asked: Vec<Bytes> = statistics
            .collections
            .iter()
            .filter(|c| c.forced())
            .map(|c| c.work.copied)
            .collect();
        asked[asked.len() - 2]
    };
    // 3.2 MB of cells and 1.6 MB of slots are 7 % of 64 MiB.
    assert_eq!(copied(5.0), Bytes(0));
    assert_eq!(copied(50.0), Bytes(200_000 * 16));
}
