//! Tracing: the loops that find and move what is live.
//!
//! [`Evacuator`] is the copying one: evacuate and scavenge in Cheney's order, with a prefetch queue between the discovery
//! of a slot and the evacuation of its referent. [`Marker`] is the one that leaves closures where they are: it sets mark
//! bits, in bounded memory, for every collector that has to know what lives before it does anything about it.

mod compactor;
mod copier;
mod copy;
mod evacuator;
mod lane;
mod mark_loop;
mod marker;
#[cfg(all(test, gclab_loom))]
mod models;
mod order;
mod parallel;
mod pending;
mod queue;
mod scavenge;
mod span_stack;
mod work;

pub use compactor::{Compacted, Compactor};
pub use evacuator::{Evacuated, Evacuator};
pub use marker::{Marked, Marker};
pub use order::{RememberedTracing, Tracing, live, live_and_remembered};
