//! Random logs round-trip; random damage never causes a panic.

use std::io::Cursor;

use gclab_eventlog::{
    Buffer, Event, Filter, Form, Interval, Kind, Lines, Merged, Reader, Summary, Value, Writer, check, kinds, show,
};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::real::log;

/// Numbers, text and bytes for the fields of any type.
type Material = (Vec<u64>, String, Vec<u8>);

fn events() -> impl Strategy<Value = Vec<(Index, u64, Material)>> {
    let material = (
        prop::collection::vec(any::<u64>(), 9),
        "[a-zé ]{0,12}",
        prop::collection::vec(1..255_u8, 0..20),
    );
    prop::collection::vec((any::<Index>(), 0..1_u64 << 40, material), 1..60)
}

/// Values that fit the fields of `kind`.
fn values<'a>(kind: &Kind, (numbers, text, bytes): &'a Material, ids: &'a [[u8; 4]]) -> Vec<Value<'a>> {
    let fields = kind.fields.iter().enumerate();
    let value = |(place, field): (usize, &gclab_eventlog::Field)| match field.form {
        Form::Zero | Form::Text => Value::Text(text.as_bytes()),
        Form::List => Value::List(bytes),
        Form::Bytes => Value::Bytes(bytes),
        Form::Ids => Value::Ids(ids),
        form => Value::Number(numbers[place % 9] >> (64 - 8 * form.width().unwrap())),
    };
    fields.map(value).collect()
}

proptest! {
    #[test]
    fn any_events_round_trip(blocks in prop::collection::vec((0..4_u16, events()), 1..5)) {
        let writable: Vec<_> = kinds::ALL.iter().copied().filter(|kind| kind.name != "BLOCK_MARKER").collect();
        let mut log = Writer::new(Vec::new(), writable.iter().copied()).unwrap();
        let mut expected = Vec::new();
        for (cap, events) in &blocks {
            let mut buffer = Buffer::new(Some(*cap));
            for (place, time, material) in events {
                let kind = *place.get(&writable);
                let ids: Vec<[u8; 4]> = material.0.iter().map(|id| (*id as u32).to_be_bytes()).collect();
                let values = values(kind, material, &ids);
                buffer.event(kind, *time, &values).unwrap();
                expected.push(format!("{cap} {time} {} {values:?}", kind.name));
            }
            log.block(&mut buffer, 1 << 40).unwrap();
        }
        let log = log.finish().unwrap();
        let mut reader = Reader::new(&log[..], "random").unwrap();
        let mut found = Vec::new();
        while let Some(event) = reader.next_event().unwrap() {
            let kind = event.kind().unwrap();
            if kind.name != "BLOCK_MARKER" {
                let values: Vec<_> = event.fields().map(|(_, value)| value).collect();
                found.push(format!("{} {} {} {values:?}", event.cap().unwrap(), event.time(), kind.name));
            }
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn any_damage_is_an_error_or_a_log(
        name in prop::sample::select(vec!["spike-thr-n1.a.eventlog", "retain-hb.eventlog", "phases-thr-n2.b.eventlog"]),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..6),
        cut in any::<Index>(),
    ) {
        let mut log = log(name);
        for (place, byte) in changes {
            let place = place.index(log.len());
            log[place] = byte;
        }
        if cut.index(3) == 0 {
            log.truncate(cut.index(log.len()));
        }
        look_at_everything(&log);
    }
}

/// The fuzzer's inputs, without the fuzzer.
#[test]
fn every_input_of_the_corpus_is_read() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/read");
    let mut inputs = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        look_at_everything(&std::fs::read(entry.unwrap().path()).unwrap());
        inputs += 1;
    }
    assert!(inputs > 10);
}

/// A source that returns a few bytes at a time.
struct Trickle<'a>(&'a [u8]);

impl std::io::Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = 7.min(buffer.len()).min(self.0.len());
        let (now, later) = self.0.split_at(count);
        buffer[..count].copy_from_slice(now);
        self.0 = later;
        Ok(count)
    }
}

/// Reads a log event by event and in one go: both give the same events and the same damage.
fn read_in_two_ways(log: &[u8]) {
    let seen = |event: &Event<'_>| (event.offset(), event.time(), event.cap(), event.payload().to_vec());
    let Ok(mut reader) = Reader::new(log, "damaged") else {
        return;
    };
    let mut one_by_one = Vec::new();
    let end = loop {
        match reader.next_event() {
            Ok(Some(event)) => one_by_one.push(seen(&event)),
            Ok(None) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    let (mut at_once, mut trickled) = (Vec::new(), Vec::new());
    let mut reader = Reader::new(log, "damaged").unwrap();
    let found = reader.for_each(|event| at_once.push(seen(event))).err();
    assert_eq!(found.map(|error| error.to_string()), end);
    assert_eq!(at_once, one_by_one);
    let mut reader = Reader::new(Trickle(log), "damaged").unwrap();
    let found = reader.for_each(|event| trickled.push(seen(event))).err();
    assert_eq!(found.map(|error| error.to_string()), end);
    assert_eq!(trickled, one_by_one);
}

/// Reads a log in every way; nothing may panic.
fn look_at_everything(log: &[u8]) {
    read_in_two_ways(log);
    let mut errors = [false; 2];
    if let Ok(mut reader) = Reader::new(log, "damaged") {
        loop {
            match reader.next_event() {
                Ok(Some(event)) => drop(event.fields().count()),
                Ok(None) => break,
                Err(error) => {
                    assert!(error.offset() <= log.len() as u64, "{error}");
                    errors[0] = true;
                }
            }
        }
    }
    if let Ok(reader) = Reader::new(log, "damaged") {
        let interval = Interval {
            from: 1_000_000,
            to: Some(90_000_000),
        };
        let summary = Summary::of(&mut reader.salvage(), interval).unwrap();
        assert!(!summary.text().is_empty() && !summary.figures().is_empty());
    }
    if let Ok(mut merged) = Merged::new(Cursor::new(log), "damaged", true) {
        while let Some(event) = merged.next_event().unwrap() {
            let [first] = event.numbers();
            assert!(first.is_none() || event.kind().is_some());
        }
        errors[1] = merged.damage().is_some();
        // Times that no event of its block has are damage only to a reader that salvages.
        assert!(!errors[0] || errors[1]);
        crate::timeline::timeline(log, true);
        let mut again = Merged::new(Cursor::new(log), "damaged", true).unwrap();
        check(&mut again).unwrap();
        let mut again = Merged::new(Cursor::new(log), "damaged", true).unwrap();
        show(&mut again, &Filter::default(), Lines::Json, &mut std::io::sink()).unwrap();
    }
}
