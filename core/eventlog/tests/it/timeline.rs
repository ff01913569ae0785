//! Timelines of real logs have the totals of their summaries.

use std::io::Cursor;

use gclab_eventlog::{Interval, Merged, Reader, State, Summary, Timeline};

use crate::made::small;
use crate::real::{log, logs};

/// A timeline, after checking that its lanes have no gaps.
pub(crate) fn timeline(log: &[u8], salvage: bool) -> Timeline {
    let mut merged = Merged::new(Cursor::new(log), "log", salvage).unwrap();
    let timeline = Timeline::of(&mut merged).unwrap();
    for lane in &timeline.lanes {
        let mut at = 0;
        for piece in &lane.pieces {
            assert_eq!(piece.from, at, "cap {}", lane.cap);
            assert_eq!(piece.times.iter().sum::<u64>(), piece.to - piece.from);
            at = piece.to;
        }
        let lost = merged.lost_ends().find(|(cap, _)| *cap == Some(lane.cap));
        let end = lost.map_or(timeline.length, |(_, last)| timeline.length.min(last.saturating_add(1)));
        assert_eq!(at, end, "cap {}", lane.cap);
    }
    timeline
}

fn summary(log: &[u8]) -> Summary {
    let mut reader = Reader::new(log, "log").unwrap();
    Summary::of(&mut reader, Interval::default()).unwrap()
}

#[test]
fn timelines_of_real_logs_have_the_sums_of_their_summaries() {
    let mut profiles = 0;
    for name in logs() {
        let log = log(&name);
        let (timeline, summary) = (timeline(&log, false), summary(&log));
        let pauses = &timeline.pauses;
        assert_eq!(
            summary.gc_ns,
            Some(pauses.iter().map(|pause| pause.to - pause.from).sum()),
            "{name}"
        );
        assert_eq!(
            summary.collections,
            Some(pauses.iter().map(|pause| pause.count()).sum()),
            "{name}"
        );
        let copied = pauses
            .iter()
            .flat_map(|pause| pause.generations)
            .map(|some| some.copied);
        assert_eq!(summary.copied, Some(copied.sum()), "{name}");
        let live = timeline.live.iter();
        assert_eq!(
            summary.live.unwrap().max,
            live.map(|sample| sample.max).max().unwrap(),
            "{name}"
        );
        let size = timeline.heap_size.iter();
        assert_eq!(summary.peak_heap, size.map(|sample| sample.max).max(), "{name}");
        let last = timeline.lanes.iter().map(|lane| lane.allocated.last().unwrap().last);
        assert_eq!(summary.allocated, Some(last.sum()), "{name}");
        // While a capability is in a collection, its GC threads work, are idle, or wait.
        for (lane, times) in timeline.lanes.iter().zip(&summary.caps) {
            let sum = |states: &[State]| {
                let pieces = lane.pieces.iter();
                let times = pieces.flat_map(|piece| states.iter().map(|state| piece.times[*state as usize]));
                times.sum::<u64>()
            };
            let in_gc = sum(&[State::Gen0, State::Gen1, State::Older, State::GcIdle, State::Finishing]);
            let most = in_gc + sum(&[State::Waiting]);
            assert!(in_gc <= times.gc_ns && times.gc_ns <= most, "{name}, cap {}", lane.cap);
            assert_eq!(sum(&[State::Unknown]), 0, "{name}");
            assert_eq!(sum(&[State::Mutator]), times.ran_ns, "{name}, cap {}", lane.cap);
        }
        assert!(timeline.has_threads, "{name}");
        profiles += usize::from(timeline.profile.is_some());
    }
    assert_eq!(profiles, 6);
}

/// The numbers are those in the `.hp` files of the same runs.
#[test]
fn bands_of_heap_profiles_are_ordered_by_their_totals() {
    let profile = |name: &str| timeline(&log(name), false).profile.unwrap();
    let types = profile("grow-thr-hT.eventlog");
    assert_eq!(types.breakdown, Some("closure type"));
    assert_eq!(types.bands[0], "ghc-prim:GHC.Types.:");
    assert_eq!((types.bands.last().unwrap().as_str(), types.bands.len()), ("OTHER", 16));
    let totals = |band: usize| types.censuses.iter().map(|census| census.bytes[band]).sum::<u64>();
    assert!((0..14).all(|band| totals(band) >= totals(band + 1)));
    assert!(types.censuses.is_sorted_by_key(|census| census.at));
    let stacks = profile("retain-hc.eventlog");
    assert!(
        stacks.bands.contains(&"mkCells/mkCells/holder/main".to_owned()),
        "{:?}",
        stacks.bands
    );
    // GHC writes the censuses of a biography at the end, with their times.
    let life = profile("retain-hb.eventlog");
    assert!(life.bands.contains(&"DRAG".to_owned()), "{:?}", life.bands);
    let times: Vec<u64> = life.censuses.iter().map(|census| census.at).collect();
    assert!(
        times[0] < 50_000_000 && times.windows(2).all(|two| two[1] - two[0] > 1_000_000),
        "{times:?}"
    );
}

#[test]
fn marks_and_figures_of_a_small_log_have_their_times() {
    let timeline = timeline(&small(), false);
    let mark = &timeline.marks[0];
    assert_eq!(
        (mark.at, mark.is_marker, mark.text.as_str()),
        (3600, true, "phase \u{2713}")
    );
    assert_eq!(timeline.generations, Some(2));
    let times: Vec<u64> = timeline.live.iter().map(|sample| sample.at).collect();
    assert_eq!(times, [1000, 3000]);
    let profile = timeline.profile.unwrap();
    assert_eq!(profile.bands, ["Cons", "?/?"]);
    assert_eq!(profile.censuses[0].bytes, [64, 48]);
}

#[test]
fn a_log_that_is_cut_off_has_a_timeline_up_to_there() {
    let whole = log("phases-thr-n2.a.eventlog");
    for end in (4000..whole.len()).step_by(97) {
        if Merged::new(Cursor::new(&whole[..end]), "log", true).is_ok() {
            assert!(timeline(&whole[..end], true).step == 1);
        }
    }
}

/// The state of a capability when it was damaged used to last until the end of the log.
#[test]
fn a_lane_ends_at_the_damage_of_its_capability() {
    let log = crate::damage::damaged();
    let last = crate::damage::last_times(&log);
    let timeline = timeline(&log, true);
    let ends: Vec<u64> = timeline
        .lanes
        .iter()
        .map(|lane| lane.pieces.last().unwrap().to)
        .collect();
    assert_eq!(ends, [last[0] + 1, timeline.length]);
    assert!(2 * ends[0] < ends[1], "{ends:?}");
}
