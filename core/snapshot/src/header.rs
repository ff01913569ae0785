//! The `snapshot` value: the numbers of nodes and edges, and the meaning of the numbers in a
//! record.

use serde_json::Value;

/// The places of the fields in a node record. `width` is the number of fields.
pub(crate) struct NodeFields {
    pub(crate) width: usize,
    pub(crate) kind: usize,
    pub(crate) name: usize,
    pub(crate) id: usize,
    pub(crate) self_size: usize,
    pub(crate) edge_count: usize,
    pub(crate) detachedness: Option<usize>,
}

/// The places of the fields in the record of a location.
pub(crate) struct LocationFields {
    pub(crate) width: usize,
    pub(crate) object_index: usize,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// The places of the fields in an edge record.
pub(crate) struct EdgeFields {
    pub(crate) width: usize,
    pub(crate) kind: usize,
    pub(crate) name_or_index: usize,
    pub(crate) to_node: usize,
}

/// The description of a snapshot, checked to have everything that a reader needs.
pub(crate) struct Header {
    pub(crate) node_count: u64,
    pub(crate) edge_count: u64,
    pub(crate) node: NodeFields,
    pub(crate) edge: EdgeFields,
    pub(crate) node_types: Vec<String>,
    pub(crate) edge_types: Vec<String>,
    /// None if the snapshot describes no locations.
    pub(crate) location: Option<LocationFields>,
}

impl Header {
    /// Parses the text of the `snapshot` value. The error is one sentence.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
        // `FromStr` is compiled in serde_json; other ways to parse would be compiled here.
        let json: Value = text.parse().map_err(|error: serde_json::Error| error.to_string())?;
        let meta = member(&json, "meta")?;
        let node_fields = names(meta, "node_fields")?;
        let edge_fields = names(meta, "edge_fields")?;
        let node = |field| place("node_fields", &node_fields, field);
        let edge = |field| place("edge_fields", &edge_fields, field);
        let node = NodeFields {
            width: node_fields.len(),
            kind: node("type")?,
            name: node("name")?,
            id: node("id")?,
            self_size: node("self_size")?,
            edge_count: node("edge_count")?,
            detachedness: node("detachedness").ok(),
        };
        let edge = EdgeFields {
            width: edge_fields.len(),
            kind: edge("type")?,
            name_or_index: edge("name_or_index")?,
            to_node: edge("to_node")?,
        };
        Ok(Header {
            node_count: count(&json, "node_count")?,
            edge_count: count(&json, "edge_count")?,
            node_types: types(meta, "node_types", node.kind)?,
            edge_types: types(meta, "edge_types", edge.kind)?,
            location: locations(meta),
            node,
            edge,
        })
    }
}

/// The value of a key of an object.
fn member<'v>(object: &'v Value, key: &str) -> Result<&'v Value, String> {
    object.get(key).ok_or_else(|| format!("missing field `{key}`"))
}

fn count(object: &Value, key: &str) -> Result<u64, String> {
    let value = member(object, key)?;
    value
        .as_u64()
        .ok_or_else(|| format!("`{key}` is not a whole number below 2^64"))
}

/// The strings of a list; none if the value is not a list of strings.
fn strings(list: &Value) -> Option<Vec<String>> {
    let list = list.as_array()?.iter();
    list.map(|name| name.as_str().map(str::to_owned)).collect()
}

fn names(meta: &Value, key: &str) -> Result<Vec<String>, String> {
    strings(member(meta, key)?).ok_or_else(|| format!("`{key}` is not a list of names"))
}

fn place(list: &str, fields: &[String], wanted: &str) -> Result<usize, String> {
    let found = fields.iter().position(|field| field == wanted);
    // A damaged name may have any letters, and a message is one line.
    found.ok_or_else(|| {
        let names = fields.join(", ");
        format!("`{list}` has no \"{wanted}\", only {}", names.escape_debug())
    })
}

fn locations(meta: &Value) -> Option<LocationFields> {
    let fields = strings(meta.get("location_fields")?)?;
    let of = |field| place("location_fields", &fields, field).ok();
    Some(LocationFields {
        width: fields.len(),
        object_index: of("object_index")?,
        line: of("line")?,
        column: of("column")?,
    })
}

/// The names of the values of the field `type`. There are at most 256, since a type is kept in a
/// byte. For other fields the list has a single word ("number", "string", "node").
fn types(meta: &Value, key: &str, place: usize) -> Result<Vec<String>, String> {
    match member(meta, key)?.get(place).and_then(strings) {
        Some(names) if names.len() <= 256 => Ok(names),
        Some(names) => Err(format!("`{key}` names {} types, expected at most 256", names.len())),
        None => Err(format!(
            "`{key}` has no list of names at {place}, the place of \"type\""
        )),
    }
}
