//! Statistics of single runs: what is measured, what is kept, and whose time it is.

use std::fs;

use gclab_results::{Collections, RunRecord, RunStats};

use crate::support::Bench;

/// Runs `gclab exec` with a record, and returns its statistics.
fn recorded(bench: &Bench, words: &str) -> (RunStats, Option<Collections>) {
    let words: Vec<&str> = words.split(' ').collect();
    let at = words.iter().position(|word| *word == "+RTS").unwrap_or(words.len());
    let mut all = [&words[..at], &["--record", "r.json"], &words[at..]].concat();
    all.insert(0, "exec");
    bench.gclab(&all).exits(0);
    let text = fs::read_to_string(bench.path().join("r.json")).unwrap();
    let record: RunRecord = serde_json::from_str(&text).unwrap();
    (record.stats.expect("a run has statistics"), record.collections)
}

/// The value of a key in the output of `-t --machine-readable`.
fn value(text: &str, key: &str) -> Option<f64> {
    let at = text.find(&format!("(\"{key}\", \""))? + key.len() + 6;
    text[at..].split('"').next()?.parse().ok()
}

#[test]
fn a_record_has_set_up_and_exit_apart() {
    let (stats, collections) = recorded(&Bench::new(), "mut_array 20000 30000 +RTS -A64k");
    let phases = stats.phases.as_ref().expect("a new record has phases");
    assert!(phases.marked);
    let all = [&phases.setup, &phases.measured, &phases.exit];
    assert_eq!(phases.measured.allocated_bytes, Some(30_000 * 16));
    assert_eq!(
        all.iter().filter_map(|phase| phase.gcs).sum::<u64>(),
        stats.gcs.unwrap()
    );
    let total: f64 = all.iter().filter_map(|phase| phase.total_elapsed_seconds).sum();
    assert!((total + stats.init_elapsed_seconds.unwrap() - stats.total_elapsed_seconds.unwrap()).abs() < 1e-6);
    let pauses = stats.pauses.as_ref().expect("a record has pauses");
    let nanoseconds = |seconds: f64| (seconds * 1e9).round() as u64;
    let from = nanoseconds(phases.measured.start_seconds);
    let to = from + nanoseconds(phases.measured.total_elapsed_seconds.unwrap());
    let collections = collections.expect("a record lists its collections");
    let measured: Vec<u64> = collections.pauses(from, to).collect();
    assert_eq!(measured.len() as u64, phases.measured.gcs.unwrap());
    assert_eq!(measured.len() as u64, pauses.count);
    assert!(measured.len() > 2 && measured.len() + 3 < collections.len());
    assert_eq!(pauses.max_ns, measured.iter().max().copied());
    assert_eq!(pauses.total_ns, measured.iter().sum::<u64>());
    assert!(stats.gc_phase_seconds.unwrap().contains_key("trace"));
}

/// Statistics used to take 430 bytes for each collection, in memory and in the record.
#[test]
fn figures_of_many_collections_take_bounded_memory() {
    let bench = Bench::new();
    let (stats, collections) = recorded(&bench, "long_list 10 1200000 +RTS -A8k");
    let gcs = stats.gcs.unwrap();
    assert!(gcs > 15_000, "{gcs}");
    assert_eq!(collections, None);
    let reason = stats.collections_absent.expect("a reason");
    assert!(reason.contains("4 MiB"), "{reason}");
    assert!(
        stats.statistics_bytes.unwrap() < 10 << 20,
        "{:?}",
        stats.statistics_bytes
    );
    // Individual pauses are still known, in memory.
    let pauses = stats.pauses.expect("pauses");
    assert_eq!((pauses.single_pauses_absent, pauses.count), (None, gcs - 1));
    assert!(pauses.p99_9_ns.is_some() && pauses.least_utilisation.unwrap().contains_key("1 ms"));
    assert!(fs::metadata(bench.path().join("r.json")).unwrap().len() < 20_000);
}

/// The checker's time used to count as the program's, and as time in censuses.
#[test]
fn the_checker_is_neither_the_program_nor_a_census() {
    let bench = Bench::new();
    let words = "exec gcbench 10 8 1000 +RTS -DS -A64k -t --machine-readable";
    let text = bench.gclab(&words.split(' ').collect::<Vec<_>>()).exits(0).stderr;
    let value = |key: &str| value(&text, key);
    let share = value("mut_cpu_seconds").unwrap() / value("total_cpu_seconds").unwrap();
    let productivity = value("productivity_cpu_percent").unwrap();
    assert!((productivity - share).abs() < 0.001, "{productivity}, {share}");
    assert!(
        value("check_cpu_seconds").unwrap() > 0.0 && value("hc_cpu_seconds").is_none(),
        "{text}"
    );
    assert_eq!(value("mutator_cpu_seconds"), value("mut_cpu_seconds"));
}

/// Retainer censuses used to be counted under PROF.
#[test]
fn a_profile_by_retainers_is_rp_and_others_are_prof() {
    let bench = Bench::new();
    let seconds = |flag: &str| {
        let words = [
            "exec",
            "hash_churn",
            "1024",
            "4096",
            "20000",
            "+RTS",
            flag,
            "-i0",
            "-A64k",
            "-t",
            "--machine-readable",
        ];
        let text = bench.gclab(&words).exits(0).stderr;
        ["rp_wall_seconds", "hc_wall_seconds"].map(|key| value(&text, key).expect(key))
    };
    let ([rp, hc], [none, some]) = (seconds("-hr"), seconds("-hT"));
    assert!(
        rp > 0.0 && hc == 0.0 && none == 0.0 && some > 0.0,
        "{rp} {hc} {none} {some}"
    );
    let text = bench
        .gclab(&[
            "exec",
            "hash_churn",
            "1024",
            "4096",
            "20000",
            "+RTS",
            "-hr",
            "-i0",
            "-A64k",
            "-s",
        ])
        .exits(0)
        .stderr;
    assert!(
        text.contains("\n  RP      time ") && text.contains("\n  %GC     time "),
        "{text}"
    );
    assert!(text.contains("\n\n  Measured phase: "), "{text}");
}
