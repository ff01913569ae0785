//! Reads V8 heap snapshots: the `.heapsnapshot` files that Chrome, Node.js and Deno write, plain or
//! gzip. Writes them too ([`Writer`]). Also reads JVM heap dumps (`.hprof`) and core files of GHC
//! programs as if they were snapshots.
//!
//! **Terms** are V8's. A *node* is one object of the snapshot, identified by its *ordinal* (its
//! place in the file, from 0). Node 0 is the root. An *edge* is one reference. The edges of a node
//! lie together, in node order. A *string* is a name of a node or an edge. Types of nodes and edges
//! are small numbers; the file has their names.
//!
//! **How.** The file is one JSON object, up to gigabytes of it, nearly all in two arrays of
//! numbers. It is read once, front to back, through one fixed buffer (`input.rs`). A small scanner
//! (`json.rs`) puts the numbers into the columns of a [`Snapshot`]. Only the `snapshot` value, a
//! few kilobytes that describe the rest, is parsed by serde_json. It gives the positions of the
//! fields in a record, which differ between versions of V8.
//!
//! **Memory**: the columns requested by [`Options`], and the buffer; at most 25 bytes a node, 9
//! an edge and 8 more a weak one, plus the strings as in the file and 8 bytes each.
//! [`Options::limit`] bounds the bytes read, unpacked. Running out of memory is an [`Error`].
//!
//! **Checked while reading**: every edge ends at a node, every name is a string of the file, and
//! there are as many nodes and edges as declared. Users of a [`Snapshot`] may rely on that. Any
//! violation is an [`Error`] with its place. Faults that affect no figure are only
//! [`Snapshot::warnings`].
//!
//! ```
//! let text = br#"{"snapshot":{"meta":{
//!   "node_fields":["type","name","id","self_size","edge_count"],
//!   "node_types":[["object"],"string","number","number","number"],
//!   "edge_fields":["type","name_or_index","to_node"],
//!   "edge_types":[["property","weak"],"string_or_number","node"]},
//!   "node_count":2, "edge_count":1},
//!  "nodes":[0,0,1,16,1, 0,1,3,24,0], "edges":[0,2,5], "strings":["","Point","origin"]}"#;
//! let all = gclab_snapshot::Options::all();
//! let snapshot = gclab_snapshot::Snapshot::read(&text[..], "example", all)?;
//! let edge = snapshot.node(0).edges().next().unwrap();
//! assert_eq!((edge.target().name().as_ref(), edge.target().self_size()), ("Point", 24));
//! # Ok::<(), gclab_snapshot::Error>(())
//! ```

#![forbid(unsafe_code)]

mod both;
mod error;
mod ghc;
mod header;
mod hprof;
mod input;
mod interpret;
mod json;
mod memory;
mod options;
mod read;
mod records;
mod snapshot;
mod strings;
mod write;

pub use both::both;
pub use error::{Error, Problem};
pub use options::Options;
pub use snapshot::{Edge, EdgeName, Node, Snapshot, Usage};
pub use strings::Strings;
pub use write::{EdgeKind, NodeRecord, NodeType, Writer};
