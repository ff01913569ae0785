//! `gclab heap`: heaps of other programs, analysed, and heaps of our own, dumped.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::docs::root;
use crate::support::Bench;

fn postcss() -> String {
    root()
        .join("workloads/fixtures/postcss.heapsnapshot.gz")
        .display()
        .to_string()
}

fn cells() -> String {
    root()
        .join("core/snapshot/tests/it/fixtures/cells.hprof.gz")
        .display()
        .to_string()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn the_largest_of_a_snapshot_are_those_that_another_program_found() {
    let expected = fs::read_to_string(root().join("experiments/tests/it/fixtures/postcss.retained.json")).unwrap();
    let Value::Array(expected) = json(&expected) else {
        panic!("no array")
    };
    for top in [50, 7, 1] {
        let done = Bench::new()
            .gclab(&["heap", "analyse", &postcss(), "--top", &top.to_string(), "--json"])
            .exits(0);
        let report = json(&done.stdout);
        let retained = report["retained"].as_array().unwrap();
        assert_eq!(retained.len(), top);
        for (found, expected) in retained.iter().zip(&expected) {
            for key in ["id", "type", "self_size", "retained_size"] {
                assert_eq!(found[key], expected[key], "{key} of {found}");
            }
            assert!(found["name"].is_string());
        }
        // The known facts about the file.
        let counts = ["nodes", "edges", "strong_edges", "reached", "self_size", "reached_size"]
            .map(|key| report[key].as_u64().unwrap());
        assert_eq!(counts, [76_142, 321_259, 314_221, 76_142, 5_683_202, 5_683_202]);
        let strings = report["types"]
            .as_array()
            .unwrap()
            .iter()
            .find(|count| count["name"] == "string")
            .unwrap();
        assert_eq!(
            (&strings["count"], &strings["self_size"]),
            (&16_109.into(), &1_027_784.into())
        );
        assert!(report["names"].as_array().unwrap().len() <= top);
    }
}

/// Another program found the first sixty classes, from the definition.
#[test]
fn the_largest_classes_of_a_snapshot_are_those_that_another_program_found() {
    let expected = fs::read_to_string(root().join("experiments/tests/it/fixtures/postcss.classes.json")).unwrap();
    let expected = json(&expected);
    let expected = expected.as_array().unwrap();
    for top in [60, 3] {
        let words = ["heap", "analyse", &postcss(), "--top", &top.to_string(), "--json"];
        let report = json(&Bench::new().gclab(&words).exits(0).stdout);
        assert_eq!(report["classes"].as_array().unwrap(), &expected[..top]);
    }
}

/// Objects that no single object holds were one grey bar of half the picture, and nothing in the
/// text.
#[test]
fn the_rest_is_told_by_class_in_text_and_picture() {
    let bench = Bench::new();
    let words = ["heap", "analyse", &postcss(), "--top", "5", "--svg", "tree.svg"];
    let text = bench.gclab(&words).exits(0).stdout;
    let rest = text.lines().last().unwrap();
    assert!(
        rest.contains("others, by class: (code) 1.11 MB, (closure) 579 kB, (string) 369 kB, "),
        "{rest}"
    );
    assert!(text.contains("hangs from no single object with 1 % or more"), "{text}");
    assert!(
        text.contains("object Root @6215 > .nodes object Array @149117"),
        "{text}"
    );
    assert!(
        !text.contains("synthetic @") && !text.contains("synthetic (GC roots)"),
        "{text}"
    );
    let words = ["heap", "analyse", &postcss(), "--top", "5", "--synthetic"];
    assert!(bench.gclab(&words).exits(0).stdout.contains("synthetic (GC roots)"));
    let picture = fs::read_to_string(bench.path().join("tree.svg")).unwrap();
    let width = |bar: &str| -> f64 {
        let (_, after) = bar.split_once("width=\"").unwrap();
        after.split('"').next().unwrap().parse().unwrap()
    };
    let bars: Vec<&str> = picture.split("<rect ").skip(1).collect();
    let grey = bars.iter().filter(|bar| bar.contains("#cccccc")).map(|bar| width(bar));
    assert!(
        grey.fold(0.0, f64::max) < 120.0,
        "a grey bar has a tenth of the picture"
    );
    // The bars of the second row fill it.
    let top: f64 = bars
        .iter()
        .filter(|bar| bar.contains(" y=\"44\""))
        .map(|bar| width(bar))
        .sum();
    assert!((1198.0..=1200.5).contains(&top), "{top}");
    assert!(picture.contains("<title>(code): "), "{picture}");
}

/// A list filled the list of holders, cell by cell.
#[test]
fn a_list_is_one_line() {
    let bench = Bench::new();
    let dump = [
        "heap",
        "dump",
        "long_list",
        "5000",
        "20000",
        "-o",
        "list.heapsnapshot",
        "+RTS",
        "-A256k",
    ];
    bench.gclab(&dump).exits(0);
    let text = bench.gclab(&["heap", "analyse", "list.heapsnapshot"]).exits(0).stdout;
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("Cell × 5,000 in a list"))
        .collect();
    // One holder, and one line of the tree.
    assert_eq!(lines.len(), 2, "{text}");
    assert!(
        lines[0]
            .trim_start()
            .starts_with("120 kB   99.8     120 kB  object Cell × 5,000"),
        "{text}"
    );
}

