//! Compaction of `ocaml`'s major heap: when it happens, what moves, and what follows.

use crate::basics::config;
use gclab_collectors::Ocaml;
use gclab_collectors::ocaml::{Control, GcModule, Module, Stat};
use gclab_core::collector::KindOf;
use gclab_core::config::{Config, OcamlLetter, OcamlLetters};
use gclab_core::mutator::{ByteArray, Handle, Mutator, MutatorKind};
use gclab_core::stats::Statistics;
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;

/// The minor heap, in words.
const MINOR: u64 = 8192;

/// The number for "never".
const NEVER: u64 = 1_000_000;

/// Runs `program` with the checker on, a small minor heap, and these letters.
fn run(letters: &[(OcamlLetter, u64)], program: impl for<'h> FnOnce(&mut Mutator<'h, KindOf<Ocaml>>)) -> Statistics {
    let mut given = OcamlLetters::default();
    letters
        .iter()
        .for_each(|(letter, value)| given.set(*letter, Some(*value)));
    let config = Config {
        ocaml: given,
        ..config::<Ocaml>(MINOR as usize * 8)
    };
    let mut world = World::new::<Ocaml>(&config).expect("a small heap");
    Checker::install(&mut world);
    world.enter(program).expect("enough memory");
    world.finish()
}

/// An array, whose length (3 to 60 words) and contents follow from `number`.
fn array<M: MutatorKind>(m: &mut Mutator<'_, M>, number: usize) -> Handle<ByteArray> {
    let (view, array) = m.with_view(|m| m.alloc_bytes_filled(8 + number % 450, number as u8));
    view.handle(array)
}

/// The arrays of the numbers below `count`.
fn arrays<M: MutatorKind>(m: &mut Mutator<'_, M>, count: usize) -> Vec<(usize, Handle<ByteArray>)> {
    (0..count).map(|number| (number, array(m, number))).collect()
}

/// Keeps every `nth` array.
fn thin(arrays: &mut Vec<(usize, Handle<ByteArray>)>, nth: usize) {
    arrays.retain(|(number, _)| number % nth == 0);
}

/// Checks that the arrays are unchanged.
fn check<M: MutatorKind>(m: &Mutator<'_, M>, arrays: &[(usize, Handle<ByteArray>)]) {
    for (number, array) in arrays {
        let expected = vec![*number as u8; 8 + number % 450];
        assert_eq!(array.open(m).as_slice(), expected);
    }
}

/// The addresses of the arrays.
fn addresses<M: MutatorKind>(m: &Mutator<'_, M>, arrays: &[(usize, Handle<ByteArray>)]) -> Vec<usize> {
    let at = |array: &Handle<ByteArray>| array.open(m).as_slice().as_ptr() as usize;
    arrays.iter().map(|(_, array)| at(array)).collect()
}

fn set<M: MutatorKind>(gc: &mut Module<'_, '_, M>, change: impl FnOnce(&mut Control)) {
    let mut control = gc.get();
    change(&mut control);
    gc.set(control).expect("legal");
}

/// Words are conserved.
fn check_words(stat: &Stat) {
    let words = stat.live_words + stat.free_words + stat.fragments;
    assert_eq!(words, stat.heap_words, "{stat:?}");
}

/// In OCaml 4.13 a program that does this has 2, 3 and 4 compactions, and a chunk of 61440 words.
#[test]
fn a_small_heap_is_compacted_at_the_end_of_each_requested_cycle() {
    let statistics = run(&[], |m| {
        let kept = arrays(m, 20);
        let mut compactions = Vec::new();
        for number in 0..3 {
            let mut gc = m.gc().expect("ocaml");
            match number {
                0 => gc.full_major(),
                1 => gc.major(),
                _ => gc.compact(),
            }
            let stat = gc.stat();
            check_words(&stat);
            assert_eq!((stat.heap_words, stat.heap_chunks), (61_440, 1));
            compactions.push(stat.compactions);
            check(m, &kept);
        }
        // The first chunk is too large, so everything moves twice.
        assert_eq!(compactions, [2, 3, 4]);
    });
    let compacted = statistics.collections.iter().filter(|each| each.work.compacted);
    assert_eq!(compacted.count(), 3);
    let figure = statistics.figures.iter().find(|figure| figure.name == "compactions");
    assert_eq!(figure.map(|figure| figure.value), Some(4), "{:?}", statistics.figures);
}

