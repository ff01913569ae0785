//! A checksum is not enough: the bytes allocated and the live bytes must be those that the
//! definitions imply for our layout.
//!
//! Sizes are in bytes. A closure has a header of 8 and 8 for each field; an array has another 8 for
//! its length.

use gclab_workloads::{SplitMix64, mix};

use crate::run::Run;

/// For each collector: the bytes allocated by the run, and the peak of live data after a major
/// collection.
fn allocated_and_live(workload: &str, args: &[&str]) -> Vec<(&'static str, u64, u64)> {
    // The matrix runs the checker on these heaps.
    let results = Run::new(workload, args).area(16 << 10).unchecked().everywhere();
    results
        .into_iter()
        .map(|(collector, _, statistics)| (collector, statistics.allocated, statistics.max_live))
        .collect()
}

/// Checks that a run allocates exactly `allocated` bytes, and that at most `live`, the peak, are
/// live. Collections may miss the peak, here by at most a quarter. Marking in slices also counts
/// what has died or was promoted in the meantime.
fn check(workload: &str, args: &[&str], allocated: u64, live: u64) {
    for (collector, found, found_live) in allocated_and_live(workload, args) {
        assert_eq!(found, allocated, "{workload} under {collector}: allocated");
        // What is promoted during a cycle counts as live when it ends.
        if ["concurrent", "lxr", "nonmoving"].contains(&collector) {
            continue;
        }
        let most = if collector == "ocaml" { live * 2 } else { live };
        assert!(
            found_live <= most,
            "{workload} under {collector}: {found_live} live, of {live} at the peak"
        );
        assert!(
            found_live >= live / 4 * 3,
            "{workload} under {collector}: only {found_live} live, of {live} at the peak"
        );
    }
}

fn bytes_array(len: u64) -> u64 {
    16 + len.next_multiple_of(8)
}

fn pointers_array(len: u64) -> u64 {
    16 + 8 * len
}

#[test]
fn binary_trees() {
    let tree = |depth: u64| ((1 << (depth + 1)) - 1) * 24;
    // The checksum is the number of nodes. The first tree, of depth 11, is the largest: one node
    // more than twice the kept tree.
    check("binary_trees", &["10"], 135_854 * 24, tree(11));
}

#[test]
fn gcbench() {
    let size = |depth: u64| (1 << (depth + 1)) - 1;
    let trees = (4..=10)
        .step_by(2)
        .map(|depth| 2 * (2 * size(12) / size(depth)) * size(depth))
        .sum::<u64>();
    let array = bytes_array(20_000 * 8);
    let nodes = size(12) + size(10) + trees;
    // The peak is at the stretch tree, or at the last tree with the kept tree and array.
    let live = (size(12) * 40).max(2 * size(10) * 40 + array);
    check("gcbench", &["12", "10", "20000"], nodes * 40 + array, live);
}

#[test]
fn long_list() {
    check(
        "long_list",
        &["20000", "30000"],
        (20_000 + 300_000) * 24,
        20_000 * 24 + 240,
    );
}

#[test]
fn mut_array() {
    check(
        "mut_array",
        &["5000", "100000"],
        pointers_array(5000) + 105_000 * 16,
        pointers_array(5000) + 5000 * 16,
    );
}

#[test]
fn hash_churn() {
    // Repeats the updates on a set of keys.
    let (mut rng, mut keys) = (SplitMix64::new(3), std::collections::HashSet::new());
    let entry = |key: u64| 32 + bytes_array(16 + key % 48);
    let (mut allocated, mut live, mut peak) = (pointers_array(1024), pointers_array(1024), 0);
    for _ in 0..50_000 {
        let key = rng.below(4096);
        if keys.remove(&key) {
            live -= entry(key);
        } else {
            keys.insert(key);
            allocated += entry(key);
            live += entry(key);
        }
        peak = peak.max(live);
    }
    check("hash_churn", &["1024", "4096", "50000"], allocated, peak);
}

