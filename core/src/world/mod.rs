//! The world: one heap with its collector, its roots and its listeners.
//!
//! A [`World`] is a value. Threads [enter](World::enter) it, as many at a time as there are
//! capabilities (`-N`); a collection stops all that are inside. Running out of memory unwinds a
//! session with a private payload, which `enter` returns as an error.
//!
//! Threads allocate and write without locks. One lock guards everything else, the `WorldState`: the
//! collector, the heap, the free capabilities, and how many threads run. It is taken on allocation
//! slow paths (`slow_path`), and to enter, leave or collect. `gate` stops the world, `collection`
//! is a whole collection on one page, `record` is its end, and `looks` shows the stopped heap to
//! tools and listeners. The list of threads that are inside is read without the lock (`registry`).
//! Lock order: the world's lock, then the handle table's.

mod api;
mod collection;
mod errors;
mod figures;
mod gate;
mod idle;
mod looks;
mod memprof;
mod owned;
mod record;
mod registry;
mod slow_path;
mod state;

pub use crate::abort::in_collector;
pub use crate::inspect::{Children, ClosureView, NamedRoot, RootOrigin, Stopped, StoppedRegion};
pub use crate::roots::FramePlace;
pub use crate::session::{ThreadInside, ThreadState};
pub use errors::{EnterError, Exhausted, RtsStatsError, StartError};
pub use state::World;
