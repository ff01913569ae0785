//! Two threads share a slide: each closure arrives intact, wherever its chunk goes. (Random
//! programs under `compacting` also slide with two threads.)

use gclab_collectors::Compacting;
use gclab_core::closure::{Closure, Mut, Ptr};
use gclab_core::config::{Compact, Config, FromGeneration};
use gclab_core::mutator::{MutArray, Mutator, MutatorKind, Request, Root};
use gclab_core::stats::{Collection, Sharing};
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;

#[derive(Closure)]
#[allow(dead_code)]
struct Pair {
    value: u64,
    own: Option<Ptr<Number>>,
    before: Mut<Pair>,
}

#[derive(Closure)]
#[allow(dead_code)]
struct Number {
    value: u64,
}

/// How many pairs, each with a number: some thirty chunks in each lane, and an array of many
/// slices.
const COUNT: usize = 30_000;

/// Fills an array with pairs, each pointing to the one before, and promotes them.
fn fill<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, pairs: &Root<'_, 'h, MutArray<Pair>>) {
    m.frame(|m, [number]| {
        let number = number.put_option(m, None);
        for value in 0..COUNT {
            let (view, own) = m.alloc_with(|_| Number::new(value as u64));
            number.set(view, Some(own));
            let (view, pair) = m.alloc_with(|m| {
                let before = value.checked_sub(1).and_then(|before| pairs.get(m).get(m, before));
                Pair::new(value as u64, number.get(m), before)
            });
            pairs.get(view).set(view, value, Some(pair));
        }
    });
    m.collect(Request::Full);
}

/// Drops the first and the last `dropped` pairs; one of these ends is at low addresses.
fn drop_ends<'h, M: MutatorKind>(m: &Mutator<'h, M>, pairs: &Root<'_, 'h, MutArray<Pair>>, dropped: usize) {
    let pairs = pairs.get(m);
    (0..dropped).for_each(|value| pairs.set(m, value, None));
    (COUNT - dropped..COUNT).for_each(|value| pairs.set(m, value, None));
    pairs.get(m, dropped).expect("it is there").set_before(m, None);
}

/// Checks that all other pairs are unchanged.
fn check<'h, M: MutatorKind>(m: &Mutator<'h, M>, pairs: &Root<'_, 'h, MutArray<Pair>>, dropped: usize) {
    for value in dropped..COUNT - dropped {
        let pair = pairs.get(m).get(m, value).expect("it is there");
        assert_eq!(pair.value(m), value as u64);
        assert_eq!(pair.own(m).expect("it has one").value(m), value as u64);
        let before = pair.before(m).map(|before| before.value(m) as usize);
        assert_eq!(before, (value > dropped).then(|| value - 1));
    }
}

/// Before each of several compactions, drops `each` more pairs at both ends. Returns the records of
/// the compactions.
fn compactions(load_balance: FromGeneration, each: usize) -> Vec<Collection> {
    const ROUNDS: usize = 8;
    let config = Config {
        allocation_area: Bytes::mib(4),
        reserve: Bytes::gib(4),
        compact: Compact::Always,
        gc_threads: 2,
        load_balance: Some(load_balance),
        ..Config::default()
    };
    let mut world = World::new::<Compacting>(&config).expect("a small heap");
    Checker::install(&mut world);
    let session = world.enter(|m| {
        m.frame(|m, [pairs]| {
            let pairs = pairs.put(m.alloc_array::<Pair>(COUNT, |_| None));
            fill(m, &pairs);
            for round in 1..=ROUNDS {
                drop_ends(m, &pairs, round * each);
                m.collect(Request::Full);
                check(m, &pairs, round * each);
            }
        });
    });
    session.expect("room enough");
    let mut records = world.finish().collections;
    records.retain(Collection::forced);
    records.drain(1..=ROUNDS).collect()
}

#[test]
fn each_chunk_goes_to_the_one_before_it() {
    // 320 bytes of pairs, and 160 of numbers.
    for record in compactions(FromGeneration::From(0), 10) {
        assert_eq!((record.work.shared.sharing, record.threads()), (Sharing::Balanced, 2));
    }
}

#[test]
fn chunks_go_far_and_the_record_adds_up() {
    let mut moved = Bytes(0);
    for record in compactions(FromGeneration::From(0), COUNT / 20) {
        let work = &record.work;
        assert!(work.compacted);
        moved += work.copied;
        // Everything is marked, and all small closures slide.
        let by_threads: u64 = work.shared.threads.iter().map(|thread| thread.copied).sum();
        assert_eq!(by_threads, (work.live + work.live - work.large).0 as u64);
        assert!(work.shared.parallel_ns > 0 && work.shared.parallel_ns <= record.time.elapsed_ns);
    }
    assert!(moved > Bytes(0));
}

#[test]
fn without_balancing_one_thread_slides() {
    for record in compactions(FromGeneration::Off, 10) {
        assert!(
            record.work.compacted && record.work.shared.threads.is_empty(),
            "{record:?}"
        );
    }
}
