//! The world: one heap with its collector, its roots and its listeners.
//!
//! A [`World`] is a value. Threads [enter](World::enter) it, as many at a time as there are
//! capabilities (`-N`); a collection stops all that are inside. Running out of memory unwinds a
//! session with a private payload, which `enter` returns as an error.
//!
//! Threads allocate and write without locks. One lock guards all the rest, the `WorldState`: the
//! collector, the heap, the capabilities that are free, and how many threads run. Slow paths of
//! allocation take it (`slow_path`), and so does a thread that enters, leaves or collects.
//! `gate` says how the world is stopped, `collection` is a whole collection on one page, `record`
//! has its end, and `looks` has the looks at the stopped heap. The list of threads that are inside
//! is read without the lock (`registry`). Lock order: the world's lock, then that of the table of
//! handles.

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
pub use crate::session::{ThreadInside, ThreadState};
pub use errors::{EnterError, Exhausted, RtsStatsError, StartError};
pub use state::World;
