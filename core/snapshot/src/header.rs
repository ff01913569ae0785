//! The `snapshot` value: the numbers of nodes and edges, and the meaning of the numbers in a
//! record.

use serde::Deserialize;

/// The parts of the `snapshot` value that are used. Other keys are skipped.
#[derive(Deserialize)]
struct Json {
    meta: Meta,
    node_count: u64,
    edge_count: u64,
}

#[derive(Deserialize)]
struct Meta {
    node_fields: Vec<String>,
    node_types: Vec<Types>,
    edge_fields: Vec<String>,
    edge_types: Vec<Types>,
}

/// The contents of a field: one of the listed names, or a kind that a single word describes
/// ("number", "string", "node").
#[derive(Deserialize)]
#[serde(untagged)]
enum Types {
    Names(Vec<String>),
    #[allow(dead_code, reason = "the word is not needed, but must be allowed for")]
    Word(String),
}

/// The places of the fields in a node record. `width` is the number of fields.
pub(crate) struct NodeFields {
    pub(crate) width: usize,
    pub(crate) kind: usize,
    pub(crate) name: usize,
    pub(crate) id: usize,
    pub(crate) self_size: usize,
    pub(crate) edge_count: usize,
}

/// The places of the fields in an edge record.
pub(crate) struct EdgeFields {
    pub(crate) width: usize,
    pub(crate) kind: usize,
    pub(crate) name_or_index: usize,
    pub(crate) to_node: usize,
}

/// The description of a snapshot, checked for everything that a reader needs.
pub(crate) struct Header {
    pub(crate) node_count: u64,
    pub(crate) edge_count: u64,
    pub(crate) node: NodeFields,
    pub(crate) edge: EdgeFields,
    pub(crate) node_types: Vec<String>,
    pub(crate) edge_types: Vec<String>,
}

impl Header {
    /// Parses the text of the `snapshot` value. The error is one sentence.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, String> {
        let Json {
            meta,
            node_count,
            edge_count,
        } = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        let node = |field| place("node_fields", &meta.node_fields, field);
        let edge = |field| place("edge_fields", &meta.edge_fields, field);
        let node = NodeFields {
            width: meta.node_fields.len(),
            kind: node("type")?,
            name: node("name")?,
            id: node("id")?,
            self_size: node("self_size")?,
            edge_count: node("edge_count")?,
        };
        let edge = EdgeFields {
            width: meta.edge_fields.len(),
            kind: edge("type")?,
            name_or_index: edge("name_or_index")?,
            to_node: edge("to_node")?,
        };
        let node_types = names("node_types", meta.node_types, node.kind)?;
        let edge_types = names("edge_types", meta.edge_types, edge.kind)?;
        Ok(Header {
            node_count,
            edge_count,
            node,
            edge,
            node_types,
            edge_types,
        })
    }
}

fn place(list: &str, fields: &[String], wanted: &str) -> Result<usize, String> {
    let found = fields.iter().position(|field| field == wanted);
    found.ok_or_else(|| format!("`{list}` has no \"{wanted}\", only {}", fields.join(", ")))
}

/// The names of the values of the field `type`. There are at most 256, since a type is kept in a
/// byte.
fn names(list: &str, types: Vec<Types>, place: usize) -> Result<Vec<String>, String> {
    match types.into_iter().nth(place) {
        Some(Types::Names(names)) if names.len() <= 256 => Ok(names),
        Some(Types::Names(names)) => Err(format!("`{list}` names {} types, expected at most 256", names.len())),
        _ => Err(format!(
            "`{list}` has no list of names at {place}, the place of \"type\""
        )),
    }
}
