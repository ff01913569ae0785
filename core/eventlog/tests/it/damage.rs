//! Damaged logs give one error with its position, or are salvaged up to there.

use std::io::Cursor;

use gclab_eventlog::kinds;
use gclab_eventlog::{Merged, Problem, Reader};

use crate::made::{each, one_block, small};

/// The error for a log with the bytes at `at` replaced.
fn patched(mut log: Vec<u8>, at: usize, bytes: &[u8]) -> String {
    log[at..at + bytes.len()].copy_from_slice(bytes);
    each(&log, |_| {}).expect("an error").to_string()
}

/// A log whose first capability is damaged in the middle; the second is intact.
pub(crate) fn damaged() -> Vec<u8> {
    let mut log = crate::real::log("phases-thr-n2.a.eventlog");
    log[10_699..10_701].copy_from_slice(&[0x7f, 0xff]);
    log
}

/// The times of the last readable events of the two capabilities.
pub(crate) fn last_times(log: &[u8]) -> [u64; 2] {
    let mut merged = Merged::new(Cursor::new(log), "log", true).unwrap();
    let mut last = [0; 2];
    while let Some(event) = merged.next_event().unwrap() {
        if let Some(cap) = event.cap().filter(|_| event.known() != kinds::number::BLOCK_MARKER) {
            let last = &mut last[usize::from(cap)];
            *last = event.time().max(*last);
        }
    }
    last
}

/// The position of the first event.
fn data(log: &[u8]) -> usize {
    log.windows(4).position(|four| four == b"datb").unwrap() + 4
}

#[test]
fn every_truncation_is_an_error_and_salvages_the_events_before_it() {
    let log = small();
    let mut starts = Vec::new();
    assert!(each(&log, |event| starts.push(event.offset() as usize)).is_none());
    for length in 0..log.len() {
        let cut = &log[..length];
        let error = each(cut, |_| {}).unwrap_or_else(|| panic!("cut at {length}"));
        assert!(error.offset() <= length as u64, "{error}");
        let expected = matches!(error.problem(), Problem::Truncated(_) | Problem::NoEnd) || length < 4;
        assert!(expected, "cut at {length}: {error}");
        let Ok(reader) = Reader::new(cut, "cut") else { continue };
        let mut reader = reader.salvage();
        let mut found = Vec::new();
        while let Some(event) = reader.next_event().unwrap() {
            if event.known() != kinds::number::BLOCK_MARKER {
                found.push(event.offset() as usize);
            }
        }
        assert!(reader.damage().is_some());
        let whole = found.len();
        assert_eq!(found, starts[..whole], "cut at {length}");
        // The event after the last one is incomplete.
        assert!(
            starts.get(whole + 1).is_none_or(|next| *next > length),
            "cut at {length}"
        );
        assert!(!is_whole(cut), "cut at {length}");
        let mut merged = Merged::new(Cursor::new(cut), "cut", true).unwrap();
        let mut count = 0;
        while let Some(event) = merged.next_event().unwrap() {
            count += usize::from(event.known() != kinds::number::BLOCK_MARKER);
        }
        assert_eq!(count, whole, "cut at {length}");
        assert!(merged.damage().is_some());
    }
}

/// Whatever is wrong with a block's marker, the other blocks are read.
#[test]
fn a_damaged_block_costs_no_other_block() {
    let log = crate::real::log("phases-thr-n2.a.eventlog");
    let (mut blocks, mut events) = (Vec::new(), Vec::new());
    let mut reader = Reader::new(&log[..], "log").unwrap();
    while let Some(event) = reader.next_event().unwrap() {
        let is_block = event.known() == kinds::number::BLOCK_MARKER;
        let found = if is_block { &mut blocks } else { &mut events };
        found.push(event.offset() as usize);
    }
    let in_order = |log: &[u8]| {
        let mut reader = Reader::new(log, "log").unwrap().salvage();
        let mut found = Vec::new();
        while let Some(event) = reader.next_event().unwrap() {
            found.push(event.offset() as usize);
        }
        (found, reader.damage().is_some())
    };
    let merged = |log: &[u8]| {
        let mut merged = Merged::new(Cursor::new(log), "log", true).unwrap();
        let mut found = Vec::new();
        while let Some(event) = merged.next_event().unwrap() {
            found.push(event.offset() as usize);
        }
        found.sort_unstable();
        (found, merged.damage().is_some())
    };
    for nth in [1, blocks.len() / 2] {
        let (from, to) = (blocks[nth], blocks[nth + 1]);
        let size = (to - from) as u32;
        let event = *events.iter().find(|event| (from..to).contains(*event)).unwrap();
        let damages = [
            (from, [0xff, 0xfe].to_vec()),
            (from + 10, 5_u32.to_be_bytes().to_vec()),
            (from + 10, (size + 7).to_be_bytes().to_vec()),
            (from + 10, u32::MAX.to_be_bytes().to_vec()),
            (event, [0x7f, 0xff].to_vec()),
        ];
        for (at, bytes) in damages {
            let mut log = log.clone();
            log[at..at + bytes.len()].copy_from_slice(&bytes);
            for (found, is_damaged) in [in_order(&log), merged(&log)] {
                assert!(is_damaged, "{bytes:x?} at {at}");
                let mut others = events.iter().filter(|event| !(from..to).contains(*event));
                let lost = others.find(|event| found.binary_search(event).is_err());
                assert_eq!(lost, None, "{bytes:x?} at {at}, block {from} to {to}");
            }
        }
    }
}

