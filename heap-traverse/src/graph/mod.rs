//! A heap as numbers: which object refers to which, in two arrays.
//!
//! **Terms.** A *node* is an object. Its name is its *ordinal*, a number from 0. Node [`ROOT`]
//! represents the program's roots and refers to the objects that they hold. An *edge* is one
//! reference that keeps its target alive; weak references are not in a graph. A graph may have
//! parallel edges and edges from a node to itself.
//!
//! **Sources of graphs**: a snapshot of any program ([`Graph::of_snapshot`]), or a stopped heap of
//! any collector ([`HeapGraph`]). **Made from a graph**: the [`crate::Dominators`], and
//! [`ShortestPaths`] from the root.

mod edges;
mod heap;
mod paths;
mod snapshot;
mod write;

pub use edges::{Graph, GraphError, NONE, ROOT};
pub use heap::{HeapGraph, HeapNode, WEAK_HANDLES};
pub use paths::ShortestPaths;
pub use write::{class, write_snapshot};
