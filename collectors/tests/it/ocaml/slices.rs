//! Cycles of `ocaml`, whose slices interleave with the program.

use crate::basics::config;
use gclab_collectors::Ocaml;
use gclab_collectors::ocaml::{Control, GcModule, Stat};
use gclab_core::collector::{Cycle, KindOf};
use gclab_core::mutator::{Mutator, Request};
use gclab_core::stats::Statistics;
use gclab_core::words::{Bytes, Words};
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use gclab_proof::slices::{LENGTH, SLICE, in_slices, list};

#[test]
fn closures_hidden_during_marking_survive() {
    gclab_proof::slices::slices::<Ocaml>();
}

/// A major collection is recorded only at the end of a cycle. A slice is a pause of generation 1.
#[test]
fn records_distinguish_slices_from_cycles() {
    let statistics = in_slices::<Ocaml>(|m| {
        m.frame(|m, [long]| {
            let long = long.put_option(m, None);
            list(m, &long, LENGTH);
            (0..8).for_each(|_| m.collect(SLICE));
            // Floating garbage until the next cycle.
            long.set(m, None);
            m.collect(Request::Cycle);
            (0..3).for_each(|_| m.collect(SLICE));
            m.collect(Request::Full);
        });
    });
    let cycles: Vec<Cycle> = statistics.collections.iter().map(|each| each.work.cycle).collect();
    let (began, continued) = (Cycle::Began, Cycle::Continued);
    // The list starts the first cycle: without one, it asks for a minor collection.
    let mut expected = vec![began];
    expected.extend([continued; 8]);
    // The second cycle finds nothing alive, which best-fit sweeps in one slice.
    expected.extend([Cycle::Ended, began, continued, Cycle::Ended, Cycle::Whole, Cycle::Whole]);
    assert_eq!(cycles, expected);
    for each in &statistics.collections {
        let (work, is_slice) = (&each.work, each.work.cycle.is_slice());
        assert_eq!(work.generation, u32::from(work.cycle != Cycle::None));
        assert_eq!((work.marked.is_some(), work.swept.is_some()), (is_slice, is_slice));
    }
    let (list, slices) = (LENGTH * 3 * 8, &statistics.slices);
    assert_eq!((slices.count, slices.cycles, statistics.major_gcs), (13, 2, 4));
    assert_eq!(slices.marked, list);
    assert_eq!((statistics.max_live, statistics.cumulative_live), (list, list));
}

/// The sizes of the minor heap and of a small closure, in bytes.
const AREA: usize = 64 << 10;
const SMALL: usize = 64;

fn run(program: impl for<'h> FnOnce(&mut Mutator<'h, KindOf<Ocaml>>)) -> Statistics {
    let mut world = World::new::<Ocaml>(&gclab_proof::small_heap::<Ocaml>()).expect("a small heap");
    Checker::install(&mut world);
    world.enter(program).expect("enough memory");
    world.finish()
}

/// For each of the first pauses: its part of a cycle, and how many halves of a minor heap preceded
/// it.
fn pauses(statistics: &Statistics, count: usize) -> Vec<(Cycle, usize)> {
    let first = statistics.collections.iter().take(count);
    let halves = |allocated: Bytes| (allocated.0 + AREA / 64) / (AREA / 2);
    first
        .map(|each| (each.work.cycle, halves(each.before.allocated)))
        .collect()
}

#[test]
fn slices_come_at_the_middle_of_the_minor_heap_and_minor_collections_at_its_end() {
    let statistics = run(|m| (0..5 * AREA / SMALL).for_each(|_| _ = m.alloc_bytes_filled(SMALL - 16, 0)));
    let expected = [
        (Cycle::Began, 2),
        (Cycle::None, 2),
        (Cycle::Continued, 1),
        (Cycle::None, 1),
        (Cycle::Continued, 1),
        (Cycle::None, 1),
    ];
    assert_eq!(pauses(&statistics, 6), expected);
}

