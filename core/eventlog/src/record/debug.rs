//! Debug messages (`-D<x>`): what the runtime is doing, in words.
//!
//! They go to the event log if there is one (`LOG_MSG`), as in GHC. Without a log a
//! [`DebugPrinter`] prints them when it learns of them: at once for collections; for threads when
//! the world stops, or when there are many. So each shows its time.

use std::io::Write;

use crate::DebugMessages;
use gclab_core::events::{
    CapabilityEvent, CapabilityEventKind, Event, EventKind, Follows, Listener, Look, Occasion, StopReason,
};
use gclab_core::stats::Collection;
use gclab_core::words::Bytes;

/// Puts events into words.
#[derive(Debug, Default)]
pub(crate) struct Debug {
    messages: DebugMessages,
    /// The last session that entered by each capability.
    sessions: Vec<u64>,
    /// The end of the last phase of the current collection.
    phase_ended_ns: u64,
}

impl Debug {
    pub(crate) fn new(messages: DebugMessages) -> Debug {
        Debug {
            messages,
            ..Debug::default()
        }
    }

    /// The thread events that the messages need.
    pub(crate) fn follows(&self) -> Follows {
        Follows {
            threads: self.messages.scheduler,
            ..Follows::default()
        }
    }

    /// Calls `say` with each message about events of capability `number`, with its time.
    pub(crate) fn capability(&mut self, number: usize, events: &[CapabilityEvent], mut say: impl FnMut(u64, &str)) {
        if !self.messages.scheduler {
            return;
        }
        if self.sessions.len() <= number {
            self.sessions.resize(number + 1, 0);
        }
        let session = &mut self.sessions[number];
        for event in events {
            let does = match &event.kind {
                CapabilityEventKind::Enter { session: new, .. } => {
                    *session = *new;
                    "enters"
                }
                CapabilityEventKind::Stop(StopReason::HeapOverflow) => "stops (heap overflow)",
                CapabilityEventKind::Stop(StopReason::Asks) => "stops (it asks for a collection or a look)",
                CapabilityEventKind::Stop(StopReason::Yields) => "stops (yielding)",
                CapabilityEventKind::Stop(StopReason::Blocks) => "stops (blocking)",
                CapabilityEventKind::Run => "runs",
                CapabilityEventKind::Leave => "leaves",
                CapabilityEventKind::Message(_) | CapabilityEventKind::Marker(_) => continue,
            };
            say(event.time_ns, &format!("cap {number}: thread {session} {does}"));
        }
    }

    /// Calls `say` with each message about an event, with its time.
    pub(crate) fn event(&mut self, event: &Event<'_>, mut say: impl FnMut(u64, &str)) {
        if !self.messages.any() {
            return;
        }
        let DebugMessages {
            gc, blocks, profiler, ..
        } = self.messages;
        let cap = event.capability.map_or(String::new(), |cap| format!("cap {cap}: "));
        let mut say = |text: String| say(event.time_ns, &(cap.clone() + &text));
        match event.kind {
            EventKind::Start {
                cause,
                due,
                requested_ns,
                ..
            } if gc => {
                self.phase_ended_ns = event.time_ns;
                let waited = event.time_ns.saturating_sub(requested_ns);
                let due = due.map_or(String::new(), |due| format!(" of generation {}", due.generation));
                let cause = cause.name();
                say(format!("GC{due} starts; cause: {cause}; all stopped after {waited} ns"));
            }
            EventKind::NotBegun if gc => say("GC not started: there is not enough memory".to_owned()),
            EventKind::Phase(phase) if gc => {
                let took = event.time_ns.saturating_sub(self.phase_ended_ns);
                self.phase_ended_ns = event.time_ns;
                say(format!("GC phase {}: {took} ns", phase.name()));
            }
            EventKind::Returned(kept) if blocks => say(format!(
                "{} megablocks committed, {} needed, {} returned",
                kept.current, kept.needed, kept.returned
            )),
            EventKind::Recorded {
                collection,
                blocks: used,
            } => {
                if gc {
                    say(ended(collection));
                }
                if blocks {
                    say(memory(collection, used));
                }
            }
            EventKind::LookStart(Look::Census | Look::Retainers) if profiler => say("census begins".to_owned()),
            EventKind::LookEnd(Look::Census | Look::Retainers) if profiler => say("census ends".to_owned()),
            _ => {}
        }
    }
}

/// The end of a collection in words.
fn ended(collection: &Collection) -> String {
    let work = &collection.work;
    let ways = [
        (work.is_major(), "major"),
        (work.compacted, "compacting"),
        (collection.forced(), "forced"),
    ];
    let ways = ways.into_iter().filter(|(is, _)| *is);
    let ways: String = ways.map(|(_, way)| format!(", {way}")).collect();
    format!(
        "GC of generation {} ends{ways}: {} ns, GC threads: {}, {} bytes copied, {} live, {} slop",
        work.generation,
        collection.time.elapsed_ns,
        collection.threads(),
        work.copied.0,
        work.live.0,
        work.slop.0
    )
}

/// The memory after a collection in words.
fn memory(collection: &Collection, blocks: Bytes) -> String {
    let memory = &collection.memory;
    format!(
        "{} bytes in blocks, {} bytes of megablocks, of which {} are in no block",
        blocks.0, memory.in_use.0, memory.fragmentation.0
    )
}

/// Prints debug messages: a listener for a run without an event log.
pub struct DebugPrinter<W> {
    debug: Debug,
    out: W,
}

impl<W> std::fmt::Debug for DebugPrinter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DebugPrinter({:?})", self.debug.messages)
    }
}

impl<W: Write> DebugPrinter<W> {
    /// Prints these messages to `out`.
    pub fn new(messages: DebugMessages, out: W) -> Self {
        DebugPrinter {
            debug: Debug::new(messages),
            out,
        }
    }
}

/// Prints a message as `gclab events show` would print it from a log. Output that fails does not
/// stop the run.
fn print(out: &mut impl Write, time_ns: u64, text: &str) {
    let _ = writeln!(out, "{time_ns:9}: {text}");
}

impl<W: Write + Send> Listener for DebugPrinter<W> {
    fn event(&mut self, event: &Event<'_>) {
        let out = &mut self.out;
        self.debug.event(event, |time_ns, text| print(out, time_ns, text));
    }

    fn look(&self, _: Occasion) -> Option<Look> {
        None
    }

    fn follows(&self) -> Follows {
        self.debug.follows()
    }

    fn capability(&mut self, number: usize, events: &[CapabilityEvent]) {
        let out = &mut self.out;
        self.debug
            .capability(number, events, |time_ns, text| print(out, time_ns, text));
    }
}
