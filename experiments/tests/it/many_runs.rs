//! Folders with many runs are read and reported quickly and in little memory.

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::process::Stdio;
use std::time::Instant;

use gclab_results::{Configuration, Manifest, PlannedRun, ResultsDir, RunRecord, RunStats};

use crate::support::Bench;

/// Writes a folder with this many runs of eight configurations.
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
    let stats = RunStats {
        total_elapsed_seconds: Some(seconds),
        mut_elapsed_seconds: Some(seconds * 0.9),
        gc_elapsed_seconds: Some(seconds * 0.1),
        gc_cpu_seconds: Some(seconds * 0.1),
        mut_cpu_seconds: Some(seconds * 0.9),
        peak_in_use_bytes: Some(20 << 20),
        gcs: Some(40),
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

/// The peak resident memory of `gclab` with these words, before it writes the last part of its
/// output. It cannot end earlier, because a pipe takes 64 KiB and the test looks before reading on.
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

/// The program is not optimised here; a release build takes a fifth of the time.
#[test]
fn twenty_thousand_runs_are_reported_in_seconds() {
    let bench = Bench::new();
    folder(&bench, "many", 20_000);
    let start = Instant::now();
    for format in ["html", "csv"] {
        let bytes = peak(&bench, &["report", "many", "--format", format]);
        assert!(bytes <= 500 << 20, "report --format {format}: {bytes} bytes");
    }
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
