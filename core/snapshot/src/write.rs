//! Writes snapshots as V8 does, so that what reads V8's reads these: Chrome's developer tools, memlab, and this crate.
//!
//! The format wants nodes before edges, and the edges of a node together, in the order of the nodes. So that is the order of the calls: every
//! node, every edge, [`Writer::finish`]. Strings are collected on the way, each distinct one once, and written last: they are all that is kept in
//! memory.

use std::collections::HashMap;
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

/// What the developer tools look for in `meta`, whether there is any of it or not.
const OTHER_FIELDS: &str = r#""trace_function_info_fields":["function_id","name","script_name","script_id","line","column"],
"trace_node_fields":["id","function_info_index","count","size","children"],
"sample_fields":["timestamp_us","last_assigned_id"],
"location_fields":["object_index","script_id","line","column"]"#;

/// Numbers in a node's record.
const NODE_WIDTH: u64 = 7;

/// What a node is, in V8's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NodeType {
    /// An object of a class, which its name says.
    Object = 3,
    /// Where roots are found, and other nodes that are no objects.
    Synthetic = 9,
}

/// What an edge is, in V8's words, with what it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind<'n> {
    /// Of an index.
    Element(u32),
    /// A reference that does not keep its target alive, of a name.
    Weak(&'n str),
}

/// A node to be written.
#[derive(Clone, Copy, Debug)]
pub struct NodeRecord<'n> {
    /// What it is.
    pub kind: NodeType,
    /// Its name: of an object the class.
    pub name: &'n str,
    /// A number unique in the snapshot.
    pub id: u64,
    /// Bytes of the object itself.
    pub self_size: u64,
    /// How many edges will be written for it.
    pub edge_count: u32,
}

/// A snapshot that is being written.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    strings: HashMap<String, u32>,
    nodes: u32,
    edges: u32,
    nodes_written: u32,
    /// What the nodes' edge counts come to.
    edges_promised: u64,
    edges_written: u32,
}

impl<W: Write> Writer<W> {
    /// A snapshot of so many nodes and edges. Every call writes a few bytes: give it a buffered writer.
    ///
    /// # Errors
    /// If `out` does not take them.
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
        // The first string is not used as a name, as in V8's own.
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

    /// The next node. Its ordinal is the number of nodes before it; the first is the root.
    ///
    /// # Errors
    /// If the file does not take it.
    ///
    /// # Panics
    /// If an edge was written before, or there are more nodes than announced.
    pub fn node(&mut self, node: NodeRecord<'_>) -> io::Result<()> {
        assert!(
            self.edges_written == 0 && self.nodes_written < self.nodes,
            "nodes come first, as many as announced"
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

    /// The next edge: of the node whose turn it is, to the node of this ordinal.
    ///
    /// # Errors
    /// If the file does not take it.
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

    /// The strings, and the end.
    ///
    /// # Errors
    /// If the file does not take them.
    ///
    /// # Panics
    /// If there were fewer nodes or edges than announced, or the nodes announced other numbers of edges.
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
            serde_json::to_writer(&mut self.out, &string)?;
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
