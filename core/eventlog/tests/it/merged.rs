//! Reading events in order of time.

use std::io::Cursor;

use gclab_eventlog::kinds::{self, number};
use gclab_eventlog::{Buffer, Merged, Reader, Value, Writer};

use crate::made::{each, small};
use crate::real::{log, logs};

/// Offset, capability and time of each event.
type Places = Vec<(u64, Option<u16>, u64)>;

fn merged(log: &[u8]) -> Places {
    let mut merged = Merged::new(Cursor::new(log), "log", false).unwrap();
    let mut places = Vec::new();
    while let Some(event) = merged.next_event().unwrap() {
        places.push((event.offset(), event.cap(), event.time()));
    }
    places
}

fn in_file_order(log: &[u8]) -> Places {
    let mut reader = Reader::new(log, "log").unwrap();
    let mut places = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        places.push((event.offset(), event.cap(), event.time()));
    }
    places
}

/// The definition: a stable sort by the latest time so far in the stream, with streams in the order
/// in which they start.
fn sorted(places: &Places) -> Places {
    let mut streams: Vec<(Option<u16>, u64)> = Vec::new();
    let mut keyed = Vec::new();
    for place in places {
        let stream = streams.iter().position(|(cap, _)| *cap == place.1).unwrap_or_else(|| {
            streams.push((place.1, 0));
            streams.len() - 1
        });
        streams[stream].1 = streams[stream].1.max(place.2);
        keyed.push(((streams[stream].1, stream), *place));
    }
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, place)| place).collect()
}

#[test]
fn events_come_in_order_of_time_and_each_capabilitys_in_file_order() {
    let small = small();
    assert_eq!(merged(&small), sorted(&in_file_order(&small)));
    let mut caps = std::collections::BTreeSet::new();
    for name in logs() {
        let log = log(&name);
        let places = in_file_order(&log);
        assert_eq!(merged(&log), sorted(&places), "{name}");
        caps.extend(places.into_iter().map(|(_, cap, _)| cap));
    }
    assert!(caps.len() > 2);
}

/// Blocks longer than a stream's buffer, with events of all lengths.
#[test]
fn streams_longer_than_their_buffers_are_merged() {
    let mut log = Writer::new(Vec::new(), [&kinds::USER_MSG, &kinds::GC_START]).unwrap();
    let text = "x".repeat(65535);
    for round in 0..4_u64 {
        for cap in 0..150_u16 {
            let mut buffer = Buffer::new((cap > 0).then_some(cap));
            for event in 0..6 {
                let time = round * 1000 + event * 197 % 500 + u64::from(cap);
                let text = &text[..(event as usize * 13_107 + usize::from(cap)).min(65535)];
                buffer.event(&kinds::USER_MSG, time, &[text.into()]).unwrap();
                buffer.event(&kinds::GC_START, time, &[]).unwrap();
            }
            log.block(&mut buffer, round * 1000 + 999).unwrap();
        }
    }
    let log = log.finish().unwrap();
    assert!(log.len() > 100 << 20, "{}", log.len());
    assert_eq!(merged(&log), sorted(&in_file_order(&log)));
}

/// A damaged stream resumes at its next block, but here it has none; the others continue.
#[test]
fn a_salvaging_merge_loses_only_one_stream() {
    let mut log = small();
    let mut reader = Reader::new(&log[..], "log").unwrap();
    let mut at = 0;
    while let Some(event) = reader.next_event().unwrap() {
        if event.known() == number::GC_STATS_GHC {
            at = event.offset() as usize;
            break;
        }
    }
    log[at..at + 2].copy_from_slice(&300_u16.to_be_bytes());
    let mut merged = Merged::new(Cursor::new(&log), "log", true).unwrap();
    let mut counts = [0; 3];
    while let Some(event) = merged.next_event().unwrap() {
        counts[event.cap().map_or(2, usize::from)] += 1;
    }
    assert_eq!(counts, [1 + 7, 1 + 12, 1 + 9]);
    let damage = format!("log: byte {at}: event type 300, which the header does not declare");
    let skipped = merged.damage().unwrap().to_string();
    assert!(
        skipped.starts_with(&format!("{damage}, and ")) && skipped.ends_with(" up to the end of the damaged block"),
        "{skipped}"
    );
    let mut merged = Merged::new(Cursor::new(&log), "log", false).unwrap();
    let error = loop {
        match merged.next_event() {
            Ok(event) => assert!(event.is_some()),
            Err(error) => break error,
        }
    };
    assert_eq!(error.to_string(), damage);
    assert!(merged.next_event().unwrap().is_none());
}

/// A block records its size, so only the rest of a damaged block is lost.
#[test]
fn a_salvaging_reader_resumes_at_the_next_block() {
    let mut log = Writer::new(Vec::new(), [&kinds::USER_MSG]).unwrap();
    for (block, cap) in [Some(0), Some(0), Some(1), Some(0), None, None].into_iter().enumerate() {
        let mut buffer = Buffer::new(cap);
        for event in 0..10 {
            let at = 1000 * block as u64 + event;
            buffer.event(&kinds::USER_MSG, at, &["message".into()]).unwrap();
        }
        log.block(&mut buffer, 1000 * block as u64 + 999).unwrap();
    }
    let log = log.finish().unwrap();
    let mut starts = Vec::new();
    assert!(each(&log, |event| starts.push(event.offset() as usize)).is_none());
    let length = starts[1] - starts[0];
    // The fifth event of the second block, and of the first global block.
    let mut damaged = log.clone();
    for event in [14, 44] {
        damaged[starts[event]..starts[event] + 2].copy_from_slice(&[0x7f, 0xff]);
    }
    let mut reader = Reader::new(&damaged[..], "log").unwrap().salvage();
    let mut found = 0;
    reader
        .for_each(|event| found += usize::from(event.known() != number::BLOCK_MARKER))
        .unwrap();
    assert_eq!(found, 60 - 12, "in the order of the file");
    let mut merged = Merged::new(Cursor::new(&damaged), "log", true).unwrap();
    let mut in_time = 0;
    while let Some(event) = merged.next_event().unwrap() {
        in_time += usize::from(event.known() != number::BLOCK_MARKER);
    }
    assert_eq!(in_time, 60 - 12, "in the order of time");
    for damage in [reader.damage(), merged.damage()] {
        let damage = damage.unwrap().to_string();
        let lost = format!("and {} bytes were skipped", 12 * length);
        assert!(damage.contains(&lost), "{lost}: {damage}");
    }
    assert_eq!(merged.lost_ends().count(), 0, "every capability has its last block");
}

#[test]
fn events_outside_blocks_are_global() {
    let whole = small();
    let mut reader = Reader::new(&whole[..], "log").unwrap();
    let mut marker = 0;
    while let Some(event) = reader.next_event().unwrap() {
        if event.known() == number::BLOCK_MARKER && event.cap().is_none() {
            marker = event.offset() as usize;
        }
    }
    let mut open = whole.clone();
    open.drain(marker..marker + 24);
    let caps = |log: &[u8]| {
        merged(log)
            .into_iter()
            .map(|(_, cap, time)| (cap, time))
            .collect::<Vec<_>>()
    };
    let mut expected = caps(&whole);
    let at = expected.iter().position(|place| *place == (None, 50)).unwrap();
    expected.remove(at);
    assert_eq!(caps(&open), expected);
    assert!(Value::Number(0) == 0.into());
}
