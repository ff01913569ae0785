//! One generic traversal over any collector's heap, and the checker, profilers and graphs built on
//! it.
//!
//! Everything here looks at a stopped heap ([`gclab_core::world::Stopped`]) and changes nothing. A
//! heap can be read in two ways: through its memory (`walk`: region by region, closure by closure),
//! and through its pointers ([`Traversal`]: from the roots, every reachable closure once). The
//! [`check`] module compares the two.
//!
//! The [`graph`] of a heap is its shape as numbers, made from a live heap or from a file with
//! another program's heap. [`Dominators`] tell how much memory each object of a graph holds. An
//! [`analysis`] of a file adds which classes do.
//!
//! A [`map`] shows where closures lie: the blocks of a heap, their steps, occupancy, ages and
//! holes.

#![forbid(unsafe_code)]

mod addr_set;
pub mod analysis;
pub mod check;
mod closure_map;
mod dominators;
mod fetch;
pub mod graph;
mod life;
pub mod map;
mod memory;
pub mod profile;
mod rows;
mod traverse;
mod walk;

pub use addr_set::AddrSet;
pub use check::Checker;
pub use dominators::Dominators;
pub use life::LifeTeller;
pub use memory::OutOfMemory;
pub use rows::Rows;
pub use traverse::{Client, Lineage, Order, Traversal, Visit};
