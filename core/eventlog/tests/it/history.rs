//! The history of a run adds up to its totals.

use gclab_eventlog::{Buffer, History, Interval, Reader, Summary, Writer, kinds};

use crate::real::{log, manifest};

fn history(log: &[u8]) -> History {
    History::of(&mut Reader::new(log, "log").expect("a log")).expect("a whole log")
}

#[test]
fn allocation_ends_in_its_sum_and_never_falls() {
    let mut told = 0;
    for entry in manifest() {
        let name = entry["log"].as_str().expect("a name");
        let log = log(name);
        let summary = Summary::of(&mut Reader::new(&log[..], name).expect("a log"), Interval::default());
        let (summary, history) = (summary.expect("a whole log"), history(&log));
        assert_eq!(
            history.allocated.last().map(|(_, bytes)| *bytes),
            summary.allocated,
            "{name}"
        );
        let ascends = |two: &[(u64, u64)]| two[0].0 < two[1].0 && two[0].1 <= two[1].1;
        assert!(
            history.allocated.windows(2).all(ascends) && history.allocated.len() <= 512,
            "{name}"
        );
        assert!(
            history
                .allocated
                .last()
                .is_none_or(|(last, _)| *last <= history.last_ns),
            "{name}"
        );
        told += usize::from(history.allocated.len() > 10);
    }
    assert!(told > 10, "{told}");
}

#[test]
fn the_utilisation_of_each_capability_is_its_time_outside_collections() {
    let mut several = 0;
    for entry in manifest() {
        let name = entry["log"].as_str().expect("a name");
        let log = log(name);
        let summary = Summary::of(&mut Reader::new(&log[..], name).expect("a log"), Interval::default());
        let summary = summary.expect("a whole log");
        let last = history(&log).last_ns;
        let of_caps = history(&log).utilisations(last).expect("few stops");
        let stopped = summary.caps.iter().filter(|cap| cap.collections > 0);
        let gc_ns: Vec<u64> = stopped.map(|cap| cap.gc_ns).collect();
        let outside = |gc_ns: &u64| (last - gc_ns) as f64 / last as f64;
        let expected: Vec<f64> = gc_ns.iter().map(outside).collect();
        let whole: Vec<f64> = of_caps.iter().filter_map(|cap| cap.least(last)).collect();
        assert_eq!(whole, expected, "{name}");
        several += usize::from(whole.len() > 1);
    }
    assert!(several > 3, "{several}");
}

/// In the file, the blocks of two capabilities alternate, and so do their stops.
#[test]
fn each_capability_has_one_utilisation_however_its_blocks_lie() {
    let mut log = Writer::new(Vec::new(), kinds::current()).expect("memory");
    for (cap, from, to) in [(1, 10, 30), (0, 10, 20), (1, 50, 80), (0, 60, 65), (1, 90, 95)] {
        let mut buffer = Buffer::new(Some(cap));
        buffer.event(&kinds::GC_START, from, &[]).expect("it fits");
        buffer.event(&kinds::GC_END, to, &[]).expect("it fits");
        log.block(&mut buffer, to).expect("memory");
    }
    let of_caps = history(&log.finish().expect("memory"))
        .utilisations(100)
        .expect("few stops");
    let whole: Vec<_> = of_caps.iter().map(|cap| (cap.least(100), cap.longest_ns())).collect();
    assert_eq!(whole, [(Some(0.85), 10), (Some(0.45), 30)]);
}

#[test]
fn a_log_that_was_cut_short_is_read_up_to_there() {
    let whole = log("phases-thr-n2.a.eventlog");
    let half = &whole[..whole.len() / 2];
    let mut strict = Reader::new(half, "half").expect("a header");
    assert!(History::of(&mut strict).is_err());
    let mut reader = Reader::new(half, "half").expect("a header").salvage();
    let (half, whole) = (History::of(&mut reader).expect("salvaged"), history(&whole));
    assert!(reader.damage().is_some() && !half.allocated.is_empty());
    assert!(half.allocated.last() < whole.allocated.last() && half.last_ns <= whole.last_ns);
}
