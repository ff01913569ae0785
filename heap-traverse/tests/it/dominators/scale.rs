//! Sizes and depths that would reveal recursion or quadratic time.

use super::{by_sweeps, fnv};
use gclab_heap_traverse::Dominators;
use gclab_heap_traverse::graph::{Graph, ShortestPaths};
use std::time::Instant;

/// The deepest graph: each node holds the next.
fn list(nodes: u32) -> Graph {
    Graph::from_rows((0..nodes).map(|node| (node + 1..nodes).take(1))).unwrap()
}

#[test]
fn a_list_of_ten_million() {
    let nodes = 10_000_000;
    let graph = list(nodes);
    let dominators = Dominators::of(&graph).unwrap();
    assert!((1..nodes).all(|node| dominators.idom(node) == Some(node - 1)));
    let retained = dominators.retained(|_| 16).unwrap();
    assert!((0..nodes).all(|node| retained[node as usize] == u64::from(nodes - node) * 16));
    let path = ShortestPaths::of(&graph).unwrap().to(nodes - 1).unwrap();
    assert!(path.into_iter().eq(0..nodes));
}

#[test]
fn a_list_with_many_at_its_end_that_the_root_holds_too() {
    // Going step by step, this takes a million times a million steps.
    let (list, leaves) = (1_000_000_u32, 1_000_000_u32);
    let leaf = move |count| (0..count).map(move |leaf| list + leaf);
    let root = std::iter::once(1).chain(leaf(leaves));
    let inner = (2..list).map(Some).chain([None]);
    let mut rows: Vec<Vec<u32>> = vec![root.collect()];
    rows.extend(inner.map(|next| next.into_iter().collect()));
    rows[list as usize - 1] = leaf(leaves).collect();
    // The list comes first in the root's row, so in the search tree the leaves are below its end.
    rows.extend(leaf(leaves).map(|_| vec![]));
    let dominators = Dominators::of(&Graph::from_rows(rows).unwrap()).unwrap();
    assert!((1..list).all(|node| dominators.idom(node) == Some(node - 1)));
    assert!(leaf(leaves).all(|leaf| dominators.idom(leaf) == Some(0)));
}

#[test]
fn a_comb_whose_teeth_lead_back() {
    // Node 2i holds 2i + 2 and its tooth 2i + 1. Every tooth points back to the start of the comb
    // and to the next tooth.
    let back = 1_000_000_u32;
    let row = |node: u32| {
        let next = node + 2;
        let targets = if node.is_multiple_of(2) {
            [node + 1, next]
        } else {
            [2, next]
        };
        targets.into_iter().filter(move |&target| target < 2 * back)
    };
    let dominators = Dominators::of(&Graph::from_rows((0..2 * back).map(row)).unwrap()).unwrap();
    let above = |node: u32| {
        if node.is_multiple_of(2) {
            node.saturating_sub(2)
        } else {
            0
        }
    };
    assert!((0..2 * back).all(|node| dominators.idom(node) == Some(above(node))));
}

/// A graph like a heap: most edges lead to nodes nearby, a tenth of them anywhere, and one in a
/// hundred to one of a few popular nodes. Nodes have 1 to 8 edges.
fn heap_like(nodes: u32) -> Graph {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let row = move |node: u32| {
        let count = 1 + next() % 8;
        let targets = (0..count).map(|edge| {
            let any = (next() >> 16) as u32;
            match next() % 100 {
                _ if edge == 0 => (node + 1 + any % 3).min(nodes - 1),
                0 => any % 64,
                1..=10 => any % nodes,
                _ => (node.saturating_sub(500) + any % 1000).min(nodes - 1),
            }
        });
        targets.collect::<Vec<_>>()
    };
    Graph::from_rows((0..nodes).map(row)).unwrap()
}

#[test]
fn a_heap_like_graph_by_both_algorithms() {
    let graph = heap_like(200_000);
    assert_eq!(Dominators::of(&graph).unwrap().idoms(), by_sweeps(&graph));
}

/// Nodes with four edges each to random nodes, the worst case for caches.
fn uniform(nodes: u32) -> Graph {
    let mut state = 1_u64;
    let row = |_| {
        let mut targets = [0; 4];
        for target in &mut targets {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            *target = ((state >> 33) % u64::from(nodes)) as u32;
        }
        targets
    };
    Graph::from_rows((0..nodes).map(row)).unwrap()
}

/// A value from `/proc/self/status`, in bytes.
fn status(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    line.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().unwrap() * 1024
}

/// Time and memory: `cargo test --release -p gclab-heap-traverse ten_million_nodes -- --ignored
/// --nocapture`.
#[test]
#[ignore = "takes a minute, and is for its figures"]
fn ten_million_nodes_in_time_and_memory() {
    let nodes = 10_000_000;
    let graphs = [
        ("heap-like", heap_like as fn(u32) -> Graph),
        ("random", uniform),
        ("list", list),
    ];
    for (name, make) in graphs {
        let graph = make(nodes);
        let arrays = 4 * (u64::from(graph.node_count()) + u64::from(graph.edge_count()));
        let before = status("VmRSS:");
        // Resets the peak.
        std::fs::write("/proc/self/clear_refs", "5").unwrap();
        let start = Instant::now();
        let dominators = Dominators::of(&graph).unwrap();
        let tree = start.elapsed();
        // The graph exists before and after, so its arrays are added.
        let peak = status("VmHWM:") - before + arrays;
        let retained = dominators.retained(|_| 1).unwrap();
        let all = start.elapsed();
        println!(
            "{name}: {} edges, {} nodes reached; tree {:.2} s, with retained sizes {:.2} s; {:.2} times the graph at most ({:016x})",
            graph.edge_count(),
            dominators.reached().len(),
            tree.as_secs_f64(),
            all.as_secs_f64(),
            peak as f64 / arrays as f64,
            fnv(retained.iter().flat_map(|size| size.to_le_bytes())),
        );
        assert!(all.as_secs() < 10, "{name}: {all:?}");
        assert!(
            name == "list" || peak <= 3 * arrays,
            "{name}: {peak} bytes, with arrays of {arrays}"
        );
    }
}

/// Time of the other algorithm: `cargo test --release -p gclab-heap-traverse against_sweeps --
/// --ignored --nocapture`.
#[test]
#[ignore = "is for its figures"]
fn times_against_sweeps() {
    for (name, make) in [("heap-like", heap_like as fn(u32) -> Graph), ("random", uniform)] {
        let graph = make(1_000_000);
        let start = Instant::now();
        let dominators = Dominators::of(&graph).unwrap();
        let ours = start.elapsed();
        let start = Instant::now();
        assert_eq!(dominators.idoms(), by_sweeps(&graph));
        println!(
            "{name}: tree {:.2} s, by sweeps {:.2} s",
            ours.as_secs_f64(),
            start.elapsed().as_secs_f64()
        );
    }
}
