//! Events as lines of text and JSON.

use std::io::Cursor;

use gclab_eventlog::kinds::{self, number};
use gclab_eventlog::{Filter, Interval, Lines, Merged, Reader, Value, show};
use serde_json::Value as Json;

use crate::made::{one_block, small};
use crate::real::{log, logs};

fn lines(log: &[u8], wanted: &Filter, lines: Lines) -> Vec<String> {
    let mut merged = Merged::new(Cursor::new(log), "log", false).unwrap();
    let mut out = Vec::new();
    show(&mut merged, wanted, lines, &mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn text_matches_ghc_events() {
    let shown = lines(&small(), &Filter::default(), Lines::Text);
    assert_eq!(
        shown[..13],
        [
            "       50: created cap 0",
            "       51: created cap 1",
            "       60: capset 0: RTS version \"GHC-9.0.2 rts_thr_l\"",
            "       61: capset 0: args: [\"prog\",\"+RTS\",\"-l\"]",
            "       62: heap stats for heap capset 0: generations 2, 0 bytes max heap size, 1048576 bytes alloc area size, 1048576 bytes \
             mblock size, 4096 bytes block size",
            "      100: cap 0: creating thread 1",
            "      110: cap 0: running thread 1",
            "      980: cap 0: stopping thread 1 (heap overflow)",
            "      990: cap 0: requesting parallel GC",
            "     1000: cap 0: starting GC",
            "     1005: cap 1: starting GC",
            "     1010: cap 1: GC working",
            "     1100: cap 1: GC idle",
        ]
    );
    assert!(shown.contains(&"     3600: cap 0: marker: phase \u{2713}".to_owned()));
    assert!(shown.contains(&"     3501: heap prof sample 0, residency 48, cost centre stack 7, 9".to_owned()));
}

#[test]
fn every_event_of_every_log_is_a_line_and_an_object() {
    for name in logs() {
        let log = log(&name);
        let mut reader = Reader::new(&log[..], &name).unwrap();
        let mut events = 0;
        while let Some(event) = reader.next_event().unwrap() {
            events += usize::from(event.known() != number::BLOCK_MARKER);
        }
        let text = lines(&log, &Filter::default(), Lines::Text);
        assert_eq!(text.len(), events, "{name}");
        assert!(!text.iter().any(|line| line.contains('?')), "{name}");
        let json = lines(&log, &Filter::default(), Lines::Json);
        assert_eq!(json.len(), events, "{name}");
        for line in json {
            let object: Json = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{name}: {error}: {line}"));
            let named = kinds::named(object["event"].as_str().unwrap()).unwrap();
            let properties = 2 + usize::from(!object["cap"].is_null()) + named.fields.len();
            assert_eq!(object.as_object().unwrap().len(), properties, "{name}: {line}");
        }
    }
}

#[test]
fn json_values_are_the_logs() {
    let wanted = Filter {
        types: vec![
            number::PROGRAM_ARGS,
            number::HEAP_PROF_SAMPLE_COST_CENTRE,
            number::STOP_THREAD,
        ],
        ..Filter::default()
    };
    assert_eq!(
        lines(&small(), &wanted, Lines::Json),
        [
            r#"{"time":61,"event":"PROGRAM_ARGS","capset":0,"args":["prog","+RTS","-l"]}"#,
            r#"{"time":980,"cap":0,"event":"STOP_THREAD","thread":1,"status":1,"info":0}"#,
            r#"{"time":2980,"cap":0,"event":"STOP_THREAD","thread":1,"status":1,"info":0}"#,
            r#"{"time":3501,"event":"HEAP_PROF_SAMPLE_COST_CENTRE","profile":0,"bytes":48,"stack":[7,9]}"#,
        ]
    );
}

#[test]
fn filters_choose_by_type_capability_and_time() {
    let count = |wanted: &Filter| lines(&small(), wanted, Lines::Text).len();
    let all = count(&Filter::default());
    let wanted = |caps: &[Option<u16>], from, to| Filter {
        caps: caps.to_vec(),
        interval: Interval { from, to },
        ..Filter::default()
    };
    let [zero, one, global] = [Some(0), Some(1), None].map(|cap| count(&wanted(&[cap], 0, None)));
    assert_eq!((one, global, zero + one + global), (12, 9, all));
    assert_eq!(count(&wanted(&[Some(0), None], 0, None)), zero + global);
    assert_eq!(
        count(&wanted(&[], 0, Some(1000))) + count(&wanted(&[], 1000, None)),
        all
    );
    let markers = Filter {
        types: vec![number::BLOCK_MARKER],
        ..Filter::default()
    };
    assert_eq!(count(&markers), 3);
}

#[test]
fn types_and_versions_that_are_not_in_the_table_are_shown() {
    use gclab_eventlog::{Field, Form, Kind, Size};
    const NUMBERS: [Field; 4] = [
        Field {
            name: "a",
            form: Form::U16,
        },
        Field {
            name: "b",
            form: Form::U32,
        },
        Field {
            name: "c",
            form: Form::U32,
        },
        Field {
            name: "d",
            form: Form::U32,
        },
    ];
    static CENSUS: Kind = Kind {
        number: number::NONMOVING_HEAP_CENSUS,
        name: "",
        description: "",
        size: Size::Fixed { required: 4 },
        fields: &NUMBERS,
        text: "",
    };
    static NEW: Kind = Kind {
        number: 209,
        name: "",
        description: "a \"new\" one",
        size: Size::Fixed { required: 4 },
        fields: &NUMBERS,
        text: "",
    };
    let log = one_block(&[&CENSUS, &NEW], |buffer| {
        for kind in [&CENSUS, &NEW] {
            buffer.event(kind, 5, &[24, 2, 3, 4].map(Value::Number)).unwrap();
        }
    });
    assert_eq!(
        lines(&log, &Filter::default(), Lines::Text),
        [
            "        5: cap 3: nonmoving heap census: cells of 24 bytes: 2 active segments, 3 filled segments, 4 live blocks",
            "        5: cap 3: unknown event type 209 (a \"new\" one), 14 bytes",
        ]
    );
    assert_eq!(
        lines(&log, &Filter::default(), Lines::Json),
        [
            r#"{"time":5,"cap":3,"event":"NONMOVING_HEAP_CENSUS","cell_bytes":24,"active_segments":2,"filled_segments":3,"live_blocks":4}"#,
            r#"{"time":5,"cap":3,"event":null,"number":209,"description":"a \"new\" one","bytes":14}"#,
        ]
    );
}

/// The lines before the damage are written.
#[test]
fn a_damaged_log_is_shown_up_to_the_damage() {
    let mut log = small();
    let end = log.len() - 40;
    log.truncate(end);
    let mut merged = Merged::new(Cursor::new(&log), "cut", true).unwrap();
    let mut out = Vec::new();
    show(&mut merged, &Filter::default(), Lines::Text, &mut out).unwrap();
    assert!(merged.damage().is_some());
    assert!(String::from_utf8(out).unwrap().lines().count() > 40);
}

/// The lines of a log in which one thread stops for each reason, with type 58 and perhaps 59.
fn stops(with_59: bool) -> Vec<String> {
    let mut types = vec![&kinds::STOP_THREAD, &kinds::USER_MARKER];
    types.extend(with_59.then_some(&kinds::HACK_BUG_T9003));
    let log = one_block(&types, |buffer| {
        for status in 0..=21 {
            let stop = [1, status, 77].map(Value::Number);
            buffer.event(&kinds::STOP_THREAD, status, &stop).unwrap();
        }
    });
    let lines = lines(&log, &Filter::default(), Lines::Text).into_iter();
    lines
        .map(|line| line.split_once('(').unwrap().1.trim_end_matches(')').to_owned())
        .collect()
}

#[test]
fn a_stop_at_a_black_hole_names_the_owner() {
    let shown = stops(true);
    assert_eq!(shown[8], "blocked on black hole owned by thread 77");
    assert_eq!(
        (&shown[7][..], &shown[18][..], &shown[21][..]),
        ("blocked on an MVar", "blocked on throwTo", "21")
    );
    assert_eq!(shown.iter().filter(|text| text.contains("77")).count(), 1);
}

/// GHC 7.8.2 numbers them differently, and does not declare type 59.
#[test]
fn the_reasons_of_stops_are_those_of_the_logs_version() {
    let (new, old) = (stops(true), stops(false));
    assert_eq!(old[..8], new[..8]);
    assert_eq!(
        (&old[8], &old[9][..]),
        (&new[20], "blocked on black hole owned by thread 77")
    );
    assert_eq!((&old[10], &old[20]), (&new[9], &new[19]));
    assert_eq!(old[21], "21");
}

#[test]
fn a_show_counts_its_lines() {
    let mut merged = Merged::new(Cursor::new(small()), "log", false).unwrap();
    assert_eq!(merged.caps().collect::<Vec<_>>(), [Some(0), Some(1), None]);
    let wanted = Filter {
        types: vec![number::GC_START],
        ..Filter::default()
    };
    let shown = show(&mut merged, &wanted, Lines::Text, &mut std::io::sink()).unwrap();
    assert_eq!((shown.lines, shown.last_ns), (4, 3600));
}

/// Lines that `ghc-events show` (0.17) prints for these logs.
#[test]
fn lines_of_profiles_and_settings_have_the_words_of_ghc_events() {
    for (name, expected) in [
        (
            "retain-p-hc.eventlog",
            "start time profiling, tick interval 5000000 (ns)",
        ),
        ("retain-p-hc.eventlog", "created capset 0 of type CapsetOsProcess"),
        ("retain-hb.eventlog", "start heap prof sample 5 at time 86099919"),
        (
            "grow-thr-n2-nonmoving.a.eventlog",
            "concurrent mark ended: marked 13 objects",
        ),
        ("retain-hb.eventlog", "heap prof sample 0, residency 792672, label VOID"),
        (
            "grow-thr-n2-nonmoving.a.eventlog",
            "cap 1: update remembered set flushed by 1",
        ),
    ] {
        let text = lines(&log(name), &Filter::default(), Lines::Text);
        let found = text
            .iter()
            .any(|line| line.split_once(": ").is_some_and(|(_, words)| words == expected));
        assert!(found, "{name}: {expected}");
    }
}
