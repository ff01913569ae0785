//! What nodes and classes retain, against the definition, on random graphs with WeakMaps of V8: a
//! value lives as long as its key, whatever holds the table.

use super::naive::rows;
use gclab_heap_traverse::analysis::Analysis;
use gclab_snapshot::{Options, Snapshot};
use proptest::prelude::*;
use std::collections::HashSet;

/// A pair of a WeakMap: table, key and value.
type Pair = [u32; 3];

/// A snapshot as V8 writes it: each pair's value has an edge from the table and one from the key.
fn snapshot(rows: &[Vec<u32>], pairs: &[Pair]) -> Snapshot {
    let classes = ["\"A\"", "\"B\"", "\"C\""].map(str::to_owned);
    let id = |node: u32| 2 * node + 1;
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for (node, row) in (0..).zip(rows) {
        let before = edges.len();
        edges.extend(row.iter().map(|to| format!("0,0,{}", to * 5)));
        for (name, [table, key, value]) in (1..).step_by(2).zip(pairs) {
            let held = [(table, name), (key, name + 1)]
                .into_iter()
                .filter(|&(&holder, _)| holder == node);
            edges.extend(held.map(|(_, name)| format!("0,{name},{}", value * 5)));
        }
        let class = 2 * pairs.len() as u32 + 1 + class(node);
        nodes.push(format!(
            "0,{class},{},{},{}",
            id(node),
            size(node),
            edges.len() - before
        ));
    }
    let name = |(index, [table, key, value]): (usize, &Pair)| {
        let [table, key, value] = [table, key, value].map(|&node| id(node));
        // Tables and keys number their edges separately.
        let name = |number| {
            format!("\"{number} / part of key (K @{key}) -> value (V @{value}) pair in WeakMap (table @{table})\"")
        };
        [name(index * 3), name(1)]
    };
    let names: Vec<String> = ["\"\"".to_owned()]
        .into_iter()
        .chain(pairs.iter().enumerate().flat_map(name))
        .chain(classes)
        .collect();
    let text = format!(
        r#"{{"snapshot":{{"meta":{{"node_fields":["type","name","id","self_size","edge_count"],
        "node_types":[["object"],"string","number","number","number"],
        "edge_fields":["type","name_or_index","to_node"],"edge_types":[["internal","weak"],"string_or_number","node"]}},
        "node_count":{},"edge_count":{}}},"nodes":[{}],"edges":[{}],"strings":[{}]}}"#,
        nodes.len(),
        edges.len(),
        nodes.join(","),
        edges.join(","),
        names.join(",")
    );
    let options = Options {
        interpret: true,
        ..Options::all()
    };
    Snapshot::read(text.as_bytes(), "pairs", options).unwrap()
}

fn size(node: u32) -> u64 {
    u64::from(node) * 7 + 1
}

/// The number of a node's class.
fn class(node: u32) -> u32 {
    node * node % 7 % 3
}

/// The nodes that are alive without `dead`, by definition: what the root reaches, and the values of
/// pairs whose keys are alive, until nothing is added.
fn alive(rows: &[Vec<u32>], pairs: &[Pair], dead: impl Fn(u32) -> bool) -> HashSet<u32> {
    let mut alive: HashSet<u32> = (!dead(0)).then_some(0).into_iter().collect();
    loop {
        let held = alive.iter().flat_map(|&node| rows[node as usize].iter().copied());
        let values = pairs
            .iter()
            .filter(|[_, key, _]| alive.contains(key))
            .map(|pair| pair[2]);
        let more: Vec<u32> = held
            .chain(values)
            .filter(|&node| !dead(node) && !alive.contains(&node))
            .collect();
        if more.is_empty() {
            return alive;
        }
        alive.extend(more);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn a_value_of_a_weak_map_is_lost_with_its_key(
        rows in rows(),
        pairs in prop::collection::vec(prop::array::uniform3(0_u32..40), 0..8),
    ) {
        let nodes = rows.len() as u32;
        let pairs: Vec<Pair> = pairs.into_iter().map(|pair| pair.map(|node| node % nodes)).collect();
        let snapshot = snapshot(&rows, &pairs);
        let analysis = Analysis::of(&snapshot).unwrap();
        let all = alive(&rows, &pairs, |_| false);
        let lost = |left: HashSet<u32>| all.difference(&left).map(|&node| size(node)).sum::<u64>();
        for node in 0..nodes {
            let lost = lost(alive(&rows, &pairs, |other| other == node));
            prop_assert_eq!(analysis.retained(node), lost, "retained by {}", node);
        }
        let mut expected: Vec<(u64, u32)> = (0..3)
            .map(|own| lost(alive(&rows, &pairs, |node| class(node) == own)))
            .zip(0..3)
            .filter(|&(_, own)| (0..nodes).any(|node| class(node) == own))
            .collect();
        let first_of = |own: u32| (0..nodes).find(|&node| class(node) == own).unwrap();
        expected.sort_by_key(|&(bytes, own)| (std::cmp::Reverse(bytes), first_of(own)));
        for count in 1..=3 {
            let found = analysis.largest_classes(count, |_| true).unwrap();
            let found: Vec<_> = found.iter().map(|class| (class.retained, class.figures.first)).collect();
            let some: Vec<_> = expected.iter().take(count).map(|&(bytes, own)| (bytes, first_of(own))).collect();
            prop_assert_eq!(found, some, "retained by classes");
        }
    }
}

/// A program with a list of keys, and a WeakMap from each key to a large value.
#[test]
fn the_list_of_keys_holds_the_values_and_the_weak_map_does_not() {
    // The root holds the list 1 and the table 2. The list holds the keys 3 and 4.
    let rows = [vec![1, 2], vec![3, 4], vec![], vec![], vec![], vec![], vec![]];
    let snapshot = snapshot(&rows, &[[2, 3, 5], [2, 4, 6]]);
    let analysis = Analysis::of(&snapshot).unwrap();
    assert_eq!(
        [1, 2, 3].map(|node| analysis.retained(node)),
        [8 + 22 + 29 + 36 + 43, 15, 22 + 36]
    );
}
