//! Cycles of several pauses: what a snapshot keeps, and what records and statistics say.

use super::Sliced;
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::{Cycle, KindOf};
use gclab_core::config::Config;
use gclab_core::mutator::{MutVar, Mutator, MutatorKind, OptionRoot, Request};
use gclab_core::words::{Bytes, Words};
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use gclab_stats::Statistics;
use gclab_stats::render::summary;

#[derive(Closure)]
#[allow(dead_code)]
struct Number {
    value: u64,
    next: Mut<Number>,
}

/// The numbers of a list that marking takes dozens of slices for.
const LENGTH: u64 = 2000;

/// Puts a list of numbers in front of `list`, and promotes it.
fn list<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, list: &OptionRoot<'_, 'h, Number>, length: u64) {
    for value in 0..length {
        let (m, number) = m.alloc_with(|m| Number::new(value, list.get(m)));
        list.set(m, Some(number));
    }
    m.collect(Request::Minor);
}

/// Runs `program` with the checker on. Returns the statistics.
fn run(program: impl for<'h> FnOnce(&mut Mutator<'h, KindOf<Sliced>>)) -> Statistics {
    let config = Config {
        slice_limit: Some(Words(100)),
        // No cycle begins by itself.
        old_min: Bytes::mib(64),
        ..gclab_proof::small_heap::<Sliced>()
    };
    let mut world = World::new::<Sliced>(&config).expect("a small heap");
    world.listen(Box::new(Checker::new(world.collector()).exact()));
    world.enter(program).expect("enough memory");
    world.finish()
}

const SLICE: Request = Request::Slice(Words(0));

/// The closure that only a weak handle leads to when marking begins is not in the snapshot, and
/// only the hook of weak handles tells the marker of it.
#[test]
fn a_weak_handle_that_is_opened_while_marking_keeps_its_closure() {
    let mut opened = 0;
    for slices in 0..40 {
        run(|m| {
            m.frame(|m, [long, found]| {
                let (long, found) = (long.put_option(m, None), found.put_option::<Number>(m, None));
                list(m, &long, LENGTH);
                let weak = m.frame(|m, [lonely]| {
                    let lonely = lonely.put(m.alloc(|_| Number::new(7, None)));
                    m.collect(Request::Minor);
                    m.weak_handle(lonely.get(m))
                });
                (0..=slices).for_each(|_| m.collect(SLICE));
                opened += usize::from(weak.open(m).is_some());
                found.set(m, weak.open(m));
                m.collect(Request::Cycle);
                m.collect(Request::Minor);
                assert!(found.get(m) == weak.open(m));
                assert!(found.get(m).is_none_or(|number| number.value(m) == 7));
            });
        });
    }
    assert!(opened > 10, "marking took few slices: {opened} were opened");
}

/// The program takes a closure out of one that is marked and not scanned yet, and overwrites the
/// pointer: the barrier has noted it.
#[test]
fn a_closure_that_is_hidden_while_marking_lives() {
    for slices in 0..10 {
        run(|m| {
            m.frame(|m, [long, var, hidden]| {
                let hidden = hidden.put_option::<Number>(m, None);
                let var = var.put(m.alloc(|_| MutVar::<Number>::new(None)));
                let (view, number) = m.alloc_with(|_| Number::new(7, None));
                var.get(view).write(view, Some(number));
                let long = long.put_option(m, None);
                list(m, &long, LENGTH);
                (0..=slices).for_each(|_| m.collect(SLICE));
                hidden.set(m, var.get(m).read(m));
                var.get(m).write(m, None);
                m.collect(Request::Cycle);
                assert_eq!(hidden.get(m).map(|number| number.value(m)), Some(7));
            });
        });
    }
}

/// Closures that are promoted while marking are no part of the snapshot.
#[test]
fn a_closure_that_is_promoted_while_marking_lives() {
    run(|m| {
        m.frame(|m, [long, new]| {
            let (long, new) = (long.put_option(m, None), new.put_option::<Number>(m, None));
            list(m, &long, LENGTH);
            m.collect(SLICE);
            list(m, &new, 3);
            m.collect(Request::Cycle);
            assert_eq!(new.get(m).map(|number| number.value(m)), Some(2));
        });
    });
}

/// Only the end of a cycle counts as a major collection and says what lives.
#[test]
fn records_tell_slices_from_cycles() {
    let statistics = run(|m| {
        m.frame(|m, [long]| {
            let long = long.put_option(m, None);
            list(m, &long, LENGTH);
            (0..8).for_each(|_| m.collect(SLICE));
            // Floats until the next cycle.
            long.set(m, None);
            m.collect(Request::Cycle);
            (0..3).for_each(|_| m.collect(SLICE));
            m.collect(Request::Full);
        });
    });
    // Before the first request the nursery may have been full.
    let asked = statistics.collections.iter().filter(|each| each.forced());
    let cycles: Vec<Cycle> = asked.map(|each| each.work.cycle).collect();
    let (began, continued) = (Cycle::Began, Cycle::Continued);
    let mut expected = vec![Cycle::None, began];
    expected.extend([continued; 7]);
    expected.extend([Cycle::Ended, began, continued, continued, Cycle::Whole, Cycle::Whole]);
    assert_eq!(cycles, expected);
    let list = LENGTH * 3 * 8;
    for each in &statistics.collections {
        let (work, is_slice) = (&each.work, each.work.cycle.is_slice());
        assert_eq!(work.generation, u32::from(work.cycle != Cycle::None));
        assert_eq!((work.marked.is_some(), work.swept.is_some()), (is_slice, is_slice));
        assert!(each.is_major() || each.memory.resident.is_none());
    }
    let slices = statistics.slices;
    assert_eq!((slices.count, slices.cycles, statistics.major_gcs), (12, 1, 3));
    assert_eq!(slices.marked, list);
    assert!(slices.swept >= list && slices.max_pause_ns <= slices.elapsed_ns);
    // The list floats at the end of the first cycle, and is gone after the second.
    assert_eq!((statistics.max_live, statistics.cumulative_live), (list, list));
    assert_eq!(statistics.generations[1].collections, 14);
    let summary = summary(&statistics);
    assert!(summary.contains("  Slices: 12 in 1 cycle(s), "), "{summary}");
    assert!(summary.contains("(3 sample(s))"), "{summary}");
}
