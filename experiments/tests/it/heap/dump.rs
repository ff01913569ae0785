//! `gclab heap dump`: heaps of our own programs as snapshots.

use super::json;
use crate::support::Bench;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

#[test]
fn an_exhausted_run_leaves_no_file() {
    let bench = Bench::new();
    let words = [
        "heap",
        "dump",
        "binary_trees",
        "18",
        "-o",
        "out.heapsnapshot",
        "--collector",
        "copying",
        "+RTS",
        "-M2m",
    ];
    let done = bench.gclab(&words).exits(251);
    assert!(done.stderr.contains("exhausted"), "{}", done.all());
    assert_eq!(fs::read_dir(bench.path()).unwrap().count(), 0);
}

/// A dumped heap as JSON, and the command's counts of closures and pointers.
fn dumped(bench: &Bench, words: &[&str]) -> (Value, [u64; 2]) {
    let words = [&["heap", "dump"], words, &["-o", "out.heapsnapshot", "+RTS", "-A64k"]].concat();
    let said = bench.gclab(&words).exits(0).stdout;
    let number = |before: &str| {
        let (text, _) = said.split_once(before).unwrap_or_else(|| panic!("{before}: {said}"));
        text.rsplit(' ').next().unwrap().parse().unwrap()
    };
    let numbers = [number(" closures,"), number(" pointers,")];
    (
        json(&fs::read_to_string(bench.path().join("out.heapsnapshot")).unwrap()),
        numbers,
    )
}

/// Both runs of a dump used to write the heap profile.
#[test]
fn a_dump_takes_a_heap_profile_once() {
    let bench = Bench::new();
    let words = [
        "heap",
        "dump",
        "hsc_env",
        "-o",
        "out.heapsnapshot",
        "+RTS",
        "-hT",
        "-i0",
    ];
    let said = bench.gclab(&words).exits(0).stdout;
    assert_eq!(said.matches("heap profile by").count(), 1, "{said}");
}

#[test]
fn a_dump_has_all_that_readers_of_snapshots_look_for() {
    let bench = Bench::new();
    let (dump, [closures, pointers]) = dumped(&bench, &["binary_trees", "10"]);
    let meta = &dump["snapshot"]["meta"];
    let strings = |value: &Value| {
        value
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        strings(&meta["node_fields"]),
        [
            "type",
            "name",
            "id",
            "self_size",
            "edge_count",
            "trace_node_id",
            "detachedness"
        ]
    );
    assert_eq!(strings(&meta["edge_fields"]), ["type", "name_or_index", "to_node"]);
    assert_eq!(meta["node_types"].as_array().unwrap().len(), 7);
    assert_eq!(meta["edge_types"].as_array().unwrap().len(), 3);
    for fields in [
        "trace_function_info_fields",
        "trace_node_fields",
        "sample_fields",
        "location_fields",
    ] {
        assert!(!strings(&meta[fields]).is_empty(), "{fields}");
    }
    for empty in ["trace_function_infos", "trace_tree", "samples", "locations"] {
        assert_eq!(dump[empty], Value::Array(vec![]), "{empty}");
    }
    assert_eq!(dump["snapshot"]["trace_function_count"], 0);
    let nodes = dump["snapshot"]["node_count"].as_u64().unwrap();
    let edges = dump["snapshot"]["edge_count"].as_u64().unwrap();
    assert_eq!(
        (
            dump["nodes"].as_array().unwrap().len() as u64,
            dump["edges"].as_array().unwrap().len() as u64
        ),
        (nodes * 7, edges * 3)
    );
    // Root, `(GC roots)` and four kinds of roots; edges between these, and from frames and
    // handles.
    assert_eq!(nodes, closures + 6);
    assert!(pointers < edges && edges < pointers + 100 && closures > 100);
    assert_eq!(
        strings(&dump["strings"]),
        [
            "<dummy>",
            "",
            "(GC roots)",
            "(Frames)",
            "(Handles)",
            "(Weak handles)",
            "(Ephemerons)",
            "Tree"
        ]
    );
}

