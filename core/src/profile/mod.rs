//! Facts about single closures, for profiles: where each was allocated, and when it was used.
//!
//! Each closure of a profiled heap has a [`SideWord`] in a table outside the heap, at the same
//! offset from the table's base as the closure from the heap's. The closure's header is not
//! widened.
//!
//! * *Written* by observed mutators ([`crate::mutator::MutatorKind::OBSERVED`]), when they allocate
//!   and when they read or write a field. That is a constant, so other mutators pay not a single
//!   instruction for it.
//! * *Moved* with the closure, when a copying collection leaves the forwarding address. Its loops
//!   are compiled for each case (`MoveSideWords`), so a heap without a profile pays not a single
//!   instruction for it. (Walking from-space after copying was slower: that reads the dead
//!   closures, too.) Before a compaction slides, the live map is walked.
//! * *Read* by censuses, through [`crate::world::Stopped::side_words`].
//!
//! [`CostCentre`]s name parts of a program ([`crate::mutator::Mutator::cost_centre`]). The *stack*
//! of those entered is recorded for each allocation. An *era* is the time between two censuses of a
//! biography (GHC's word); [`Biographies`] has the details.
//!
//! Cost, while a profile is on: 8 bytes for each word of heap that was used, not counted towards
//! `-M`; a store for each allocation; a load for each field read. Checked by `heap-traverse` (its
//! sanity checker: each reachable closure has a word) and by tests that know where each closure
//! came from (`tests/it/biography.rs` there).

mod biography;
mod cost_centre;
mod costs;
mod eras;
mod followers;
mod life;
mod move_log;
mod moves;
mod side_word;
mod side_words;

pub use biography::{Biographies, Spans};
pub(crate) use cost_centre::Stacks;
pub use cost_centre::{CostCentre, StackCosts, StackId};
pub(crate) use costs::Charges;
pub use eras::Eras;
pub(crate) use followers::Followers;
pub use life::{Followed, LifeEvent, Reference};
pub use move_log::{Moved, Moves};
pub(crate) use moves::{MoveSideWords, NoSideWords, SideWordsView};
pub use side_word::{LAST_ERA, SideWord};
pub(crate) use side_words::ProofOfStop;
pub use side_words::SideWords;
