//! Logs in the layouts of older GHCs, made here: other sizes, fewer fields, fewer types.
//!
//! The sizes are those declared by logs of GHC 6.12.1, 7.0.2, 7.6.3, 8.4.3 and of the snapshots
//! before 9.2 and 9.4.

use std::io::Cursor;

use gclab_eventlog::kinds::{self, STARTUP, number};
use gclab_eventlog::{
    Buffer, Filter, Interval, Kind, Lines, Merged, Reader, Summary, Timeline, Value, Writer, check, show,
};

/// `kind` with only its first fields.
const fn first(kind: &'static Kind, fields: usize) -> Kind {
    Kind {
        fields: kind.fields.split_at(fields).0,
        ..*kind
    }
}

static STOP_OF_7_0: Kind = first(&kinds::STOP_THREAD, 2);
static STATS_OF_7_6: Kind = first(&kinds::GC_STATS_GHC, 8);
static TICKY_OF_9_2: Kind = first(&kinds::TICKY_COUNTER_DEF, 4);
static TICKY_OF_9_4: Kind = first(&kinds::TICKY_COUNTER_DEF, 5);

/// An event: capability, type, time and values.
type Written<'a> = (Option<u16>, &'static Kind, u64, &'a [Value<'a>]);

/// A log with these types and events, each in its own block.
fn log(kinds: &[&'static Kind], events: &[Written<'_>]) -> Vec<u8> {
    let mut log = Writer::new(Vec::new(), kinds.iter().copied()).unwrap();
    for (cap, kind, time, values) in events {
        let mut buffer = Buffer::new(*cap);
        buffer.event(kind, *time, values).unwrap();
        log.block(&mut buffer, 1000).unwrap();
    }
    log.finish().unwrap()
}

fn merged(log: &[u8], salvage: bool) -> Merged<Cursor<&[u8]>> {
    Merged::new(Cursor::new(log), "old.eventlog", salvage).unwrap()
}

fn complaints(log: &[u8]) -> Vec<String> {
    let (complaints, _) = check(&mut merged(log, false)).unwrap();
    let rules = complaints.rules().iter();
    rules
        .flat_map(|rule| rule.first.iter().map(ToString::to_string))
        .collect()
}

