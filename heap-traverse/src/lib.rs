//! One generic traversal over any collector's heap, and the checker built on it.
//!
//! Everything here looks at a stopped heap ([`gclab_core::world::Stopped`]) and changes nothing. There are two ways to go through
//! it: along its memory ([`walk`]: region by region, closure by closure) and along its pointers ([`Traversal`]: from
//! roots, every closure that is reached once). The [`check`] module compares the two.

pub mod addr_set;
pub mod check;
pub mod traverse;
pub mod walk;

pub use addr_set::AddrSet;
pub use check::Checker;
pub use traverse::{Client, Order, Traversal, Visit};
