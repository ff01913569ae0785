//! Summaries have the numbers that the same runs printed.

mod blocks;
mod cut_off;
mod looks;

use std::collections::BTreeMap;

use gclab_eventlog::{Figure, Interval, Reader, Summary};
use serde_json::Value as Json;

use crate::made::small;
use crate::real::{log, logs, manifest};

fn summary(log: &[u8], interval: Interval) -> Summary {
    let mut reader = Reader::new(log, "log").unwrap();
    Summary::of(&mut reader, interval).unwrap()
}

/// A summary's numbers, in the form of the manifest.
fn figures(summary: &Summary) -> BTreeMap<String, Json> {
    let all = summary.figures();
    let count = all.len();
    let named: BTreeMap<String, Json> = all
        .into_iter()
        .map(|(name, figure)| match figure {
            Figure::Integer(number) => (name, number.into()),
            Figure::Decimal(text) | Figure::Text(text) => (name, text.into()),
            Figure::Share(share) => (name, share.into()),
            Figure::Flag(is) => (name, is.into()),
        })
        .collect();
    assert_eq!(named.len(), count, "a name occurs twice");
    named
}

fn of(name: &str) -> BTreeMap<String, Json> {
    figures(&summary(&log(name), Interval::default()))
}

#[test]
fn every_figure_that_a_log_determines_is_ghcs() {
    let mut compared = 0;
    for entry in manifest() {
        let name = entry["log"].as_str().unwrap();
        let found = of(name);
        for (figure, value) in entry["must_equal"].as_object().unwrap() {
            assert_eq!(found.get(figure), Some(value), "{name}: {figure}");
            compared += 1;
        }
    }
    assert!(compared > 600, "{compared}");
}

#[test]
fn a_figure_that_is_not_in_the_log_is_absent() {
    for entry in manifest() {
        let name = entry["log"].as_str().unwrap();
        let found = of(name);
        for figure in entry["absent"].as_array().unwrap() {
            assert!(!found.contains_key(figure.as_str().unwrap()), "{name}: {figure}");
        }
    }
}

/// GHC's seconds with six decimals agree within some microseconds, those with three up to rounding.
/// The productivity of a profiled run excludes censuses. The peak of memory is a lower bound.
#[test]
fn approximate_figures_are_near_ghcs() {
    let mut compared = 0;
    for entry in manifest() {
        let name = entry["log"].as_str().unwrap();
        let found = of(name);
        for (figure, both) in entry["near"].as_object().unwrap() {
            let number = |value: &Json| value.as_f64().or_else(|| value.as_str()?.parse().ok()).unwrap();
            let ghc = number(&both[0]);
            let ours = number(&found[figure]);
            let is_near = match &figure[..] {
                "total_wall_seconds" | "nonmoving_sync_wall_seconds" => (ours - ghc).abs() <= 3e-6,
                "init_wall_seconds" | "mut_wall_seconds" => (ours - ghc).abs() <= 5e-6,
                "exit_wall_seconds" => (ours - ghc).abs() <= 10e-6,
                "Total_elapsed_s" | "INIT_elapsed_s" | "MUT_elapsed_s" => (ours - ghc).abs() < 0.00101,
                "EXIT_elapsed_s" => (ours - ghc).abs() < 0.00101 || name.starts_with("retain"),
                "productivity_elapsed" if name.starts_with("retain") => (ours - ghc).abs() <= 13.0,
                "productivity_elapsed" => (ours - ghc).abs() < 0.11,
                "productivity_wall_percent" => (ours - ghc).abs() <= 0.0005,
                "GC_elapsed_s" => ours >= ghc,
                _ => ours <= ghc && ours == number(&both[1]),
            };
            assert!(is_near, "{name}: {figure} is {ours}, GHC has {ghc}");
            compared += 1;
        }
    }
    assert!(compared > 80, "{compared}");
}

