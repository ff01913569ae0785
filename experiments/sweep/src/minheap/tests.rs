//! The search, with shell scripts as children, so that each way of ending really happens.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use gclab_results::{ResultsDir, RunRecord, Status};

use super::progress::Progress;
use super::*;
use crate::experiment::Entry;
use crate::program::{Own, Program};
use crate::run::Combination;
use crate::runner::stop::Stop;
use crate::runner::write_program;
use crate::runtime::Setting;

/// Stands in for `gclab exec WORKLOAD --collector NAME --record FILE +RTS -M<n>m -RTS`. Each call
/// appends its heap to `started` in its folder. Without `-M` it records a peak of 32 MiB.
const SCRIPT: &str = r#"#!/bin/sh
workload=$2; collector=$4; record=$6; heap=1000000
for word in "$@"; do case $word in -M*m) heap=${word#-M}; heap=${heap%m};; -M*) heap=1000001;; esac; done
echo "$heap" >> "$(dirname "$0")/started"
sum=42
ok() { echo "{\"gclab\":\"x\",\"id\":\"x\",\"cell\":\"x\",\"collector\":\"$collector\",\"workload\":\"$workload\",\"args\":[],\"flags\":{},\"command\":[],\"round\":0,\"position\":0,\"seed\":0,\"outcome\":{\"status\":\"ok\"},\"checksum\":\"$sum\",\"stats\":{\"peak_in_use_bytes\":33554432,\"generations\":[],\"metadata\":{}}}" > "$record"; echo "$workload checksum=$sum"; exit 0; }
full() { echo "Heap exhausted" >&2; exit 251; }
case $workload in
  plain) [ $heap -ge 12 ] && ok; full;;
  slow) [ $heap -ge 12 ] && ok; [ $heap -ge 8 ] && sleep 1000; full;;
  fragile) [ $heap -ge 12 ] && ok; [ $heap -ge 4 ] && { echo "index out of bounds" >&2; exit 101; }; full;;
  wrong) [ $heap -ge 12 ] || sum=43; ok;;
  hopeless) [ $heap -ge 1000000 ] && [ $heap -lt 1000001 ] && ok; full;;
  endless) sleep 1000;;
  refused) echo "no such file" >&2; exit 2;;
esac
"#;

struct Bench {
    folder: tempfile::TempDir,
    program: PathBuf,
    /// The time limit of each run.
    timeout: Duration,
    stop: Stop,
}

/// Longer than any run takes, even on a busy machine.
const LONG: Duration = Duration::from_secs(600);

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("gclab");
        write_program(&program, SCRIPT);
        Bench {
            folder,
            program,
            timeout: LONG,
            stop: Stop::listen().unwrap(),
        }
    }

    /// Searches in this bench's folder.
    fn find(&self, workload: &str) -> Result<Found, SearchError> {
        find(&question(workload), &self.tools(), &mut Progress::begin(1))
    }

    fn tools(&self) -> Tools<'_> {
        Tools {
            root: self.folder.path().join("minheap"),
            program: &self.program,
            executable: "0123".into(),
            timeout: self.timeout,
            tolerance: TOLERANCE,
            runs: RUNS,
            fresh: false,
            stop: &self.stop,
        }
    }

    fn probes(&self, workload: &str) -> Vec<RunRecord> {
        ResultsDir::open(folder(&question(workload), &self.tools()))
            .unwrap()
            .runs()
            .to_vec()
    }

    fn started(&self) -> usize {
        fs::read_to_string(self.folder.path().join("started"))
            .unwrap_or_default()
            .lines()
            .count()
    }
}

fn question(workload: &str) -> Combination {
    Combination::of_workload(workload, &[], "any", Setting::new())
}

const MIB: u64 = 1 << 20;

/// The `-M` of a probe, in bytes.
fn heap(probe: &RunRecord) -> Option<u64> {
    probe.flags.get("M").map(|bytes| bytes.parse().unwrap())
}

/// The preparation of a run may make the file that it reads.
#[test]
fn probes_of_another_preparation_are_others() {
    let bench = Bench::new();
    let prepared = |commands: &[&[&str]]| {
        let words = |words: &&[&str]| words.iter().map(|word| word.to_string()).collect();
        let prepare = commands.iter().map(words).collect();
        let program = Program::of_workload("plain", &[], "any", prepare, Own::default());
        let entry = Entry::new(program, "plain", &[], "any");
        let question = Combination::new(&entry, &entry.program, BTreeMap::new(), Setting::new());
        folder(&question, &bench.tools())
    };
    let commands: [&[&[&str]]; 4] = [&[], &[&["a"]], &[&["a", "b"]], &[&["a"], &["b"]]];
    let folders = commands.map(prepared);
    let mut each: Vec<&PathBuf> = folders.iter().collect();
    each.sort();
    each.dedup();
    assert_eq!(each.len(), folders.len(), "{folders:?}");
}

