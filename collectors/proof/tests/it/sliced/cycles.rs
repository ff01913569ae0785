//! Cycles of several pauses: what a snapshot keeps, and what records and statistics show.

use super::Sliced;
use gclab_core::collector::Cycle;
use gclab_core::mutator::Request;
use gclab_core::stats::render::summary;
use gclab_proof::slices::{LENGTH, SLICE, in_slices, list};

#[test]
fn closures_hidden_during_marking_survive() {
    gclab_proof::slices::slices::<Sliced>();
}

/// Only the end of a cycle counts as a major collection and reports the live data.
#[test]
fn records_distinguish_slices_from_cycles() {
    let statistics = in_slices::<Sliced>(|m| {
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
    // The nursery may have filled up before the first request.
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
    // At the end of the first cycle the list is floating garbage, and after the second it is gone.
    assert_eq!((statistics.max_live, statistics.cumulative_live), (list, list));
    assert_eq!(statistics.generations[1].collections, 14);
    let summary = summary(&statistics);
    assert!(summary.contains("  Slices: 12 in 1 cycle(s), "), "{summary}");
    assert!(summary.contains("(3 sample(s))"), "{summary}");
}
