//! Events: the announcements of a run, and the listeners that receive them.
//!
//! The sanity checker and the profilers are listeners; the world calls its recorder, which keeps
//! statistics and prints the rows of `-S`. None of these is code inside a collector. A collection
//! announces, in this order: [`Event::Start`], the [`Phase`]s it goes through, [`Event::End`] with
//! its record and a view of the stopped heap. Between collections a program may announce
//! [`Event::Marker`]s. Listeners are called on the thread that collects, between phases, never from
//! within a loop over closures; the time that they take after `End` is not the collection's;
//! statistics have it apart, by its purpose ([`Listener::look`]). The panic of a listener continues
//! after the collection: in its middle the heap is not whole, and a program that catches the panic
//! would go on with it.

use crate::cause::Cause;
use crate::clock::Clock;
use crate::inspect::Stopped;
use gclab_stats::Collection;
pub use gclab_stats::{Look, Phase};
use gclab_stats::{Looks, PhaseTimes, Times};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

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

    /// Why it looks at the stopped heap: its time is counted under this.
    fn look(&self) -> Look {
        Look::Inspect
    }
}

/// The listeners of a run, and the time of the phases of the collection under way.
#[derive(Default)]
pub struct Events {
    listeners: Vec<Box<dyn Listener>>,
    /// A clock that started when the last phase was over, in a collection.
    since_phase: Option<Clock>,
    phases: PhaseTimes,
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
        self.announce_to_each(event, |_, call| call());
    }

    /// Announces an event that shows the stopped heap. Returns the time that listeners took.
    pub(crate) fn announce_stopped(&mut self, event: &Event<'_>) -> Looks {
        let clock = Clock::start();
        let now = || Times {
            cpu_ns: Clock::process_cpu_ns(),
            elapsed_ns: clock.elapsed_ns(),
        };
        let mut looks = Looks::default();
        self.announce_to_each(event, |look, call| {
            let before = now();
            call();
            looks.add(look, now().since(before));
        });
        looks
    }

    /// Announces an event to each listener through `around`, which calls what it gets.
    fn announce_to_each(&mut self, event: &Event<'_>, mut around: impl FnMut(Look, &mut dyn FnMut())) {
        for listener in &mut self.listeners {
            around(listener.look(), &mut || {
                // Unwind safe: a listener that panicked is the program's own, and still receives
                // the next events.
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| listener.event(event))) {
                    self.panic.get_or_insert(panic);
                }
            });
        }
    }

    /// Why the first listener looks at the stopped heap.
    pub(crate) fn first_look(&self) -> Look {
        self.listeners.first().map_or(Look::Inspect, |listener| listener.look())
    }

    /// The collector begins: its first phase does.
    pub(crate) fn phases_begin(&mut self) {
        self.phases = PhaseTimes::default();
        self.since_phase = Some(Clock::start());
    }

    /// The collection is over: returns the times of its phases.
    pub(crate) fn take_phases(&mut self) -> PhaseTimes {
        self.since_phase = None;
        std::mem::take(&mut self.phases)
    }

    /// The heap is whole: go on with a listener's panic.
    pub(crate) fn resume_panic(&mut self) {
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
    }

    /// Announces that a phase is over, and notes how long it took. The time that listeners take
    /// belongs to no phase.
    pub fn phase(&mut self, phase: Phase) {
        let ns = self.since_phase.map_or(0, |since| since.elapsed_ns());
        self.phases.add(phase, ns);
        self.announce(&Event::Phase(phase));
        self.since_phase = Some(Clock::start());
    }
}
