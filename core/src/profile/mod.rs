//! What profiles know of single closures: where they were allocated, and when they were used.
//!
//! Each closure of a profiled heap has a [`SideWord`] beside the heap, at as many bytes from a base as the closure itself; its header is as wide as ever.
//!
//! * *Written* by mutators of a [`Profiled`] collector, when they allocate and when they read or write a field. [`crate::collector::Collector::PROFILED`] is a
//!   constant, so a mutator of any other collector has not one instruction for it.
//! * *Moved* after a copying collection has traced everything, and before it frees from-space: [`SideWords`] goes through from-space, where each closure that
//!   lives has left its new address. Before a compaction slides, it goes through the live map. So the loops that copy and slide know nothing of it
//!   (the alternative, to move the word with the closure, needs every one of these loops twice).
//! * *Read* by censuses, through [`crate::world::Stopped::side_words`].
//!
//! [`CostCentre`]s name parts of a program ([`crate::mutator::Mutator::cost_centre`]); the *stack* of those that were entered is what a closure is allocated by.
//! An *era* is the time between two censuses of a biography (GHC's word): [`Biographies`] says how.
//!
//! Cost, while a profile is on: 8 bytes for each word of heap that was used, beside what `-M` limits; a store for each allocation, a load for each read of a field.
//! Checked by `heap-traverse` (each reachable closure has a word: the sanity checker) and by tests that know where each closure came from (`tests/it/biography.rs` there).

mod biography;
mod cost_centre;
mod profiled;
mod side_word;
mod side_words;

pub use biography::{Biographies, Spans};
pub use cost_centre::{CostCentre, StackId};
pub use profiled::Profiled;
pub use side_word::{LAST_ERA, SideWord};
pub use side_words::SideWords;
