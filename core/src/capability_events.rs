//! The events of one capability: a thread enters, stops, resumes, logs a message, leaves.
//!
//! Each capability has its own buffer. Its thread writes it without a lock while it runs; the
//! thread that holds the world's lock writes and empties it at slow paths, and while the
//! capability's thread is stopped. The world passes the events on when a buffer is full, and
//! whenever it stops ([`crate::events::Listener::capability`]). Without a listener that asks for
//! them nothing is recorded, at the cost of a load and a branch on slow paths. Threads and messages
//! are requested separately ([`crate::events::Follows`]).

use crate::clock::Clock;
use std::cell::Cell;

/// The events that are recorded only if a listener asks for them: each of them costs a reading of
/// the clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Follows {
    /// Threads enter, stop, run again and leave.
    pub threads: bool,
    /// The program's messages and markers.
    pub messages: bool,
    /// The turns of GC threads ([`crate::events::EventKind::GcThread`]).
    pub gc_threads: bool,
    /// The cells of each size class ([`crate::events::EventKind::Cells`]).
    pub cells: bool,
}

impl Follows {
    /// All of them.
    pub const ALL: Follows = Follows {
        threads: true,
        messages: true,
        gc_threads: true,
        cells: true,
    };

    /// Whether events of capabilities are among them.
    pub(crate) fn capabilities(self) -> bool {
        self.threads || self.messages
    }
}

/// An event that happened on a capability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityEvent {
    /// When, in nanoseconds by the clock of the run's recorder.
    pub time_ns: u64,
    /// The kind of event, and its data.
    pub kind: CapabilityEventKind,
}

/// The kind of a [`CapabilityEvent`], with its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CapabilityEventKind {
    /// A thread enters the heap by this capability, and runs.
    Enter {
        /// The number of the session, from 1, unique in its world.
        session: u64,
        /// The system's number of the thread; `None` where the system does not say.
        os_thread: Option<u64>,
    },
    /// The thread stops running.
    Stop(StopReason),
    /// The thread resumes.
    Run,
    /// The program logs a message ([`crate::mutator::Mutator::message`]).
    Message(String),
    /// A part of the program begins ([`crate::mutator::Mutator::phase_marker`]).
    Marker(String),
    /// The thread leaves the heap, and stops running.
    Leave,
}

/// Why a thread stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// It has no room to allocate, and stops the world for a collection.
    HeapOverflow,
    /// It asks for a collection or for a look at the heap, and stops the world for that.
    Asks,
    /// Another thread stops the world.
    Yields,
    /// It is in [`crate::mutator::Mutator::blocking`].
    Blocks,
}

/// The events of one capability that were not passed on yet.
#[derive(Default)]
pub(crate) struct CapabilityEvents {
    /// The clock for stamps of threads; `None` if no listener asks for them.
    threads: Cell<Option<Clock>>,
    /// The clock for stamps of messages and markers; `None` if no listener asks for them.
    messages: Cell<Option<Clock>>,
    events: Cell<Vec<CapabilityEvent>>,
    /// Whether a listener looks at the stopped heap at markers.
    looks_at_markers: Cell<bool>,
}

impl std::fmt::Debug for CapabilityEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CapabilityEvents({})", self.count())
    }
}

/// A buffer with this many events is full: some 50 KiB.
const FULL: usize = 1024;

impl CapabilityEvents {
    /// Starts recording the events that a listener asks for, stamped by `clock`.
    pub(crate) fn record_with(&self, clock: Clock, follows: Follows) {
        if follows.threads {
            self.threads.set(Some(clock));
        }
        if follows.messages {
            self.messages.set(Some(clock));
        }
    }

    /// From now on the world stops at markers.
    pub(crate) fn look_at_markers(&self) {
        self.looks_at_markers.set(true);
    }

    /// Whether the world stops at markers.
    pub(crate) fn looks_at_markers(&self) -> bool {
        self.looks_at_markers.get()
    }

    /// Records an event of the thread, at this moment.
    #[inline]
    pub(crate) fn record(&self, kind: impl FnOnce() -> CapabilityEventKind) {
        if let Some(clock) = self.threads.get() {
            self.push(clock.elapsed_ns(), kind());
        }
    }

    /// Records an event of the thread at the moment `time_ns`, which is not before the last one.
    #[inline]
    pub(crate) fn record_at(&self, time_ns: u64, kind: CapabilityEventKind) {
        if self.threads.get().is_some() {
            self.push(time_ns, kind);
        }
    }

    /// Records a message or a marker of the program, at this moment.
    #[inline]
    pub(crate) fn record_message(&self, kind: impl FnOnce() -> CapabilityEventKind) {
        if let Some(clock) = self.messages.get() {
            self.push(clock.elapsed_ns(), kind());
        }
    }

    #[cold]
    #[inline(never)]
    fn push(&self, time_ns: u64, kind: CapabilityEventKind) {
        let mut events = self.events.take();
        events.push(CapabilityEvent { time_ns, kind });
        self.events.set(events);
    }

    /// Whether it is time to pass the events on.
    #[inline]
    pub(crate) fn are_many(&self) -> bool {
        (self.threads.get().is_some() || self.messages.get().is_some()) && self.count() >= FULL
    }

    fn count(&self) -> usize {
        let events = self.events.take();
        let count = events.len();
        self.events.set(events);
        count
    }

    /// Empties the buffer into `pass_on`, if there is anything in it.
    pub(crate) fn pass_on(&self, pass_on: impl FnOnce(&[CapabilityEvent])) {
        let mut events = self.events.take();
        if !events.is_empty() && !mutant!("events/buffer-not-passed-on") {
            pass_on(&events);
        }
        events.clear();
        self.events.set(events);
    }
}

/// The system's number of the calling thread.
pub(crate) fn os_thread() -> Option<u64> {
    // The link leads to `<process>/task/<thread>`.
    let link = std::fs::read_link("/proc/thread-self").ok()?;
    link.file_name()?.to_str()?.parse().ok()
}
