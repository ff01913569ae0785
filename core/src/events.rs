//! Events: the announcements of a run, and the listeners that receive them.
//!
//! Statistics, `-S` rows, the sanity checker and the profilers are listeners; none is code inside a
//! collector. A collection announces, in this order: [`Event::Start`], the [`Phase`]s it goes
//! through, [`Event::End`] with its record and a view of the stopped heap. Between collections a
//! program may announce [`Event::Marker`]s. Listeners are called on the thread that collects,
//! between phases, never from within a loop over closures; the time that they take after `End` is
//! not the collection's; statistics have it apart ([`gclab_stats::Statistics::prof`]). The panic of
//! a listener continues after the collection: in its middle the heap is not whole, and a program
//! that catches the panic would go on with it.

use crate::cause::Cause;
use crate::inspect::Stopped;
use gclab_stats::Collection;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A part of a collection. Announced when it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// The blocks to collect are condemned, and to-space is open.
    Condemned,
    /// Remembered slots are traced.
    RememberedTraced,
    /// Roots are traced.
    RootsTraced,
    /// Everything reachable is traced.
    HeapTraced,
    /// Weak handles are up to date.
    WeakProcessed,
    /// Live closures of the compacted part are marked, and weak handles to dead ones are cleared.
    Marked,
    /// Each marked closure has its destination.
    Planned,
    /// Each marked closure is at its destination, and every pointer to it is updated.
    Moved,
    /// The memory of dead closures is free.
    Released,
}

/// An announcement of a run.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The mutators have stopped; a collection begins.
    Start {
        /// Why.
        cause: Cause,
    },
    /// There is no memory for the collection that was about to start: the heap is as it was, and
    /// the program ends as exhausted.
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
    /// The program says that a part of it begins here. The mutators are stopped; this is no
    /// collection.
    Marker {
        /// The name of the part that begins.
        name: &'a str,
        /// The heap.
        stopped: &'a Stopped<'a>,
    },
}

/// Receives the events of a run.
pub trait Listener: Send {
    /// Receives one event, in order, on the thread that collects.
    fn event(&mut self, event: &Event<'_>);
}

/// The listeners of a run.
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

    /// Whether there are no listeners.
    pub(crate) fn is_empty(&self) -> bool {
        self.listeners.is_empty()
    }

    pub(crate) fn announce(&mut self, event: &Event<'_>) {
        for listener in &mut self.listeners {
            // Unwind safe: a listener that panicked is the program's own, and still receives the
            // next events.
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