/// Whether a merging reader reads the log to its end.
fn is_whole(log: &[u8]) -> bool {
    Merged::new(Cursor::new(log), "cut", false).is_ok_and(|mut merged| {
        loop {
            match merged.next_event() {
                Ok(Some(_)) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    })
}

#[test]
fn files_that_are_not_logs_are_refused() {
    let message = |bytes: &[u8]| each(bytes, |_| {}).unwrap().to_string();
    let says = |bytes: &[u8], text: &str| {
        assert_eq!(
            message(bytes),
            format!("made.eventlog: byte 0: not a GHC event log: expected `hdrb`, found {text}")
        )
    };
    says(b"", "nothing");
    says(b"PK\x03\x04", "bytes 50 4b 03 04");
    says(b"#!/bin/sh", "`#!/b`");
    says(b"\x1f\x8b\x08\x00", "gzip data, which must be unpacked first");
    let error = Reader::open("no/such.eventlog".as_ref()).unwrap_err().to_string();
    assert_eq!(error, "no/such.eventlog: no such file");
    let error = Reader::open("src".as_ref()).unwrap_err().to_string();
    assert_eq!(error, "src: is a folder, not a file");
}

#[test]
fn headers_that_cannot_be_used_are_refused() {
    let log = || {
        one_block(&[&kinds::GC_START], |buffer| {
            buffer.event(&kinds::GC_START, 5, &[]).unwrap()
        })
    };
    assert_eq!(
        patched(log(), 8, b"etx"),
        "made.eventlog: byte 8: the header: expected `etb`, an event type, or `hete`, their end, found bytes 65 74 78 00"
    );
    assert_eq!(
        patched(log(), 16, &[0xff; 4]),
        "made.eventlog: byte 8: the header: an event type has a text of 4294967295 bytes, more than 65536"
    );
    assert_eq!(
        patched(log(), 12, &[0, 18]),
        "made.eventlog: byte 8: the header: block markers have 0 bytes, expected 14 bytes"
    );
    let second = 8 + 20 + kinds::GC_START.description.len();
    assert_eq!(
        patched(log(), second + 4, &[0, 9]),
        format!("made.eventlog: byte {second}: the header: event type 9 is declared twice")
    );
}

/// A header of gigabytes is refused at the limit.
#[test]
fn a_header_without_an_end_is_refused() {
    #[derive(Debug)]
    struct Endless(u64);
    impl std::io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let mut entry = b"hdrbhetb".to_vec();
            entry.extend(b"etb\0");
            entry.extend((self.0 as u16).to_be_bytes());
            entry.extend([0xff, 0xff]);
            entry.extend(60_000_u32.to_be_bytes());
            entry.extend([b'x'; 60_000]);
            entry.extend(b"\0\0\0\0ete\0");
            let entry = if self.0 == 0 { &entry[..] } else { &entry[8..] };
            let count = entry.len().min(buffer.len());
            assert_eq!(count, entry.len(), "the buffer has room for an entry");
            buffer[..count].copy_from_slice(entry);
            self.0 += 1;
            Ok(count)
        }
    }
    let error = Reader::new(Endless(0), "endless").unwrap_err().to_string();
    assert!(
        error.contains("the header: more than 1048576 bytes of event types"),
        "{error}"
    );
}