/// Runs `gclab` with at most this much address space, in megabytes.
fn within(bench: &Bench, megabytes: u64, words: &[&str]) -> (Option<i32>, String) {
    let output = Command::new("sh")
        .args(["-c", "ulimit -v $0; exec \"$@\"", &(megabytes * 1000).to_string()])
        .arg(env!("CARGO_BIN_EXE_gclab"))
        .args(words)
        .current_dir(bench.path())
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// The address space of a command that has no heap to analyse, in megabytes.
const BASE: u64 = 30;

/// A snapshot of `nodes` nodes of ten bytes each, with these edges and strings.
fn snapshot(nodes: usize, edges: &[String], first_edges: usize, strings: &str) -> String {
    let meta = r#""meta":{"node_fields":["type","name","id","self_size","edge_count"],"node_types":[["object"],"","","",""],
        "edge_fields":["type","name_or_index","to_node"],"edge_types":[["element"],"",""]}"#;
    format!(
        "{{\"snapshot\":{{{meta},\"node_count\":{nodes},\"edge_count\":{}}},\"nodes\":[0,0,0,0,{first_edges}{}],\"edges\":[{}],\"strings\":[{strings}]}}",
        edges.len(),
        ",0,0,0,0,0".repeat(nodes - 1),
        edges.join(",")
    )
}

/// Memory ended in an abort; and it was not bounded by the size of the file.
#[test]
fn an_analysis_takes_at_most_four_times_the_file_and_says_when_there_is_too_little() {
    let bench = Bench::new();
    let star: Vec<String> = (1..400_000).map(|node| format!("0,0,{}", node * 5)).collect();
    let files = [
        (
            "string",
            snapshot(1, &[], 0, &format!("\"{}\"", "x".repeat(10_000_000))),
        ),
        (
            "escapes",
            snapshot(1, &[], 0, &format!("\"{}\"", "\\n".repeat(5_000_000))),
        ),
        (
            "strings",
            snapshot(1, &[], 0, &format!("{}\"\"", "\"\",".repeat(3_000_000))),
        ),
        ("nodes", snapshot(1_000_000, &[], 0, "\"\"")),
        ("star", snapshot(star.len() + 1, &star, star.len(), "\"\"")),
    ];
    for (name, text) in files {
        bench.write(name, &text);
        let size = text.len() as u64 / 1_000_000;
        for json in [None, Some("--json")] {
            let words: Vec<&str> = ["heap", "analyse", name].into_iter().chain(json).collect();
            let (code, message) = within(&bench, BASE + 4 * size, &words);
            assert_eq!(code, Some(0), "{name} in four times its size: {message}");
        }
        let mut messages = 0;
        for megabytes in (25..BASE + 3 * size).step_by(4) {
            let json = (megabytes % 8 < 4).then_some("--json");
            let words: Vec<&str> = ["heap", "analyse", name].into_iter().chain(json).collect();
            let (code, message) = within(&bench, megabytes, &words);
            let said = code == Some(2) && message.contains("out of memory: ") && message.lines().count() == 1;
            assert!(code == Some(0) || said, "{name} in {megabytes} MB: {code:?} {message}");
            messages += u32::from(said);
        }
        assert!(messages > 0, "{name} has no message");
    }
}

