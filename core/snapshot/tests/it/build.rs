//! Builds snapshot texts field by field, so that tests can omit, add and reorder fields.

use std::io::Write;

/// Type, name or index, and the target's ordinal.
pub(crate) type Edge = (u64, u64, u64);

/// A graph to write: nodes as (type, name, id, self size, edges).
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub nodes: Vec<(u64, u64, u64, u64, Vec<Edge>)>,
    /// The contents of JSON string literals.
    pub strings: Vec<String>,
}

pub(crate) const NODE_FIELDS: &[&str] = &[
    "type",
    "name",
    "id",
    "self_size",
    "edge_count",
    "trace_node_id",
    "detachedness",
];
pub(crate) const EDGE_FIELDS: &[&str] = &["type", "name_or_index", "to_node"];

/// The graph of most tests: a root, two objects that refer to each other, a weak edge, and an
/// element.
pub(crate) fn example() -> Graph {
    let strings = ["<dummy>", "", "Point", "origin"].map(str::to_owned).to_vec();
    let root = (0, 1, 1, 0, vec![(1, 0, 1), (2, 3, 2)]);
    let point = (1, 2, 3, 24, vec![(0, 3, 2), (0, 3, 1)]);
    Graph {
        nodes: vec![root, point, (1, 2, 3_884_423_744, 5_000_000_000, vec![(2, 2, 1)])],
        strings,
    }
}

/// Writes `graph`, with the fields of a record in the given order.
pub(crate) fn text(graph: &Graph, node_fields: &[&str], edge_fields: &[&str]) -> String {
    let types = |fields: &[&str], names: &str| {
        let of = |field: &&str| {
            if *field == "type" {
                names.to_owned()
            } else {
                "\"number\"".to_owned()
            }
        };
        fields.iter().map(of).collect::<Vec<_>>().join(",")
    };
    let quoted = |fields: &[&str]| {
        fields
            .iter()
            .map(|field| format!("\"{field}\""))
            .collect::<Vec<_>>()
            .join(",")
    };
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for (kind, name, id, self_size, out) in &graph.nodes {
        let field = |field: &&str| match *field {
            "type" => kind.to_string(),
            "name" => name.to_string(),
            "id" => id.to_string(),
            "self_size" => self_size.to_string(),
            "edge_count" => out.len().to_string(),
            _ => "0".to_owned(),
        };
        nodes.push(node_fields.iter().map(field).collect::<Vec<_>>().join(","));
        for (kind, name, target) in out {
            let field = |field: &&str| match *field {
                "type" => kind.to_string(),
                "name_or_index" => name.to_string(),
                "to_node" => (target * node_fields.len() as u64).to_string(),
                _ => "0".to_owned(),
            };
            edges.push(edge_fields.iter().map(field).collect::<Vec<_>>().join(","));
        }
    }
    format!(
        r#"{{"snapshot":{{"meta":{{"node_fields":[{}],"node_types":[{}],"edge_fields":[{}],"edge_types":[{}]}},"node_count":{},"edge_count":{}}},
"nodes":[{}
],
"edges":[{}
],
"strings":["{}"]}}
"#,
        quoted(node_fields),
        types(node_fields, r#"["synthetic","object"]"#),
        quoted(edge_fields),
        types(edge_fields, r#"["property","element","weak"]"#),
        nodes.len(),
        edges.len(),
        nodes.join("\n,"),
        edges.join("\n,"),
        graph.strings.join("\",\n\""),
    )
}

/// The example as V8 12 would write it.
pub(crate) fn example_text() -> String {
    text(&example(), NODE_FIELDS, EDGE_FIELDS)
}

pub(crate) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// A reader that returns one byte at a time, so that every token crosses a refill.
pub(crate) struct Drip<'t>(pub &'t [u8]);

impl std::io::Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let one = buffer.len().min(1);
        std::io::Read::read(&mut self.0, &mut buffer[..one])
    }
}
