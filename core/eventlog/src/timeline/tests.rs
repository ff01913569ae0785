//! Small logs, and coarse timelines against fine ones.

use std::io::Cursor;

use super::data::{STATES, State, Timeline};
use crate::kind::Kind;
use crate::kinds::*;
use crate::merged::Merged;
use crate::value::Value;
use crate::writer::{Buffer, Writer};

/// A capability's events: time, type and values.
type Events<'a> = &'a [(u64, &'static Kind, &'a [u64])];

fn fold(caps: &[Events<'_>], most: usize) -> Timeline {
    let mut log = Writer::new(Vec::new(), current()).unwrap();
    for (number, events) in caps.iter().enumerate() {
        let mut buffer = Buffer::new(Some(number as u16));
        for (time, kind, values) in *events {
            let values: Vec<Value<'_>> = values.iter().map(|value| Value::Number(*value)).collect();
            buffer.event(kind, *time, &values).unwrap();
        }
        log.block(&mut buffer, 1 << 40).unwrap();
    }
    let log = log.finish().unwrap();
    let mut log = Merged::new(Cursor::new(&log), "made", false).unwrap();
    Timeline::keeping(&mut log, most).unwrap()
}

/// The pieces of a lane: end and state.
fn states(timeline: &Timeline, lane: usize) -> Vec<(u64, usize)> {
    let pieces = timeline.lanes[lane].pieces.iter();
    pieces.map(|piece| (piece.to, piece.state().unwrap())).collect()
}

const STATS: [u64; 9] = [0, 1, 4096, 64, 128, 2, 3072, 4096, 2048];

#[test]
fn sparks_are_counted_by_capability() {
    let one: Events<'_> = &[
        (100, &SPARK_COUNTERS, &[10, 50, 60, 2, 70, 1, 7]),
        (300, &SPARK_COUNTERS, &[12, 50, 60, 6, 70, 4, 2]),
    ];
    let other: Events<'_> = &[(200, &SPARK_COUNTERS, &[5, 0, 0, 0, 0, 0, 5])];
    let timeline = fold(&[one, other], 100);
    let sparks = |lane: usize| {
        let samples = timeline.lanes[lane].sparks.iter();
        samples.map(|sample| {
            (
                sample.at,
                [
                    sample.all.created,
                    sample.all.converted,
                    sample.all.fizzled,
                    sample.pool,
                ],
            )
        })
    };
    assert!(sparks(0).eq([(100, [10, 2, 1, 7]), (300, [12, 6, 4, 2])]));
    assert!(sparks(1).eq([(200, [5, 0, 0, 5])]));
}

/// The last marking has not ended when the log does.
#[test]
fn concurrent_work_is_apart_from_the_capabilities() {
    let events: Events<'_> = &[
        (10, &CONC_MARK_BEGIN, &[]),
        (40, &CONC_MARK_END, &[7]),
        (50, &CONC_SWEEP_BEGIN, &[]),
        (60, &CONC_SWEEP_END, &[]),
        (90, &CONC_MARK_BEGIN, &[]),
    ];
    let spans = fold(&[events], 100)
        .concurrent
        .map(|all| all.iter().map(|one| (one.from, one.to)).collect::<Vec<_>>());
    assert_eq!(spans, [vec![(10, 40), (90, 91)], vec![(50, 60)]]);
}

#[test]
fn each_spark_counts_where_it_is_logged() {
    let owner: Events<'_> = &[
        (10, &SPARK_CREATE, &[]),
        (20, &SPARK_CREATE, &[]),
        (30, &SPARK_CREATE, &[]),
        (40, &SPARK_RUN, &[]),
        (60, &SPARK_FIZZLE, &[]),
        (70, &SPARK_COUNTERS, &[3, 0, 0, 1, 0, 1, 0]),
    ];
    let thief: Events<'_> = &[(50, &SPARK_STEAL, &[0])];
    let timeline = fold(&[owner, thief], 100);
    let last_at = |lane: usize, at| {
        let sample = timeline.lanes[lane]
            .sparks
            .iter()
            .rev()
            .find(|sample| sample.at <= at)
            .unwrap();
        [
            sample.all.created,
            sample.all.converted,
            sample.all.fizzled,
            sample.pool,
        ]
    };
    assert_eq!(last_at(0, 30), [3, 0, 0, 3]);
    assert_eq!((last_at(0, 50), last_at(1, 50)), ([3, 1, 0, 1], [0, 1, 0, 0]));
    assert_eq!(last_at(0, 69), [3, 1, 1, 0]);
}

