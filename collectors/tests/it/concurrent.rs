//! Collectors that mark concurrently: concurrent cycles, and cycles in slices.

use crate::basics::config;
use crate::paused_log::File;
use gclab_collectors::{Concurrent, Lxr, Nonmoving};
use gclab_core::closure::{Closure, Ptr};
use gclab_core::collector::{Bump, Collector, Cycle, GenerationalBarrier, KindOf};
use gclab_core::config::Config;
use gclab_core::events::{Event, EventKind, Listener};
use gclab_core::mutator::{Mutator, OptionRoot, Request};
use gclab_core::stats::{Statistics, Work};
use gclab_core::words::{Bytes, Words};
use gclab_core::world::World;
use gclab_eventlog::kinds::number;
use gclab_eventlog::record::{About, EventLog};
use gclab_eventlog::{Merged, Value};
use gclab_heap_traverse::Checker;
use std::io::Cursor;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn closures_hidden_during_marking_survive() {
    gclab_proof::slices::slices::<Concurrent>();
    gclab_proof::slices::slices::<Lxr>();
    gclab_proof::slices::slices::<Nonmoving>();
}

/// The mutators of both.
#[test]
fn old_closures_die_by_counts_without_a_trace() {
    gclab_proof::counting::deaths::<Lxr>(&[]);
}

type Kind = KindOf<Concurrent>;

#[derive(Closure)]
#[allow(dead_code)]
pub(crate) struct Link {
    value: u64,
    next: Option<Ptr<Link>>,
}

/// The links of each list that is alive at a time.
const LENGTH: u64 = 20_000;

/// Lists that are made one after another, each in place of the one before.
const LISTS: u64 = 20;

/// Makes a list in place of another.
fn make<'h>(m: &mut Mutator<'h, Kind>, list: &OptionRoot<'_, 'h, Link>, first: u64) {
    list.set(m, None);
    for value in 0..LENGTH {
        let (m, link) = m.alloc_with(|m| Link::new(first + value, list.get(m)));
        list.set(m, Some(link));
    }
}

fn run<C: Collector<Alloc = Bump, Barrier = GenerationalBarrier>>(
    is_checked: bool,
    program: impl for<'h> FnOnce(&mut Mutator<'h, Kind>),
) -> Statistics {
    let mut world = World::new::<C>(&config::<C>(64 << 10)).expect("a heap");
    if is_checked {
        Checker::install(&mut world);
    }
    world.enter(program).expect("enough memory");
    world.finish()
}

/// A cycle whose marking is done while the program waits.
fn waits(m: &mut Mutator<'_, Kind>) {
    m.frame(|m, [list]| {
        let list = list.put_option::<Link>(m, None);
        make(m, &list, 0);
        m.collect(Request::Full);
        m.collect(Request::Slice(Words(0)));
        m.blocking(|| std::thread::sleep(Duration::from_millis(50)));
        m.collect(Request::Cycle);
    });
}

/// Twenty lists of half a megabyte die one after another.
#[test]
fn cycles_free_what_dies_without_a_whole_collection() {
    freed::<Concurrent>();
    freed::<Nonmoving>();
}

fn freed<C: Collector<Alloc = Bump, Barrier = GenerationalBarrier>>() {
    for is_checked in [true, false] {
        let statistics = run::<C>(is_checked, |m| {
            m.frame(|m, [list]| {
                let list = list.put_option::<Link>(m, None);
                for first in 0..LISTS {
                    make(m, &list, first);
                    let mut link = list.get(m);
                    for value in (0..LENGTH).rev() {
                        let here = link.expect("a link is left");
                        assert_eq!(here.value(m), first + value);
                        link = here.next(m);
                    }
                }
            });
        });
        let [collections @ .., _last] = &statistics.collections[..] else {
            panic!("no collections");
        };
        let ended = |cycle| collections.iter().filter(|each| each.work.cycle == cycle).count();
        assert!(ended(Cycle::Ended) > 2, "{} cycles", ended(Cycle::Ended));
        assert_eq!(ended(Cycle::Whole), 0);
        assert!(statistics.peak_blocks < 6 << 20, "{} bytes", statistics.peak_blocks);
    }
}

#[test]
fn concurrent_work_is_the_collectors_cpu_time() {
    counted::<Concurrent>();
    counted::<Lxr>();
    counted::<Nonmoving>();
}

