//! The figures of a log are those that the same run printed.

use std::collections::BTreeMap;

use gclab_eventlog::{Figure, Interval, Reader, Summary};
use serde_json::Value as Json;

use crate::made::small;
use crate::real::{log, logs, manifest};

fn summary(log: &[u8], interval: Interval) -> Summary {
    let mut reader = Reader::new(log, "log").unwrap();
    Summary::of(&mut reader, interval).unwrap()
}

/// Figures as the manifest has them.
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

/// Seconds of GHC's six decimals are within some microseconds, those of three within the rounding.
/// The productivity of a profiled run leaves censuses out. The peak of memory is a lower bound.
#[test]
fn figures_that_a_log_has_about_are_near_ghcs() {
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

/// The log made here has two collections: at 1000 and at 3000, of 305 ns.
#[test]
fn pauses_idle_time_and_utilisation_of_a_small_log() {
    let whole = summary(&small(), Interval::default());
    assert_eq!((whole.pauses.count(), whole.pauses.total_ns()), (2, 610));
    assert_eq!((whole.cap_pauses.count(), whole.cap_pauses.longest_ns()), (4, 395));
    // The first of the last figures of allocation.
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
    // From within the first collection to within the second one.
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

/// GHC writes the beginning and the end of a sync twice: the inner two are its length.
#[test]
fn a_sync_that_is_written_twice_counts_once() {
    use gclab_eventlog::kinds::{CONC_SYNC_BEGIN, CONC_SYNC_END};
    let log = crate::made::one_block(&[&CONC_SYNC_BEGIN, &CONC_SYNC_END], |buffer| {
        for (kind, time) in [
            (&CONC_SYNC_BEGIN, 10),
            (&CONC_SYNC_BEGIN, 20),
            (&CONC_SYNC_END, 50),
            (&CONC_SYNC_END, 90),
        ] {
            buffer.event(kind, time, &[]).unwrap();
        }
    });
    let sync = summary(&log, Interval::default()).nonmoving_sync.unwrap();
    assert_eq!((sync.count, sync.total_ns, sync.max_ns), (1, 30, 30));
}

/// Events of capability 0: the main thread's call begins with the log, and does not end in it.
fn call_from_the_start() -> gclab_eventlog::Buffer {
    use gclab_eventlog::{Buffer, kinds};
    let mut buffer = Buffer::new(Some(0));
    let n = gclab_eventlog::Value::Number;
    buffer.event(&kinds::OSPROCESS_PID, 0, &[n(0), n(7)]).unwrap();
    buffer.event(&kinds::TASK_CREATE, 0, &[n(1), n(0), n(7)]).unwrap();
    buffer
}

/// Pauses that overlap, of a log with faulty times, count once.
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

/// A log without class g knows nothing of collections; it does not know of none.
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

/// The last blocks of a log of a killed program are lost, with the number of generations.
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

/// Numbers of any size, in any order.
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

/// The summary of a log of these blocks, each of one capability.
fn of_blocks(blocks: &[(u16, &[Put<'_>])], interval: Interval) -> Summary {
    let mut writer = gclab_eventlog::Writer::new(Vec::new(), gclab_eventlog::kinds::current()).unwrap();
    for (cap, events) in blocks {
        let mut buffer = gclab_eventlog::Buffer::new(Some(*cap));
        for (kind, time, values) in *events {
            let values: Vec<_> = values
                .iter()
                .map(|&value| gclab_eventlog::Value::Number(value))
                .collect();
            buffer.event(kind, *time, &values).unwrap();
        }
        writer.block(&mut buffer, 0).unwrap();
    }
    summary(&writer.finish().unwrap(), interval)
}

/// An event: kind, time and numbers.
type Put<'a> = (&'a gclab_eventlog::Kind, u64, &'a [u64]);

/// Capability 1's block comes later, with an older size of the heap.
#[test]
fn the_heap_before_an_interval_is_the_latest_one() {
    use gclab_eventlog::kinds::HEAP_SIZE;
    let blocks: [(u16, &[Put<'_>]); 2] = [
        (0, &[(&HEAP_SIZE, 50, &[0, 10 << 20]), (&HEAP_SIZE, 90, &[0, 10 << 20])]),
        (1, &[(&HEAP_SIZE, 20, &[0, 200 << 20])]),
    ];
    let summary = of_blocks(&blocks, Interval { from: 60, to: None });
    assert_eq!(summary.peak_heap, Some(10 << 20));
}

/// Class g alone tells when collections were, not when the program ran.
#[test]
fn a_log_without_threads_and_tasks_tells_nothing_of_the_mutator() {
    for to in [None, Some(1050)] {
        let summary = of_blocks(&[(0, &MAJOR)], Interval { from: 0, to });
        assert!(summary.gc_ns > Some(0) && summary.allocated.is_some() && summary.total_ns.is_some());
        assert_eq!(
            [
                summary.init_ns,
                summary.mutator_ns,
                summary.exit_ns,
                summary.allocation_rate()
            ],
            [None; 4]
        );
        assert_eq!(summary.productivity(), None);
        let text = summary.text();
        assert!(text.contains("  MUT     time         ?  ("), "{text}");
        let names: Vec<String> = figures(&summary).into_keys().collect();
        assert!(
            !names
                .iter()
                .any(|name| name.starts_with("MUT") || name.starts_with("mut_")),
            "{names:?}"
        );
    }
}

/// The program was killed in its second call, which is the longer one.
#[test]
fn the_main_threads_open_call_counts_if_it_is_the_longest() {
    use gclab_eventlog::kinds::{HEAP_ALLOCATED, OSPROCESS_PID, TASK_CREATE, TASK_DELETE};
    let blocks: [(u16, &[Put<'_>]); 1] = [(
        0,
        &[
            (&OSPROCESS_PID, 1, &[0, 7]),
            (&TASK_CREATE, 10, &[1, 0, 7]),
            (&TASK_DELETE, 20, &[1]),
            (&TASK_CREATE, 30, &[2, 0, 7]),
            (&HEAP_ALLOCATED, 1030, &[0, 1 << 20]),
        ],
    )];
    assert_eq!(of_blocks(&blocks, Interval::default()).mutator_ns, Some(1000));
}

/// The main thread's first call starts the threaded runtime: `INIT` ends with it.
#[test]
fn the_mutators_time_begins_when_the_runtime_has_started() {
    use gclab_eventlog::kinds::{HEAP_ALLOCATED, OSPROCESS_PID, REQUEST_SEQ_GC, TASK_CREATE, TASK_DELETE};
    let events: [Put<'_>; 8] = [
        (&REQUEST_SEQ_GC, 1, &[]),
        (&OSPROCESS_PID, 1, &[0, 7]),
        (&TASK_CREATE, 10, &[1, 0, 7]),
        (&TASK_DELETE, 20, &[1]),
        (&TASK_CREATE, 30, &[2, 0, 7]),
        (&TASK_DELETE, 930, &[2]),
        (&HEAP_ALLOCATED, 1030, &[0, 1 << 20]),
        (&HEAP_ALLOCATED, 1040, &[0, 1 << 20]),
    ];
    let times = |summary: Summary| [summary.init_ns, summary.mutator_ns, summary.exit_ns].map(Option::unwrap);
    assert_eq!(times(of_blocks(&[(0, &events)], Interval::default())), [20, 910, 110]);
    // The runtime without threads has no such call.
    assert_eq!(
        times(of_blocks(&[(0, &events[1..])], Interval::default())),
        [30, 900, 110]
    );
    let from = Interval { from: 15, to: Some(25) };
    assert_eq!(times(of_blocks(&[(0, &events)], from)), [5, 5, 0]);
}

/// A collection of capability 0 from 1000 to 1100, with what GHC writes within it and behind it.
const MAJOR: [Put<'static>; 9] = {
    use gclab_eventlog::kinds::*;
    [
        (&HEAP_ALLOCATED, 500, &[0, 1000]),
        (&GC_START, 1000, &[]),
        (&HEAP_ALLOCATED, 1090, &[0, 5000]),
        (&GC_GLOBAL_SYNC, 1095, &[]),
        (&GC_STATS_GHC, 1096, &[0, 0, 64, 8, 16, 1, 0, 64, 0]),
        (&GC_END, 1100, &[]),
        (&HEAP_LIVE, 1110, &[0, 4096]),
        (&HEAP_SIZE, 1111, &[0, 3 << 20]),
        (&SPARK_COUNTERS, 1112, &[9, 0, 0, 8, 0, 1, 0]),
    ]
};

#[test]
fn an_interval_does_not_cut_a_collection_in_two() {
    let part = |from, to| of_blocks(&[(0, &MAJOR)], Interval { from, to });
    for border in [1001, 1050, 1092, 1100, 1105, 1111] {
        let (first, second) = (part(0, Some(border)), part(border, None));
        let all = (
            first.collections,
            first.allocated,
            first.live.map(|live| live.max),
            first.peak_heap,
            first.sparks.map(|sparks| sparks.converted),
        );
        assert_eq!(
            all,
            (Some(1), Some(5000), Some(4096), Some(3 << 20), Some(8)),
            "{border}"
        );
        let none = (
            second.collections,
            second.allocated,
            second.live,
            second.sparks.unwrap(),
        );
        assert_eq!(
            none,
            (Some(0), Some(0), None, gclab_eventlog::Sparks::default()),
            "{border}"
        );
    }
    let text = part(0, Some(1050)).text();
    assert!(
        text.contains("          ~5,000 bytes allocated in the heap\n"),
        "{text}"
    );
}

/// A log that was cut off has lost collections, and no sum of it is the run's.
#[test]
fn figures_of_a_damaged_log_are_lower_bounds() {
    let log = log("phases-thr-n2.a.eventlog");
    let mut reader = Reader::new(&log[..20_000], "cut").unwrap().salvage();
    let cut = Summary::of(&mut reader, Interval::default()).unwrap();
    assert_eq!(figures(&cut)["lower_bounds"], true);
    let text = cut.text();
    let numbers = text.lines().filter(|line| !line.trim_start().starts_with("(?"));
    for line in numbers {
        let unmarked = line
            .replace("-N2", "")
            .replace("serial 0%, perfect 100%", "")
            .split(&[' ', '('][..])
            .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
            .map(str::to_owned)
            .collect::<Vec<_>>();
        // Names of generations, capabilities and windows are no figures.
        let names = match line.trim_start().split(' ').next().unwrap_or_default() {
            "Gen" | "Cap" => 1,
            "Least" => cut.utilisation.len(),
            _ => 0,
        };
        assert_eq!(unmarked.len(), names, "{line}: {unmarked:?}");
    }
    assert!(
        text.contains("bytes allocated in the heap\n") && text.contains("colls,"),
        "{text}"
    );
    let whole = summary(&log, Interval::default());
    assert!(!figures(&whole).contains_key("lower_bounds"));
}

/// The log of class s alone.
#[test]
fn a_log_without_collections_has_the_line_of_live_data() {
    let log = crate::made::one_block(&[&gclab_eventlog::kinds::RUN_THREAD], |buffer| {
        buffer
            .event(&gclab_eventlog::kinds::RUN_THREAD, 7, &[1.into()])
            .unwrap();
    });
    let text = summary(&log, Interval::default()).text();
    assert!(
        text.contains("               ? bytes maximum residency (? sample(s))\n"),
        "{text}"
    );
}

#[test]
fn generations_without_collections_are_left_out_if_there_are_many() {
    use gclab_eventlog::kinds::HEAP_INFO_GHC;
    let declared: [Put<'_>; 1] = [(&HEAP_INFO_GHC, 1, &[0, 65535, 0, 0, 0, 0])];
    let summary = of_blocks(&[(0, &MAJOR), (1, &declared)], Interval::default());
    let text = summary.text();
    assert_eq!(text.matches("  Gen ").count(), 16, "{text}");
    assert!(text.contains("  and 65519 generations without collections\n"), "{text}");
    assert!(figures(&summary).len() < 300);
    assert_eq!(summary.major, Some(0));
}

/// A million pauses and more are not kept singly. The mutator's time needs no single ones.
#[test]
fn many_pauses_leave_the_mutators_time() {
    use gclab_eventlog::{Value, Writer, kinds};
    const PAUSES: u64 = (1 << 20) + 5000;
    let mut log = Writer::new(Vec::new(), kinds::current()).unwrap();
    let mut buffer = call_from_the_start();
    for n in 0..PAUSES {
        buffer.event(&kinds::GC_START, 10 * n, &[]).unwrap();
        buffer
            .event(&kinds::GC_STATS_GHC, 10 * n, &[0; 9].map(Value::Number))
            .unwrap();
        buffer.event(&kinds::GC_END, 10 * n + 3, &[]).unwrap();
        if buffer.len() > 1 << 20 {
            log.block(&mut buffer, 10 * n + 9).unwrap();
        }
    }
    buffer
        .event(&kinds::HEAP_ALLOCATED, 10 * PAUSES, &[0.into(), 8.into()])
        .unwrap();
    log.block(&mut buffer, 10 * PAUSES).unwrap();
    let summary = summary(&log.finish().unwrap(), Interval::default());
    assert_eq!(
        (summary.gc_ns, summary.mutator_ns),
        (Some(3 * PAUSES), Some(7 * PAUSES))
    );
    assert!(summary.utilisation.is_empty());
}

fn salvaged(log: &[u8]) -> Summary {
    let mut merged = gclab_eventlog::Merged::new(std::io::Cursor::new(log), "log", true).unwrap();
    Summary::of_merged(&mut merged, Interval::default()).unwrap()
}

/// The idle time of a collection that the log cuts off counted, and its length did not.
#[test]
fn idle_time_is_a_part_of_the_time_in_collections() {
    let log = log("phases-thr-n2.a.eventlog");
    for end in (4000..log.len()).step_by(97) {
        if gclab_eventlog::Merged::new(std::io::Cursor::new(&log[..end]), "log", true).is_err() {
            continue;
        }
        for times in salvaged(&log[..end]).caps {
            assert!(times.idle_ns + times.done_ns <= times.gc_ns, "cut at {end}: {times:?}");
        }
    }
}

/// The total of a log that lost only its end had the time in which the runtime took its
/// capabilities down.
#[test]
fn the_total_of_a_salvaged_log_is_a_lower_bound() {
    for name in logs() {
        let log = log(&name);
        let whole = summary(&log, Interval::default()).total_ns.unwrap();
        let mut compared = 0;
        for end in (log.len().saturating_sub(400)..log.len()).chain((4000..log.len()).step_by(log.len() / 40)) {
            if gclab_eventlog::Merged::new(std::io::Cursor::new(&log[..end]), "log", true).is_err() {
                continue;
            }
            let cut = salvaged(&log[..end]);
            assert!(cut.damaged);
            let total = cut.total_ns.unwrap_or(0);
            // A capability tells its allocation after another one has, and that is the end.
            assert!(
                total <= whole + 2_000,
                "{name} cut at {end}: {total}, expected {whole} at most"
            );
            compared += 1;
        }
        assert!(compared > 100, "{name}: {compared}");
    }
}

/// The mutator's time went on to the end of one capability, and allocation to that of another.
#[test]
fn figures_of_parts_that_end_at_different_places_are_unknown() {
    let summary = salvaged(&crate::damage::damaged());
    assert_eq!((summary.mutator_ns, summary.exit_ns), (None, None));
    assert_eq!((summary.productivity(), summary.allocation_rate()), (None, None));
    assert!(summary.utilisation.is_empty() && summary.collections > Some(0));
    let text = summary.text();
    for unknown in [
        "MUT     time         ?  (       ? elapsed)",
        "(? per elapsed MUT second)",
        "?% of total elapsed",
    ] {
        assert!(text.contains(unknown), "{unknown}: {text}");
    }
}

/// A log of gclab's with a census and a check between two collections.
fn with_looks(rts: &str) -> Vec<u8> {
    use gclab_eventlog::{Buffer, CENSUS, CHECK, Writer, kinds};
    let mut log = Writer::new(Vec::new(), kinds::current()).unwrap();
    let mut cap = Buffer::new(Some(0));
    cap.event(&kinds::RUN_THREAD, 110, &[1.into()]).unwrap();
    for start in [1000, 5000] {
        cap.event(&kinds::REQUEST_SEQ_GC, start - 10, &[]).unwrap();
        cap.event(&kinds::GC_START, start, &[]).unwrap();
        cap.event(
            &kinds::GC_STATS_GHC,
            start + 90,
            &[0, 1, 8, 8, 8, 1, 8, 8, 8].map(Into::into),
        )
        .unwrap();
        cap.event(&kinds::GC_END, start + 100, &[]).unwrap();
    }
    cap.event(&kinds::STOP_THREAD, 6000, &[1.into(), 5.into(), 0.into()])
        .unwrap();
    cap.event(&kinds::HEAP_ALLOCATED, 7000, &[0.into(), 64.into()]).unwrap();
    let mut global = Buffer::new(None);
    global
        .event(&kinds::RTS_IDENTIFIER, 100, &[0.into(), rts.into()])
        .unwrap();
    for (purpose, from, to) in [(CENSUS, 2000, 2300), (CHECK, 2400, 2450), (CENSUS, 5200, 5500)] {
        global.event(&kinds::LOOK_BEGIN, from, &[purpose.into()]).unwrap();
        global.event(&kinds::HEAP_PROF_SAMPLE_BEGIN, from, &[0.into()]).unwrap();
        global.event(&kinds::HEAP_PROF_SAMPLE_END, to, &[0.into()]).unwrap();
        global.event(&kinds::LOOK_END, to, &[purpose.into()]).unwrap();
    }
    log.block(&mut cap, 7000).unwrap();
    log.block(&mut global, 7000).unwrap();
    log.finish().unwrap()
}

#[test]
fn looks_at_the_heap_are_neither_mutator_time_nor_collections() {
    let log = with_looks("gclab-0.1.0 copying rts");
    let whole = summary(&log, Interval::default());
    let looks = whole.looks.unwrap();
    assert_eq!((looks.census_ns, looks.check_ns, looks.total_ns()), (600, 50, 650));
    let times = [
        whole.init_ns,
        whole.mutator_ns,
        whole.gc_ns,
        whole.exit_ns,
        whole.total_ns,
    ];
    assert_eq!(times, [100, 5900 - 200 - 650, 200, 1000, 7000].map(Some));
    let sums = |part: fn(&Summary) -> u64| {
        let parts = [(0, 2100), (2100, 2420), (2420, 7000)];
        let parts = parts.map(|(from, to)| part(&summary(&log, Interval { from, to: Some(to) })));
        (parts, parts.iter().sum::<u64>())
    };
    assert_eq!(sums(|part| part.looks.unwrap().total_ns()), ([100, 220, 330], 650));
    assert_eq!(sums(|part| part.mutator_ns.unwrap()).1, 5050);
    let text = whole.text();
    for line in [
        "  RP      time         ?  (  0.000s elapsed)",
        "  PROF    time",
        "  CHECK   time",
        "  SPARKS: 0 (0 converted",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(!text.contains("INSPECT"), "{text}");
}

/// A census of GHC's is a part of the collection before it, and the log does not tell its time.
#[test]
fn the_time_of_censuses_is_not_in_a_log_of_the_profiling_runtime() {
    let ghc = summary(&with_looks("GHC-9.0.2 rts_p"), Interval::default());
    assert_eq!((ghc.looks, ghc.census, ghc.sparks), (None, true, None));
    let text = ghc.text();
    let unknown = "time         ?  (       ? elapsed)\n";
    for name in ["RP     ", "PROF   "] {
        assert!(text.contains(&format!("  {name} {unknown}")), "{text}");
    }
    // The other runtime prints no such lines, and counts the censuses as GC.
    let plain = summary(&with_looks("GHC-9.0.2 rts"), Interval::default()).text();
    assert!(!plain.contains("PROF") && !plain.contains("SPARKS"), "{plain}");
}

/// The total was the time of the last event of the log's own description.
#[test]
fn the_end_of_a_run_is_unknown_without_collections() {
    use gclab_eventlog::kinds::RUN_THREAD;
    let log = crate::made::one_block(&[&RUN_THREAD], |buffer| {
        buffer.event(&RUN_THREAD, 7, &[1.into()]).unwrap();
    });
    assert_eq!(summary(&log, Interval::default()).total_ns, None);
    let part = Interval { from: 2, to: Some(5) };
    assert_eq!(summary(&log, part).total_ns, Some(3));
}
