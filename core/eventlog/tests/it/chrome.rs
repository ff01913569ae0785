//! Trace events: the rules of their format, and the same numbers as in the log they come from.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;

use gclab_eventlog::kinds;
use gclab_eventlog::{Buffer, Interval, Merged, Reader, Summary, Value, Writer, chrome};
use serde_json::Value as Json;

use crate::made::small;
use crate::real::{log, logs};

fn traced(log: &[u8], interval: Interval) -> Vec<Json> {
    let mut merged = Merged::new(Cursor::new(log), "log", true).unwrap();
    let mut out = Vec::new();
    let count = chrome(&mut merged, interval, &mut out).unwrap().lines;
    let object: Json = serde_json::from_slice(&out).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&out));
    });
    // With a coarser unit chrome://tracing rounds times, and nests adjacent slices.
    assert_eq!(object["displayTimeUnit"], "ns");
    let events = object["traceEvents"].as_array().unwrap().clone();
    assert_eq!(events.len() as u64, count);
    valid(&events);
    events
}

/// Microseconds to nanoseconds.
fn ns(time: &Json) -> u64 {
    (time.as_f64().unwrap() * 1000.0).round() as u64
}

fn text<'a>(event: &'a Json, key: &str) -> &'a str {
    event[key].as_str().unwrap_or_else(|| panic!("{key} of {event}"))
}

/// The rules of the format: each phase has the right properties, and the slices of a track nest.
fn valid(events: &[Json]) {
    let mut named = BTreeSet::new();
    let mut slices = BTreeMap::<u64, Vec<(u64, u64)>>::new();
    for event in events {
        let track = event["tid"].as_u64().unwrap();
        assert!(track > 0 && event["pid"] == 1, "{event}");
        let keys = |all: &[&str]| {
            let found: BTreeSet<&str> = event.as_object().unwrap().keys().map(String::as_str).collect();
            let optional = |key: &&str| !["args", "cat"].contains(key);
            let found: BTreeSet<&str> = found.into_iter().filter(optional).collect();
            let all: BTreeSet<&str> = all.iter().copied().chain(["ph", "pid", "tid", "name"]).collect();
            assert_eq!(found, all, "{event}");
        };
        assert!(event["name"].is_string(), "{event}");
        match text(event, "ph") {
            "M" => {
                keys(&[]);
                let value = match text(event, "name") {
                    "process_name" | "thread_name" => &event["args"]["name"],
                    _ => &event["args"]["sort_index"],
                };
                assert!(!value.is_null(), "{event}");
                if event["name"] == "thread_name" {
                    named.insert(track);
                }
            }
            "X" => {
                keys(&["ts", "dur"]);
                assert!(named.contains(&track), "{event}");
                let from = ns(&event["ts"]);
                slices.entry(track).or_default().push((from, from + ns(&event["dur"])));
            }
            "C" => {
                keys(&["ts"]);
                let values = event["args"].as_object().unwrap();
                assert!(values.values().all(Json::is_u64), "{event}");
            }
            "i" => {
                keys(&["ts", "s"]);
                assert!(["g", "p", "t"].contains(&text(event, "s")) && named.contains(&track));
            }
            other => panic!("phase {other}"),
        }
    }
    for (track, mut slices) in slices {
        slices.sort_unstable_by_key(|(from, to)| (*from, u64::MAX - to));
        let mut open: Vec<u64> = Vec::new();
        for (from, to) in slices {
            open.retain(|end| *end > from);
            let inside = open.iter().all(|end| to <= *end);
            assert!(inside, "track {track}: {from} to {to} crosses the end of another slice");
            open.push(to);
        }
    }
}

/// Count and total length of the slices whose names start with `name`.
fn sum(events: &[Json], name: &str) -> (u64, u64) {
    let slices = events
        .iter()
        .filter(|event| event["ph"] == "X" && text(event, "name").starts_with(name));
    slices.fold((0, 0), |(count, sum), event| (count + 1, sum + ns(&event["dur"])))
}

