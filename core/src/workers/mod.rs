//! Parallel collection: its threads, how they share work, and how they detect that none is left.
//!
//! Terms: a **GC thread** ([`GcThreads`]) is a thread of the world that sleeps between collections.
//! A **worker** is a participant in one **parallel phase** (`ParallelPhase`): worker 0, the
//! **leader**, is the collecting thread, and the others are GC threads. Workers exchange **work
//! items** through **work queues** (`WorkPool`), and agree on **termination** (`Termination`). A
//! [`ParallelPolicy`] says for each collection whether there are workers.
//!
//! The **background thread** ([`BackgroundThread`]) works between pauses, concurrently with the mutators.
//!
//! Nothing here knows how closures are traced: that is the `Tracer` of the phase.
//! `docs/parallel-collection.md` names each state of a worker and each race; the code cites it.

mod background;
#[cfg(all(test, gclab_loom))]
pub(crate) mod models;
mod phase;
mod policy;
mod pool;
mod spans;
mod termination;
mod threads;

pub use background::{Background, BackgroundThread, Helpers, Stop, Stretch, Worked};
pub(crate) use phase::{ParallelPhase, Tracer};
pub use policy::{ParallelPolicy, Workers};
#[cfg(doc)]
use pool::WorkPool;
pub(crate) use pool::WorkQueue;
pub use spans::GcThreadState;
pub(crate) use spans::turns;
#[cfg(doc)]
use termination::Termination;
pub use threads::GcThreads;
