//! The rebuilt heap has the snapshot's graph, both before and after parts of it are renewed.

use std::fmt::Write;

use gclab_core::collector::CollectorList;
use gclab_core::stats::Statistics;
use gclab_proof::tier;
use gclab_workloads::SplitMix64;

use crate::run::Run;

/// A snapshot of `count` nodes, all reachable from node 0 over strong edges, and its checksum, by
/// definition, for ROUNDS 0.
fn random_snapshot(seed: u64, count: u64) -> (String, u64) {
    let mut rng = SplitMix64::new(seed);
    let mut edges: Vec<Vec<(u64, u64)>> = vec![Vec::new(); count as usize];
    for node in 1..count {
        edges[rng.below(node) as usize].push((0, node));
    }
    for _ in 0..count {
        let (from, kind, to) = (rng.below(count), rng.below(2), rng.below(count));
        edges[from as usize].push((kind, to));
    }
    let (mut nodes, mut rows, mut checksum) = (String::new(), String::new(), count);
    for out in &edges {
        let self_size = rng.below(90) * rng.below(2);
        write!(
            nodes,
            "{}0,0,1,{self_size},{}",
            if nodes.is_empty() { "" } else { "," },
            out.len()
        )
        .unwrap();
        checksum += self_size;
        for (kind, to) in out {
            write!(rows, "{}{kind},0,{}", if rows.is_empty() { "" } else { "," }, to * 5).unwrap();
            checksum += 1 - kind;
        }
    }
    let edge_count: usize = edges.iter().map(Vec::len).sum();
    let text = format!(
        r#"{{"snapshot":{{"meta":{{"node_fields":["type","name","id","self_size","edge_count"],"node_types":[["object"],"string","number","number","number"],
"edge_fields":["type","name_or_index","to_node"],"edge_types":[["property","weak"],"string_or_number","node"]}},"node_count":{count},"edge_count":{edge_count}}},
"nodes":[{nodes}],"edges":[{rows}],"strings":["x"]}}"#
    );
    (text, checksum)
}

#[test]
fn the_built_in_snapshot_is_rebuilt_whole() {
    // Nodes, strong edges and the sum of self sizes, counted by another program.
    let (nodes, strong, self_sizes) = (76_142, 321_259 - 7_038, 5_683_202);
    // The sum of the nodes' sizes, computed by a third program, and the table used to build the
    // graph.
    let (sizes, table) = (6_270_408, 16 + 8 * nodes);
    for (collector, checksum, statistics) in Run::new("heap_snapshot", &["-", "0"]).area(1 << 20).everywhere() {
        assert_eq!(checksum, nodes + strong + self_sizes, "under {collector}");
        assert_eq!(statistics.allocated, sizes + table, "under {collector}");
        let asked = statistics.collections.iter().rev().nth(1).unwrap();
        assert_eq!(
            (asked.work.is_major(), asked.work.live.0 as u64),
            (true, sizes),
            "under {collector}: the table is gone, all else is live"
        );
    }
}

#[test]
fn any_graph_is_rebuilt_and_survives_renewal() {
    for (seed, count) in [(1, 1), (2, 2), (3, 40), (4, 700)] {
        let (text, expected) = random_snapshot(seed, count);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let path = file.path().to_str().unwrap();
        let run = |rounds| Run::new("heap_snapshot", &[path, rounds]).stress(13).everywhere();
        for (collector, checksum, _) in run("0") {
            assert_eq!(checksum, expected, "{count} nodes under {collector}");
        }
        let renewed = run("5");
        assert!(
            renewed.iter().all(|(_, checksum, _)| *checksum == renewed[0].1),
            "{count} nodes"
        );
        assert_eq!(
            renewed[0].1 != expected,
            count > 1,
            "{count} nodes: rounds leave a trace in the checksum"
        );
    }
}

#[test]
fn renewal_costs_a_sixteenth_a_round_and_keeps_the_size() {
    let run = |rounds| Run::new("heap_snapshot", &["-", rounds]).area(1 << 20).unchecked();
    let collectors = gclab_collectors::All::descriptions();
    for collector in collectors.iter().step_by(tier::cases(3, 1)) {
        let collector = collector.name;
        let [few, many] = ["4", "16"].map(|rounds| run(rounds).under(collector).unwrap().1);
        let by_round = (many.allocated - few.allocated) as f64 / 12.0 / 6_270_408.0;
        assert!(
            (0.02..0.12).contains(&by_round),
            "{by_round} of the heap a round, under {collector}"
        );
        let live = |statistics: &Statistics| statistics.collections.iter().rev().nth(1).unwrap().work.live;
        assert_eq!(live(&few), live(&many), "under {collector}");
    }
}

#[test]
fn a_file_that_is_not_a_snapshot_is_an_error_and_the_heap_goes_on() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let error = |text: &str| {
        std::fs::write(file.path(), text).unwrap();
        Run::new("heap_snapshot", &[path, "0"])
            .under("copying")
            .unwrap_err()
            .to_string()
    };
    let (text, _) = random_snapshot(5, 20);
    assert!(
        error("words")
            .ends_with("byte 0: not a V8 heap snapshot: expected a JSON object with the key \"snapshot\", found `w`")
    );
    assert!(error(&text[..text.len() - 10]).contains("it was cut off"));
    let empty = r#"{"snapshot":{"meta":{"node_fields":["type","name","id","self_size","edge_count"],"node_types":[["object"]],
"edge_fields":["type","name_or_index","to_node"],"edge_types":[["property"]]},"node_count":0,"edge_count":0},"nodes":[],"edges":[],"strings":[]}"#;
    assert!(error(empty).ends_with("the snapshot has no nodes, expected at least the root"));
    let huge = empty
        .replace("node_count\":0", "node_count\":1")
        .replace("\"nodes\":[]", "\"nodes\":[0,0,1,9999999999,0]")
        .replace("\"strings\":[]", "\"strings\":[\"\"]");
    assert!(error(&huge).ends_with("node 0 has 9999999999 bytes, expected at most 4294967295"));
}
