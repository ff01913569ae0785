//! Output of `gclab heap analyse` for other programs, and as a page.

use super::leaks::Heap;
use super::{json, postcss};
use crate::support::Bench;
use std::fs;

/// The bytes of the snapshot's objects. The rest belongs to nodes that are not objects.
const OBJECTS: u64 = 5_680_610;

/// A protocol buffers number at the start of some bytes, and the rest.
fn varint(bytes: &[u8]) -> (u64, &[u8]) {
    let end = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap();
    let value = bytes[..=end]
        .iter()
        .rev()
        .fold(0, |sum, byte| sum << 7 | u64::from(byte & 0x7f));
    (value, &bytes[end + 1..])
}

/// The byte fields of a message, with their numbers.
fn fields(mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let (key, rest) = varint(bytes);
        let (length, rest) = varint(rest);
        let (field, rest) = if key & 7 == 2 {
            rest.split_at(length as usize)
        } else {
            (&[][..], rest)
        };
        fields.push((key >> 3, field));
        bytes = rest;
    }
    fields
}

#[test]
fn stacks_have_all_bytes_once() {
    let done = |format: &str| {
        Bench::new()
            .gclab(&["heap", "analyse", &postcss(), "--format", format])
            .exits(0)
    };
    let folded = done("folded").stdout;
    let bytes = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
    assert_eq!(folded.lines().map(bytes).sum::<u64>(), OBJECTS);
    assert!(
        folded
            .lines()
            .any(|line| line.starts_with("Root;.nodes Array;[*] Rule;")),
        "{folded}"
    );
}

/// A chain of many classes would make stacks of all depths.
#[test]
fn stacks_have_a_greatest_depth() {
    const CHAIN: u64 = 1200;
    let mut heap = Heap::default();
    (0..CHAIN).for_each(|number| {
        let own = heap.object(&format!("C{number}"), 10);
        if number > 0 {
            heap.set(own - 2, "next", own);
        }
    });
    let bench = Bench::new();
    bench.write("chain.heapsnapshot", &heap.snapshot(true));
    let words = ["heap", "analyse", "chain.heapsnapshot", "--format", "folded"];
    let folded = bench.gclab(&words).exits(0).stdout;
    let depth = |line: &str| line.split(';').count();
    assert_eq!(folded.lines().map(depth).max(), Some(256));
    let bytes = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
    assert_eq!(folded.lines().map(bytes).sum::<u64>(), 10 * CHAIN);
    // Its end is shown whatever lies before.
    let last = (2 * CHAIN + 3).to_string();
    let path = bench.gclab(&["heap", "analyse", "chain.heapsnapshot", "--path-to", &last]);
    let path = path.exits(0).stdout;
    assert!(
        path.contains("… 1,141 more") && path.contains(&format!("@{last}")),
        "{path}"
    );
}

#[test]
fn a_profile_has_the_bytes_of_the_stacks() {
    let bench = Bench::new();
    let path = bench.path().join("heap.pb");
    let words = ["heap", "analyse", &postcss(), "--format", "pprof"];
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_gclab"))
        .args(words)
        .output()
        .unwrap();
    fs::write(&path, &out.stdout).unwrap();
    let all = fields(&out.stdout);
    let strings: Vec<&[u8]> = all.iter().filter(|field| field.0 == 6).map(|field| field.1).collect();
    assert_eq!(
        &strings[..5],
        [&b""[..], b"inuse_objects", b"count", b"inuse_space", b"bytes"]
    );
    let samples = all.iter().filter(|field| field.0 == 2);
    let bytes = samples.map(|(_, sample)| {
        let values = fields(sample).into_iter().find(|field| field.0 == 2).unwrap().1;
        varint(varint(values).1).0
    });
    assert_eq!(bytes.sum::<u64>(), OBJECTS);
}

#[test]
fn tables_have_every_object_and_reference() {
    let bench = Bench::new();
    let done = bench
        .gclab(&["heap", "analyse", &postcss(), "--csv", "tables", "--json", "--top", "1"])
        .exits(0);
    let report = json(&done.stdout);
    for (table, count) in [("object", "nodes"), ("reference", "edges")] {
        let text = fs::read(bench.path().join(format!("tables/heap_graph_{table}.csv"))).unwrap();
        let rows = csv::Reader::from_reader(&text[..])
            .into_records()
            .map(Result::unwrap)
            .count();
        assert_eq!(rows as u64, report[count].as_u64().unwrap(), "{table}");
    }
}

#[test]
fn a_page_is_small_and_loads_nothing() {
    let bench = Bench::new();
    bench
        .gclab(&["heap", "analyse", &postcss(), "--html", "heap.html"])
        .exits(0);
    let page = fs::read_to_string(bench.path().join("heap.html")).unwrap();
    assert!(page.contains("<h1>1.52 MB (27 % of 5.68 MB): Root.nodes holds 543 Rule</h1>"));
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    assert!(
        !page.contains(" src=") && !page.contains("<link"),
        "the page loads something"
    );
}
