//! Small logs made by the writer, and the pitfalls of the format.

use gclab_eventlog::kinds::{self, number};
use gclab_eventlog::{Buffer, Event, Field, Form, Kind, Problem, Reader, Size, Value, Writer};

/// A log of two collections on two capabilities: a block for each, and one of global events.
pub(crate) fn small() -> Vec<u8> {
    let mut log = Writer::new(Vec::new(), kinds::current()).unwrap();
    let [mut first, mut second, mut global] = [Some(0), Some(1), None].map(Buffer::new);
    let n = Value::Number;
    first.event(&kinds::CREATE_THREAD, 100, &[n(1)]).unwrap();
    first.event(&kinds::RUN_THREAD, 110, &[n(1)]).unwrap();
    for at in [1000, 3000] {
        first.event(&kinds::STOP_THREAD, at - 20, &[n(1), n(1), n(0)]).unwrap();
        first.event(&kinds::REQUEST_PAR_GC, at - 10, &[]).unwrap();
        first.event(&kinds::GC_START, at, &[]).unwrap();
        second.event(&kinds::GC_START, at + 5, &[]).unwrap();
        second.event(&kinds::GC_WORK, at + 10, &[]).unwrap();
        second.event(&kinds::GC_IDLE, at + 100, &[]).unwrap();
        second.event(&kinds::GC_DONE, at + 250, &[]).unwrap();
        first
            .event(&kinds::HEAP_ALLOCATED, at + 300, &[n(0), n(8 * at)])
            .unwrap();
        second.event(&kinds::HEAP_ALLOCATED, at + 301, &[n(0), n(at)]).unwrap();
        first.event(&kinds::GC_GLOBAL_SYNC, at + 310, &[]).unwrap();
        let stats = [0, 1, 4096, 64, 128, 2, 3072, 4096, 2048].map(n);
        first.event(&kinds::GC_STATS_GHC, at + 320, &stats).unwrap();
        // GHC takes this time before it writes the two events above.
        first.event(&kinds::GC_END, at + 305, &[]).unwrap();
        second.event(&kinds::GC_END, at + 400, &[]).unwrap();
        first.event(&kinds::HEAP_LIVE, at + 330, &[n(0), n(at)]).unwrap();
        first.event(&kinds::HEAP_SIZE, at + 331, &[n(0), n(2 << 20)]).unwrap();
        first.event(&kinds::RUN_THREAD, at + 500, &[n(1)]).unwrap();
    }
    first
        .event(&kinds::USER_MARKER, 3600, &["phase \u{2713}".into()])
        .unwrap();
    for cap in [0, 1] {
        global.event(&kinds::CAP_CREATE, 50 + cap, &[n(cap)]).unwrap();
    }
    global
        .event(&kinds::RTS_IDENTIFIER, 60, &[n(0), "GHC-9.0.2 rts_thr_l".into()])
        .unwrap();
    global
        .event(&kinds::PROGRAM_ARGS, 61, &[n(0), Value::List(b"prog\0+RTS\0-l\0")])
        .unwrap();
    global
        .event(&kinds::HEAP_INFO_GHC, 62, &[0, 2, 0, 1 << 20, 1 << 20, 4096].map(n))
        .unwrap();
    let stack = [7_u32, 9].map(u32::to_be_bytes);
    global.event(&kinds::HEAP_PROF_SAMPLE_BEGIN, 3500, &[n(0)]).unwrap();
    global
        .event(
            &kinds::HEAP_PROF_SAMPLE_COST_CENTRE,
            3501,
            &[n(0), n(48), Value::Ids(&stack)],
        )
        .unwrap();
    global
        .event(&kinds::HEAP_PROF_SAMPLE_STRING, 3502, &[n(0), n(64), "Cons".into()])
        .unwrap();
    global.event(&kinds::HEAP_PROF_SAMPLE_END, 3503, &[n(0)]).unwrap();
    for buffer in [&mut first, &mut second, &mut global] {
        log.block(buffer, 4000).unwrap();
    }
    log.finish().unwrap()
}