#[test]
fn ocaml_gc() {
    // Repeats the updates on chains of the sizes of their items.
    let (slots, updates) = (1000_u64, 2500);
    let (mut rng, mut chains) = (SplitMix64::new(6), vec![Vec::new(); slots as usize]);
    let arrays = pointers_array(8) + 8 * pointers_array(128);
    let (mut allocated, mut live, mut peak) = (arrays, arrays, 0);
    for turn in 0..slots + 8 * updates {
        let slot = if turn < slots { turn } else { rng.below(slots) };
        let draw = rng.draw();
        let words = 1 + (draw >> 4) % if draw % 16 == 0 { 192 } else { 16 };
        let item = 24 + bytes_array(8 * words);
        let chain: &mut Vec<u64> = &mut chains[slot as usize];
        if chain.len() == 3 {
            live -= chain.drain(..).sum::<u64>();
        }
        chain.push(item);
        allocated += item;
        live += item;
        peak = peak.max(live);
    }
    check("ocaml_gc", &["1000", "2500"], allocated, peak);
}

#[test]
fn par_trees() {
    let tree = |depth: u64| ((1 << (depth + 1)) - 1) * 24;
    // With one capability the threads run one after another.
    check("par_trees", &["3", "10"], (135_854 + 51_550 + 25_774) * 24, tree(11));
}

#[test]
fn par_skewed() {
    let (rounds, kept) = (2000, 50);
    let cells = |thread: u64| (4 << thread) * 24;
    let allocated = (0..4).map(|thread| rounds * cells(thread) + pointers_array(kept)).sum();
    // The last thread keeps the most, and has one more list in a root.
    let live = kept * cells(3) + pointers_array(kept) + cells(3);
    check("par_skewed", &["4", "2000", "50"], allocated, live);
}

#[test]
fn par_shared() {
    // Repeats the updates on chains of keys.
    let (mut rng, mut chains) = (SplitMix64::new(5), vec![Vec::new(); 256]);
    let bytes = |key: u64| bytes_array(16 + key % 48);
    let (mut allocated, mut live, mut peak) = (pointers_array(256), pointers_array(256), 0);
    for _ in 0..20_000 {
        let key = rng.below(1024);
        let chain: &mut Vec<u64> = &mut chains[(mix(key) % 256) as usize];
        // The last element of a vector is the first of a chain.
        if let Some(place) = chain.iter().position(|at| *at == key) {
            allocated += (chain.len() - 1 - place) as u64 * 32;
            chain.remove(place);
            live -= 32 + bytes(key);
        } else {
            chain.push(key);
            allocated += 32 + bytes(key);
            live += 32 + bytes(key);
        }
        peak = peak.max(live);
    }
    check("par_shared", &["1", "256", "1024", "20000"], allocated, peak + 32 * 8);
}

#[test]
fn server() {
    let (requests, slots) = (2000, 100);
    let entry = 24 + bytes_array(1000);
    let mut cached: Vec<u64> = (0..slots).collect();
    let mut allocated = pointers_array(slots) + slots * entry + requests * 500 * 24;
    for request in 0..requests {
        let mut rng = SplitMix64::new(mix(request));
        let popular = 1 + rng.below(4 * slots);
        let key = rng.below(popular);
        if std::mem::replace(&mut cached[(key % slots) as usize], key) != key {
            allocated += entry;
        }
    }
    let live = pointers_array(slots) + slots * entry + 500 * 24;
    check("server", &["1", "2000", "100", "0"], allocated, live + entry);
}

/// The number of nodes on one edge of the treap of `keys`, by definition.
fn edge(keys: std::ops::Range<u64>, rightmost: bool) -> u64 {
    let mut best = None;
    let mut nodes = 0;
    let mut step = |key: u64| {
        if best.is_none_or(|best| mix(key) > best) {
            best = Some(mix(key));
            nodes += 1;
        }
    };
    if rightmost {
        keys.rev().for_each(&mut step)
    } else {
        keys.for_each(&mut step)
    }
    nodes
}

#[test]
fn message_window() {
    let (window, messages) = (400_u64, 2000);
    let mut nodes = 0;
    for key in 0..messages {
        let first = u64::saturating_sub(key, window);
        // Inserting at the right end copies the whole right edge. Deleting copies the left edge
        // without its end.
        nodes += edge(first..key, true) + 1;
        if key >= window {
            nodes += edge(first..key + 1, false) - 1;
        }
    }
    let allocated = messages * bytes_array(1024) + nodes * 48;
    check(
        "message_window",
        &["400", "2000", "1024"],
        allocated,
        401 * (bytes_array(1024) + 48) + 40 * 48,
    );
}