#[test]
fn traces_of_ghcs_logs_keep_the_formats_rules_and_the_logs_times() {
    for name in logs() {
        let log = log(&name);
        let mut reader = Reader::new(&log[..], &name).unwrap();
        let summary = Summary::of(&mut reader, Interval::default()).unwrap();
        let events = traced(&log, Interval::default());
        let caps = summary.caps.iter();
        let gc: u64 = caps.clone().map(|cap| cap.gc_ns).sum();
        let idle: u64 = caps.map(|cap| cap.idle_ns).sum();
        assert_eq!(sum(&events, "GC gen "), (summary.cap_pauses.count(), gc), "{name}");
        assert_eq!(sum(&events, "GC idle").1, idle, "{name}");
        let stops = summary.time_to_stop.map_or(0, |stops| stops.total_ns);
        assert_eq!(sum(&events, "stopping for GC").1, stops, "{name}");
        let syncs = summary.nonmoving_sync;
        let syncs = syncs.map_or((0, 0), |syncs| (syncs.count, syncs.total_ns));
        assert_eq!(sum(&events, "nonmoving sync"), syncs, "{name}");
        if name == "grow-thr-n2-nonmoving.a.eventlog.gz" {
            assert_eq!(syncs.0, 5);
        }
        for (number, generation) in summary.generations.iter().enumerate() {
            let (count, _) = sum(&events, &format!("GC gen {number}"));
            assert!(count >= generation.collections, "{name}: {count}");
        }
        let counted = events.iter().filter(|event| event["ph"] == "C");
        let last = |counter: &str| {
            let mut all = counted.clone().filter(|event| event["name"] == counter);
            all.next_back().map(|event| event["args"]["bytes"].as_u64().unwrap())
        };
        assert_eq!(last("allocated"), summary.allocated, "{name}");
        assert!(last("heap size") <= summary.peak_heap, "{name}");
    }
}

#[test]
fn the_trace_of_a_small_log() {
    let events = traced(&small(), Interval::default());
    let named = |name: &str| {
        let all = events.iter().filter(|event| event["name"] == name);
        all.cloned().collect::<Vec<_>>()
    };
    let processes = named("process_name");
    assert_eq!(processes.last().unwrap()["args"]["name"], "prog");
    let threads = named("thread 1");
    assert_eq!(threads[0]["args"]["stop"], "heap overflow");
    assert_eq!((ns(&threads[0]["ts"]), ns(&threads[0]["dur"])), (110, 870));
    // The last run is still open at the end of the log.
    assert_eq!(
        (threads.len(), ns(&threads[2]["ts"]), ns(&threads[2]["dur"])),
        (3, 3500, 100)
    );
    let collections = named("GC gen 1");
    assert_eq!(collections.len(), 4);
    assert_eq!(
        collections
            .iter()
            .map(|event| event["tid"].as_u64().unwrap())
            .sum::<u64>(),
        2 + 3 + 2 + 3
    );
    let markers = named("phase \u{2713}");
    assert_eq!((ns(&markers[0]["ts"]), &markers[0]["s"]), (3600, &"p".into()));
    let part = traced(
        &small(),
        Interval {
            from: 1100,
            to: Some(1200),
        },
    );
    let (count, sum) = sum(&part, "GC gen 1");
    assert_eq!((count, sum), (2, 200));
}