#[test]
fn closures_slide_together_under_each_policy_and_chunks_go_back() {
    for policy in 0..3 {
        let letters = [(OcamlLetter::Policy, policy), (OcamlLetter::MaxOverhead, NEVER)];
        run(&letters, |m| {
            let mut kept = arrays(m, 8_000);
            let large = m.with_view(|m| m.alloc_bytes_filled(50_000, 9));
            let large = large.0.handle(large.1);
            m.gc().expect("ocaml").full_major();
            let at_first = m.gc().expect("ocaml").quick_stat();
            thin(&mut kept, 7);
            m.gc().expect("ocaml").full_major();
            let before = addresses(m, &kept);
            let large_at = large.open(m).as_slice().as_ptr();
            let thinned = m.gc().expect("ocaml").stat();
            assert_eq!((thinned.compactions, thinned.heap_chunks), (0, at_first.heap_chunks));
            m.gc().expect("ocaml").compact();
            let stat = m.gc().expect("ocaml").stat();
            check_words(&stat);
            assert_eq!(
                (stat.live_words, stat.live_blocks),
                (thinned.live_words, thinned.live_blocks)
            );
            assert!(
                stat.compactions > 0 && 4 * stat.heap_words < 3 * thinned.heap_words,
                "{stat:?}"
            );
            assert!(stat.free_blocks <= stat.heap_chunks && stat.fragments <= stat.heap_chunks);
            let least = m.gc().expect("ocaml").get().space_overhead * (stat.live_words / 100 + 1);
            assert!(stat.free_words >= least, "{stat:?}");
            check(m, &kept);
            assert_eq!(large.open(m).as_slice().as_ptr(), large_at, "a large object stays");
            let moved = addresses(m, &kept)
                .iter()
                .zip(&before)
                .filter(|(now, then)| now != then)
                .count();
            assert!(moved > kept.len() / 2, "{moved}");
            // The lists and the tables refer to the new places: the program can continue.
            let more = arrays(m, 8_000);
            thin(&mut kept, 2);
            m.gc().expect("ocaml").full_major();
            check_words(&m.gc().expect("ocaml").stat());
            check(m, &more);
            check(m, &kept);
        });
    }
}

/// The first three cycles, and heaps of two chunks, are exempt.
#[test]
fn a_slice_that_shows_the_overhead_compacts_after_another_cycle() {
    let compactions = |max_overhead| {
        let mut figures = (0, 0);
        let statistics = run(
            &[(OcamlLetter::MaxOverhead, max_overhead), (OcamlLetter::Increment, 0)],
            |m| {
                let mut kept = arrays(m, 8_000);
                thin(&mut kept, 50);
                // Promoted, and soon dead.
                for _ in 0..60 {
                    arrays(m, 600);
                }
                let stat = m.gc().expect("ocaml").quick_stat();
                figures = (stat.compactions, stat.forced_major_collections);
                check(m, &kept);
            },
        );
        let slices = statistics.collections.iter().filter(|each| each.work.cycle.is_slice());
        let compacting = slices.filter(|each| each.work.compacted).count() as u64;
        assert_eq!(compacting > 0, figures.0 > 0);
        figures
    };
    let (some, forced) = compactions(200);
    assert!(some > 0 && forced >= 1, "{some} {forced}");
    for never in [NEVER, NEVER + 1, u64::from(u32::MAX)] {
        assert_eq!(compactions(never), (0, 0));
    }
}

#[test]
fn weak_handles_follow() {
    run(&[], |m| {
        let mut kept = arrays(m, 3_000);
        let weak: Vec<_> = kept.iter().map(|(_, array)| m.weak_handle(array.open(m))).collect();
        thin(&mut kept, 5);
        m.gc().expect("ocaml").compact();
        for (number, weak) in weak.iter().enumerate() {
            let found = weak.open(m).map(|array| array.as_slice().as_ptr() as usize);
            let expected = kept.iter().find(|(kept, _)| *kept == number);
            let expected = expected.map(|(_, array)| array.open(m).as_slice().as_ptr() as usize);
            assert_eq!(found, expected, "{number}");
        }
    });
}

/// A program that overwrites a lot compacts after each cycle.
#[test]
fn with_an_overhead_of_0_every_cycle_compacts() {
    let statistics = run(&[(OcamlLetter::MaxOverhead, 0), (OcamlLetter::Increment, 0)], |m| {
        let mut kept = arrays(m, 10_000);
        for round in 0..20_usize {
            thin(&mut kept, 2);
            kept.extend(arrays(m, 3_000));
            check(m, &kept[..kept.len().min(100 * round)]);
        }
        check(m, &kept);
    });
    let compacted = statistics.collections.iter().filter(|each| each.work.compacted).count();
    assert!(compacted > 4, "{compacted}");
}

/// A new policy builds its list over the compacted heap.
#[test]
fn a_new_policy_compacts() {
    run(&[(OcamlLetter::MaxOverhead, NEVER)], |m| {
        let mut kept = arrays(m, 5_000);
        for (number, policy) in [0, 1, 2].into_iter().enumerate() {
            thin(&mut kept, 2);
            let mut gc = m.gc().expect("ocaml");
            set(&mut gc, |control| control.allocation_policy = policy);
            let stat = gc.stat();
            check_words(&stat);
            assert!(
                stat.compactions > number as u64 && stat.free_blocks <= stat.heap_chunks,
                "{stat:?}"
            );
            check(m, &kept);
            kept.extend(arrays(m, 1_000));
        }
    });
}

/// The tables of a compaction count towards `-M`: if they do not fit, it does not happen.
#[test]
fn under_a_limit_a_heap_in_pieces_is_compacted_in_place() {
    let limit = Bytes::mib(3);
    let config = Config {
        max_heap: Some(limit),
        ..config::<Ocaml>(MINOR as usize * 8)
    };
    let mut world = World::new::<Ocaml>(&config).expect("a small heap");
    Checker::install(&mut world);
    let session = world.enter(|m| {
        let mut kept = arrays(m, 2_000);
        for _ in 0..5 {
            thin(&mut kept, 3);
            m.gc().expect("ocaml").compact();
            check(m, &kept);
            kept.extend(arrays(m, 1_000));
        }
    });
    session.expect("room enough");
    assert!(world.finish().peak_taken <= limit.0 as u64);
}
