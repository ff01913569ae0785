//! A pause: the world is stopped for a collection.

use crate::capability::Capabilities;
use crate::cause::{Cause, Due};
use crate::clock::Clock;
use crate::events::Events;
use crate::heap::Heap;
use crate::roots::Roots;
use crate::words::Bytes;
use crate::workers::{BackgroundThread, GcThreads};
use std::time::Duration;

/// Everything that a collection works on. Separate fields, so that they can be borrowed separately.
#[derive(Debug)]
pub struct Pause<'a, A> {
    /// Blocks and their states.
    pub heap: &'a mut Heap,
    /// The roots of the stopped world.
    pub roots: Roots<'a>,
    /// The allocator and the remembered set of each mutator.
    pub capabilities: Capabilities<'a, A>,
    /// The world's GC threads, which may help.
    pub gc_threads: &'a mut GcThreads,
    /// The world's background thread, which is parked until the pause ends.
    pub background: &'a mut BackgroundThread,
    /// Why the collection happens.
    pub cause: Cause,
    /// The answer of [`super::Collect::due`].
    pub due: Option<Due>,
    /// Where phases are announced.
    pub events: &'a mut Events,
    /// The time and the allocation before it.
    pub since: Since,
}

/// The time and allocation between the end of the last collection and the start of this one. It
/// owns the clock, so that nothing else reads it.
#[derive(Debug, Clone, Copy)]
pub struct Since {
    /// The time that the program ran.
    pub running: Duration,
    /// Bytes that it allocated, large objects included.
    pub allocated: Bytes,
    pub(crate) clock: Clock,
    /// The reading of the clock when this collection began, in nanoseconds.
    pub(crate) began: u64,
}

impl Since {
    /// The time that this collection has taken so far.
    pub(crate) fn collecting(&self) -> Duration {
        Duration::from_nanos(self.clock.elapsed_ns().saturating_sub(self.began))
    }
}

impl<A> Pause<'_, A> {
    /// The same pause, with its mutators' allocators seen as another type.
    pub(super) fn with_capabilities<'b, B>(&'b mut self, capabilities: Capabilities<'b, B>) -> Pause<'b, B> {
        Pause {
            heap: self.heap,
            roots: self.roots,
            capabilities,
            gc_threads: self.gc_threads,
            background: self.background,
            cause: self.cause,
            due: self.due,
            events: self.events,
            since: self.since,
        }
    }
}
