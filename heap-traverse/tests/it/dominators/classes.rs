//! The bytes that classes retain on a real heap, against another program; and the merged tree.

use gclab_heap_traverse::analysis::{Analysis, Merged, Names};
use gclab_snapshot::{Options, Snapshot};
use std::path::Path;

/// A snapshot with a root and `nodes` objects, each with a name, and edges between ordinals, in
/// order of their sources.
fn snapshot(names: &[u32], strings: &[&str], edges: &[(u32, u32)]) -> Snapshot {
    let count = |node: u32| edges.iter().filter(|edge| edge.0 == node).count();
    let nodes: Vec<String> = (0..)
        .zip(names)
        .map(|(node, name)| format!("{},{name},{},10,{}", u32::from(node > 0), 2 * node + 1, count(node)))
        .collect();
    let edges: Vec<String> = edges.iter().map(|(_, to)| format!("0,0,{}", to * 5)).collect();
    let text = format!(
        r#"{{"snapshot":{{"meta":{{"node_fields":["type","name","id","self_size","edge_count"],
        "node_types":[["synthetic","object"],"string","number","number","number"],
        "edge_fields":["type","name_or_index","to_node"],"edge_types":[["property"],"string_or_number","node"]}},
        "node_count":{},"edge_count":{}}},"nodes":[{}],"edges":[{}],"strings":["{}"]}}"#,
        names.len(),
        edges.len(),
        nodes.join(","),
        edges.join(","),
        strings.join("\",\"")
    );
    Snapshot::read(text.as_bytes(), "small", Options::all()).unwrap()
}

#[test]
fn nodes_with_equal_names_are_one_class_even_if_the_file_has_the_name_twice() {
    // The root holds an A, which holds a B and another A, whose name is written with an escape.
    let snapshot = snapshot(&[0, 1, 2, 3], &["", "A", "B", "\\u0041"], &[(0, 1), (1, 2), (1, 3)]);
    let analysis = Analysis::of(&snapshot).unwrap();
    let found: Vec<_> = analysis
        .largest_classes(10, |_| true)
        .unwrap()
        .into_iter()
        .map(|class| {
            (
                snapshot.node(class.figures.first).name().into_owned(),
                class.figures.count,
                class.figures.shallow,
                class.retained,
            )
        })
        .collect();
    let expected = [("", 1, 10, 40), ("A", 2, 20, 30), ("B", 1, 10, 10)];
    assert_eq!(
        found,
        expected.map(|(name, count, shallow, retained)| (name.to_owned(), count, shallow, retained))
    );
}

/// The reported holder was a member in the middle of the list, beyond which the rest was no longer
/// large.
#[test]
fn a_list_of_two_alternating_classes_hangs_from_its_head() {
    let names: Vec<u32> = [0].into_iter().chain((0..100).map(|node| 1 + node % 2)).collect();
    let edges: Vec<(u32, u32)> = (0..100).map(|node| (node, node + 1)).collect();
    let snapshot = snapshot(&names, &["next", "A", "B"], &edges);
    let analysis = Analysis::of(&snapshot).unwrap();
    let merged = Merged::of(&analysis, &Names::of(analysis.snapshot(), analysis.classes()).unwrap()).unwrap();
    let holders = merged.holders(100);
    let held: Vec<u64> = holders.iter().map(|holder| holder.bytes).collect();
    assert_eq!(held, [1000]);
    // The head is an A; then come equally many of both classes.
    let counts: Vec<_> = (1..merged.len() as u32)
        .map(|place| (merged.class(place), merged.place(place).count))
        .collect();
    assert_eq!(counts, [("A", 1), ("B", 50), ("A", 49)]);
    assert_eq!(holders[0].path, [1]);
}

/// The numbers come from another program, which has its own reader and searches the heap without
/// the objects of each class.
#[test]
fn postcss_has_the_classes_that_another_program_found() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/fixtures/postcss.heapsnapshot.gz");
    let snapshot = Snapshot::open(&path, Options::all()).unwrap();
    let analysis = Analysis::of(&snapshot).unwrap();
    let classes = analysis.largest_classes(usize::MAX, |_| true).unwrap();
    assert_eq!(classes.len(), 13054);
    let expected = [
        ("synthetic", "", 1, 0, 5683202),
        ("synthetic", "(GC roots)", 1, 0, 2046282),
        ("object", "Object", 11475, 553544, 1921668),
        ("object", "Array", 900, 28800, 1595760),
        ("synthetic", "(Stack roots)", 1, 0, 1530528),
        ("object", "Root", 1, 160, 1516880),
        ("object", "Rule", 635, 55880, 1437464),
        ("object", "system / Context", 780, 68408, 1185164),
        ("object", "Declaration", 1712, 150656, 892544),
        ("array", "", 351, 374336, 702624),
    ];
    for (class, expected) in classes.iter().zip(expected) {
        let node = snapshot.node(class.figures.first);
        let name = node.name();
        let found = (
            node.type_name(),
            name.as_ref(),
            class.figures.count,
            class.figures.shallow,
            class.retained,
        );
        assert_eq!(found, expected);
    }
}
