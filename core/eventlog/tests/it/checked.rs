//! The validator: GHC's logs keep every rule, and breaking any of them is reported.

use std::io::Cursor;

use gclab_eventlog::kinds::{self, number};
use gclab_eventlog::{Buffer, Kind, Merged, Value, Writer, check};

use crate::made::small;
use crate::real::{log, logs};

fn complaints(log: &[u8]) -> Vec<String> {
    let mut merged = Merged::new(Cursor::new(log), "log", false).unwrap();
    let (complaints, _) = check(&mut merged).unwrap();
    assert_eq!(
        complaints.count(),
        complaints.rules().iter().map(|rule| rule.count).sum::<u64>()
    );
    let rules = complaints.rules().iter();
    rules
        .flat_map(|rule| rule.first.iter().map(|complaint| format!("{}: {complaint}", rule.rule)))
        .collect()
}

#[test]
fn logs_of_ghc_keep_every_rule() {
    for name in logs() {
        assert_eq!(complaints(&log(&name)), [""; 0], "{name}");
    }
}

/// An event in short: type, time and numbers.
type Short = (&'static Kind, u64, &'static [u64]);

/// The only complaint, without its position, about a log with one block of `cap` with these events.
fn one(cap: Option<u16>, events: &[Short]) -> String {
    let mut log = Writer::new(Vec::new(), kinds::current()).unwrap();
    let mut buffer = Buffer::new(cap);
    for (kind, time, numbers) in events {
        let values: Vec<Value<'_>> = numbers.iter().copied().map(Value::Number).collect();
        buffer.event(kind, *time, &values).unwrap();
    }
    log.block(&mut buffer, 1000).unwrap();
    let all = complaints(&log.finish().unwrap());
    let [only] = &all[..] else { panic!("{all:?}") };
    only.split(": ").last().unwrap().to_owned()
}

#[test]
fn rules_about_time_and_collections() {
    use kinds::*;
    let cap = Some(2);
    assert_eq!(
        one(cap, &[(&GC_WORK, 9, &[])]),
        "a GC thread works, idles or ends outside of a collection"
    );
    let run = &[1][..];
    let create: Short = (&CREATE_THREAD, 9, run);
    assert_eq!(
        one(cap, &[create, (&RUN_THREAD, 7, run)]),
        "the time stamp is 2 ns before that of an earlier event"
    );
    assert_eq!(
        one(cap, &[create, (&RUN_THREAD, 1001, run)]),
        "the event is later than the end of its block, 1000 ns"
    );
    let start: Short = (&GC_START, 9, &[]);
    let end: Short = (&GC_END, 9, &[]);
    assert_eq!(one(cap, &[start]), "the collection that began at 9 ns has not ended");
    assert_eq!(one(cap, &[end]), "GC_END without GC_START");
    assert_eq!(
        one(cap, &[start, start, end]),
        "GC_START before the end of the collection that began at 9 ns"
    );
    assert_eq!(
        one(cap, &[(&GC_GLOBAL_SYNC, 9, &[])]),
        "GC_GLOBAL_SYNC outside of a collection"
    );
    let stats: Short = (&GC_STATS_GHC, 9, &[0; 9]);
    assert_eq!(one(cap, &[stats]), "GC_STATS_GHC outside of a collection");
    assert_eq!(one(cap, &[start, stats, end]), "GC_STATS_GHC without GC_GLOBAL_SYNC");
    let allocated = |bytes: &'static [u64]| -> Short { (&HEAP_ALLOCATED, 9, bytes) };
    assert_eq!(
        one(cap, &[allocated(&[0, 9]), allocated(&[0, 8])]),
        "HEAP_ALLOCATED falls from 9 to 8"
    );
    assert_eq!(one(None, &[allocated(&[0, 9])]), "ThreadScope stops here");
}

/// The end of a collection may precede its statistics, but not its start.
#[test]
fn a_collection_that_ends_before_it_begins() {
    let mut log = Writer::new(Vec::new(), kinds::current()).unwrap();
    let mut buffer = Buffer::new(Some(0));
    buffer.event(&kinds::GC_START, 9, &[]).unwrap();
    buffer.event(&kinds::GC_END, 8, &[]).unwrap();
    log.block(&mut buffer, 1000).unwrap();
    let all = complaints(&log.finish().unwrap());
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all[1].ends_with("GC_END is 1 ns before its GC_START"), "{all:?}");
}