fn counted<C: Collector<Alloc = Bump, Barrier = GenerationalBarrier>>() {
    let statistics = run::<C>(true, waits);
    let collections = &statistics.collections;
    let ended = collections
        .iter()
        .find(|each| each.work.cycle == Cycle::Ended)
        .expect("a cycle");
    assert!(ended.before.concurrent.cpu_ns > 0);
    assert_eq!(ended.work.live, Words(LENGTH as usize * 3).to_bytes());
    assert!(
        ended.work.marked < Some(ended.work.live),
        "the pause marked {:?}",
        ended.work.marked
    );
    let paused: u64 = collections.iter().map(|each| each.time.cpu_ns).sum();
    assert_eq!(statistics.gc.cpu_ns, paused + statistics.concurrent.cpu_ns);
}

/// The events of concurrent collectors in the log of a cycle, with their numbers. `nonmoving`: `-ln`.
fn log<C: Collector<Alloc = Bump, Barrier = GenerationalBarrier>>(nonmoving: bool) -> Vec<(u16, Vec<u64>)> {
    let (file, mut about) = (File::default(), About::default());
    about.classes.nonmoving = nonmoving;
    let log = EventLog::new(Box::new(file.clone()), about).expect("memory");
    let mut world = World::new::<C>(&config::<C>(64 << 10)).expect("a heap");
    world.listen(Box::new(log.clone()));
    world.enter(waits).expect("enough memory");
    drop(world);
    log.finish().expect("memory");
    let bytes = file.bytes();
    let mut log = Merged::new(Cursor::new(&bytes[..]), "log", false).expect("a log");
    let mut events = Vec::new();
    while let Some(event) = log.next_event().expect("whole") {
        let values = event.fields().map(|(_, value)| match value {
            Value::Number(value) => value,
            other => panic!("no number: {other:?}"),
        });
        if (number::CONC_MARK_BEGIN..=number::NONMOVING_HEAP_CENSUS).contains(&event.known()) {
            events.push((event.known(), values.collect()));
        }
    }
    events
}

#[test]
fn the_event_log_has_the_phases_of_a_cycle_as_ghc_writes_them() {
    logged::<Concurrent>();
    logged::<Lxr>();
    logged::<Nonmoving>();
}

fn logged<C: Collector<Alloc = Bump, Barrier = GenerationalBarrier>>() {
    let is_phase = |(number, _): &(u16, Vec<u64>)| *number <= number::CONC_SYNC_END;
    let phases: Vec<_> = log::<C>(false).into_iter().filter(is_phase).collect();
    // Lists that are made begin cycles of their own, but the last one is that which is waited for.
    let [.., (begin, _), (end, marked), (sync, _), (sync_end, _)] = &phases[..] else {
        panic!("no cycle")
    };
    assert_eq!(
        [*begin, *end, *sync, *sync_end],
        [
            number::CONC_MARK_BEGIN,
            number::CONC_MARK_END,
            number::CONC_SYNC_BEGIN,
            number::CONC_SYNC_END
        ]
    );
    assert!(marked[0] > 0);
}

/// As GHC 9.10 writes them.
#[test]
fn the_event_log_has_the_cells_of_each_size() {
    let said = |nonmoving| {
        let log = log::<Nonmoving>(nonmoving).into_iter();
        log.filter(|(number, _)| *number == number::NONMOVING_HEAP_CENSUS)
    };
    // The last collection is that of an empty heap.
    let (_, list) = said(true).rfind(|(_, values)| values[3] == LENGTH).expect("a list");
    // A segment of 32 KiB has 1365 cells of 24 bytes. The first segments are smaller, and two may have
    // free cells.
    let [size, active, filled, _] = list[..] else {
        panic!("{list:?}")
    };
    assert!(
        size == 24 && active <= 2 && (LENGTH / 1365..LENGTH / 1000).contains(&(active + filled)),
        "{list:?}"
    );
    assert_eq!(said(false).count(), 0);
}

/// Slots for lists, each of [`SHORT`] links.
const SLOTS: usize = 20;
const SHORT: u64 = 2000;
const LIVE: usize = SLOTS * SHORT as usize * size_of::<[u64; 3]>();

/// What each pause did of a cycle, and the bytes of blocks after it. (Statistics have no list of so many.)
type Pauses = Vec<(Cycle, usize)>;

struct Noted(Arc<Mutex<Pauses>>);

impl Listener for Noted {
    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::Recorded { collection, .. } = event.kind {
            let Work { cycle, live, slop, .. } = collection.work;
            self.0.lock().expect("sound").push((cycle, (live + slop).0));
        }
    }
}

/// The bytes of blocks after each cycle.
fn held(pauses: &Pauses) -> Vec<usize> {
    let ended = pauses.iter().filter(|(cycle, _)| *cycle == Cycle::Ended);
    ended.map(|(_, held)| *held).collect()
}

