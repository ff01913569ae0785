//! Types of nodes and edges in the snapshot of a dump.

/// Types of nodes, by their numbers.
pub(super) const NODE_TYPES: [&str; 5] = ["synthetic", "class", "object", "object array", "primitive array"];
pub(super) const SYNTHETIC: u8 = 0;
pub(super) const CLASS: u8 = 1;
pub(super) const OBJECT: u8 = 2;
pub(super) const OBJECT_ARRAY: u8 = 3;
pub(super) const PRIMITIVE_ARRAY: u8 = 4;

/// Types of edges, by their numbers.
pub(super) const EDGE_TYPES: [&str; 7] = ["field", "element", "static", "internal", "weak", "soft", "final"];
pub(super) const FIELD: u8 = 0;
pub(super) const ELEMENT: u8 = 1;
pub(super) const STATIC: u8 = 2;
pub(super) const INTERNAL: u8 = 3;
pub(super) const WEAK: u8 = 4;
pub(super) const SOFT: u8 = 5;
pub(super) const FINAL: u8 = 6;

/// The most edges: V8's snapshots number them in 32 bits too.
pub(super) const MOST_EDGES: usize = u32::MAX as usize - 1;