#[test]
fn a_dump_is_of_the_requested_collection() {
    let bench = Bench::new();
    let closures = |at: &str| {
        dumped(
            &bench,
            &["long_list", "1000", "20000", "--collector", "two-space", "--at-gc", at],
        )
        .1[0]
    };
    let (first, later) = (closures("1"), closures("9"));
    assert!(first > 0 && later > 0 && bench.path().join("out.heapsnapshot").exists());
    let report = json(
        &bench
            .gclab(&["heap", "analyse", "out.heapsnapshot", "--json", "--synthetic"])
            .exits(0)
            .stdout,
    );
    assert_eq!(
        report["nodes"].as_u64().unwrap() as usize,
        report["reached"].as_u64().unwrap() as usize
    );
    assert_eq!(report["nodes"], later + 6);
}

#[test]
fn every_workload_can_be_dumped_and_read() {
    let bench = Bench::new();
    let Value::Array(workloads) = json(&bench.gclab(&["list", "workloads", "--json"]).exits(0).stdout) else {
        panic!("no array")
    };
    for workload in workloads {
        let name = workload["name"].as_str().unwrap();
        let args: Vec<&str> = workload["test"]
            .as_array()
            .unwrap()
            .iter()
            .map(|arg| arg.as_str().unwrap())
            .collect();
        let words = [
            &["heap", "dump", name],
            &args[..],
            &["--at-gc", "1", "-o", "out.heapsnapshot", "+RTS", "-A64k"],
        ]
        .concat();
        bench.gclab(&words).exits(0);
        let report = json(
            &bench
                .gclab(&["heap", "analyse", "out.heapsnapshot", "--json", "--synthetic"])
                .exits(0)
                .stdout,
        );
        assert_eq!(report["nodes"].as_u64(), report["reached"].as_u64(), "{name}");
        assert_eq!(report["self_size"], report["retained"][0]["retained_size"], "{name}");
    }
}

/// memlab's analysis of a file as JSON: nodes, edges, and the ten largest objects, without ties.
const MEMLAB: &str = r#"
const { getFullHeapFromFile } = require('@memlab/heap-analysis');
console.log = console.info = () => {};
getFullHeapFromFile(process.argv[1]).then(heap => {
  const retained = []; let edges = 0;
  heap.nodes.forEach(node => { retained.push([node.id, node.self_size, node.retainedSize]); });
  heap.edges.forEach(() => { edges++; });
  require('fs').writeFileSync(process.argv[2], JSON.stringify({ edges, retained }));
});"#;

/// `.ci/memlab` installs memlab and runs this.
#[test]
#[ignore = "needs node, and in GCLAB_MEMLAB the folder in which `npm install @memlab/heap-analysis` was run"]
fn memlab_loads_a_dump_and_finds_what_we_find() {
    let modules =
        PathBuf::from(std::env::var_os("GCLAB_MEMLAB").expect("GCLAB_MEMLAB names a folder")).join("node_modules");
    let bench = Bench::new();
    for words in [
        &["binary_trees", "12"][..],
        &["message_window", "500", "20000"],
        &["hash_churn", "1000", "2000", "20000"],
    ] {
        dumped(&bench, words);
        let done = Command::new("node")
            .args(["-e", MEMLAB, "out.heapsnapshot", "memlab.json"])
            .current_dir(bench.path())
            .env("NODE_PATH", &modules)
            .output()
            .expect("node runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let memlab = json(&fs::read_to_string(bench.path().join("memlab.json")).unwrap());
        let ours = json(
            &bench
                .gclab(&[
                    "heap",
                    "analyse",
                    "out.heapsnapshot",
                    "--json",
                    "--synthetic",
                    "--top",
                    "100000000",
                ])
                .exits(0)
                .stdout,
        );
        assert_eq!(memlab["edges"], ours["edges"]);
        let sorted = |mut all: Vec<[u64; 3]>| {
            all.sort_unstable();
            all
        };
        let theirs = memlab["retained"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| [0, 1, 2].map(|at| node[at].as_u64().unwrap()));
        let found = ours["retained"].as_array().unwrap().iter();
        let found = found.map(|node| ["id", "self_size", "retained_size"].map(|key| node[key].as_u64().unwrap()));
        assert_eq!(sorted(found.collect()), sorted(theirs.collect()));
    }
}
