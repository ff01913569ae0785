//! Writes snapshots as V8 does, for the same readers: Chrome's developer tools, memlab, and this
//! crate.
//!
//! In the format nodes come before edges, and the edges of a node are together, in the order of the
//! nodes. So the calls must be: every node, every edge, [`Writer::finish`]. Distinct strings are
//! collected on the way and written last; only they are kept in memory.

use hashbrown::HashMap;
use std::io::{self, Write};

/// V8's types of nodes, by their numbers (V8 11).
const NODE_TYPES: [&str; 16] = [
    "hidden",
    "array",
    "string",
    "object",
    "code",
    "closure",
    "regexp",
    "number",
    "native",
    "synthetic",
    "concatenated string",
    "sliced string",
    "symbol",
    "bigint",
    "object shape",
    "wasm object",
];

/// V8's types of edges, by their numbers.
const EDGE_TYPES: [&str; 7] = [
    "context", "element", "property", "internal", "hidden", "shortcut", "weak",
];

/// Keys of `meta` that the developer tools require, even if their arrays are empty.
const OTHER_FIELDS: &str = r#""trace_function_info_fields":["function_id","name","script_name","script_id","line","column"],
"trace_node_fields":["id","function_info_index","count","size","children"],
"sample_fields":["timestamp_us","last_assigned_id"],
"location_fields":["object_index","script_id","line","column"]"#;

/// The number of fields in a node's record.
const NODE_WIDTH: u64 = 7;

/// The type of a node, in V8's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NodeType {
    /// An object, whose name is its class.
    Object = 3,
    /// A kind of roots, or another node that is not an object.
    Synthetic = 9,
}

/// The type of an edge in V8's words, and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind<'n> {
    /// An element of this index.
    Element(u32),
    /// A reference of this name that does not keep its target alive.
    Weak(&'n str),
}

/// A node to be written.
#[derive(Clone, Copy, Debug)]
pub struct NodeRecord<'n> {
    /// The type of the node.
    pub kind: NodeType,
    /// The name of the node: the class, if it is an object.
    pub name: &'n str,
    /// A number unique in the snapshot.
    pub id: u64,
    /// Bytes of the object itself.
    pub self_size: u64,
    /// The number of edges that will be written for it.
    pub edge_count: u32,
}

/// A snapshot being written.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    strings: HashMap<String, u32>,
    nodes: u32,
    edges: u32,
    nodes_written: u32,
    /// The sum of the nodes' edge counts.
    edges_promised: u64,
    edges_written: u32,
}

impl<W: Write> Writer<W> {
    /// Begins a snapshot of `nodes` nodes and `edges` edges. Every call writes a few bytes, so
    /// `out` should be buffered.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn new(mut out: W, nodes: u32, edges: u32) -> io::Result<Self> {
        let quoted = |names: &[&str]| {
            names
                .iter()
                .map(|name| format!("\"{name}\""))
                .collect::<Vec<_>>()
                .join(",")
        };
        write!(
            out,
            r#"{{"snapshot":{{"meta":{{
"node_fields":["type","name","id","self_size","edge_count","trace_node_id","detachedness"],
"node_types":[[{}],"string","number","number","number","number","number"],
"edge_fields":["type","name_or_index","to_node"],
"edge_types":[[{}],"string_or_number","node"],
{OTHER_FIELDS}}},
"node_count":{nodes},"edge_count":{edges},"trace_function_count":0}},
"nodes":["#,
            quoted(&NODE_TYPES),
            quoted(&EDGE_TYPES),
        )?;
        // As in V8's own snapshots, the first string is not used as a name.
        Ok(Writer {
            out,
            strings: HashMap::from([("<dummy>".to_owned(), 0)]),
            nodes,
            edges,
            nodes_written: 0,
            edges_promised: 0,
            edges_written: 0,
        })
    }

    /// Writes the next node. Its ordinal is the number of nodes before it. The first is the root.
    ///
    /// # Errors
    /// If writing to the file fails.
    ///
    /// # Panics
    /// If an edge was written before, or there are more nodes than announced.
    pub fn node(&mut self, node: NodeRecord<'_>) -> io::Result<()> {
        assert!(
            self.edges_written == 0 && self.nodes_written < self.nodes,
            "nodes come first, and no more than announced"
        );
        let comma = if self.nodes_written == 0 { "" } else { "\n," };
        let name = self.string(node.name);
        self.nodes_written += 1;
        self.edges_promised += u64::from(node.edge_count);
        let NodeRecord {
            kind,
            id,
            self_size,
            edge_count,
            ..
        } = node;
        write!(
            self.out,
            "{comma}{},{name},{id},{self_size},{edge_count},0,0",
            kind as u8
        )
    }

    /// Writes the next edge, to the node with ordinal `target`. The source is the first node that
    /// has fewer edges than announced.
    ///
    /// # Errors
    /// If writing to the file fails.
    ///
    /// # Panics
    /// If nodes are missing, there are more edges than announced, or there is no such target.
    pub fn edge(&mut self, kind: EdgeKind<'_>, target: u32) -> io::Result<()> {
        assert!(self.nodes_written == self.nodes && target < self.nodes && self.edges_written < self.edges);
        let before = if self.edges_written == 0 {
            "\n],\n\"edges\":["
        } else {
            "\n,"
        };
        self.edges_written += 1;
        let (kind, name) = match kind {
            EdgeKind::Element(index) => (1, index),
            EdgeKind::Weak(name) => (6, self.string(name)),
        };
        write!(self.out, "{before}{kind},{name},{}", u64::from(target) * NODE_WIDTH)
    }

    /// Writes the strings, and ends the snapshot.
    ///
    /// # Errors
    /// If writing to the file fails.
    ///
    /// # Panics
    /// If there were fewer nodes or edges than announced, or the nodes' edge counts do not add up.
    pub fn finish(mut self) -> io::Result<W> {
        assert_eq!(
            (self.nodes_written, self.edges_written),
            (self.nodes, self.edges),
            "nodes and edges"
        );
        assert_eq!(
            self.edges_promised,
            u64::from(self.edges),
            "edges by the nodes' edge counts"
        );
        if self.edges == 0 {
            self.out.write_all(b"\n],\n\"edges\":[")?;
        }
        self.out
            .write_all(b"\n],\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],\n\"locations\":[],\n\"strings\":[")?;
        let mut strings: Vec<_> = self.strings.into_iter().collect();
        strings.sort_unstable_by_key(|&(_, index)| index);
        for (string, index) in strings {
            self.out.write_all(if index == 0 { b"" } else { b",\n" })?;
            write!(self.out, "{}", serde_json::Value::String(string))?;
        }
        self.out.write_all(b"]}\n")?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn string(&mut self, string: &str) -> u32 {
        if let Some(&index) = self.strings.get(string) {
            return index;
        }
        let index = self.strings.len() as u32;
        self.strings.insert(string.to_owned(), index);
        index
    }
}