/// A parallel collection of generation 1 from 1000 to 1300, led by capability 0. Capability 1 stops
/// earlier and resumes later.
#[test]
fn a_collection_splits_into_waiting_work_and_idleness() {
    let leader: Events<'_> = &[
        (100, &RUN_THREAD, &[1]),
        (900, &STOP_THREAD, &[1, 1, 0]),
        (950, &REQUEST_PAR_GC, &[]),
        (1000, &GC_START, &[]),
        (1100, &GC_IDLE, &[]),
        (1150, &GC_WORK, &[]),
        (1250, &GC_DONE, &[]),
        (1310, &HEAP_ALLOCATED, &[0, 5000]),
        (1320, &GC_STATS_GHC, &STATS),
        (1300, &GC_END, &[]),
        (1330, &HEAP_LIVE, &[0, 777]),
        (1331, &HEAP_SIZE, &[0, 1 << 20]),
        (1400, &RUN_THREAD, &[1]),
        (2000, &STOP_THREAD, &[1, 5, 0]),
    ];
    // It ends after the leader's but is read first: the leader's statistics are late.
    let other: Events<'_> = &[
        (200, &RUN_THREAD, &[2]),
        (960, &STOP_THREAD, &[2, 1, 0]),
        (970, &GC_START, &[]),
        (1020, &GC_IDLE, &[]),
        (1310, &GC_END, &[]),
        (1315, &RUN_THREAD, &[2]),
    ];
    let timeline = fold(&[leader, other], 1000);
    let s = |state: State| state as usize;
    assert_eq!(
        states(&timeline, 0),
        [
            (100, s(State::Idle)),
            (900, s(State::Mutator)),
            (950, s(State::Idle)),
            (1000, s(State::Waiting)),
            (1100, s(State::Gen1)),
            (1150, s(State::GcIdle)),
            (1250, s(State::Gen1)),
            (1300, s(State::Finishing)),
            (1400, s(State::Idle)),
            (2000, s(State::Mutator)),
            (2001, s(State::Idle)),
        ]
    );
    assert_eq!(
        states(&timeline, 1),
        [
            (200, s(State::Idle)),
            (960, s(State::Mutator)),
            (970, s(State::Idle)),
            (1000, s(State::Waiting)),
            (1020, s(State::Gen1)),
            (1250, s(State::GcIdle)),
            (1300, s(State::Finishing)),
            (1310, s(State::Waiting)),
            (1315, s(State::Idle)),
            (2001, s(State::Mutator)),
        ]
    );
    let pause = timeline.pauses[0];
    assert_eq!((pause.from, pause.to, pause.count()), (1000, 1300, 1));
    assert_eq!((pause.generations[1].copied, pause.generations[1].max_ns), (4096, 300));
    // The sizes that a collection reports are placed at its start.
    let [live, size] = [timeline.live[0], timeline.heap_size[0]];
    assert_eq!((live.at, live.last, size.at, size.last), (1000, 777, 1000, 1 << 20));
    assert_eq!(timeline.lanes[0].allocated[0].at, 1000);
    assert!(timeline.has_threads);
}

#[test]
fn a_collection_without_statistics_has_no_generation() {
    let cap: Events<'_> = &[
        (10, &GC_START, &[]),
        (20, &GC_END, &[]),
        (30, &RUN_THREAD, &[1]),
        (50, &GC_START, &[]),
        (60, &GC_WORK, &[]),
    ];
    let timeline = fold(&[cap], 1000);
    let expected = [
        (10, State::Idle),
        (20, State::Unknown),
        (30, State::Idle),
        (50, State::Mutator),
        (61, State::Unknown),
    ];
    assert_eq!(states(&timeline, 0), expected.map(|(to, state)| (to, state as usize)));
    assert!(timeline.pauses.is_empty());
}

