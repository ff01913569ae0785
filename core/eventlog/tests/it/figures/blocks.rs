//! Summaries of logs with a few events.

use super::*;

/// The summary of a log with these blocks, each of one capability.
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

/// Capability 1's block comes later, but has an older heap size.
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

/// Class g alone records when collections ran, but not when the program did.
#[test]
fn a_log_without_threads_and_tasks_tells_nothing_about_the_mutator() {
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

/// The program was killed during its second call, which is the longer one.
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

/// The main thread's first call starts the threaded runtime: `INIT` ends with that call.
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
    // The single-threaded runtime makes no such call.
    assert_eq!(
        times(of_blocks(&[(0, &events[1..])], Interval::default())),
        [30, 900, 110]
    );
    let from = Interval { from: 15, to: Some(25) };
    assert_eq!(times(of_blocks(&[(0, &events)], from)), [5, 5, 0]);
}

/// A collection of capability 0 from 1000 to 1100, with what GHC writes during and after it.
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
        let none = (second.collections, second.allocated, second.live, second.sparks);
        // No counters follow, so there may have been sparks.
        assert_eq!(none, (Some(0), Some(0), None, None), "{border}");
    }
    let text = part(0, Some(1050)).text();
    assert!(
        text.contains("          ~5,000 bytes allocated in the heap\n"),
        "{text}"
    );
}

/// A log that was cut off misses collections, so none of its sums is the run's.
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
        // Names of generations, capabilities and windows are not figures.
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

/// The log has class s only.
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

/// A million or more pauses are not kept individually. The mutator's time does not need them.
#[test]
fn many_pauses_do_not_change_the_mutators_time() {
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