fn shown(log: &[u8]) -> Vec<String> {
    let mut text = Vec::new();
    show(&mut merged(log, false), &Filter::default(), Lines::Text, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    text.lines().map(|line| line.trim_start().to_owned()).collect()
}

fn summary(log: &[u8]) -> Summary {
    let mut reader = Reader::new(log, "old.eventlog").unwrap();
    Summary::of(&mut reader, Interval::default()).unwrap()
}

/// The types of GHC 7.0 that occur in the log below.
static OF_7_0: [&Kind; 9] = [
    &kinds::CREATE_THREAD,
    &kinds::RUN_THREAD,
    &STOP_OF_7_0,
    &kinds::GC_START,
    &kinds::GC_END,
    &STARTUP,
    &kinds::GC_IDLE,
    &kinds::GC_WORK,
    &kinds::GC_DONE,
];

/// A log of GHC 7.0: a collection on two capabilities without statistics, and a last one with only
/// its work.
fn of_7_0() -> Vec<u8> {
    let [one, other] = [Some(0), Some(1)];
    let n = Value::Number;
    log(
        &OF_7_0,
        &[
            (None, &STARTUP, 1, &[n(2)]),
            (one, &kinds::CREATE_THREAD, 100, &[n(1)]),
            (one, &kinds::RUN_THREAD, 110, &[n(1)]),
            (one, &STOP_OF_7_0, 190, &[n(1), n(1)]),
            (one, &kinds::GC_START, 200, &[]),
            (other, &kinds::GC_START, 201, &[]),
            (one, &kinds::GC_WORK, 210, &[]),
            (other, &kinds::GC_END, 280, &[]),
            (one, &kinds::GC_END, 290, &[]),
            (one, &kinds::RUN_THREAD, 300, &[n(1)]),
            (one, &STOP_OF_7_0, 400, &[n(1), n(5)]),
            (one, &kinds::GC_WORK, 410, &[]),
            (one, &kinds::GC_IDLE, 420, &[]),
            (one, &kinds::GC_DONE, 430, &[]),
        ],
    )
}

/// Without statistics we cannot tell which capability led a collection, so its pauses, and the
/// utilisation, are unknown.
#[test]
fn a_log_of_7_0_has_no_figure_of_collections() {
    let log = of_7_0();
    assert_eq!(complaints(&log), [""; 0]);
    let summary = summary(&log);
    assert_eq!(
        (summary.capabilities, summary.collections, summary.gc_ns),
        (Some(2), None, None)
    );
    assert_eq!(summary.cap_pauses.count(), 2);
    assert_eq!(summary.utilisation, [], "no pause of the program is known");
    let made_up = summary.figures().into_iter().map(|(name, _)| name);
    let made_up: Vec<String> = made_up.filter(|name| name.starts_with("mmu")).collect();
    assert_eq!(made_up, [""; 0]);
    assert_eq!(shown(&log)[3], "190: cap 0: stopping thread 1 (heap overflow)");
}

/// GHC 6.12 declared eight bytes for a thread and none for `STARTUP`. Its events have four and two.
#[test]
fn a_log_of_6_12_has_other_sizes_than_it_declares() {
    let mut log = of_7_0();
    let new = log.clone();
    for (number, from, to) in [
        (number::CREATE_THREAD, 4_u16, 8_u16),
        (number::RUN_THREAD, 4, 8),
        (number::STOP_THREAD, 6, 10),
        (number::STARTUP, 2, 0),
    ] {
        let entry = [&b"etb\0"[..], &number.to_be_bytes(), &from.to_be_bytes()].concat();
        let at = log.windows(entry.len()).position(|bytes| bytes == entry).unwrap();
        log[at + 6..at + 8].copy_from_slice(&to.to_be_bytes());
    }
    assert_eq!(shown(&log), shown(&new));
    assert_eq!(summary(&log).capabilities, Some(2));
}

/// A collection in a log of GHC 7.6, whose statistics lack their last field.
#[test]
fn statistics_of_7_6_are_shown_without_the_field_that_they_lack() {
    let stats = [0, 1, 4096, 64, 128, 1, 0, 4096].map(Value::Number);
    let log = log(&[&STATS_OF_7_6], &[(Some(0), &STATS_OF_7_6, 20, &stats)]);
    assert_eq!(
        shown(&log)[0],
        "20: cap 0: GC stats for heap capset 0: generation 1, 4096 bytes copied, 64 bytes slop, \
         128 bytes fragmentation, 1 par threads, 0 bytes max par copied, 4096 bytes total par copied"
    );
}

/// A log of GHC 8.4 with two samples, the second with two bands. It has no type for the end of a
/// sample.
fn of_8_4(types: &[&'static Kind]) -> Vec<u8> {
    let n = Value::Number;
    let filters = [Value::from(""); 7];
    let begin = [&[n(0), n(1_000_000), n(7)][..], &filters].concat();
    let band = |bytes, label| [n(0), n(bytes), Value::from(label)];
    let mut events: Vec<Written<'_>> = vec![
        (None, &kinds::HEAP_PROF_BEGIN, 5, &begin),
        (None, &kinds::HEAP_PROF_SAMPLE_BEGIN, 100, &[Value::Number(0)]),
    ];
    let bands = [band(64, "Cons"), band(32, "Cons"), band(16, "Tree")];
    events.push((None, &kinds::HEAP_PROF_SAMPLE_STRING, 101, &bands[0]));
    events.push((None, &kinds::HEAP_PROF_SAMPLE_BEGIN, 200, &[Value::Number(0)]));
    events.push((None, &kinds::HEAP_PROF_SAMPLE_STRING, 201, &bands[1]));
    events.push((None, &kinds::HEAP_PROF_SAMPLE_STRING, 202, &bands[2]));
    log(types, &events)
}

static OF_8_4: [&Kind; 3] = [
    &kinds::HEAP_PROF_BEGIN,
    &kinds::HEAP_PROF_SAMPLE_BEGIN,
    &kinds::HEAP_PROF_SAMPLE_STRING,
];

/// The censuses in a log's timeline: their times, and bytes by band.
fn censuses(log: &[u8], salvage: bool) -> Vec<(u64, Vec<u64>)> {
    let timeline = Timeline::of(&mut merged(log, salvage)).unwrap();
    let censuses = timeline.profile.into_iter().flat_map(|profile| profile.censuses);
    censuses.map(|census| (census.at, census.bytes)).collect()
}

#[test]
fn samples_of_8_4_end_where_the_next_one_begins() {
    let log = of_8_4(&OF_8_4);
    assert_eq!(complaints(&log), [""; 0]);
    assert_eq!(censuses(&log, false), [(100, vec![64, 0]), (200, vec![32, 16])]);
    // The file is cut off within the last band, so its second sample is incomplete.
    let cut = &log[..log.len() - 20];
    assert_eq!(censuses(cut, true), [(100, vec![64])]);
    // A log that declares the end of samples must have one.
    let newer = of_8_4(&[&OF_8_4[..], &[&kinds::HEAP_PROF_SAMPLE_END]].concat());
    assert_eq!(complaints(&newer).len(), 1);
    assert!(complaints(&newer)[0].ends_with("a sample begins before the previous one has ended"));
    assert_eq!(censuses(&newer, false), []);
}

#[test]
fn ticky_counters_have_fewer_fields_in_older_versions() {
    let n = Value::Number;
    let all = [n(0x20), n(1), "M".into(), "go".into(), n(0x40), "{}".into()];
    let counter = |kind: &'static Kind, fields: usize| {
        let log = log(&[kind], &[(None, kind, 9, &all[..fields])]);
        assert_eq!(complaints(&log), [""; 0], "{fields}");
        shown(&log).remove(0)
    };
    let of_9_2 = "9: ticky counter 0x20: go, arity 1, kinds M";
    assert_eq!(counter(&TICKY_OF_9_2, 4), of_9_2);
    assert_eq!(counter(&TICKY_OF_9_4, 5), format!("{of_9_2}, info table 0x40"));
    assert_eq!(
        counter(&kinds::TICKY_COUNTER_DEF, 6),
        format!("{of_9_2}, info table 0x40, {{}}")
    );
}
