//! `gclab list`.

use gclab_proof::tier;
use serde_json::Value;

use crate::support::Bench;

fn names(bench: &Bench, what: &str) -> Vec<String> {
    let text = bench.gclab(&["list", what, "--json"]).exits(0).stdout;
    let Value::Array(objects) = serde_json::from_str(&text).unwrap() else {
        panic!("no array: {text}")
    };
    objects
        .iter()
        .map(|object| object["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn json_has_a_name_for_each() {
    let bench = Bench::new();
    let collectors = names(&bench, "collectors");
    assert!(
        ["two-space", "copying"]
            .iter()
            .all(|name| collectors.iter().any(|collector| collector == name)),
        "{collectors:?}"
    );
    assert!(names(&bench, "workloads").contains(&"binary_trees".to_owned()));
    assert!(names(&bench, "flags").contains(&"A".to_owned()));
}

#[test]
fn text_has_the_same_names() {
    let bench = Bench::new();
    for what in ["collectors", "workloads", "flags"] {
        let text = bench.gclab(&["list", what]).exits(0).stdout;
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for name in names(&bench, what) {
            assert!(
                text.lines()
                    .any(|line| line.trim_start_matches('-').starts_with(name.trim_start_matches('-'))),
                "{name} in\n{text}"
            );
        }
    }
}

#[test]
fn every_listed_workload_and_collector_runs() {
    let bench = Bench::new();
    let collectors = names(&bench, "collectors");
    let text = bench.gclab(&["list", "workloads", "--json"]).exits(0).stdout;
    let Value::Array(workloads) = serde_json::from_str(&text).unwrap() else {
        panic!("no array")
    };
    assert!(workloads.len() >= collectors.len());
    for (number, workload) in workloads.iter().enumerate() {
        let name = workload["name"].as_str().unwrap();
        let args: Vec<&str> = workload["test"]
            .as_array()
            .unwrap()
            .iter()
            .map(|arg| arg.as_str().unwrap())
            .collect();
        let checksum = workload["test_checksum"].as_u64();
        let line = checksum.map_or(format!("{name} checksum="), |sum| format!("{name} checksum={sum}\n"));
        for collector in tier::rows(&collectors, number) {
            let words = [&["exec", name, "--collector", collector], &args[..], &["+RTS", "-A64k"]].concat();
            let printed = bench.gclab(&words).exits(0).stdout;
            assert!(printed.starts_with(&line), "{printed} is not {line}");
        }
    }
}
