//! A real heap, checked against what another program computed from it.

use std::collections::HashMap;
use std::path::Path;

use gclab_snapshot::{Options, Snapshot};

fn postcss(options: Options) -> Snapshot {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads/fixtures/postcss.heapsnapshot.gz");
    Snapshot::open(&path, options).unwrap()
}

#[test]
fn counts_are_those_of_the_facts() {
    let snapshot = postcss(Options::all());
    assert_eq!(
        (snapshot.node_count(), snapshot.edge_count(), snapshot.strings().len()),
        (76_142, 321_259, 26_099)
    );
    assert_eq!(snapshot.nodes().map(|node| node.self_size()).sum::<u64>(), 5_683_202);
    assert_eq!(snapshot.nodes().filter_map(|node| node.id()).max(), Some(795_747_936));

    let mut edges = HashMap::new();
    for edge in snapshot.nodes().flat_map(|node| node.edges()) {
        *edges.entry(edge.type_name()).or_insert(0) += 1;
    }
    let expected = [
        ("context", 4521),
        ("element", 6911),
        ("property", 71524),
        ("internal", 205_867),
        ("hidden", 25346),
        ("shortcut", 52),
        ("weak", 7038),
    ];
    assert_eq!(edges, HashMap::from(expected));
    assert_eq!(
        snapshot
            .nodes()
            .flat_map(|node| node.edges())
            .filter(|edge| !edge.is_strong())
            .count(),
        7038
    );

    let strings: Vec<_> = snapshot.nodes().filter(|node| node.type_name() == "string").collect();
    assert_eq!(
        (strings.len(), strings.iter().map(|node| node.self_size()).sum::<u64>()),
        (16_109, 1_027_784)
    );
}

#[test]
fn single_nodes_are_those_of_the_facts() {
    let snapshot = postcss(Options::all());
    let map = snapshot.node(48);
    assert_eq!(
        (map.id(), map.type_name(), map.self_size(), map.edges().len()),
        (Some(97), "hidden", 72, 2)
    );
    assert_eq!(map.name(), "system / Map (OneByteInternalizedString)");
    assert_eq!(
        snapshot
            .nodes()
            .flat_map(|node| node.edges())
            .filter(|edge| edge.target().ordinal() == 48)
            .count(),
        8459
    );
    let table = snapshot.node(2);
    assert_eq!(
        (table.name().as_ref(), table.edges().len()),
        ("(Internalized strings)", 8441)
    );
}

#[test]
fn the_shape_alone_is_the_same_shape() {
    let (whole, shape) = (postcss(Options::all()), postcss(Options::shape()));
    for (one, other) in whole.nodes().zip(shape.nodes()) {
        assert_eq!(
            (one.self_size(), one.edge_range()),
            (other.self_size(), other.edge_range())
        );
        assert!(
            one.edges()
                .zip(other.edges())
                .all(|(a, b)| a.target().ordinal() == b.target().ordinal() && a.is_strong() == b.is_strong())
        );
    }
}