/// Two intervals of one run add up to the run.
#[test]
fn intervals_add_up() {
    for entry in manifest() {
        let name = entry["log"].as_str().unwrap();
        let log = log(name);
        let whole = summary(&log, Interval::default());
        let middle = whole.total_ns.unwrap() / 2;
        let first = Interval {
            from: 0,
            to: Some(middle),
        };
        let second = Interval { from: middle, to: None };
        let halves = [summary(&log, first), summary(&log, second)];
        let sum = |figure: &dyn Fn(&Summary) -> u64| (halves.iter().map(figure).sum::<u64>(), figure(&whole));
        for (halves, whole) in [
            sum(&|part| part.allocated.unwrap()),
            sum(&|part| part.copied.unwrap()),
            sum(&|part| part.collections.unwrap()),
            sum(&|part| part.gc_ns.unwrap()),
            sum(&|part| part.total_ns.unwrap()),
            sum(&|part| part.mutator_ns.unwrap()),
            sum(&|part| part.init_ns.unwrap()),
            sum(&|part| part.exit_ns.unwrap()),
            sum(&|part| part.caps.iter().map(|cap| cap.idle_ns + cap.gc_ns).sum()),
            sum(&|part| part.live.map_or(0, |live| live.samples)),
            sum(&|part| part.sparks.unwrap_or_default().converted),
        ] {
            assert_eq!(halves, whole, "{name}");
        }
        let most = |figure: fn(&Summary) -> Option<u64>| halves.iter().filter_map(figure).max();
        assert_eq!(most(|part| part.peak_heap), whole.peak_heap, "{name}");
        assert_eq!(
            most(|part| part.live.map(|live| live.max)),
            whole.live.map(|live| live.max),
            "{name}"
        );
    }
}

/// The log made here has two collections, at 1000 and at 3000, each of 305 ns.
#[test]
fn pauses_idle_time_and_utilisation_of_a_small_log() {
    let whole = summary(&small(), Interval::default());
    assert_eq!((whole.pauses.count(), whole.pauses.total_ns()), (2, 610));
    assert_eq!((whole.cap_pauses.count(), whole.cap_pauses.longest_ns()), (4, 395));
    // The capabilities' last allocation counts have two times; this is the earlier.
    assert_eq!(whole.total_ns, Some(3300));
    let stops = whole.time_to_stop.unwrap();
    assert_eq!((stops.count, stops.total_ns, stops.max_ns), (2, 20, 10));
    let caps: Vec<_> = whole
        .caps
        .iter()
        .map(|cap| (cap.cap, cap.gc_ns, cap.idle_ns, cap.done_ns))
        .collect();
    assert_eq!(caps, [(0, 610, 0, 0), (1, 790, 300, 300)]);
    assert_eq!(whole.parallel.unwrap().balance(), 0.5);
    assert_eq!(
        (whole.rts.as_deref(), &whole.args[..]),
        (
            Some("GHC-9.0.2 rts_thr_l"),
            &["prog", "+RTS", "-l"].map(str::to_owned)[..]
        )
    );
    // From inside the first collection to inside the second.
    let part = summary(
        &small(),
        Interval {
            from: 1100,
            to: Some(3100),
        },
    );
    assert_eq!(
        (part.collections, part.gc_ns, part.total_ns),
        (Some(1), Some(205 + 100), Some(2000))
    );
    assert_eq!((part.allocated, part.copied), (Some(16_000 + 2000), Some(4096)));
    let cap = part.caps[1];
    assert_eq!((cap.gc_ns, cap.idle_ns, cap.done_ns), (300 + 95, 150, 150));
}

