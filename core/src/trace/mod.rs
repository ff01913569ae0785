//! Tracing: the loops that find and move what is live.
//!
//! [`Evacuator`] is the copying one: evacuate and scavenge in Cheney's order, with a prefetch queue between the discovery
//! of a slot and the evacuation of its referent.

mod copy;
mod evacuator;
mod lane;
mod queue;

pub use evacuator::{Evacuated, Evacuator};
