//! Real logs of GHC 9.0.2, with the numbers that the same runs printed and the counts of an
//! independent reader (ghc-events).

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use gclab_eventlog::kinds::{self, number};
use gclab_eventlog::{Buffer, Interval, Reader, Summary, TimeSamples, Writer};
use serde_json::Value as Json;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures")
}

/// The entries of the manifest, one for each log.
pub(crate) fn manifest() -> Vec<Json> {
    let text = std::fs::read_to_string(folder().join("manifest.json")).unwrap();
    let manifest: Json = serde_json::from_str(&text).unwrap();
    manifest["logs"].as_array().unwrap().clone()
}

/// The names of the logs.
pub(crate) fn logs() -> Vec<String> {
    let manifest = manifest().into_iter();
    let names: Vec<String> = manifest
        .map(|entry| entry["log"].as_str().unwrap().to_owned())
        .collect();
    assert!(names.len() > 20);
    names
}

/// The bytes of a log. All but one are compressed.
pub(crate) fn log(name: &str) -> Vec<u8> {
    if let Ok(bytes) = std::fs::read(folder().join(name)) {
        return bytes;
    }
    let zipped = std::fs::read(folder().join(format!("{name}.gz"))).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&zipped[..])
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

#[test]
fn every_event_is_found_and_known() {
    for entry in manifest() {
        let name = entry["log"].as_str().unwrap();
        let bytes = log(name);
        let mut reader = Reader::new(&bytes[..], name).unwrap();
        let (mut counts, mut blocks) = (BTreeMap::<String, u64>::new(), 0);
        while let Some(event) = reader.next_event().unwrap() {
            let kind = event.kind().unwrap_or_else(|| panic!("{name}: {:?}", event.declared()));
            if kind.number == number::BLOCK_MARKER {
                blocks += 1;
            } else {
                *counts.entry(kind.number.to_string()).or_default() += 1;
            }
            let mut fields = event.fields();
            assert_eq!(fields.by_ref().count(), kind.fields.len(), "{name}: {event:?}");
            assert!(fields.rest().is_empty(), "{name}: {event:?}");
        }
        assert_eq!(entry["blocks"], blocks, "{name}");
        assert_eq!(entry["event_counts"], serde_json::to_value(&counts).unwrap(), "{name}");
    }
}

#[test]
fn the_table_is_that_of_ghc() {
    let bytes = log("phases-thr-n2.b.eventlog");
    let reader = Reader::new(&bytes[..], "real").unwrap();
    let declared = reader.header().declared();
    assert_eq!(declared.len(), 69);
    for one in declared {
        let kind = kinds::numbered(one.number).unwrap();
        assert_eq!(
            (one.size, &one.description[..]),
            (kind.payload_size(), kind.description)
        );
    }
}

/// Decoded and encoded again with the same table.
#[test]
fn every_log_can_be_written_again_byte_for_byte() {
    for name in logs() {
        let bytes = log(&name);
        let mut reader = Reader::new(&bytes[..], &name).unwrap();
        let declared = reader.header().declared().iter().map(|one| one.kind.unwrap());
        let mut written = Writer::new(Vec::new(), declared.collect::<Vec<_>>()).unwrap();
        let mut buffer = Buffer::new(None);
        let (mut end_time, mut begins) = (0, Vec::new());
        while let Some(event) = reader.next_event().unwrap() {
            if event.known() == number::BLOCK_MARKER {
                written.block(&mut buffer, end_time).unwrap();
                buffer = Buffer::new(event.cap());
                let [_, end] = event.numbers();
                (end_time, _) = (end.unwrap(), begins.push((event.offset() as usize, event.time())));
            } else {
                let values: Vec<_> = event.fields().map(|(_, value)| value).collect();
                buffer.event(event.kind().unwrap(), event.time(), &values).unwrap();
            }
        }
        written.block(&mut buffer, end_time).unwrap();
        let mut written = written.finish().unwrap();
        // GHC's markers have the time at which the buffer was made.
        for (at, time) in begins {
            written[at + 2..at + 10].copy_from_slice(&time.to_be_bytes());
        }
        assert!(written == bytes, "{name}");
    }
}

/// GHC's report of the same run has 18 ticks, all in `churn`; it leaves `GC` out.
#[test]
fn a_summary_counts_the_samples_of_a_time_profile() {
    let log = log("retain-p-hc.eventlog");
    let samples = |interval| {
        let summary = Summary::of(&mut Reader::new(&log[..], "log").unwrap(), interval).unwrap();
        (summary.text(), summary.time_samples.expect("a time profile"))
    };
    let (text, all) = samples(Interval::default());
    let named = |names: &[(&str, u64)]| names.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
    let expected = TimeSamples {
        tick_ns: Some(5_000_000),
        count: 19,
        centres: named(&[("churn", 18), ("GC", 1)]),
    };
    assert_eq!(all, expected);
    let line = "  Time profile: 19 samples, a tick every 5.000 ms; innermost churn 94.7%, GC 5.3%\n";
    assert!(text.replace("\n    ", " ").contains(line), "{text}");
    let middle = 50_000_000;
    let [first, second] = [(0, Some(middle)), (middle, None)].map(|(from, to)| samples(Interval { from, to }).1.count);
    assert!(first > 0 && second > 0 && first + second == 19, "{first} {second}");
}
