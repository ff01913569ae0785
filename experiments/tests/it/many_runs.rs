//! Folders with many runs: the memory of a command that reads them.

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::process::Stdio;

use gclab_results::{CollectionRecord, Configuration, Manifest, PlannedRun, ResultsDir, RunRecord, RunStats};

use crate::support::Bench;

/// The most bytes of memory that a page may take for each run: figures, single pauses, and its rows
/// in tables and charts, as long as tables list all runs. A whole record takes 14 kB more.
const OF_PAGE: u64 = 10_000;

/// The same of the table of all runs, which is written row by row.
const OF_TABLE: u64 = 2_000;

/// Writes a folder of this many runs in eight configurations, each with forty collections.
fn folder(bench: &Bench, name: &str, count: u32) {
    let mut manifest = Manifest::new("many");
    let mut lines = String::new();
    for position in 0..count {
        let configuration = Configuration {
            collector: "copying".to_owned(),
            workload: "gcbench".to_owned(),
            flags: [("A".to_owned(), format!("{}m", 1 << (position % 8)))].into(),
            ..Configuration::default()
        };
        let planned = PlannedRun::new(configuration, position / 8, position);
        let run = run(&planned);
        writeln!(lines, "{}", serde_json::to_string(&run).unwrap()).unwrap();
        manifest.plan.push(planned);
    }
    let path = bench.path().join(name);
    ResultsDir::create(&path, manifest).unwrap();
    fs::write(path.join("runs.jsonl"), lines).unwrap();
}

fn run(planned: &PlannedRun) -> RunRecord {
    let noise = 1.0 + f64::from(planned.position * 7919 % 101) / 2000.0;
    let seconds = noise * f64::from(1 + planned.position % 8);
    let collection = |number: u64| CollectionRecord {
        start_ns: number * 20_000_000,
        elapsed_ns: (seconds * 1e6) as u64 + number,
        major: number % 8 == 7,
        copied_bytes: Some(100_000 + number),
        in_use_bytes: Some(20 << 20),
        live_bytes: Some(5 << 20),
        ..CollectionRecord::default()
    };
    let stats = RunStats {
        total_elapsed_seconds: Some(seconds),
        mut_elapsed_seconds: Some(seconds * 0.9),
        gc_elapsed_seconds: Some(seconds * 0.1),
        gc_cpu_seconds: Some(seconds * 0.1),
        mut_cpu_seconds: Some(seconds * 0.9),
        peak_in_use_bytes: Some(20 << 20),
        gcs: Some(40),
        collections: (0..40).map(collection).collect(),
        ..RunStats::default()
    };
    RunRecord {
        checksum: Some("42".to_owned()),
        command: ["gclab", "exec", "gcbench"].map(str::to_owned).to_vec(),
        wall_seconds: Some(seconds),
        stats: Some(stats),
        ..RunRecord::planned(planned, 1)
    }
}

/// The most resident memory of `gclab` with these words until it writes the last part of its
/// output. It cannot end before that: a pipe takes 64 KiB, and the test looks before it reads on.
fn peak(bench: &Bench, words: &[&str]) -> u64 {
    let mut command = bench.command(words);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let (mut peak, mut length) = (0, 0);
    let mut part = vec![0; 1];
    loop {
        let read = output.read(&mut part).unwrap();
        if read == 0 {
            break;
        }
        length += read;
        let lines = fs::read_to_string(&status).unwrap_or_default();
        let figure = lines.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = figure.and_then(|figure| figure.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or(0) * 1024);
        part.resize(16 << 10, 0);
    }
    let ended = child.wait().unwrap();
    assert!(ended.success(), "{words:?}: {ended}");
    assert!(length > 200 << 10 && peak > 0, "{length} bytes, a peak of {peak}");
    peak
}

#[test]
fn a_report_keeps_little_of_each_run() {
    const FEW: u32 = 1000;
    const MANY: u32 = 4 * FEW;
    let bench = Bench::new();
    folder(&bench, "few", FEW);
    folder(&bench, "many", MANY);
    for (format, most) in [("html", OF_PAGE), ("csv", OF_TABLE)] {
        let of = |folder| peak(&bench, &["report", folder, "--format", format]);
        let bytes = of("many").saturating_sub(of("few")) / u64::from(MANY - FEW);
        assert!(bytes <= most, "report --format {format}: {bytes} bytes a run");
    }
}