/// Fills the first `slots` slots with new lists in turn, `rounds` times in all, after clearing the
/// others. Pauses mark, `slice` each, so that each run is the same.
fn replaced<C: Collector<Alloc = Bump, Barrier = GenerationalBarrier>>(
    slice: Words,
    phases: &[(usize, usize)],
) -> Pauses {
    let config = Config {
        slice_limit: Some(slice),
        ..config::<C>(64 << 10)
    };
    let mut world = World::new::<C>(&config).expect("a heap");
    let pauses = Arc::default();
    world.listen(Box::new(Noted(Arc::clone(&pauses))));
    let session = world.enter(|m| {
        m.frame(|m, [array, list]| {
            let array = array.put(m.alloc_array::<Link>(SLOTS, |_| None));
            let list = list.put_option::<Link>(m, None);
            for &(slots, rounds) in phases {
                (slots..SLOTS).for_each(|slot| array.get(m).set(m, slot, None));
                for round in 0..rounds {
                    list.set(m, None);
                    for value in 0..SHORT {
                        let (m, link) = m.alloc_with(|m| Link::new(value, list.get(m)));
                        list.set(m, Some(link));
                    }
                    array.get(m).set(m, round % slots, list.get(m));
                }
            }
        });
    });
    session.expect("enough memory");
    drop(world);
    std::mem::take(&mut pauses.lock().expect("sound"))
}

/// A cycle takes few pauses.
const QUICK: Words = Words(1 << 15);

/// With flat live data memory does not grow, however many cycles there are.
#[test]
fn memory_stays_flat_while_live_data_are() {
    flat::<Concurrent>();
    flat::<Nonmoving>();
}

fn flat<C: Collector<Alloc = Bump, Barrier = GenerationalBarrier>>() {
    let held = held(&replaced::<C>(QUICK, &[(SLOTS, 50_000)]));
    assert!(held.len() > 1000, "{} cycles", held.len());
    let most = |held: &[usize]| held.iter().copied().max().expect("cycles");
    let (first, last) = held.split_at(held.len() / 3);
    assert!(
        most(last) * 100 <= most(first) * 105,
        "{} after {}",
        most(last),
        most(first)
    );
}

/// What becomes old while marking is slow is not live data, for which the next cycle could wait.
#[test]
fn a_slow_cycle_is_followed_by_the_next() {
    followed::<Concurrent>();
    followed::<Lxr>();
    followed::<Nonmoving>();
}

fn followed<C: Collector<Alloc = Bump, Barrier = GenerationalBarrier>>() {
    let pauses = replaced::<C>(Words(1 << 9), &[(4, 1000)]);
    let between = pauses.split(|(cycle, _)| *cycle != Cycle::None).skip(1);
    let most = between.map(<[_]>::len).max();
    assert!(most <= Some(2), "{most:?} pauses between cycles");
}

/// Two cycles after live data have fallen to a tenth, the heap has at most twice as much.
#[test]
fn memory_comes_back_within_two_cycles() {
    back::<Concurrent>();
    back::<Nonmoving>();
}

fn back<C: Collector<Alloc = Bump, Barrier = GenerationalBarrier>>() {
    let before = held(&replaced::<C>(QUICK, &[(SLOTS, 1000)])).len();
    let held = held(&replaced::<C>(QUICK, &[(SLOTS, 1000), (SLOTS / 10, 1000)]));
    let after = &held[before + 2..];
    let most = after.iter().max().expect("cycles");
    assert!(*most <= LIVE / 10 * 2 + (1 << 20), "{after:?}");
}

/// What alone keeps a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeper {
    Root,
    Ephemeron,
    /// Its finaliser gets it.
    Finaliser,
}

/// A slice marks about as much as was requested, whatever keeps the closures.
#[test]
fn a_slice_keeps_to_its_budget() {
    for kept in [Keeper::Root, Keeper::Ephemeron, Keeper::Finaliser] {
        bounded::<Concurrent>(kept);
        bounded::<Nonmoving>(kept);
    }
}

