//! Random graphs round-trip; random damage never causes a panic.

use gclab_snapshot::{Options, Snapshot};
use proptest::prelude::*;

use crate::build::{EDGE_FIELDS, Graph, NODE_FIELDS, example_text, text};
use crate::versions::graph_of;

fn graphs() -> impl Strategy<Value = Graph> {
    let strings = proptest::collection::vec("[a-z]{0,9}|\\\\u[0-9a-f]{4}|\\\\n", 1..9);
    (strings, 1..40_u64).prop_flat_map(|(strings, count)| {
        let names = strings.len() as u64;
        let edges = proptest::collection::vec((0..3_u64, 0..names, 0..count), 0..6);
        // Small enough that the sizes of 40 nodes do not overflow.
        let node = (0..2_u64, 0..names, any::<u64>(), 0..1_u64 << 58, edges);
        let nodes = proptest::collection::vec(node, count as usize);
        nodes.prop_map(move |nodes| Graph {
            nodes,
            strings: strings.clone(),
        })
    })
}

proptest! {
    #[test]
    fn any_graph_round_trips(graph in graphs()) {
        let text = text(&graph, NODE_FIELDS, EDGE_FIELDS);
        let snapshot = Snapshot::read(text.as_bytes(), "random", Options::all()).unwrap();
        prop_assert_eq!(format!("{:?}", graph_of(&snapshot)), format!("{graph:?}"));
    }

    #[test]
    fn any_changed_byte_is_an_error_or_a_snapshot(place in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut text = example_text().into_bytes();
        let place = place.index(text.len());
        text[place] = byte;
        if let Ok(snapshot) = Snapshot::read(&text[..], "changed", Options::all()) {
            for node in snapshot.nodes() {
                let _ = (node.name(), node.type_name());
                node.edges().for_each(|edge| drop((edge.name_text(), edge.type_name(), edge.target().self_size())));
            }
        }
    }
}
