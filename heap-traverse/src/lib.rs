//! One generic traversal over any collector's heap, and the checker built on it.
//!
//! Everything here looks at a stopped heap ([`gclab_core::world::Stopped`]) and changes nothing. There are two ways to go through
//! it: along its memory ([`walk`]: region by region, closure by closure) and along its pointers ([`Traversal`]: from
//! roots, every closure that is reached once). The [`check`] module compares the two.
//!
//! What a heap looks like as numbers is a [`graph`]: of a live heap, or of a file that another program's heap was written to. [`dominators`] says of one
//! what holds how much.

#![forbid(unsafe_code)]

mod addr_set;
pub mod check;
mod closure_map;
mod dominators;
mod fetch;
pub mod graph;
pub mod picture;
pub mod profile;
mod rows;
mod traverse;
mod walk;

pub use addr_set::AddrSet;
pub use check::Checker;
pub use dominators::Dominators;
pub use rows::Rows;
pub use traverse::{Client, Lineage, Order, Traversal, Visit};
