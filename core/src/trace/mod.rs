//! Tracing: the loops that find and move live closures.
//!
//! [`Evacuator`] copies: it evacuates and scavenges in Cheney's order, with a prefetch ring between
//! the discovery of a slot and the evacuation of its referent. [`Marker`] marks in place: it sets
//! mark bits, in bounded memory, for collectors that must know which closures live before acting on
//! them. It may move closures of condemned blocks in the same pass, or stop at a budget and
//! continue in a later pause ([`SlicedTrace`]). [`Compactor`] slides marked closures together.

mod compactor;
#[allow(unreachable_pub, reason = "its items are for the files around them")]
mod copier;
mod drained;
mod ephemerons;
mod evacuator;
mod marker;
#[cfg(all(test, gclab_loom))]
mod models;
mod order;
mod sliced;
mod weak;

pub use compactor::{Compacted, Compactor};
pub use drained::Progress;
pub use ephemerons::AwaitedKeys;
pub use evacuator::Evacuator;
pub use marker::{Amount, Grey, Marked, Marker, relocate};
pub use order::{RememberedTracing, Tracing, live, live_and_remembered};
pub use sliced::SlicedTrace;
