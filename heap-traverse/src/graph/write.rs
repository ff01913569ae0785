//! Writes the graph of a heap as a `.heapsnapshot`.
//!
//! A closure is an `object` whose class is the name of its type. A kind of roots is `synthetic`. A
//! reference is an `element`, whose index is the number of the slot. The targets of weak handles
//! are on `weak` edges of `(Weak handles)`. Ids are odd, like V8's, and in address order. The same
//! closure may have another id in another snapshot of the same run.

use super::heap::{HeapGraph, HeapNode, WEAK_HANDLES};
use gclab_core::closure::{Kind, TypeInfo};
use gclab_snapshot::{EdgeKind, NodeRecord, NodeType, Writer};
use std::io::{self, Write};

/// Writes the heap as V8 would.
///
/// # Errors
/// If writing to `out` fails, or there are more than 2^32 - 1 edges with the weak ones.
pub fn write_snapshot<W: Write>(heap: &HeapGraph, out: W) -> io::Result<W> {
    let graph = heap.graph();
    let weak = heap.weak();
    let edges = u32::try_from(graph.edge_count() as usize + weak.len()).map_err(io::Error::other)?;
    let mut writer = Writer::new(out, graph.node_count(), edges)?;
    for node in 0..graph.node_count() {
        let more = if node == WEAK_HANDLES { weak.len() as u32 } else { 0 };
        let name;
        let (kind, name) = match heap.node(node) {
            HeapNode::Synthetic(name) => (NodeType::Synthetic, name),
            HeapNode::Closure(info, _) => {
                name = class(info);
                (NodeType::Object, name.as_str())
            }
        };
        writer.node(NodeRecord {
            kind,
            name,
            id: id(node),
            self_size: heap.size(node),
            edge_count: graph.row(node).len() as u32 + more,
        })?;
    }
    for node in 0..graph.node_count() {
        for (&target, &slot) in graph.row(node).iter().zip(heap.slots(node)) {
            writer.edge(EdgeKind::Element(slot), target)?;
        }
        if node == WEAK_HANDLES {
            for &target in weak {
                writer.edge(EdgeKind::Weak("weak handle"), target)?;
            }
        }
    }
    writer.finish()
}

/// The id of a node in the snapshot.
fn id(node: u32) -> u64 {
    2 * u64::from(node) + 1
}

/// The name of a closure's class: that of its type, with the element type if that is part of it
/// (`MutArray<Node>`).
pub fn class(info: &TypeInfo) -> String {
    let kind = match info.kind {
        Kind::MutVar => "MutVar",
        Kind::MutArrPtrs => "MutArray",
        _ => return info.name.to_owned(),
    };
    info.element
        .map_or_else(|| info.name.to_owned(), |element| format!("{kind}<{}>", class(element)))
}