/// Each class of a dump had a list of all fields that it inherits: one megabyte of classes took
/// gigabytes.
#[test]
fn classes_of_a_dump_share_the_fields_that_they_inherit() {
    const CLASSES: u64 = 2000;
    const FIELDS: u16 = 60_000;
    let mut entries: Vec<u8> = Vec::new();
    for class in 1..=CLASSES {
        entries.push(0x20);
        entries.extend(class.to_be_bytes());
        entries.extend(0_u32.to_be_bytes());
        entries.extend((class - 1).to_be_bytes());
        // Loader, signers, protection domain, two reserved ids, size, constants and static fields.
        entries.extend([0; 40 + 4 + 2 + 2]);
        let fields = if class == 1 { FIELDS } else { 0 };
        entries.extend(fields.to_be_bytes());
        for _ in 0..fields {
            entries.extend(9_u64.to_be_bytes());
            entries.push(2);
        }
    }
    let mut dump = b"JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\0\0\0\0\0\0".to_vec();
    dump.extend([0x1c, 0, 0, 0, 0]);
    dump.extend((entries.len() as u32).to_be_bytes());
    dump.extend(entries);
    dump.extend([0x2c, 0, 0, 0, 0, 0, 0, 0, 0]);
    let bench = Bench::new();
    fs::write(bench.path().join("deep.hprof"), &dump).unwrap();
    let (code, message) = within(&bench, BASE + 40, &["heap", "analyse", "deep.hprof"]);
    assert_eq!(code, Some(0), "{message}");
}