#[test]
fn invalid_blocks_are_refused() {
    let log = || {
        one_block(&[&kinds::GC_START], |buffer| {
            buffer.event(&kinds::GC_START, 5, &[]).unwrap();
            buffer.event(&kinds::GC_START, 6, &[]).unwrap();
        })
    };
    let at = data(&log());
    assert_eq!(
        patched(log(), at + 10, &23_u32.to_be_bytes()),
        format!("made.eventlog: byte {at}: the block here has 23 bytes, and its marker alone has 24")
    );
    assert_eq!(
        patched(log(), at + 10, &35_u32.to_be_bytes()),
        format!(
            "made.eventlog: byte {}: the event here runs past the end of its block, at byte {}",
            at + 34,
            at + 35
        )
    );
    // The end mark has two bytes, and the second one is outside the block.
    let torn = (at + 10, 45_u32.to_be_bytes());
    assert_eq!(
        patched(log(), torn.0, &torn.1),
        format!(
            "made.eventlog: byte {}: the log's end mark runs past the end of its block, at byte {}",
            at + 44,
            at + 45
        )
    );
    let mut log_of_torn = log();
    log_of_torn[torn.0..torn.0 + 4].copy_from_slice(&torn.1);
    assert!(!is_whole(&log_of_torn), "a reader by time finds the same damage");
    assert_eq!(
        patched(log(), at + 24, &[0, 7]),
        format!(
            "made.eventlog: byte {}: event type 7, which the header does not declare",
            at + 24
        )
    );
    let mut nested = log();
    nested.truncate(at + 34);
    nested[at + 10..at + 14].copy_from_slice(&1000_u32.to_be_bytes());
    nested.extend(&log()[at..]);
    assert_eq!(
        each(&nested, |_| {}).unwrap().to_string(),
        format!(
            "made.eventlog: byte {}: a block begins here, within another one",
            at + 34
        )
    );
}

/// A merging reader keeps a buffer for each capability.
#[test]
fn too_many_capabilities_are_refused() {
    let mut log = gclab_eventlog::Writer::new(Vec::new(), [&kinds::GC_START]).unwrap();
    for cap in 0..2000 {
        let mut buffer = gclab_eventlog::Buffer::new(Some(cap));
        buffer.event(&kinds::GC_START, 5, &[]).unwrap();
        log.block(&mut buffer, 5).unwrap();
    }
    let error = Merged::new(Cursor::new(log.finish().unwrap()), "many", false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "many: more than 1024 capabilities, which cannot be sorted by time"
    );
}

#[test]
fn the_files_name_in_a_message_is_one_line() {
    let error = Reader::new(&b"{}"[..], "a\nb\x1b[31m\u{e9}.eventlog").unwrap_err();
    assert_eq!(
        error.to_string(),
        "a\\nb\\u{1b}[31m\u{e9}.eventlog: byte 0: not a GHC event log: expected `hdrb`, found `{}`"
    );
}

#[test]
fn capabilities_that_lost_events_are_reported() {
    let lost = |log: &[u8]| {
        let mut merged = Merged::new(Cursor::new(log), "log", true).unwrap();
        while merged.next_event().unwrap().is_some() {}
        merged.lost_ends().map(|(cap, _)| cap).collect::<Vec<_>>()
    };
    let log = damaged();
    assert_eq!(lost(&log), [Some(0)]);
    assert_eq!(lost(&log[..20_000]).len(), 2);
    assert_eq!(lost(&crate::real::log("phases-thr-n2.a.eventlog")), []);
}

/// Bytes that a reader takes for events after it lost its place have any times, and zeros and small
/// numbers look like the marker of a block.
#[test]
fn no_salvaged_event_is_outside_the_times_of_the_log() {
    for name in ["retain-hc.eventlog", "phases-thr-n2.a.eventlog"] {
        let whole = crate::real::log(name);
        let (mut last, mut largest, mut markers) = (0, None, Vec::new());
        let heap_size = |event: &gclab_eventlog::Event<'_>| {
            let [_, bytes] = event.numbers();
            bytes.filter(|_| event.known() == kinds::number::HEAP_SIZE)
        };
        let _ = each(&whole, |event| {
            last = last.max(event.time());
            largest = largest.max(heap_size(&event));
            if event.known() == kinds::number::BLOCK_MARKER {
                markers.push(event.offset() as usize);
            }
        });
        let from = data(&whole);
        let in_marker = |at: usize| {
            markers
                .iter()
                .any(|marker| (marker.saturating_sub(2)..marker + 24).contains(&at))
        };
        for at in (from..whole.len()).step_by(397).filter(|at| !in_marker(*at)) {
            let mut log = whole.clone();
            log.splice(at..at + 2, [0, 18, 0, 0, 0]);
            let mut merged = Merged::new(Cursor::new(&log), "log", true).unwrap();
            while let Some(event) = merged.next_event().unwrap() {
                let is_sound = event.time() <= last && heap_size(&event) <= largest;
                assert!(is_sound, "{name}, byte {at}: {event:?}");
            }
        }
    }
}