fn bounded<C: Collector<Alloc = Bump, Barrier = GenerationalBarrier>>(kept: Keeper) {
    const BUDGET: Words = Words(2000);
    let config = Config {
        slice_limit: Some(BUDGET),
        ..config::<C>(64 << 10)
    };
    let world = World::new::<C>(&config).expect("a heap");
    let session = world.enter(|m| {
        m.frame(|m, [list, key]| {
            let list = list.put_option::<Link>(m, None);
            let key = key.put(m.alloc(|_| Link::new(0, None)));
            make(m, &list, 0);
            m.collect(Request::Full);
            let first = list.get(m).expect("a list");
            let _ephemeron = (kept == Keeper::Ephemeron).then(|| m.ephemeron(key.get(m), first));
            if kept == Keeper::Finaliser {
                m.finalise(first, |_, _| ());
            }
            if kept != Keeper::Root {
                list.set(m, None);
            }
            m.collect(Request::Slice(Words(0)));
            (0..8).for_each(|_| m.collect(Request::Slice(BUDGET)));
        });
    });
    session.expect("enough memory");
    let collections = world.finish().collections;
    let begun = collections.iter().position(|each| each.work.cycle == Cycle::Whole);
    let slices = collections[begun.expect("a whole collection")..]
        .iter()
        .filter_map(|each| each.work.marked);
    let marked: Vec<_> = slices.take(8).collect();
    let [least, most] = [BUDGET.to_bytes().0 / 2, BUDGET.to_bytes().0 * 2];
    let enough = marked.iter().filter(|bytes| bytes.0 >= least).count();
    assert!(enough > 4 && marked.iter().all(|bytes| bytes.0 <= most), "{marked:?}");
}

/// When much dies at once, the pause that ends the cycle frees a part of the blocks, and the pauses
/// after it the others.
#[test]
fn blocks_that_a_cycle_empties_are_freed_in_steps() {
    freed_in_steps::<Concurrent>();
    freed_in_steps::<Lxr>();
    freed_in_steps::<Nonmoving>();
}

fn freed_in_steps<C: Collector<Alloc = Bump, Barrier = GenerationalBarrier>>() {
    const LINKS: u64 = 1 << 20;
    let config = Config {
        slice_limit: Some(Words(1 << 15)),
        old_min: Bytes::mib(256),
        ..config::<C>(1 << 20)
    };
    let mut world = World::new::<C>(&config).expect("a heap");
    Checker::install(&mut world);
    let session = world.enter(|m| {
        m.frame(|m, [list]| {
            let list = list.put_option::<Link>(m, None);
            for value in 0..LINKS {
                let (m, link) = m.alloc_with(|m| Link::new(value, list.get(m)));
                list.set(m, Some(link));
            }
            list.set(m, None);
            m.collect(Request::Minor);
            m.collect(Request::Slice(Words(0)));
            m.collect(Request::Cycle);
            (0..10).for_each(|_| m.collect(Request::Minor));
        });
    });
    session.expect("enough memory");
    let collections = world.finish().collections;
    let ended = collections.iter().position(|each| each.work.cycle == Cycle::Ended);
    let held: Vec<_> = collections[ended.expect("a cycle") - 1..]
        .iter()
        .map(|each| (each.work.live + each.work.slop).0)
        .collect();
    assert!(held[0] > 20 << 20 && held[9] < 1 << 20, "{held:?}");
    let freed = held.windows(2).map(|pair| pair[0].saturating_sub(pair[1]));
    assert!(freed.max() <= Some(8 << 20), "{held:?}");
}

/// Closures that die at random leave blocks with few others. Each cycle empties some of them, so that
/// there is no need to collect everything.
#[test]
fn cycles_empty_sparse_blocks() {
    const LINKS: usize = 1 << 14;
    let config = Config {
        slice_limit: Some(QUICK),
        old_min: Bytes::mib(1),
        ..config::<Concurrent>(64 << 10)
    };
    let mut world = World::new::<Concurrent>(&config).expect("a heap");
    Checker::install(&mut world);
    let session = world.enter(|m| {
        m.frame(|m, [array]| {
            let array = array.put(m.alloc_array::<Link>(LINKS, |_| None));
            let mut at = 0;
            for value in 0..40 * LINKS {
                let (m, link) = m.alloc_with(|_| Link::new(value as u64, None));
                array
                    .get(m)
                    .set(m, if value < LINKS { value } else { at % LINKS }, Some(link));
                at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(value) >> 3;
            }
        });
    });
    session.expect("enough memory");
    let statistics = world.finish();
    let [collections @ .., _last] = &statistics.collections[..] else {
        panic!("no collections");
    };
    let ended = collections.iter().filter(|each| each.work.cycle == Cycle::Ended);
    let moved: Bytes = ended.map(|each| each.work.copied).sum();
    let whole = collections.iter().filter(|each| each.work.cycle == Cycle::Whole);
    assert!(moved > Bytes::mib(1), "{moved} moved");
    assert_eq!(whole.count(), 0);
}
