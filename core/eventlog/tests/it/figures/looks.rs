//! Summaries of logs with censuses and heap checks.

use super::*;

/// One of gclab's logs, with a census and a check between two collections.
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

/// GHC's census is part of the preceding collection, and the log does not record its time.
#[test]
fn the_time_of_censuses_is_not_in_a_log_of_the_profiling_runtime() {
    let ghc = summary(&with_looks("GHC-9.0.2 rts_p"), Interval::default());
    assert_eq!((ghc.looks, ghc.census, ghc.sparks), (None, true, None));
    let text = ghc.text();
    let unknown = "time         ?  (       ? elapsed)\n";
    for name in ["RP     ", "PROF   "] {
        assert!(text.contains(&format!("  {name} {unknown}")), "{text}");
    }
    // The other runtime does not print such lines, and counts censuses as GC.
    let plain = summary(&with_looks("GHC-9.0.2 rts"), Interval::default()).text();
    assert!(!plain.contains("PROF") && !plain.contains("SPARKS"), "{plain}");
}

/// The total used to be the time of the last event of the log's own description.
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
