//! The ghc-events library, with which ThreadScope reads logs, accepts the logs of all workloads and
//! collectors. `.ci/interop` builds a program with it and runs this.

use std::process::Command;

use serde_json::Value;

use crate::support::{Bench, Done};

/// An array that `gclab` prints as JSON.
fn listed(bench: &Bench, words: &[&str]) -> Vec<Value> {
    let text = bench.gclab(words).exits(0).stdout;
    serde_json::from_str(&text).unwrap()
}

#[test]
#[ignore = "needs a program that GHC compiles: .ci/interop"]
fn ghc_events_accepts_the_logs_of_all_workloads_and_collectors() {
    let check = std::env::var_os("GCLAB_GHC_EVENTS").expect(".ci/interop sets GCLAB_GHC_EVENTS");
    let bench = Bench::new();
    let collectors = listed(&bench, &["list", "collectors", "--json"]);
    for workload in listed(&bench, &["list", "workloads", "--json"]) {
        let words = workload["test"].as_array().unwrap().iter();
        let program: Vec<&str> = [&workload["name"]]
            .into_iter()
            .chain(words)
            .map(|word| word.as_str().unwrap())
            .collect();
        for collector in &collectors {
            for capabilities in ["-N1", "-N2"] {
                let collector = collector["name"].as_str().unwrap();
                let flags = [
                    "--collector",
                    collector,
                    "+RTS",
                    "-A64k",
                    capabilities,
                    "-l",
                    "-olrun.eventlog",
                ];
                let case = format!("{program:?} {flags:?}");
                bench.gclab(&[&["exec"], &program[..], &flags].concat()).exits(0);
                let theirs = Done::of(Command::new(&check).arg("run.eventlog").current_dir(bench.path()));
                assert_eq!(theirs.code, Some(0), "{case}: {}", theirs.all());
                let ours = bench
                    .gclab(&["events", "summary", "--json", "run.eventlog"])
                    .exits(0)
                    .stdout;
                let ours: Value = serde_json::from_str(&ours).unwrap();
                let mut compared = 0;
                for line in theirs.stdout.lines() {
                    let (figure, value) = line.split_once(' ').unwrap();
                    assert_eq!(ours[figure].to_string(), value, "{case}: {figure}");
                    compared += 1;
                }
                assert!(compared >= 10, "{case}: {}", theirs.all());
            }
        }
    }
}

#[test]
#[ignore = "needs a program that GHC compiles: .ci/interop"]
fn ghc_events_accepts_profiles_and_debug_messages() {
    let check = std::env::var_os("GCLAB_GHC_EVENTS").expect(".ci/interop sets GCLAB_GHC_EVENTS");
    let bench = Bench::new();
    for program in [
        &["gcbench", "14", "12", "50000"][..],
        &["server", "2", "2000", "100", "0"],
    ] {
        let flags = [
            "+RTS",
            "-A64k",
            "-N2",
            "-l",
            "-olrun.eventlog",
            "-p",
            "-V0.0005",
            "-hc",
            "-i0",
            "-Dsgbp",
        ];
        bench.gclab(&[&["exec"], program, &flags].concat()).exits(0);
        let theirs = Done::of(Command::new(&check).arg("run.eventlog").current_dir(bench.path()));
        assert_eq!(theirs.code, Some(0), "{program:?}: {}", theirs.all());
    }
}