#[test]
fn rules_about_threads_and_tasks() {
    use kinds::*;
    let cap = Some(2);
    let [create, run, wakeup]: [Short; 3] = [
        (&CREATE_THREAD, 9, &[1]),
        (&RUN_THREAD, 9, &[1]),
        (&THREAD_WAKEUP, 9, &[7, 0]),
    ];
    let finish: Short = (&STOP_THREAD, 9, &[1, 5, 0]);
    assert_eq!(one(cap, &[run]), "thread 1 runs, but was not created or has finished");
    assert_eq!(
        one(cap, &[create, run, finish, run]),
        "thread 1 runs, but was not created or has finished"
    );
    assert_eq!(one(cap, &[create, create]), "thread 1 is created again");
    assert_eq!(
        one(cap, &[create, run, run]),
        "thread 1 runs, but is already running on cap 2"
    );
    assert_eq!(one(cap, &[create, finish]), "thread 1 stops, but was not running here");
    let other: [Short; 2] = [(&CREATE_THREAD, 9, &[3]), (&RUN_THREAD, 9, &[3])];
    assert_eq!(
        one(cap, &[create, run, other[0], other[1]]),
        "thread 3 runs, but thread 1 has not stopped"
    );
    assert_eq!(
        one(cap, &[wakeup]),
        "THREAD_WAKEUP of thread 7, which was not created or has finished"
    );
    let [made, moved, deleted]: [Short; 3] = [
        (&TASK_CREATE, 9, &[255, 0, 8]),
        (&TASK_MIGRATE, 9, &[255, 0, 1]),
        (&TASK_DELETE, 9, &[255]),
    ];
    assert_eq!(one(None, &[made, made]), "task 0xff is created again");
    assert_eq!(one(None, &[moved]), "task 0xff migrates, but was not created");
    assert_eq!(
        one(None, &[made, moved, deleted, deleted]),
        "task 0xff is deleted, but was not created"
    );
}

#[test]
fn a_thread_stops_for_a_known_reason() {
    use kinds::*;
    let [create, run]: [Short; 2] = [(&CREATE_THREAD, 9, &[1]), (&RUN_THREAD, 9, &[1])];
    let stop = |numbers| [create, run, (&STOP_THREAD, 9, numbers)];
    assert_eq!(
        one(Some(2), &stop(&[1, 21, 0])),
        "STOP_THREAD with the reason 21, expected 0 to 20: ghc-events fails on it"
            .split(": ")
            .last()
            .unwrap()
    );
    for status in [0, 6, 8, 20] {
        let numbers: &'static [u64] = Box::leak(Box::new([1, status, 0]));
        let mut log = Writer::new(Vec::new(), current()).unwrap();
        let mut buffer = Buffer::new(Some(2));
        for (kind, time, numbers) in stop(numbers) {
            let values: Vec<Value<'_>> = numbers.iter().copied().map(Value::Number).collect();
            buffer.event(kind, time, &values).unwrap();
        }
        log.block(&mut buffer, 1000).unwrap();
        assert_eq!(complaints(&log.finish().unwrap()), [""; 0], "{status}");
    }
}