/// A minor heap of 2 MiB consists of several runs of blocks. Neither they nor its half are
/// multiples of three words, yet only the last word is lost.
#[test]
fn the_minor_heap_has_its_size_to_the_word() {
    let words = 256 << 10;
    let world = World::new::<Ocaml>(&config::<Ocaml>(8 * words)).expect("a small heap");
    world
        .enter(|m| (0..words).for_each(|_| _ = m.alloc_bytes_filled(8, 0)))
        .expect("room enough");
    let collections = world.finish().collections;
    let allocated: Vec<_> = collections
        .iter()
        .map(|each| each.before.allocated.to_words_up().0)
        .collect();
    let (half, whole) = (words / 2 / 3 * 3, words / 3 * 3);
    assert_eq!(allocated[..4], [whole, whole, half, whole - half]);
}

/// As much is allocated in the major heap as the minor heap holds, so a slice is due at once.
#[test]
fn large_objects_make_slices_due() {
    let statistics = run(|m| {
        (0..6).for_each(|_| _ = m.alloc_bytes_filled(AREA * 3 / 4, 0));
    });
    let words = Words(2 + AREA * 3 / 4 / 8).to_bytes();
    let allocated: Vec<_> = statistics
        .collections
        .iter()
        .map(|each| each.before.allocated)
        .collect();
    assert_eq!(allocated[..2], [words + words; 2]);
    let cycles: Vec<_> = statistics.collections.iter().map(|each| each.work.cycle).collect();
    assert_eq!(cycles[..2], [Cycle::Began, Cycle::Continued]);
}

/// Promoting that much outside memory makes a slice due, which is part of the same pause.
#[test]
fn promoted_outside_memory_makes_a_slice_due() {
    let second = |bytes: usize| {
        let statistics = run(|m| {
            let mut gc = m.gc().expect("ocaml");
            let control = gc.get();
            let bound = Control {
                custom_major_ratio: 1,
                ..control
            };
            gc.set(bound).expect("legal");
            // No cycle is running: this starts one.
            gc.minor();
            let kept = [(); 2].map(|()| {
                let (view, closure) = m.with_view(|m| m.alloc_foreign((), Bytes(bytes)));
                view.handle(closure)
            });
            m.collect(Request::Minor);
            drop(kept);
        });
        statistics.collections[1].work.cycle
    };
    assert_eq!((second(0), second(8192)), (Cycle::None, Cycle::Continued));
}

/// The end of a cycle starts the next one, however little of the minor heap is used, and even
/// before the closure that did not fit is allocated.
#[test]
fn a_cycle_starts_right_after_the_previous_one() {
    let statistics = run(|m| {
        m.frame(|m, [long]| {
            let long = long.put_option(m, None);
            (0..20).for_each(|_| list(m, &long, LENGTH));
        });
    });
    let collections = &statistics.collections;
    let ended = |place: &usize| collections[*place].work.cycle == Cycle::Ended;
    let ends: Vec<usize> = (0..collections.len() - 2).filter(ended).collect();
    assert!(!ends.is_empty());
    for end in ends {
        let next = &collections[end + 1];
        assert_eq!(next.work.cycle, Cycle::Began);
        assert_eq!(next.before.allocated, Bytes::ZERO);
    }
}

fn counts(m: &mut Mutator<'_, KindOf<Ocaml>>) -> Stat {
    m.gc().expect("ocaml").quick_stat()
}

#[test]
fn requests_finish_the_current_cycle_and_some_run_another() {
    run(|m| {
        for (request, expected) in [(Request::Cycle, 1), (Request::Full, 2), (Request::Compact, 2)] {
            // No cycle is running: this starts one.
            m.collect(Request::Minor);
            let before = counts(m).major_collections;
            m.collect(request);
            assert_eq!(counts(m).major_collections - before, expected, "{request:?}");
        }
    });
}

/// That cycle's minor collection finds nothing to do, and is not counted.
#[test]
fn after_a_request_the_next_allocation_begins_a_cycle() {
    let statistics = run(|m| {
        _ = m.alloc_bytes_filled(SMALL, 0);
        m.collect(Request::Full);
        (0..10).for_each(|_| _ = m.alloc_bytes_filled(SMALL, 0));
        assert_eq!(counts(m).minor_collections, 1);
    });
    let pauses = statistics.collections.iter();
    let pauses: Vec<_> = pauses.map(|each| (each.work.cycle, each.before.allocated)).collect();
    assert_eq!(pauses[1], (Cycle::Began, Bytes(0)), "{pauses:?}");
    assert_eq!(pauses.len(), 3, "{pauses:?}");
}
