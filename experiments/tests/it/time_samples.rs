//! `-p` with `-l`: the samples of a time profile in the event log.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use gclab_eventlog::{Merged, check, kinds};

use crate::log::counts;
use crate::support::{Bench, until};

/// The ticks of each stack in a report of `-P`; a stack is its labels, innermost first.
fn ticks_in_report(report: &str) -> BTreeMap<Vec<String>, u64> {
    let rows = report.lines().skip_while(|line| !line.contains("individual")).skip(3);
    let mut open: Vec<String> = Vec::new();
    let mut all = BTreeMap::new();
    for row in rows {
        let depth = row.len() - row.trim_start().len();
        let columns: Vec<&str> = row.split_whitespace().collect();
        open.truncate(depth);
        open.push(columns[0].to_owned());
        let stack = open[1..].iter().rev().cloned().collect();
        let ticks: u64 = columns[columns.len() - 2].parse().unwrap();
        assert!(all.insert(stack, ticks).is_none(), "{report}");
    }
    all.retain(|_, ticks| *ticks > 0);
    all
}

/// Runs a program with samples in its log, and checks them. Returns the sampled stacks.
fn sampled(program: &[&str], flags: &[&str]) -> BTreeSet<Vec<String>> {
    let bench = Bench::new();
    let run = [
        &["exec"],
        program,
        &["+RTS", "-P", "-porun", "-l", "-olrun.eventlog", "-V0.0005"],
        flags,
    ];
    bench.gclab(&run.concat()).exits(0);
    let path = bench.path().join("run.eventlog");
    let (complaints, _) = check(&mut Merged::open(&path, false).unwrap()).unwrap();
    assert!(complaints.rules().is_empty(), "{run:?}: {:?}", complaints.rules());
    let (mut begun, mut labels, mut ticks) = (None, BTreeMap::new(), BTreeMap::new());
    let (mut last_tick, mut last_time) = (0, 0);
    let mut log = Merged::open(&path, false).unwrap();
    while let Some(event) = log.next_event().unwrap() {
        assert!(event.time() >= last_time);
        last_time = event.time();
        if event.known() == kinds::PROF_BEGIN.number {
            [begun] = event.numbers();
        } else if event.known() == kinds::HEAP_PROF_COST_CENTRE.number {
            let [id] = event.numbers();
            let Some((_, gclab_eventlog::Value::Text(label))) = event.fields().nth(1) else {
                panic!("a definition has a label");
            };
            labels.insert(id.unwrap() as u32, String::from_utf8(label.to_vec()).unwrap());
        } else if event.known() == kinds::PROF_SAMPLE_COST_CENTRE.number {
            let [Some(cap), Some(tick)] = event.numbers() else {
                panic!("a sample has a capability and a tick");
            };
            assert!(cap < 2 && tick >= last_tick && event.cap().is_none());
            last_tick = tick;
            let Some((_, gclab_eventlog::Value::Ids(ids))) = event.fields().nth(2) else {
                panic!("a sample has a stack");
            };
            let stack: Vec<String> = ids.iter().map(|id| labels[&u32::from_be_bytes(*id)].clone()).collect();
            *ticks.entry(stack).or_insert(0_u64) += 1;
        }
    }
    let report = fs::read_to_string(bench.path().join("run.prof")).unwrap();
    assert_eq!(ticks, ticks_in_report(&report), "{run:?}\n{report}");
    assert_eq!(begun, Some(500_000));
    ticks.into_keys().collect()
}

#[test]
fn the_samples_of_a_time_profile_in_the_log_are_the_ticks_of_its_report() {
    let mut stacks = BTreeSet::new();
    // On a busy machine some of the runs may have no sample.
    until("samples of two stacks", || {
        for (program, flags) in [
            (&["gcbench", "16", "12", "200000"][..], &["-A64k"][..]),
            (&["gcbench", "14", "12", "200000"], &["-A64k", "-hc", "-i0.01"]),
            (&["server", "4", "3000", "100", "0"], &["-N2", "-A256k"]),
            (&["gcbench", "14", "12", "200000"], &["-l-a"]),
        ] {
            stacks.extend(sampled(program, flags));
        }
        stacks.len() >= 2 && stacks.iter().any(|stack| !stack.is_empty())
    });
}

#[test]
fn without_a_timer_a_log_has_no_time_profile() {
    let bench = Bench::new();
    bench
        .gclab(&["exec", "gcbench", "10", "8", "1000", "+RTS", "-p", "-l", "-V0"])
        .exits(0);
    let counts = counts(&bench, "gcbench.eventlog");
    assert!(!counts.contains_key("PROF_BEGIN"), "{counts:?}");
}
