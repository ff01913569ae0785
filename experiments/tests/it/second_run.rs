//! Two runs in one process: each has its own log and profiles.

use std::fs;
use std::path::Path;

use gclab_eventlog::{Interval, Merged, Summary, Value, check, kinds};
use gclab_flags::Flags;
use gclab_programs::Shipped;
use gclab_programs::{Ended, Executor, Request};
use gclab_workloads::Args;

use crate::support::Bench;

/// Runs a workload with files of this name.
fn run(folder: &Path, name: &str, workload: &str, args: &[&str]) -> u64 {
    let stem = folder.join(name);
    let words = [
        "-l".to_owned(),
        format!("-ol{}.eventlog", stem.display()),
        "-A256k".to_owned(),
        "-P".to_owned(),
        "-V0.0005".to_owned(),
        "-hc".to_owned(),
        "-i0".to_owned(),
    ];
    let mut all = Shipped.workloads().into_iter();
    let workload = all.find(|one| one.name == workload).expect("a workload");
    let done = Shipped.execute(
        &Request {
            workload: workload.name,
            args: &Args::parse(workload, args).expect("legal"),
            collector: "copying",
            flags: &Flags::parse_words(&words).expect("legal"),
            program: &["gclab".to_owned(), "exec".to_owned(), workload.name.to_owned()],
            words: &words,
            profile: Some(&stem),
            record: None,
            interruptible: true,
        },
        Vec::new(),
    );
    assert!(matches!(done.ended, Ended::Checksum(..)), "{done:?}");
    assert!(done.unlogged.is_none() && done.unwritten.is_none(), "{done:?}");
    done.statistics.expect("a heap").collections_count()
}

/// The labels of a log's cost centres, by number, and the threads that it creates.
fn contents(log: &Path) -> (Vec<String>, Vec<u64>) {
    let (complaints, _) = check(&mut Merged::open(log, false).unwrap()).unwrap();
    assert!(complaints.rules().is_empty(), "{:?}", complaints.rules());
    let (mut labels, mut threads) = (Vec::new(), Vec::new());
    let mut log = Merged::open(log, false).unwrap();
    while let Some(event) = log.next_event().unwrap() {
        if event.known() == kinds::CREATE_THREAD.number {
            threads.extend(event.numbers::<1>()[0]);
        } else if event.known() == kinds::HEAP_PROF_COST_CENTRE.number {
            assert_eq!(event.numbers(), [Some(labels.len() as u64 + 1)]);
            let Some((_, Value::Text(label))) = event.fields().nth(1) else {
                panic!("a definition has a label");
            };
            labels.push(String::from_utf8(label.to_vec()).unwrap());
        }
    }
    (labels, threads)
}

#[test]
fn a_second_run_in_one_process_has_a_log_and_profiles_of_its_own() {
    let bench = Bench::new();
    let file = |name: &str| bench.path().join(name);
    let text = |name: &str| fs::read_to_string(file(name)).unwrap();
    let first = run(bench.path(), "first", "word_index", &["-", "50", "1000"]);
    let before = (
        fs::read(file("first.eventlog")).unwrap(),
        text("first.hp"),
        text("first.prof"),
    );
    let second = run(bench.path(), "second", "gcbench", &["16", "12", "200000"]);
    assert_ne!(first, second);
    for (name, collections, own, others) in [("first", first, "index", "kept"), ("second", second, "kept", "index")] {
        let log = file(&format!("{name}.eventlog"));
        let (labels, threads) = contents(&log);
        let has = |label: &str| labels.iter().any(|one| one == label);
        assert!(has(own) && !has(others), "{name}: {labels:?}");
        assert_eq!(threads, (1..=threads.len() as u64).collect::<Vec<_>>(), "{name}");
        let (summary, _) = Summary::of_file(&log, Interval::default(), false).unwrap();
        assert_eq!(summary.collections, Some(collections), "{name}");
        for ending in ["hp", "prof"] {
            let text = text(&format!("{name}.{ending}"));
            assert!(text.contains(own) && !text.contains(others), "{name}.{ending}: {text}");
        }
    }
    let after = (
        fs::read(file("first.eventlog")).unwrap(),
        text("first.hp"),
        text("first.prof"),
    );
    assert!(before == after, "the second run wrote to a file of the first");
}