/// GHC writes the start and the end of a sync twice: the inner pair is its length. Its own count is
/// that of major collections.
#[test]
fn a_sync_that_is_written_twice_counts_once() {
    use gclab_eventlog::kinds::{CONC_SYNC_BEGIN, CONC_SYNC_END};
    let syncs = |events: &[(&'static gclab_eventlog::Kind, u64)]| {
        let log = crate::made::one_block(&[&CONC_SYNC_BEGIN, &CONC_SYNC_END], |buffer| {
            for (kind, time) in events {
                buffer.event(kind, *time, &[]).unwrap();
            }
        });
        let mut summary = summary(&log, Interval::default());
        summary.major = Some(7);
        let sync = summary.nonmoving_sync.unwrap();
        (sync.count, sync.total_ns, sync.max_ns, summary.syncs().unwrap().count)
    };
    let ghc = [
        (&CONC_SYNC_BEGIN, 10),
        (&CONC_SYNC_BEGIN, 20),
        (&CONC_SYNC_END, 50),
        (&CONC_SYNC_END, 90),
    ];
    assert_eq!(syncs(&ghc), (1, 30, 30, 7));
    let ours = [
        (&CONC_SYNC_BEGIN, 10),
        (&CONC_SYNC_END, 50),
        (&CONC_SYNC_BEGIN, 80),
        (&CONC_SYNC_END, 90),
    ];
    assert_eq!(syncs(&ours), (2, 50, 40, 2));
}

/// Events of capability 0: the main thread's call starts with the log, and does not end in it.
fn call_from_the_start() -> gclab_eventlog::Buffer {
    use gclab_eventlog::{Buffer, kinds};
    let mut buffer = Buffer::new(Some(0));
    let n = gclab_eventlog::Value::Number;
    buffer.event(&kinds::OSPROCESS_PID, 0, &[n(0), n(7)]).unwrap();
    buffer.event(&kinds::TASK_CREATE, 0, &[n(1), n(0), n(7)]).unwrap();
    buffer
}

/// Pauses that overlap, in a log with wrong times, count once.
#[test]
fn overlapping_pauses_count_once_for_utilisation() {
    use gclab_eventlog::{Buffer, Writer, kinds};
    let mut log = Writer::new(Vec::new(), kinds::current()).unwrap();
    log.block(&mut call_from_the_start(), 0).unwrap();
    for (cap, start, end) in [(0, 1_000_000, 3_000_000), (1, 2_000_000, 4_000_000)] {
        let mut buffer = Buffer::new(Some(cap));
        buffer.event(&kinds::GC_START, start, &[]).unwrap();
        buffer
            .event(&kinds::GC_STATS_GHC, start, &[0; 9].map(gclab_eventlog::Value::Number))
            .unwrap();
        buffer.event(&kinds::GC_END, end, &[]).unwrap();
        buffer
            .event(&kinds::HEAP_ALLOCATED, 10_000_000, &[0.into(), 8.into()])
            .unwrap();
        log.block(&mut buffer, 10_000_000).unwrap();
    }
    let summary = summary(&log.finish().unwrap(), Interval::default());
    assert_eq!(summary.utilisation, [(1_000_000, 0.0), (10_000_000, 0.7)]);
    assert_eq!(summary.mutator_ns, Some(7_000_000));
}

/// A summary starts with what stands out: how long capabilities waited, collections, slow stops,
/// sparks, and censuses.
#[test]
fn a_summary_begins_with_its_conclusion() {
    let said = |name: &str| summary(&log(name), Interval::default()).sentences();
    assert_eq!(
        said("sparks-thr-n2.a.eventlog"),
        [
            "The capabilities ran the program for 18 % and 8 % and waited for 45 % and 55 %.",
            "GC 37.2 %, mutator 43.8 % of 0.031 s: 220 pauses, the longest 0.131 ms.",
            "Stopping the capabilities for them takes 19.6 %, which counts as mutator time.",
            "6169 sparks: 1903 converted, 3252 GC'd, 1014 fizzled.",
        ]
    );
    assert_eq!(
        said("grow-thr-hT.eventlog")[1..],
        ["The run made a heap profile, whose censuses slow it down: measure without -h."]
    );
    assert_eq!(said("alloc-thr-n1.a.eventlog").len(), 1);
    // Most of this mutator's time is a sleep.
    assert_eq!(
        said("phases-thr-n1-c.a.eventlog")[0],
        "The capability ran the program for 12.1 % and waited for 56.6 %."
    );
}

/// Without class g, a log says nothing about collections: their number is unknown, not 0.
#[test]
fn a_log_without_collections_has_no_figures_of_them() {
    let log = crate::made::one_block(&[&gclab_eventlog::kinds::RUN_THREAD], |buffer| {
        buffer
            .event(&gclab_eventlog::kinds::RUN_THREAD, 7, &[1.into()])
            .unwrap();
    });
    let summary = summary(&log, Interval::default());
    let names: Vec<String> = summary.figures().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["events", "from_ns",]);
    let text = summary.text();
    assert!(
        text.contains("               ? bytes allocated in the heap\n"),
        "{text}"
    );
    assert!(!text.contains(" 0 "), "{text}");
}