/// Where the first block marker is in a log that declares these types.
fn first_block(kinds: &[&'static Kind]) -> usize {
    let header = Writer::new(Vec::new(), kinds.iter().copied())
        .unwrap()
        .finish()
        .unwrap();
    header.len() - 2
}

#[test]
fn blocks_end_within_the_file() {
    let types = [&kinds::CREATE_THREAD];
    let mut log = crate::made::one_block(&types, |buffer| {
        buffer.event(&kinds::CREATE_THREAD, 5, &[1.into()]).unwrap();
    });
    assert_eq!(complaints(&log), [""; 0]);
    let at = first_block(&types);
    log[at + 10..at + 14].copy_from_slice(&5000_u32.to_be_bytes());
    let expected = format!(
        "blocks end within the file: byte {at}: the block here ends at byte {}, and the file at byte {}",
        at + 5000,
        log.len()
    );
    assert_eq!(complaints(&log), [expected]);
}

#[test]
fn no_event_follows_an_empty_block() {
    let types = [&kinds::CREATE_THREAD];
    let mut log = crate::made::one_block(&types, |buffer| {
        buffer.event(&kinds::CREATE_THREAD, 5, &[1.into()]).unwrap();
    });
    let at = first_block(&types);
    log[at + 10..at + 14].copy_from_slice(&24_u32.to_be_bytes());
    let expected = format!(
        "no event follows an empty block: byte {}: the event here follows an empty block: ghc-events takes it to be in that block",
        at + 24
    );
    assert_eq!(complaints(&log), [expected]);
}

#[test]
fn rules_about_heap_profiles() {
    use kinds::*;
    let [begin, end]: [Short; 2] = [(&HEAP_PROF_SAMPLE_BEGIN, 9, &[0]), (&HEAP_PROF_SAMPLE_END, 9, &[0])];
    assert_eq!(one(None, &[begin, end]), "a sample without HEAP_PROF_BEGIN");
    assert_eq!(one(None, &[end]), "HEAP_PROF_SAMPLE_END outside of a sample");
    // In the small log the stack has cost centres, and the profile has no start.
    let all = complaints(&small());
    let expected = ["samples follow HEAP_PROF_BEGIN", "cost centres are defined first"];
    let rules: Vec<&str> = all
        .iter()
        .map(|complaint| complaint.split(": ").next().unwrap())
        .collect();
    assert_eq!(rules, expected);
    assert!(all[1].ends_with("cost centre 7 in a stack was not defined"));
}

#[test]
fn rules_about_time_profiles() {
    let rules = |begins: bool, ticks: &[u64], centre: u8| {
        let mut log = Writer::new(Vec::new(), kinds::current()).unwrap();
        let mut buffer = Buffer::new(None);
        if begins {
            buffer.event(&kinds::PROF_BEGIN, 1, &[1000.into()]).unwrap();
        }
        let texts = ["f", "m", "m.rs:1"].map(Value::from);
        let values = [7.into(), texts[0], texts[1], texts[2], 0.into()];
        buffer.event(&kinds::HEAP_PROF_COST_CENTRE, 1, &values).unwrap();
        for tick in ticks {
            let values = [0.into(), (*tick).into(), Value::Ids(&[[0, 0, 0, centre]])];
            buffer.event(&kinds::PROF_SAMPLE_COST_CENTRE, 9, &values).unwrap();
        }
        log.block(&mut buffer, 1000).unwrap();
        let all = complaints(&log.finish().unwrap());
        all.iter()
            .map(|complaint| complaint.split(": ").next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(rules(true, &[1, 1, 2], 7), [""; 0]);
    assert_eq!(rules(false, &[1], 7), ["samples of a time profile follow PROF_BEGIN"]);
    assert_eq!(
        rules(true, &[2, 1], 7),
        ["ticks of a time profile do not run backwards"]
    );
    assert_eq!(rules(true, &[1], 8), ["cost centres are defined first"]);
}

/// `log` with the first `from` replaced by `to`.
fn edited(mut log: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = log.windows(from.len()).position(|bytes| bytes == from).unwrap();
    log[at..at + to.len()].copy_from_slice(to);
    log
}

#[test]
fn rules_about_bytes() {
    let real = || log("retain-hd.eventlog");
    let last = |log: &[u8]| {
        complaints(log)
            .last()
            .unwrap()
            .split(": ")
            .skip(1)
            .collect::<Vec<_>>()
            .join(": ")
    };
    // A closure's name in a heap profile: an invalid byte, and a lost NUL.
    let named = edited(real(), b"<Main.sat_s4YS>\0", b"<Main.\xffat_s4YS>\0");
    assert!(last(&named).ends_with("HEAP_PROF_SAMPLE_STRING: `label` is not UTF-8: ghc-events ends the log here"));
    let open = edited(real(), b"<Main.sat_s4YS>\0", b"<Main.sat_s4YS>!");
    assert!(last(&open).ends_with("HEAP_PROF_SAMPLE_STRING: the payload ends within `label`"));
    let longer = edited(real(), b"<Main.sat_s4YS>\0", b"<Main.sat_s4Y\0>\0");
    assert!(last(&longer).ends_with("HEAP_PROF_SAMPLE_STRING: 2 bytes follow the last field"));
    // SPARK_STEAL declared with one byte; type 59 not declared.
    let entry = |number: u16, size: u16| [&b"etb\0"[..], &number.to_be_bytes(), &size.to_be_bytes()].concat();
    let declared = edited(real(), &entry(number::SPARK_STEAL, 2), &entry(number::SPARK_STEAL, 1));
    assert_eq!(
        last(&declared),
        "SPARK_STEAL is declared with 1 bytes, expected 2 bytes: its events are skipped"
    );
    let without = edited(real(), &entry(number::HACK_BUG_T9003, 0), &entry(61, 0));
    assert!(last(&without).contains("declared without type 59"));
}

#[test]
fn many_complaints_of_a_rule_are_counted() {
    let mut log = Writer::new(Vec::new(), kinds::current()).unwrap();
    let mut buffer = Buffer::new(Some(0));
    for time in 0..100 {
        buffer.event(&kinds::GC_END, time, &[]).unwrap();
    }
    log.block(&mut buffer, 1000).unwrap();
    let mut merged = Merged::new(Cursor::new(log.finish().unwrap()), "log", false).unwrap();
    let (complaints, events) = check(&mut merged).unwrap();
    assert_eq!(
        (complaints.count(), complaints.rules()[0].first.len(), events),
        (100, 8, 100)
    );
}
