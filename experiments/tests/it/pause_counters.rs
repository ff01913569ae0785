//! Counters that a run reads at each pause: `pause_counters` in a file, `--pause-counters`.

use std::fs;
use std::process::Command;

use gclab_results::RunRecord;

use crate::support::{Bench, Done};

/// A two-space collection copies to untouched memory.
#[test]
fn page_faults_are_those_of_the_mutator_and_of_collections() {
    let bench = Bench::new();
    let file = |asked: &str| {
        format!(
            "collectors = [\"two-space\"]\nworkloads = [{{ name = \"binary_trees\", args = [16] }}]\nrepeat = 1\n{asked}\n"
        )
    };
    bench.write("split.toml", &file("pause_counters = true"));
    bench.gclab(&["run", "split.toml", "--out", "split"]).exits(0);
    let results = gclab_results::ResultsDir::open(bench.path().join("split")).unwrap();
    let run = &results.runs()[0];
    let asked = (results.manifest().pause_counters, run.pause_counters);
    assert_eq!(asked, (Some(true), Some(true)));
    let there = &results.manifest().machine.counters;
    let csv = bench.gclab(&["report", "split", "--format", "csv"]).exits(0).stdout;
    let share = column(&csv, "mut_page_faults_share");
    if there.iter().any(|key| key == "page_faults") {
        let faults = |counters: &Option<gclab_results::Counters>| counters.as_ref().unwrap().page_faults.unwrap();
        let (mutator, collections) = (faults(&run.mut_counters), faults(&run.gc_counters));
        // The mutator's own memory may have been faulted in before the run, in huge pages.
        assert!(collections > 0, "{mutator} {collections}");
        assert!(mutator + collections <= faults(&run.counters), "{run:?}");
        let expected = mutator as f64 / (mutator + collections) as f64;
        assert!(
            (share.parse::<f64>().unwrap() - expected).abs() < 1e-6,
            "{share} {expected}"
        );
    } else {
        eprintln!("not tried: this machine counts no page faults, only {there:?}");
        assert_eq!(share, "");
    }
    // Each counter is there, or named as absent.
    let absent = run.pause_counters_absent.clone().unwrap_or_default();
    for key in [
        "instructions",
        "cycles",
        "llc_misses",
        "dtlb_misses",
        "task_clock_ns",
        "page_faults",
    ] {
        let is_there = there.iter().any(|there| there == key);
        assert_eq!(absent.contains(key), !is_there, "{key}: {absent}");
    }
    bench.write("plain.toml", &file(""));
    bench.gclab(&["run", "plain.toml", "--out", "plain"]).exits(0);
    let results = gclab_results::ResultsDir::open(bench.path().join("plain")).unwrap();
    let plain = &results.runs()[0];
    assert_eq!(
        (&plain.mut_counters, &plain.gc_counters),
        (&None, &None),
        "not asked for"
    );
    let asked = (results.manifest().pause_counters, plain.pause_counters);
    assert_eq!(asked, (None, None));
    assert_eq!(plain.checksum, run.checksum);
    assert_ne!(plain.id, run.id, "another measurement");
}

/// A folder keeps its runs, but never passes for one with other counters or another preparation.
#[test]
fn a_folder_of_runs_without_counters_does_not_pass_for_one_with_them() {
    let bench = Bench::new();
    let file = |keys: &str| {
        bench.write(
            "x.toml",
            &format!(
                "collectors = [\"copying\"]\nworkloads = [{{ name = \"binary_trees\", args = [6] }}]\nrepeat = 2\n{keys}\n"
            ),
        );
    };
    let refused = |why: &str| {
        let done = bench.gclab(&["run", "x.toml", "--out", "out"]).exits(2);
        assert!(
            done.stderr.contains("holds another plan") && done.stderr.contains(why),
            "{}",
            done.all()
        );
    };
    let (plain, counted, prepared) = ("", "pause_counters = true", "prepare = [\"true\"]");
    file(plain);
    bench.gclab(&["run", "x.toml", "--out", "out"]).exits(0);
    bench.gclab(&["run", "x.toml"]).exits(0);
    let kept = fs::read_to_string(bench.path().join("out/runs.jsonl")).unwrap();
    file(counted);
    refused("its runs have no counters at pauses");
    file(prepared);
    refused("`prepare`");
    // Without --out each has its own folder, where its runs are done.
    for (folders, keys) in [(2, counted), (3, prepared), (3, plain), (3, counted)] {
        file(keys);
        bench.gclab(&["run", "x.toml"]).exits(0);
        assert_eq!(bench.folders().len(), folders, "{keys}");
    }
    file(counted);
    bench.gclab(&["run", "x.toml", "--out", "counted"]).exits(0);
    file(plain);
    let done = bench.gclab(&["run", "x.toml", "--out", "counted"]).exits(2);
    assert!(
        done.stderr.contains("without them they are other runs"),
        "{}",
        done.all()
    );
    assert_eq!(fs::read_to_string(bench.path().join("out/runs.jsonl")).unwrap(), kept);
}

/// The cell of a CSV file with one line.
fn column(csv: &str, name: &str) -> String {
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let place = head.iter().position(|column| *column == name).unwrap();
    lines.next().unwrap()[place].to_owned()
}

/// The run may open only one file, its record, so the system refuses every counter.
#[test]
fn counters_that_are_refused_are_absent() {
    let bench = Bench::new();
    let gclab = env!("CARGO_BIN_EXE_gclab");
    let line = format!("exec 3>&-; ulimit -n 4; exec '{gclab}' exec binary_trees 10 --record r.json --pause-counters");
    let done = Done::of(Command::new("sh").current_dir(bench.path()).args(["-c", &line])).exits(0);
    assert!(done.stdout.contains("checksum="), "{}", done.all());
    assert!(done.all().contains("note: --pause-counters: no "), "{}", done.all());
    let record = fs::read_to_string(bench.path().join("r.json")).unwrap();
    let record: RunRecord = serde_json::from_str(&record).unwrap();
    assert_eq!((record.mut_counters, record.gc_counters), (None, None));
    assert_eq!(record.pause_counters, Some(true), "they were asked for");
    let absent = record.pause_counters_absent.unwrap_or_default();
    let all = "no instructions, cycles, llc_misses, dtlb_misses, task_clock_ns, page_faults: ";
    assert!(absent.starts_with(all), "{absent}");
    assert!(record.stats.is_some() && record.checksum.is_some());
}

#[test]
fn counters_need_a_record() {
    let bench = Bench::new();
    let done = bench.gclab(&["exec", "binary_trees", "6", "--pause-counters"]).exits(2);
    assert!(done.all().contains("--record"), "{}", done.all());
}