/// Two capabilities with many collections of both generations at uneven times.
fn many(most: usize) -> Timeline {
    let mut caps = [Vec::new(), Vec::new()];
    let mut time = 0;
    let mut stats = STATS;
    let (stats0, stats1) = {
        stats[1] = 0;
        (stats, STATS)
    };
    let allocated: Vec<[u64; 2]> = (0..2000).map(|n| [0, 1000 * n]).collect();
    for n in 0..2000_u64 {
        time += 100 + n * n % 977;
        let length = 20 + n * 7 % 400;
        let (leader, other) = (n as usize % 2, (n as usize + 1) % 2);
        let stats: &[u64] = if n % 5 == 0 { &stats1 } else { &stats0 };
        caps[leader].extend([
            (time, &RUN_THREAD, &[1][..]),
            (time + 50, &STOP_THREAD, &[1, 1, 0]),
            (time + 60, &REQUEST_PAR_GC, &[]),
            (time + 70, &GC_START, &[]),
            (time + 75, &GC_IDLE, &[]),
            (time + 78, &HEAP_ALLOCATED, &allocated[n as usize]),
            (time + 79, &GC_STATS_GHC, stats),
            (time + 80 + length, &GC_END, &[]),
            (time + 81 + length, &HEAP_SIZE, &allocated[n as usize]),
        ]);
        caps[other].extend([(time + 65, &GC_START, &[][..]), (time + 85 + length, &GC_END, &[])]);
        time += 90 + length;
    }
    let caps: Vec<Vec<_>> = caps
        .iter()
        .map(|cap| {
            cap.iter()
                .map(|&(time, kind, values): &(u64, &'static Kind, &[u64])| (time, kind, values))
                .collect()
        })
        .collect();
    fold(&[&caps[0], &caps[1]], most)
}

/// The nanoseconds in each state before a moment that is not within a mixed piece.
fn times(timeline: &Timeline, lane: usize, until: u64) -> [u64; STATES] {
    let mut sums = [0; STATES];
    for piece in &timeline.lanes[lane].pieces {
        let whole = piece.to <= until;
        assert!(
            whole || piece.from >= until || piece.state().is_some(),
            "a piece crosses {until}"
        );
        for (sum, time) in sums.iter_mut().zip(piece.times) {
            let part = time.min(until.saturating_sub(piece.from));
            *sum += if whole { time } else { part };
        }
    }
    sums
}

#[test]
fn coarse_timelines_keep_the_sums_of_fine_ones_at_every_cell() {
    let fine = many(1_000_000);
    assert_eq!(fine.step, 1);
    for most in [2000, 600, 400] {
        let coarse = many(most);
        assert!(coarse.step > 1 && coarse.length == fine.length);
        let entries = |timeline: &Timeline| {
            let lanes = timeline
                .lanes
                .iter()
                .map(|lane| lane.pieces.len() + lane.allocated.len());
            lanes.sum::<usize>() + timeline.pauses.len() + timeline.heap_size.len()
        };
        assert!(
            entries(&coarse) <= most && entries(&fine) > 10_000,
            "{}",
            entries(&coarse)
        );
        for border in (0..=fine.length / coarse.step).map(|cell| cell * coarse.step) {
            for lane in [0, 1] {
                assert_eq!(times(&coarse, lane, border), times(&fine, lane, border), "{border}");
                let last = |timeline: &Timeline| {
                    let samples = timeline.lanes[lane].allocated.iter();
                    samples
                        .filter(|sample| sample.at < border)
                        .map(|sample| sample.last)
                        .next_back()
                };
                assert_eq!(last(&coarse), last(&fine), "{border}");
            }
            let paused = |timeline: &Timeline| {
                let before = timeline.pauses.iter().filter(|pause| pause.from < border);
                before.fold([0; 4], |[count, total, longest, copied], pause| {
                    let [young, old, _] = pause.generations;
                    [
                        count + pause.count(),
                        total + young.total_ns + 3 * old.total_ns,
                        longest.max(old.max_ns),
                        copied + young.copied + 2 * old.copied,
                    ]
                })
            };
            assert_eq!(paused(&coarse), paused(&fine), "{border}");
            let largest = |timeline: &Timeline| {
                let before = timeline.heap_size.iter().filter(|sample| sample.at < border);
                before.fold((0, 0), |(count, max), sample| {
                    (count + sample.count, max.max(sample.max))
                })
            };
            assert_eq!(largest(&coarse), largest(&fine), "{border}");
        }
    }
}

#[test]
fn lanes_have_no_gaps() {
    for timeline in [many(1_000_000), many(300)] {
        for lane in &timeline.lanes {
            let mut at = 0;
            for piece in &lane.pieces {
                assert_eq!(piece.from, at);
                assert_eq!(piece.times.iter().sum::<u64>(), piece.to - piece.from);
                at = piece.to;
            }
            assert_eq!(at, timeline.length);
        }
    }
}