/// A log with one block of `events`, for capability 3.
pub(crate) fn one_block(kinds: &[&'static Kind], fill: impl FnOnce(&mut Buffer)) -> Vec<u8> {
    let mut log = Writer::new(Vec::new(), kinds.iter().copied()).unwrap();
    let mut buffer = Buffer::new(Some(3));
    fill(&mut buffer);
    log.block(&mut buffer, 1000).unwrap();
    log.finish().unwrap()
}

/// Calls `look` with each event that is not a block marker. Returns the damage.
pub(crate) fn each(log: &[u8], mut look: impl FnMut(Event<'_>)) -> Option<gclab_eventlog::Error> {
    let mut reader = match Reader::new(log, "made.eventlog") {
        Ok(reader) => reader,
        Err(error) => return Some(error),
    };
    loop {
        match reader.next_event() {
            Ok(Some(event)) if event.known() == number::BLOCK_MARKER => {}
            Ok(Some(event)) => look(event),
            Ok(None) => return None,
            Err(error) => return Some(error),
        }
    }
}

#[test]
fn fields_round_trip() {
    let mut seen = Vec::new();
    let damage = each(&small(), |event| {
        if event.cap().is_none() {
            let name = event.kind().unwrap().name;
            let values: Vec<String> = event
                .fields()
                .map(|(field, value)| format!("{} {value:?}", field.name))
                .collect();
            seen.push(format!("{} {name} {}", event.time(), values.join(", ")));
        }
    });
    assert!(damage.is_none());
    assert_eq!(seen[0], "50 CAP_CREATE cap_no Number(0)");
    assert_eq!(
        seen[4],
        "62 HEAP_INFO_GHC capset Number(0), generations Number(2), max_heap Number(0), allocation_area Number(1048576), \
         megablock Number(1048576), block Number(4096)"
    );
    assert_eq!(
        seen[6],
        "3501 HEAP_PROF_SAMPLE_COST_CENTRE profile Number(0), bytes Number(48), stack Ids([[0, 0, 0, 7], [0, 0, 0, 9]])"
    );
    assert_eq!(
        seen[7],
        "3502 HEAP_PROF_SAMPLE_STRING profile Number(0), bytes Number(64), label Text([67, 111, 110, 115])"
    );
}

static NEW: Kind = Kind {
    number: 209,
    name: "NEW",
    description: "new",
    size: Size::Fixed { required: 1 },
    fields: &[Field {
        name: "x",
        form: Form::U16,
    }],
    text: "{x}",
};

static NEW_VARIABLE: Kind = Kind {
    number: 250,
    name: "NEW_VARIABLE",
    description: "new, variable",
    size: Size::Variable { required: 0 },
    fields: &[Field {
        name: "x",
        form: Form::Bytes,
    }],
    text: "{x}",
};

/// GC_START with a field that GHC does not write.
static LONGER: Kind = Kind {
    number: number::GC_START,
    name: "GC_START",
    description: "Starting GC",
    size: Size::Fixed { required: 1 },
    fields: &[Field {
        name: "x",
        form: Form::U32,
    }],
    text: "",
};

#[test]
fn unknown_types_and_unknown_fields_are_skipped() {
    let log = one_block(&[&NEW, &NEW_VARIABLE, &LONGER, &kinds::HEAP_LIVE], |buffer| {
        buffer.event(&NEW, 1, &[5.into()]).unwrap();
        buffer.event(&NEW_VARIABLE, 2, &[Value::Bytes(&[0xff; 300])]).unwrap();
        buffer.event(&LONGER, 3, &[6.into()]).unwrap();
        buffer.event(&kinds::HEAP_LIVE, 4, &[0.into(), 7.into()]).unwrap();
    });
    let mut seen = Vec::new();
    let damage = each(&log, |event| {
        let declared = event.declared();
        seen.push((
            event.known(),
            declared.description.clone(),
            event.payload().len(),
            event.fields().count(),
        ));
    });
    assert!(damage.is_none());
    let expected = [
        (u16::MAX, "new", 2, 0),
        (u16::MAX, "new, variable", 300, 0),
        (number::GC_START, "Starting GC", 4, 0),
        (number::HEAP_LIVE, "Current heap live data", 12, 2),
    ];
    assert_eq!(
        seen,
        expected.map(|(number, text, size, fields)| (number, text.to_owned(), size, fields))
    );
}

/// In GHC 8.2 the event has no balanced bytes.
#[test]
fn a_field_that_a_log_does_not_have_is_absent() {
    static OLD: Kind = Kind {
        fields: kinds::GC_STATS_GHC.fields.split_at(8).0,
        ..Kind {
            number: number::GC_STATS_GHC,
            name: "GC_STATS_GHC",
            description: "GC statistics",
            size: Size::Fixed { required: 8 },
            fields: &[],
            text: "",
        }
    };
    let log = one_block(&[&OLD], |buffer| {
        buffer
            .event(&OLD, 1, &[0, 1, 2, 3, 4, 5, 6, 7].map(Value::Number))
            .unwrap();
    });
    let mut seen = None;
    assert!(each(&log, |event| seen = Some(event.numbers::<9>())).is_none());
    let [.., total, balanced] = seen.unwrap();
    assert_eq!((total, balanced), (Some(7), None));
}

/// Other readers would put the event after an empty block into it.
#[test]
fn an_empty_block_is_not_written_and_ends_at_once() {
    let mut log = Writer::new(Vec::new(), [&kinds::GC_START]).unwrap();
    let mut buffer = Buffer::new(Some(3));
    log.block(&mut buffer, 5).unwrap();
    let header = Writer::new(Vec::new(), [&kinds::GC_START]).unwrap().finish().unwrap();
    assert_eq!(log.finish().unwrap(), header);

    let full = one_block(&[&kinds::GC_START], |buffer| {
        buffer.event(&kinds::GC_START, 5, &[]).unwrap()
    });
    let at = header.len() - 2;
    let mut empty = full.clone();
    empty[at + 10..at + 14].copy_from_slice(&24_u32.to_be_bytes());
    for (log, cap) in [(full, Some(3)), (empty, None)] {
        let mut caps = Vec::new();
        assert!(each(&log, |event| caps.push(event.cap())).is_none());
        assert_eq!(caps, [cap]);
    }
}

/// GHC 9.2 and later put it there.
#[test]
fn the_end_mark_may_end_the_last_block() {
    let mut log = one_block(&[&kinds::GC_START], |buffer| {
        buffer.event(&kinds::GC_START, 5, &[]).unwrap()
    });
    let at = log.len() - 2 - 10 - 24;
    log[at + 10..at + 14].copy_from_slice(&36_u32.to_be_bytes());
    let mut events = 0;
    assert!(each(&log, |_| events += 1).is_none());
    assert_eq!(events, 1);
    let mut merged = gclab_eventlog::Merged::new(std::io::Cursor::new(&log), "made", false).unwrap();
    while merged.next_event().unwrap().is_some() {
        events += 1;
    }
    assert_eq!(events, 3);
    log.push(0);
    let error = each(&log, |_| {}).unwrap();
    assert!(matches!(error.problem(), Problem::Trailing), "{error}");
    // The mark, followed by an event in the same block.
    let mut early = one_block(&[&kinds::GC_START], |buffer| {
        buffer.event(&kinds::GC_START, 5, &[]).unwrap();
        buffer.event(&kinds::GC_START, 6, &[]).unwrap();
    });
    let at = early.len() - 2 - 20;
    early[at..at + 2].copy_from_slice(&[0xff, 0xff]);
    let error = each(&early, |_| {}).unwrap();
    assert_eq!(
        error.to_string(),
        format!(
            "made.eventlog: byte {}: the data ends here, but more bytes follow",
            at + 2
        )
    );
    let mut merged = gclab_eventlog::Merged::new(std::io::Cursor::new(&early), "made.eventlog", false).unwrap();
    assert_eq!(merged.next_event().unwrap().unwrap().known(), number::BLOCK_MARKER);
    assert_eq!(merged.next_event().unwrap_err().to_string(), error.to_string());
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let mut buffer = Buffer::new(None);
    let mut refused = |kind, values: &[Value<'_>]| buffer.event(kind, 1, values).unwrap_err().to_string();
    assert_eq!(refused(&kinds::RUN_THREAD, &[]), "RUN_THREAD: 0 values for 1 fields");
    assert_eq!(
        refused(&kinds::RUN_THREAD, &[(1_u64 << 32).into()]),
        "RUN_THREAD: `thread` is 4294967296, which needs more than 4 bytes"
    );
    assert_eq!(
        refused(&kinds::USER_MSG, &[7.into()]),
        "USER_MSG: `message` is Number(7), expected Text"
    );
    assert_eq!(
        refused(&kinds::USER_MSG, &["a\0b".into()]),
        "USER_MSG: `message` has a NUL"
    );
    let long = "x".repeat(65536);
    assert_eq!(
        refused(&kinds::USER_MSG, &[long[..].into()]),
        "USER_MSG: 65536 bytes, more than 65535"
    );
    assert!(buffer.is_empty());
    buffer.event(&kinds::USER_MSG, 1, &[long[..65535].into()]).unwrap();
    assert_eq!(buffer.len(), 12 + 65535);
}
