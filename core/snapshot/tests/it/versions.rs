//! Differences between versions of V8, and columns that callers may leave out.

use gclab_snapshot::{EdgeName, Options, Snapshot};

use crate::build::{Drip, EDGE_FIELDS, Graph, NODE_FIELDS, example, example_text, gzip, text};

fn read(text: &str) -> Snapshot {
    Snapshot::read(text.as_bytes(), "test", Options::all()).unwrap()
}

/// Rebuilds the graph from the snapshot that was read.
pub(crate) fn graph_of(snapshot: &Snapshot) -> Graph {
    let edges = |node: gclab_snapshot::Node<'_>| {
        let edge = |edge: gclab_snapshot::Edge<'_>| {
            let name = match edge.name().unwrap() {
                EdgeName::Index(index) | EdgeName::String(index) => index,
            };
            (
                u64::from(edge.type_index()),
                u64::from(name),
                u64::from(edge.target().ordinal()),
            )
        };
        node.edges().map(edge).collect()
    };
    let node = |node: gclab_snapshot::Node<'_>| {
        let (kind, name) = (u64::from(node.type_index()), u64::from(node.name_index().unwrap()));
        (kind, name, node.id().unwrap(), node.self_size(), edges(node))
    };
    let strings =
        (0..snapshot.strings().len() as u32).map(|index| String::from_utf8(snapshot.strings().raw(index).to_vec()));
    Graph {
        nodes: snapshot.nodes().map(node).collect(),
        strings: strings.map(Result::unwrap).collect(),
    }
}

#[test]
fn a_written_graph_is_read_back() {
    let snapshot = read(&example_text());
    assert_eq!(format!("{:?}", graph_of(&snapshot)), format!("{:?}", example()));
    let point = snapshot.node(1);
    assert_eq!((point.type_name(), point.name().as_ref()), ("object", "Point"));
    assert_eq!(snapshot.node(2).id(), Some(3_884_423_744));
    let edges: Vec<_> = snapshot
        .node(0)
        .edges()
        .map(|edge| (edge.type_name(), edge.name_text().into_owned(), edge.is_strong()))
        .collect();
    assert_eq!(
        edges,
        [("element", "0".to_owned(), true), ("weak", "origin".to_owned(), false)]
    );
}

#[test]
fn fields_are_found_by_name() {
    let few = text(
        &example(),
        &["edge_count", "self_size", "id", "name", "type"],
        &["to_node", "type", "new_field", "name_or_index"],
    );
    assert_eq!(format!("{:?}", graph_of(&read(&few))), format!("{:?}", example()));
}

#[test]
fn unknown_keys_are_skipped() {
    let unknown = r#""extra":{"a":[1,-2.5e3,"}]\"",{"b":null}],"c":{}},"flag":true,"text":"\\","nodes""#;
    let more = example_text()
        .replace("\"nodes\"", unknown)
        .replace("\"node_count\"", "\"extra_native_bytes\":12,\"node_count\"");
    assert_eq!(format!("{:?}", graph_of(&read(&more))), format!("{:?}", example()));
}

#[test]
fn edges_may_come_before_nodes() {
    let text = example_text();
    let (nodes, edges) = (text.find("\"nodes\":").unwrap(), text.find("\"edges\":").unwrap());
    let strings = text.find("\"strings\":").unwrap();
    let swapped = format!(
        "{}{}{}{}",
        &text[..nodes],
        &text[edges..strings],
        &text[nodes..edges],
        &text[strings..]
    );
    assert_eq!(format!("{:?}", graph_of(&read(&swapped))), format!("{:?}", example()));
}

#[test]
fn gzip_and_any_size_of_pieces_read_the_same() {
    let text = example_text();
    let zipped = gzip(text.as_bytes());
    for bytes in [text.as_bytes(), &zipped] {
        for snapshot in [
            Snapshot::read(bytes, "whole", Options::all()),
            Snapshot::read(Drip(bytes), "drip", Options::all()),
        ] {
            assert_eq!(
                format!("{:?}", graph_of(&snapshot.unwrap())),
                format!("{:?}", example())
            );
        }
    }
}

#[test]
fn columns_that_are_left_out_are_absent() {
    let text = example_text();
    let snapshot = Snapshot::read(text.as_bytes(), "test", Options::shape()).unwrap();
    let point = snapshot.node(1);
    assert_eq!(
        (point.id(), point.name_index(), point.name().as_ref(), point.self_size()),
        (None, None, "", 24)
    );
    assert_eq!(
        point
            .edges()
            .map(|edge| (edge.name(), edge.target().ordinal()))
            .collect::<Vec<_>>(),
        [(None, 2), (None, 1)]
    );
    assert!(snapshot.strings().is_empty());
    let without = text.replace("\"strings\"", "\"other\"");
    assert!(Snapshot::read(without.as_bytes(), "test", Options::shape()).is_ok());
}

#[test]
fn halves_of_surrogate_pairs_do_not_fail() {
    let mut graph = example();
    graph.strings.push("half \\ud83d, quote \\\", end \\\\".to_owned());
    let snapshot = read(&text(&graph, NODE_FIELDS, EDGE_FIELDS));
    assert_eq!(snapshot.strings().get(4), "half \u{fffd}, quote \", end \\");
    assert_eq!(snapshot.strings().raw(4), graph.strings[4].as_bytes());
}
