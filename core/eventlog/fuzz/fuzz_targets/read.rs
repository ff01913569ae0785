//! Reads any bytes as an event log, in every way. Nothing may panic, and what one way reads the
//! other one reads.

#![no_main]

use std::io::Cursor;

use gclab_eventlog::{
    Interval, Lines, Merged, Reader, Side, Summary, Timeline, Wanted, check, chrome, rows, settings, show,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|log: &[u8]| {
    let Ok(reader) = Reader::new(log, "fuzz") else { return };
    let mut reader = reader.salvage();
    let (mut events, mut end) = (0, 0);
    while let Some(event) = reader.next_event().expect("a salvaging reader has no errors") {
        assert!(event.offset() >= end, "events overlap");
        end = event.offset() + 10 + event.payload().len() as u64;
        events += 1;
    }
    let is_whole = reader.damage().is_none();
    if let Some(damage) = reader.damage() {
        assert!(damage.offset() <= log.len() as u64, "{damage}");
    }
    for interval in [
        Interval::default(),
        Interval {
            from: 1 << 20,
            to: Some(1 << 27),
        },
    ] {
        let mut reader = Reader::new(log, "fuzz").expect("it was read before").salvage();
        let summary = Summary::of(&mut reader, interval).expect("a salvaging reader has no errors");
        assert!(!summary.text().is_empty() && !summary.figures().is_empty());
    }
    let mut reader = Reader::new(log, "fuzz").expect("it was read before").salvage();
    let side = Side::of(&mut reader, Interval::default()).expect("a salvaging reader has no errors");
    assert!(!settings(&side, &side).is_empty() && !rows(&side, &side).iter().any(|row| row.differs()));
    let Ok(mut merged) = Merged::new(Cursor::new(log), "fuzz", true) else {
        return;
    };
    chrome(&mut merged, Interval::default(), &mut std::io::sink()).expect("a sink takes every event");
    let mut merged = Merged::new(Cursor::new(log), "fuzz", true).expect("it was read before");
    let mut lines = Vec::new();
    let everything = Wanted {
        types: (0..=u16::MAX).collect(),
        ..Wanted::default()
    };
    show(&mut merged, &everything, Lines::Text, &mut lines).expect("a vector takes every line");
    if is_whole {
        assert!(merged.damage().is_none(), "{:?}", merged.damage());
        assert_eq!(lines.iter().filter(|byte| **byte == b'\n').count(), events);
    }
    let mut merged = Merged::new(Cursor::new(log), "fuzz", true).expect("it was read before");
    show(&mut merged, &everything, Lines::Json, &mut std::io::sink()).expect("a sink takes every line");
    let mut merged = Merged::new(Cursor::new(log), "fuzz", true).expect("it was read before");
    check(&mut merged).expect("a salvaging reader has no errors");
    let mut merged = Merged::new(Cursor::new(log), "fuzz", true).expect("it was read before");
    let timeline = Timeline::of(&mut merged).expect("a salvaging reader has no errors");
    for lane in &timeline.lanes {
        let end = lane.pieces.iter().fold(0, |end, piece| {
            assert_eq!(piece.from, end, "a lane has a gap");
            piece.to
        });
        // A lane whose later events are lost ends before the log.
        assert!(end <= timeline.length, "a lane ends late");
        assert!(!is_whole || end == timeline.length, "a lane ends early");
    }
});