#[test]
fn a_file_is_unpacked_up_to_the_limit() {
    let bench = Bench::new();
    let done = bench.gclab(&["heap", "analyse", &postcss(), "--limit", "1m"]).exits(2);
    let expected = "postcss.heapsnapshot.gz: more than 1m, unpacked; `--limit SIZE` raises the limit, and the analysis takes up \
                    to four times the size\n";
    assert!(done.stderr.ends_with(expected), "{}", done.stderr);
    bench
        .gclab(&["heap", "analyse", &postcss(), "--limit", "8m", "--top", "1"])
        .exits(0);
    let wrong = bench
        .gclab(&["heap", "analyse", &postcss(), "--limit", "much"])
        .exits(2);
    assert!(
        wrong.stderr.contains("expected a number with k, m, g or t, as in 8g"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn a_jvm_dump_in_text() {
    let bench = Bench::new();
    fs::copy(cells(), bench.path().join("cells.hprof.gz")).unwrap();
    let words = [
        "heap",
        "analyse",
        "cells.hprof.gz",
        "--top",
        "6",
        "--path-to",
        "30146341144",
    ];
    insta::assert_snapshot!(bench.gclab(&words).exits(0).stdout);
}

#[test]
fn paths_lead_from_the_root_to_the_object() {
    let bench = Bench::new();
    for id in ["6215", "@6215", "0x1847"] {
        let done = bench
            .gclab(&["heap", "analyse", &postcss(), "--json", "--path-to", id])
            .exits(0);
        let report = json(&done.stdout);
        let path = report["path"].as_array().unwrap();
        assert_eq!((&path[0]["id"], &path[0]["edge"]), (&1.into(), &Value::Null));
        let last = path.last().unwrap();
        assert_eq!((&last["id"], &last["name"]), (&6215.into(), &"Root".into()));
        assert!(
            path[1..]
                .iter()
                .all(|step| step["edge"]["type"].is_string() && step["edge"]["name"].is_string())
        );
    }
}

#[test]
fn a_picture_has_a_bar_for_what_is_large() {
    let bench = Bench::new();
    bench
        .gclab(&["heap", "analyse", &postcss(), "--svg", "tree.svg", "--top", "1"])
        .exits(0);
    let picture = fs::read_to_string(bench.path().join("tree.svg")).unwrap();
    assert!(picture.starts_with("<svg xmlns=") && picture.ends_with("</svg>\n"));
    let root =
        "<title>object Root @6215 &gt; .nodes object Array @149117: retains 1.52 MB (26.7 %), itself 192 B</title>";
    assert!(picture.contains(root), "{picture}");
    // The root is as wide as the picture, and every element is closed.
    assert!(picture.contains("width=\"1200.00\""));
    for tag in ["g", "title", "text", "svg"] {
        let opened = picture.matches(&format!("<{tag}>")).count() + picture.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, picture.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    assert!(!picture.contains(['\u{8}', '\u{0}']));
}

/// The message, without the parts that differ between machines.
fn refused(words: &[&str]) -> String {
    let bench = Bench::new();
    bench.write("empty", "");
    bench.write("cut.heapsnapshot", "{\"snapshot\":{\"meta\":{");
    bench.write("other.hprof", "JAVA PROFILE 9\0");
    let done = bench.gclab(words).exits(2);
    assert_eq!(done.stdout, "");
    assert!(!bench.path().join("out.heapsnapshot").exists() && !bench.path().join("out.heapsnapshot.part").exists());
    done.stderr
}

#[test]
fn what_is_wrong_is_one_message() {
    let messages = [
        &["heap", "analyse", "no.heapsnapshot"][..],
        &["heap", "analyse", "empty"],
        &["heap", "analyse", "cut.heapsnapshot"],
        &["heap", "analyse", "other.hprof"],
        &["heap", "analyse", "other.hprof", "+RTS", "-A1m"],
        &["heap", "dump", "binary_tree", "6", "-o", "out.heapsnapshot"],
        &["heap", "dump", "binary_trees", "1000", "-o", "out.heapsnapshot"],
        &[
            "heap",
            "dump",
            "binary_trees",
            "6",
            "--collector",
            "copyng",
            "-o",
            "out.heapsnapshot",
        ],
        &["heap", "dump", "binary_trees", "6", "-o", "no/such/folder"],
        &["heap", "dump", "binary_trees", "6", "-o", "."],
        &[
            "heap",
            "dump",
            "binary_trees",
            "6",
            "-o",
            "out.heapsnapshot",
            "+RTS",
            "-A64m",
        ],
        &[
            "heap",
            "dump",
            "binary_trees",
            "10",
            "--at-gc",
            "1000",
            "-o",
            "out.heapsnapshot",
            "+RTS",
            "-A1m",
        ],
        &[
            "heap",
            "dump",
            "binary_trees",
            "6",
            "-o",
            "out.heapsnapshot",
            "+RTS",
            "-Ax",
        ],
    ]
    .map(|words| {
        // The names are not the subject of this test.
        let message = refused(words);
        let cut = |line: &str| match line
            .split_once("s: ")
            .filter(|(before, _)| before.ends_with("workload") || before.ends_with("collector"))
        {
            Some((before, _)) => format!("{before}s: ...\n"),
            None => format!("{line}\n"),
        };
        format!(
            "$ gclab {}\n{}",
            words.join(" "),
            message.lines().map(cut).collect::<String>()
        )
    });
    insta::assert_snapshot!(messages.join("\n"));
    let unknown = refused(&["heap", "analyse", &postcss(), "--path-to", "2"]);
    assert!(
        unknown.ends_with("postcss.heapsnapshot.gz: no object has the id 2; `--top` lists some that exist\n"),
        "{unknown}"
    );
    assert!(refused(&["heap", "analyse", "empty", "--path-to", "x"]).contains("expected the id of an object"));
    assert!(
        refused(&[
            "heap",
            "dump",
            "binary_trees",
            "6",
            "-o",
            "out.heapsnapshot",
            "--at-gc",
            "0"
        ])
        .contains("--at-gc")
    );
}

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

/// A dumped heap as JSON, and the closures and pointers that the command counted.
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

/// Regression: both runs of a dump wrote the heap profile.
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
    // Root, `(GC roots)` and three kinds of roots; edges among these, and from frames and handles.
    assert_eq!(nodes, closures + 5);
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
            "Tree"
        ]
    );
}

#[test]
fn a_dump_is_of_the_collection_that_is_asked_for() {
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
            .gclab(&["heap", "analyse", "out.heapsnapshot", "--json"])
            .exits(0)
            .stdout,
    );
    assert_eq!(
        report["nodes"].as_u64().unwrap() as usize,
        report["reached"].as_u64().unwrap() as usize
    );
    assert_eq!(report["nodes"], later + 5);
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
                .gclab(&["heap", "analyse", "out.heapsnapshot", "--json"])
                .exits(0)
                .stdout,
        );
        assert_eq!(report["nodes"].as_u64(), report["reached"].as_u64(), "{name}");
        assert_eq!(report["self_size"], report["retained"][0]["retained_size"], "{name}");
    }
}

/// memlab's analysis of a file as JSON: nodes, edges, and the ten largest objects, of equals one.
const MEMLAB: &str = r#"
const { getFullHeapFromFile } = require('@memlab/heap-analysis');
console.log = console.info = () => {};
getFullHeapFromFile(process.argv[1]).then(heap => {
  const retained = []; let edges = 0;
  heap.nodes.forEach(node => { retained.push([node.id, node.self_size, node.retainedSize]); });
  heap.edges.forEach(() => { edges++; });
  require('fs').writeFileSync(process.argv[2], JSON.stringify({ edges, retained }));
});"#;

/// `.ci/memlab` gets memlab, and runs this.
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
                .gclab(&["heap", "analyse", "out.heapsnapshot", "--json", "--top", "100000000"])
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
