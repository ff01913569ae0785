//! Events: the announcements of a run, and the listeners that receive them.
//!
//! The sanity checker and the profilers are listeners; the world calls its recorder, which keeps
//! statistics and prints the rows of `-S`. None of these is code inside a collector. A collection
//! announces, in this order: [`EventKind::Start`], the [`Phase`]s it goes through, the states of
//! its GC threads, [`EventKind::Recorded`] with its record, [`EventKind::End`] with a view of the
//! stopped heap. Between collections a program may announce [`EventKind::Marker`]s. Listeners are
//! called on the collecting thread, between phases, never from within a loop over closures. The
//! time that they take for `End` does not count as the collection's; statistics list it separately,
//! by purpose ([`Listener::look`]). A listener's panic continues after the collection: during it
//! the heap is inconsistent, and a program that catches the panic would keep using it.
//!
//! Each [`Event`] has its time and its capability. The events of threads are [`CapabilityEvent`]s:
//! each capability has a buffer for them, so that a thread records them without a lock. Listeners
//! that ask for them ([`Listener::follows`]) receive the buffers when the world stops, or when one
//! is full; each in time order, and before the events of the collection for which the world has
//! stopped.

mod event;

pub use crate::capability_events::{CapabilityEvent, CapabilityEventKind, Follows, StopReason};
pub use crate::heap::Kept;
pub use crate::stats::{Look, Phase};
pub use crate::workers::GcThreadState;
pub use event::{CellsOfSize, Event, EventKind, RunInfo};

use crate::clock::Clock;
use crate::stats::PhaseTimes;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Receives the events of a run.
pub trait Listener: Send {
    /// Receives one event, in order, on the thread that collects.
    fn event(&mut self, event: &Event<'_>);

    /// Why it looks at the stopped heap on such an occasion, under which the time of the look is
    /// counted. `None` if it does not look: then it does not receive the event, and if no listener
    /// looks at markers, the world does not stop for them.
    fn look(&self, occasion: Occasion) -> Option<Look> {
        let _ = occasion;
        Some(Look::Inspect)
    }

    /// The events that it asks for. It may also receive others that another listener asks for.
    fn follows(&self) -> Follows {
        Follows::default()
    }

    /// The program pauses or resumes the record of its events. A listener that writes a record
    /// writes out what it has, and nothing more until the program resumes.
    fn pause(&mut self, is_paused: bool) {
        let _ = is_paused;
    }

    /// Receives the events of capability `number` since the last call, in order, if it asks for
    /// threads or messages.
    fn capability(&mut self, number: usize, events: &[CapabilityEvent]) {
        let _ = (number, events);
    }
}

/// An event at which a listener may look at the stopped heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// The end of a collection: [`EventKind::End`].
    Collection,
    /// A marker of the program: [`EventKind::Marker`].
    Marker,
}

/// The listeners of a run, and the phase times of the current collection.
#[derive(Default)]
pub struct Events {
    listeners: Vec<Box<dyn Listener>>,
    /// The collection under way.
    collection: Option<UnderWay>,
    phases: PhaseTimes,
    /// The first panic of a listener since the last collection.
    panic: Option<Box<dyn Any + Send>>,
}

/// A collection in progress: its clock, its capability, and when its last phase ended.
#[derive(Clone, Copy)]
struct UnderWay {
    clock: Clock,
    capability: usize,
    phase_ended_ns: u64,
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
        self.call_each(|listener| listener.event(event));
    }

    /// The number of listeners.
    pub(crate) fn count(&self) -> usize {
        self.listeners.len()
    }

    /// Announces an event to the listener at a place.
    pub(crate) fn announce_to(&mut self, place: usize, event: &Event<'_>) {
        Events::call(&mut self.listeners[place], &mut self.panic, |listener| {
            listener.event(event);
        });
    }

    /// Passes events of capability `number` on to the listeners that ask for them.
    pub(crate) fn capability(&mut self, number: usize, events: &[CapabilityEvent]) {
        self.call_each(|listener| {
            if listener.follows().capabilities() {
                listener.capability(number, events);
            }
        });
    }

    /// Tells all listeners that the program pauses or resumes the record of its events.
    pub(crate) fn pause(&mut self, is_paused: bool) {
        self.call_each(|listener| listener.pause(is_paused));
    }

    /// Announces to the listener added last.
    pub(crate) fn announce_to_last(&mut self, event: &Event<'_>) {
        if let Some(last) = self.listeners.len().checked_sub(1) {
            self.announce_to(last, event);
        }
    }

    /// Calls `call` with each listener. The first panic is kept.
    fn call_each(&mut self, mut call: impl FnMut(&mut dyn Listener)) {
        for listener in &mut self.listeners {
            Events::call(listener, &mut self.panic, &mut call);
        }
    }

    /// Calls `call` with a listener. Its panic is kept, unless another one came before.
    fn call(
        listener: &mut Box<dyn Listener>,
        kept: &mut Option<Box<dyn Any + Send>>,
        call: impl FnOnce(&mut dyn Listener),
    ) {
        // Unwind safe: a listener that panicked is the program's business, and still receives the
        // next events.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| call(&mut **listener))) {
            kept.get_or_insert(panic);
        }
    }

    /// Why the listener at a place looks at the stopped heap on such an occasion; `None` if it does
    /// not.
    pub(crate) fn look(&self, place: usize, occasion: Occasion) -> Option<Look> {
        self.listeners[place].look(occasion)
    }

    /// Whether a listener asks for the events of capabilities.
    pub(crate) fn follow_capabilities(&self) -> bool {
        let mut all = self.listeners.iter();
        all.any(|listener| listener.follows().capabilities())
    }

    /// Whether a listener asks for the turns of GC threads.
    pub(crate) fn follow_gc_threads(&self) -> bool {
        self.listeners.iter().any(|listener| listener.follows().gc_threads)
    }

    /// Whether a listener asks for cells.
    pub(crate) fn follow_cells(&self) -> bool {
        self.listeners.iter().any(|listener| listener.follows().cells)
    }

    /// The collector begins, on a capability: its first phase does.
    pub(crate) fn phases_begin(&mut self, clock: Clock, capability: usize) {
        self.phases = PhaseTimes::default();
        self.collection = Some(UnderWay {
            clock,
            capability,
            phase_ended_ns: clock.elapsed_ns(),
        });
    }

    /// The collection is over: returns the times of its phases.
    pub(crate) fn take_phases(&mut self) -> PhaseTimes {
        self.collection = None;
        std::mem::take(&mut self.phases)
    }

    /// The heap is consistent: resume a listener's panic.
    pub(crate) fn resume_panic(&mut self) {
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
    }

    /// A function that announces the end of each phase of a trace ([`Events::phase`]), for
    /// [`crate::trace::live`].
    pub fn phases(&mut self) -> impl FnMut(Phase) {
        move |phase| self.phase(phase)
    }

    /// Announces that a phase is over, and records how long it took. The time that listeners take
    /// belongs to no phase.
    pub fn phase(&mut self, phase: Phase) {
        let Some(mut under_way) = self.collection else {
            return;
        };
        let time_ns = under_way.clock.elapsed_ns();
        self.phases.add(phase, time_ns.saturating_sub(under_way.phase_ended_ns));
        under_way.phase_ended_ns = time_ns;
        if !self.is_empty() {
            self.announce(&Event {
                time_ns,
                capability: Some(under_way.capability),
                kind: EventKind::Phase(phase),
            });
            under_way.phase_ended_ns = under_way.clock.elapsed_ns();
        }
        self.collection = Some(under_way);
    }
}
