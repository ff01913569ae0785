//! Where the phases of a run start and end.

use super::*;

/// A run of five collections, of 10, 20, 30, 40 and 50 ns, that ends at 1000 ns. `mark` is called
/// with the number of each collection before it, and with 5 at the end of the program.
fn marked(mut mark: impl FnMut(&mut Recorder, usize, Stamp, u64)) -> Statistics {
    let mut run = Driven::new((0, 0, 0));
    run.init_done((50, 50, 0));
    for number in 0..5 {
        let (now, length) = (100 * (number as u64 + 1), 10 * (number as u64 + 1));
        let allocated = 1000 * (number as u64 + 1);
        mark(&mut run.0, number, at((now, now, 0)), allocated);
        // Mutators take 2 ns to stop.
        run.collection(
            now,
            (now + 2, 0, 0),
            (now + 2 + length, length, now + length, 0),
            minor(allocated, 1),
        );
    }
    mark(&mut run.0, 5, at((800, 800, 0)), 5500);
    run.0.exit_started(at((900, 900, 0)), 6000);
    run.collection(900, (900, 0, 0), (990, 90, 990, 0), major(6000, 1));
    let counts = FinalCounts {
        allocated_total: 6000,
        ..FinalCounts::default()
    };
    run.ended((1000, 1000, 0), &counts)
}

/// Set-up pauses and the last collection used to count as the program's.
#[test]
fn set_up_the_measured_phase_and_exit_are_separate() {
    let stats = marked(|run, number, now, allocated| match number {
        2 => run.measure_started(now, allocated),
        5 => run.marks.end(run.reading(now, allocated)),
        _ => {}
    });
    let phases = &stats.phases;
    assert!(phases.marked);
    let all = [&phases.setup, &phases.measured, &phases.exit];
    assert_eq!(all.map(|phase| phase.start_ns), [50, 300, 800]);
    assert_eq!(
        all.map(|phase| pair(phase.total())),
        [(250, 250), (500, 500), (200, 200)]
    );
    assert_eq!(all.map(|phase| phase.gc.elapsed_ns), [30, 120, 90]);
    assert_eq!(all.map(|phase| phase.allocated), [3000, 2500, 500]);
    assert_eq!(
        all.map(|phase| (phase.collections, phase.major_gcs)),
        [(2, 0), (3, 0), (1, 1)]
    );
    assert_eq!(all.map(|phase| phase.max_pause_ns), [22, 52, 90]);
    assert_eq!(all.map(|phase| phase.sync_ns), [4, 6, 0]);
    let sum = all.iter().fold(stats.init, |sum, phase| sum + phase.total());
    assert_eq!(sum, stats.total);
    // GHC's parts are the same as without marks.
    let plain = marked(|_, _, _, _| ());
    assert_eq!(
        (plain.init, plain.mutator, plain.exit),
        (stats.init, stats.mutator, stats.exit)
    );
    let each = stats.pauses.each().expect("few pauses");
    assert_eq!(
        each.iter().map(|pause| pause.length_ns).collect::<Vec<_>>(),
        [32, 42, 52]
    );
    assert_eq!(each[0].start_ns, 300);
}

#[test]
fn a_program_without_marks_is_measured_until_its_end() {
    let stats = marked(|_, _, _, _| ());
    let phases = &stats.phases;
    assert!(!phases.marked);
    assert_eq!(
        [&phases.setup, &phases.measured, &phases.exit].map(|phase| (phase.total().elapsed_ns, phase.max_pause_ns)),
        [(0, 0), (850, 52), (100, 90)]
    );
    assert_eq!(stats.pauses.count(), 5);
    assert_eq!(phases.measured.mutator, stats.mutator);
}

#[test]
fn the_measured_phase_lasts_from_the_first_mark_to_the_end_of_those_that_overlap() {
    let end = |run: &mut Recorder, now, allocated| run.marks.end(run.reading(now, allocated));
    // Two that overlap from 200 to 400, and one that is too late.
    let stats = marked(|run, number, now, allocated| match number {
        1 => {
            run.measure_started(now, allocated);
            run.measure_started(now, allocated);
        }
        2 | 3 => end(run, now, allocated),
        4 => run.measure_started(now, allocated),
        5 => end(run, now, allocated),
        _ => {}
    });
    let measured = &stats.phases.measured;
    assert_eq!((measured.start_ns, measured.total().elapsed_ns), (200, 200));
    assert_eq!((stats.pauses.count(), stats.pauses.longest_ns()), (2, 32));
    // One that never ends lasts until the program does.
    let stats = marked(|run, number, now, allocated| {
        if number == 1 {
            run.measure_started(now, allocated);
        }
    });
    assert_eq!(stats.phases.measured.total().elapsed_ns, 700);
    assert_eq!(stats.phases.exit.collections, 1);
}
