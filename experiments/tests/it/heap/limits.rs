//! How much memory an analysis takes, and how much it unpacks at most.

use super::postcss;
use crate::support::Bench;
use std::fs;
use std::process::Command;

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

/// The address space in which a command can start, in megabytes: mostly the program's own pages.
fn start_of(bench: &Bench) -> u64 {
    let starts = |megabytes: &u64| within(bench, *megabytes, &["--version"]).0 == Some(0);
    (10..100).find(starts).expect("100 MB are enough for a start")
}

/// The address space that an analysis takes on top of the start and the file, in megabytes.
const BASE: u64 = 8;

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

/// Running out of memory used to abort the process, and the size of the file did not bound memory.
#[test]
fn an_analysis_takes_at_most_five_times_the_file_and_says_when_there_is_too_little() {
    let bench = Bench::new();
    let start = start_of(&bench);
    let star: Vec<String> = (1..200_000).map(|node| format!("0,0,{}", node * 5)).collect();
    let files = [
        ("string", snapshot(1, &[], 0, &format!("\"{}\"", "x".repeat(5_000_000)))),
        (
            "escapes",
            snapshot(1, &[], 0, &format!("\"{}\"", "\\n".repeat(2_500_000))),
        ),
        (
            "strings",
            snapshot(1, &[], 0, &format!("{}\"\"", "\"\",".repeat(1_500_000))),
        ),
        ("nodes", snapshot(500_000, &[], 0, "\"\"")),
        ("star", snapshot(star.len() + 1, &star, star.len(), "\"\"")),
    ];
    for (name, text) in files {
        bench.write(name, &text);
        let size = text.len() as u64 / 1_000_000;
        for json in [None, Some("--json")] {
            let words: Vec<&str> = ["heap", "analyse", name].into_iter().chain(json).collect();
            let (code, message) = within(&bench, start + BASE + 5 * size, &words);
            assert_eq!(code, Some(0), "{name} in five times its size: {message}");
        }
        let mut messages = 0;
        // An analysis needs slightly more to start than `--version` does.
        for megabytes in (start + 1..start + BASE + 3 * size).step_by(4) {
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

#[test]
fn a_file_is_unpacked_up_to_the_limit() {
    let bench = Bench::new();
    let done = bench.gclab(&["heap", "analyse", &postcss(), "--limit", "1m"]).exits(2);
    let expected = "postcss.heapsnapshot.gz: more than 1m unpacked; `--limit` raises that\n";
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

/// Each class in a dump used to have its own list of inherited fields: one megabyte of classes took
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
    let (code, message) = within(&bench, start_of(&bench) + BASE + 40, &["heap", "analyse", "deep.hprof"]);
    assert_eq!(code, Some(0), "{message}");
}