/// Threads that run during a collection, collections inside others, ends without starts.
#[test]
fn slices_nest_whatever_the_log_says() {
    let mut state = 7_u64;
    let mut draw = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let n = Value::Number;
    for _ in 0..200 {
        let mut log = Writer::new(Vec::new(), kinds::current()).unwrap();
        for cap in 0..2 {
            let mut buffer = Buffer::new(Some(cap));
            let mut time = 100;
            for _ in 0..60 {
                time += draw(40);
                time -= draw(20);
                let mut put = |kind, values: &[Value<'_>]| buffer.event(kind, time, values).unwrap();
                match draw(14) {
                    0 | 1 => put(&kinds::RUN_THREAD, &[n(draw(3))]),
                    2 => put(&kinds::STOP_THREAD, &[n(draw(3)), n(1), n(0)]),
                    3 => put(&kinds::GC_START, &[]),
                    4 => put(&kinds::GC_END, &[]),
                    5 => put(&kinds::GC_IDLE, &[]),
                    6 => put(&kinds::GC_WORK, &[]),
                    7 => put(&kinds::GC_DONE, &[]),
                    8 => put(&kinds::REQUEST_SEQ_GC, &[]),
                    11 => put(
                        [&kinds::CONC_SYNC_BEGIN, &kinds::CONC_SWEEP_BEGIN][draw(2) as usize],
                        &[],
                    ),
                    12 => put([&kinds::CONC_SYNC_END, &kinds::CONC_SWEEP_END][draw(2) as usize], &[]),
                    13 if draw(2) == 0 => put(&kinds::CONC_MARK_BEGIN, &[]),
                    13 => put(&kinds::CONC_MARK_END, &[n(1)]),
                    9 => put(&kinds::GC_STATS_GHC, &[0, draw(2), 0, 0, 0, 1, 0, 0, 0].map(n)),
                    _ => put(&kinds::HEAP_SIZE, &[n(0), n(draw(1 << 20))]),
                }
            }
            log.block(&mut buffer, time).unwrap();
        }
        traced(&log.finish().unwrap(), Interval::default());
    }
}

/// The JSON object is complete, so viewers can open it.
#[test]
fn the_trace_of_a_damaged_log_is_whole() {
    let log = log("phases-thr-n2.a.eventlog");
    let cut = &log[..20_000];
    for salvage in [true, false] {
        let Ok(mut merged) = Merged::new(Cursor::new(cut), "cut", salvage) else {
            continue;
        };
        let mut out = Vec::new();
        let done = chrome(&mut merged, Interval::default(), &mut out);
        assert_eq!(done.is_ok(), salvage);
        let object: Json = serde_json::from_slice(&out).unwrap();
        assert!(object["traceEvents"].as_array().unwrap().len() > if salvage { 100 } else { 0 });
    }
}

/// A phase of the nonmoving collector that does not end in the log lasts until its last event.
#[test]
fn open_phases_of_the_nonmoving_collector_are_in_the_trace() {
    let mut log = Writer::new(Vec::new(), kinds::current()).unwrap();
    let mut buffer = Buffer::new(Some(0));
    for (kind, time) in [
        (&kinds::CONC_SYNC_BEGIN, 100),
        (&kinds::CONC_SYNC_BEGIN, 110),
        (&kinds::CONC_MARK_BEGIN, 120),
        (&kinds::GC_START, 150),
    ] {
        buffer.event(kind, time, &[]).unwrap();
    }
    log.block(&mut buffer, 150).unwrap();
    let events = traced(&log.finish().unwrap(), Interval::default());
    assert_eq!(sum(&events, "nonmoving sync"), (1, 40));
    assert_eq!(sum(&events, "concurrent mark"), (1, 30));
}

/// What a capability was doing when it was damaged used to last until the end of the log.
#[test]
fn slices_of_a_capability_end_at_its_damage() {
    let log = crate::damage::damaged();
    let [first, _] = crate::damage::last_times(&log);
    let events = traced(&log, Interval::default());
    let track = |name: &str| {
        let named = |event: &&Json| event["name"] == "thread_name" && event["args"]["name"] == name;
        events.iter().find(named).unwrap()["tid"].clone()
    };
    let end = |name: &str| {
        let track = track(name);
        let slices = events
            .iter()
            .filter(|event| event["ph"] == "X" && event["tid"] == track);
        slices.map(|slice| ns(&slice["ts"]) + ns(&slice["dur"])).max().unwrap()
    };
    assert!(end("cap 0") <= first, "{} {first}", end("cap 0"));
    assert!(end("cap 1") > first);
}