#[test]
fn an_exhausted_heap_is_too_small_and_every_probe_is_on_record() {
    let bench = Bench::new();
    let found = bench.find("plain").unwrap();
    assert_eq!(
        (found.minimum.minimum_bytes, found.minimum.too_small_bytes),
        (Some(12 * MIB), Some(11 * MIB))
    );
    assert_eq!(
        (found.below, found.checksum.as_deref()),
        (Some(Status::HeapExhausted), Some("42"))
    );
    let probes = bench.probes("plain");
    assert_eq!(
        (probes.len(), bench.started()),
        (found.minimum.probes as usize, found.minimum.probes as usize)
    );
    assert_eq!(
        (heap(&probes[0]), heap(&probes[1])),
        (None, Some(32 * MIB)),
        "the peak without -M comes first"
    );
    for probe in &probes {
        let good = heap(probe).is_none_or(|heap| heap >= 12 * MIB);
        let expected = if good { Status::Ok } else { Status::HeapExhausted };
        assert_eq!(probe.outcome, expected, "{probe:?}");
        assert_eq!(probe.stderr_tail.is_some(), !good);
        assert!(probe.wall_seconds.is_some() && probe.command.len() > 4);
    }
    let of_least = probes.iter().filter(|probe| heap(probe) == Some(12 * MIB));
    assert_eq!(of_least.count(), 3);
}

#[test]
fn nothing_is_probed_twice() {
    let bench = Bench::new();
    assert_eq!(known(&question("plain"), &bench.tools()), None);
    let first = bench.find("plain").unwrap();
    let started = bench.started();
    assert_eq!(bench.find("plain").unwrap(), first);
    assert_eq!(known(&question("plain"), &bench.tools()), Some(first.minimum.clone()));
    assert_eq!(bench.started(), started);
    // More runs and a coarser search: only the new probes are run.
    let tools = Tools {
        runs: 5,
        ..bench.tools()
    };
    let again = find(&question("plain"), &tools, &mut Progress::begin(1)).unwrap();
    assert_eq!(
        (again.minimum.minimum_bytes, bench.started()),
        (first.minimum.minimum_bytes, started + 2)
    );
    let fresh = Tools {
        fresh: true,
        ..bench.tools()
    };
    find(&question("plain"), &fresh, &mut Progress::begin(1)).unwrap();
    assert_eq!(bench.started(), 2 * started + 2);
    // Another build starts afresh.
    let other = Tools {
        executable: "4567".into(),
        ..bench.tools()
    };
    assert_eq!(known(&question("plain"), &other), None);
}

#[test]
fn a_heap_with_which_a_run_does_not_end_in_time_is_too_small() {
    // If the machine is so busy that other runs also reach the limit, the next limit is longer.
    let searched = [1, 10, 60, 600].into_iter().find_map(|seconds| {
        let bench = Bench {
            timeout: Duration::from_secs(seconds),
            ..Bench::new()
        };
        let found = bench.find("slow").unwrap();
        let probes = bench.probes("slow");
        let sleeps = |probe: &RunRecord| heap(probe).is_some_and(|heap| (8 * MIB..12 * MIB).contains(&heap));
        let late = probes
            .iter()
            .any(|probe| probe.outcome == Status::Timeout && !sleeps(probe));
        (!late).then_some((found, probes))
    });
    let (found, probes) = searched.expect("a limit that is long enough");
    assert_eq!(
        (found.minimum.minimum_bytes, found.below),
        (Some(12 * MIB), Some(Status::Timeout))
    );
    let outcome = |mib: u64| probes.iter().find(|probe| heap(probe) == Some(mib * MIB));
    let slow = outcome(8).or_else(|| outcome(9)).or_else(|| outcome(11)).unwrap();
    assert_eq!(slow.outcome, Status::Timeout);
    let small = probes
        .iter()
        .find(|probe| heap(probe).is_some_and(|heap| heap < 8 * MIB));
    assert!(small.is_none_or(|probe| probe.outcome == Status::HeapExhausted));
}

#[test]
fn a_crash_ends_the_search_and_is_reported() {
    let bench = Bench::new();
    let halt = bench.find("fragile").unwrap_err();
    assert_eq!(halt.note(), "crash (exit status 101) with 8 MiB");
    let text = halt.to_string();
    assert!(
        text.contains("gclab exec fragile --collector any +RTS -M8m\n    index out of bounds"),
        "{text}"
    );
    let started = bench.started();
    assert_eq!(bench.find("fragile").unwrap_err().note(), halt.note());
    assert_eq!(bench.started(), started, "it is known");
}

#[test]
fn a_different_checksum_is_not_success() {
    let note = Bench::new().find("wrong").unwrap_err().note();
    assert_eq!(note, "WRONG RESULTS: checksum 43 where it was 42 before");
}

#[test]
fn what_needs_more_than_any_heap_has_no_minimum() {
    let found = Bench::new().find("hopeless").unwrap();
    assert_eq!(found.minimum.minimum_bytes, None);
    assert!(
        found
            .minimum
            .note
            .unwrap()
            .starts_with("it never completes with up to ")
    );
}

#[test]
fn a_program_that_does_not_end_or_is_refused_is_not_searched() {
    let short = Bench {
        timeout: Duration::from_millis(1500),
        ..Bench::new()
    };
    let endless = short.find("endless").unwrap_err().note();
    assert!(
        endless.starts_with("it did not end within 1.5 s with the memory of the machine"),
        "{endless}"
    );
    assert_eq!(short.probes("endless").len(), 1);
    let bench = Bench::new();
    assert_eq!(bench.find("refused").unwrap_err().note(), "usage error");
    assert_eq!(bench.started(), 1);
}
