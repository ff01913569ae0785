//! The memory that a heap takes from the machine, and returns to it.

use crate::basics::config;
use gclab_collectors::All;
use gclab_core::block::BLOCK;
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::mutator::{MutByteArray, Request};
use gclab_core::words::Bytes;
use gclab_core::world::World;

const OBJECTS: usize = 256;
/// One closure in `KEPT` survives.
const KEPT: usize = 16;
const SIZE: usize = 200 << 10;

/// Builds a heap of 50 MiB and keeps 3 MiB, spread over all megablocks; then the program requests
/// collections.
#[derive(Clone, Copy)]
struct Shrinks {
    decay: f64,
}

impl CollectorVisitor for Shrinks {
    type Output = ();
    fn visit<C: Collector>(self) {
        let config = Config {
            decay: self.decay,
            ..config::<C>(1 << 20)
        };
        let world = World::new::<C>(&config).expect("a heap");
        world
            .enter(|m| {
                m.frame(|m, [all]| {
                    let all = all.put(m.alloc_array::<MutByteArray>(OBJECTS, |_| None));
                    for index in 0..OBJECTS {
                        let (m, bytes) = m.with_view(|m| m.alloc_mut_bytes(SIZE));
                        all.get(m).set(m, index, Some(bytes));
                    }
                    m.collect(Request::Full);
                    for index in (0..OBJECTS).filter(|index| index % KEPT != 0) {
                        all.get(m).set(m, index, None);
                    }
                    (0..20).for_each(|_| m.collect(Request::Full));
                })
            })
            .expect("it fits");
        let statistics = world.finish();
        let name = C::DESCRIPTION.name;
        // The collection at the end of the run finds nothing alive.
        let [collections @ .., end] = &statistics.collections[..] else {
            panic!("{name}: no collections")
        };
        let last = collections.last().expect("the program asked for some");
        let live = Bytes(OBJECTS / KEPT * SIZE);
        let bytes = live.0 as u64;
        assert!(
            last.work.live >= live && statistics.peak_in_use > 10 * bytes,
            "{name}: {last:?}"
        );
        // Megablocks with kept closures stay in use, but their free pages are returned.
        let held = statistics.peak_in_use + end.memory.returned.0 as u64 - statistics.returned;
        let factor = if self.decay > 0.0 { 3 } else { 6 };
        assert!(
            held < factor * bytes + (4 << 20),
            "{name}: {held} bytes are held for {bytes}, {} returned",
            statistics.returned
        );
        assert_eq!(
            statistics.returned,
            statistics
                .collections
                .iter()
                .map(|collection| collection.memory.returned.0 as u64)
                .sum::<u64>(),
            "{name}"
        );
        assert!(
            last.memory.taken >= last.memory.in_use && statistics.peak_taken >= last.memory.taken.0 as u64,
            "{name}"
        );
        let (majors, minors): (Vec<_>, Vec<_>) = statistics
            .collections
            .iter()
            .partition(|collection| collection.work.is_major());
        assert!(
            majors
                .iter()
                .all(|major| major.memory.resident.is_some_and(|resident| resident > live)),
            "{name}"
        );
        assert!(minors.iter().all(|minor| minor.memory.resident.is_none()), "{name}");
    }
}

#[test]
fn memory_that_an_idle_program_does_not_need_is_returned() {
    for description in All::descriptions() {
        All::with(description.name, Shrinks { decay: 4.0 }).expect("listed");
        All::with(description.name, Shrinks { decay: 0.0 }).expect("listed");
    }
}

/// The most that an empty heap takes: `ocaml` begins with more than half of it.
const ROOM: Bytes = Bytes::kib(1280);

/// Arrays of these numbers of bytes take little more memory.
#[derive(Clone, Copy)]
struct Arrays;

impl CollectorVisitor for Arrays {
    type Output = ();
    fn visit<C: Collector>(self) {
        for bytes in [3600, 4096, 5000, 9000, 20_000, 33_000] {
            let world = World::new::<C>(&config::<C>(64 << 10)).expect("a small heap");
            let kept = world.enter(|m| {
                let array = |_| {
                    let (m, array) = m.with_view(|m| m.alloc_mut_bytes(bytes));
                    m.handle(array)
                };
                (0..500).map(array).collect::<Vec<_>>()
            });
            world.enter(|m| m.collect(Request::Full)).expect("room enough");
            let mut blocks = 0;
            world
                .inspect(|stopped| blocks = stopped.blocks().accounting().blocks_in_use as usize)
                .expect("no thread is inside");
            let payload = kept.expect("room enough").len() * bytes;
            assert!(
                blocks * BLOCK.0 <= payload * 115 / 100 + ROOM.0,
                "{}: {blocks} blocks for arrays of {bytes} bytes, {payload} in all",
                C::DESCRIPTION.name
            );
        }
    }
}

/// An array of 4096 bytes took two blocks, because of its header and length.
#[test]
fn byte_arrays_take_little_more_than_their_bytes() {
    crate::under_every_collector(Arrays);
}

/// The memory that counts towards a limit stays below it.
#[derive(Clone, Copy)]
struct Tight;

impl CollectorVisitor for Tight {
    type Output = ();
    fn visit<C: Collector>(self) {
        for mib in [3, 5, 9, 17] {
            let config = Config {
                max_heap: Some(Bytes::mib(mib)),
                ..config::<C>(128 << 10)
            };
            let world = World::new::<C>(&config).expect("a small heap");
            let ended = world.enter(|m| {
                m.frame(|m, [all]| {
                    let all = all.put(m.alloc_array::<MutByteArray>(1 << 14, |_| None));
                    for index in 0..1 << 14 {
                        let (m, bytes) = m.with_view(|m| m.alloc_mut_bytes(index % 3000 + index % 7 * 500));
                        all.get(m).set(m, index, Some(bytes));
                    }
                })
            });
            let (name, statistics) = (C::DESCRIPTION.name, world.finish());
            assert!(ended.is_err(), "{name}: 50 MiB in {mib}");
            let peak = statistics.peak_taken;
            assert!(peak <= (mib << 20) as u64, "{name}: {peak} bytes of {mib} MiB");
            assert!(
                statistics.max_live * 4 > peak,
                "{name}: gave up at {} of {mib} MiB",
                statistics.max_live
            );
        }
    }
}

#[test]
fn nothing_exceeds_the_limit() {
    crate::under_every_collector(Tight);
}
