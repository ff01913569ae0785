//! Events: what a run announces, to whoever listens.
//!
//! Statistics, `-S` rows, the sanity checker and the profilers are listeners; none is code inside a collector. A
//! collection announces, in this order: [`Event::Start`], the [`Phase`]s it goes through, [`Event::End`] with its record and a view of
//! the stopped heap. Between collections a program may announce [`Event::Marker`]s. Listeners are called on the thread that collects, between phases, never from within a loop over
//! closures; what they do after `End` is not counted as the collection's time, but beside it ([`gclab_stats::Statistics::prof`]). One that panics does so after the collection:
//! in its middle the heap is not whole, and a program that catches the panic would go on with it.

use crate::cause::Cause;
use crate::inspect::Stopped;
use gclab_stats::Collection;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A part of a collection. Announced when it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// What is collected is condemned, and to-space open.
    Condemned,
    /// Remembered slots are traced.
    RememberedTraced,
    /// Roots are traced.
    RootsTraced,
    /// Everything reachable is traced.
    HeapTraced,
    /// Weak handles are up to date.
    WeakProcessed,
    /// What lives in the part that is compacted is marked, and weak handles to the rest are cleared.
    Marked,
    /// What is marked has its place.
    Planned,
    /// It is there, and everything that points to it is up to date.
    Moved,
    /// What was dead is free.
    Released,
}

/// Something that a run announces.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The mutators have stopped; a collection begins.
    Start {
        /// Why.
        cause: Cause,
    },
    /// There is no memory for the collection that was about to start: the heap is as it was, and the program ends as exhausted.
    NotBegun,
    /// A phase is over.
    Phase(Phase),
    /// The collection is over and the heap whole; the mutators are still stopped.
    End {
        /// The record of the collection.
        collection: &'a Collection,
        /// The heap.
        stopped: &'a Stopped<'a>,
    },
    /// The program says that a part of it begins here. The mutators are stopped; this is no collection.
    Marker {
        /// What begins.
        name: &'a str,
        /// The heap.
        stopped: &'a Stopped<'a>,
    },
}

/// Somebody who wants to know.
pub trait Listener: Send {
    /// Something happened.
    fn event(&mut self, event: &Event<'_>);
}

/// Those who listen to a run.
#[derive(Default)]
pub struct Events {
    listeners: Vec<Box<dyn Listener>>,
    /// The first panic of a listener since the last collection.
    panic: Option<Box<dyn Any + Send>>,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Events({} listeners)", self.listeners.len())
    }
}

impl Events {
    pub(crate) fn listen(&mut self, listener: Box<dyn Listener>) {
        self.listeners.push(listener);
    }

    /// Whether nobody listens.
    pub(crate) fn is_empty(&self) -> bool {
        self.listeners.is_empty()
    }

    pub(crate) fn announce(&mut self, event: &Event<'_>) {
        for listener in &mut self.listeners {
            // Unwind safe: a listener that panicked is the program's own, and is told what happens next as before.
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| listener.event(event))) {
                self.panic.get_or_insert(panic);
            }
        }
    }

    /// The heap is whole: go on with a listener's panic.
    pub(crate) fn resume_panic(&mut self) {
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
    }

    /// Announce that a phase is over.
    pub fn phase(&mut self, phase: Phase) {
        self.announce(&Event::Phase(phase));
    }
}