/// The log of a killed program lacks its last blocks, which would give the number of generations.
#[test]
fn a_log_that_was_cut_off_has_figures_up_to_there() {
    let log = log("phases-thr-n2.a.eventlog");
    let whole = summary(&log, Interval::default());
    let mut last = 0;
    let mut reader = Reader::new(&log[..], "log").unwrap();
    while let Some(event) = reader.next_event().unwrap() {
        if event.cap().is_none() && event.known() == gclab_eventlog::kinds::number::BLOCK_MARKER {
            last = event.offset() as usize;
        }
    }
    let mut reader = Reader::new(&log[..last], "cut").unwrap().salvage();
    let cut = Summary::of(&mut reader, Interval::default()).unwrap();
    assert!(reader.damage().is_some());
    assert_eq!(
        (cut.major, cut.max_slop, cut.gc_ns),
        (whole.major, whole.max_slop, whole.gc_ns)
    );
    assert_eq!((cut.generations, cut.capabilities), (whole.generations, None));
}

/// Numbers of any size in any order.
#[test]
fn absurd_numbers_do_not_overflow() {
    use gclab_eventlog::{Value, kinds};
    let most = Value::Number(u64::MAX);
    let log = crate::made::one_block(&[], |_| {});
    assert!(Reader::new(&log[..], "empty").is_ok());
    let mut writer = gclab_eventlog::Writer::new(Vec::new(), kinds::current()).unwrap();
    for cap in 0..3 {
        let mut buffer = gclab_eventlog::Buffer::new(Some(cap));
        for _ in 0..2 {
            let mut put = |kind, time, values: &[Value<'_>]| buffer.event(kind, time, values).unwrap();
            put(&kinds::REQUEST_PAR_GC, u64::MAX, &[]);
            put(&kinds::GC_START, 0, &[]);
            put(&kinds::GC_IDLE, u64::MAX, &[]);
            put(&kinds::GC_WORK, 0, &[]);
            put(&kinds::GC_IDLE, 0, &[]);
            let n = Value::Number;
            let stats = [n(0), n(65535), most, most, most, n(0xffff_ffff), most, most, most];
            put(&kinds::GC_STATS_GHC, 5, &stats);
            put(&kinds::GC_END, u64::MAX, &[]);
            put(&kinds::GC_END, 0, &[]);
            for kind in [&kinds::HEAP_ALLOCATED, &kinds::HEAP_LIVE, &kinds::HEAP_SIZE] {
                put(kind, u64::MAX, &[n(0), most]);
            }
            put(&kinds::SPARK_COUNTERS, 1, &[most; 7]);
            put(&kinds::CONC_SYNC_BEGIN, u64::MAX, &[]);
            put(&kinds::CONC_SYNC_END, 0, &[]);
            put(&kinds::OSPROCESS_PID, 0, &[n(0), n(7)]);
            put(&kinds::TASK_CREATE, u64::MAX, &[most, n(0), n(7)]);
            put(&kinds::TASK_DELETE, 0, &[most]);
        }
        writer.block(&mut buffer, 0).unwrap();
    }
    let log = writer.finish().unwrap();
    for interval in [
        Interval::default(),
        Interval {
            from: 1,
            to: Some(u64::MAX),
        },
        Interval {
            from: u64::MAX,
            to: Some(0),
        },
    ] {
        let summary = summary(&log, interval);
        assert!(!summary.text().is_empty());
        assert!(figures(&summary).len() > 10);
    }
}
