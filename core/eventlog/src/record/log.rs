//! The listener.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{CENSUS, CHECK, INSPECT, Kind, RETAINERS, kinds};
use gclab_core::events::{CapabilityEvent, Event, EventKind, Follows, Listener, Look, Occasion, RunInfo};

use super::capability::Sessions;
use super::centres::Centres;
use super::collection::Collecting;
use super::debug::Debug;
use super::output::{Output, fitting};
use super::process::{self, About};

/// The event log of one run. Clones share the log: one listens to the world, another ends it.
#[derive(Clone)]
pub struct EventLog(Arc<Mutex<Log>>);

pub(crate) struct Log {
    pub(crate) about: About,
    pub(crate) output: Output,
    pub(crate) centres: Centres,
    /// The open sample of a heap profile, which ends with the look.
    pub(crate) open_sample: Option<u64>,
    sessions: Sessions,
    collecting: Collecting,
    debug: Debug,
}

/// Longest debug message, in bytes.
const MOST: usize = 65_535;

impl std::fmt::Debug for EventLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EventLog({} capabilities)", self.lock().output.caps())
    }
}

impl EventLog {
    /// Begins a log in a file, overwriting an old one.
    ///
    /// # Errors
    /// If the file cannot be created or written: then the run need not start.
    pub fn create(path: &Path, about: About) -> io::Result<EventLog> {
        EventLog::new(Box::new(File::create(path)?), about)
    }

    /// Begins a log in `file`, written a block at a time.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(file: Box<dyn Write + Send>, about: About) -> io::Result<EventLog> {
        Ok(EventLog(Arc::new(Mutex::new(Log {
            debug: Debug::new(about.debug),
            about,
            output: Output::new(file)?,
            centres: Centres::default(),
            open_sample: None,
            sessions: Sessions::default(),
            collecting: Collecting::default(),
        }))))
    }

    /// Ends the log. Later calls do nothing.
    ///
    /// # Errors
    /// The first error in writing the log, which ends there.
    pub fn finish(&self) -> io::Result<()> {
        self.lock().output.finish()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Log> {
        // A thread that panicked left whole events.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for EventLog {
    fn event(&mut self, event: &Event<'_>) {
        self.lock().event(event);
    }

    fn look(&self, _: Occasion) -> Option<Look> {
        None
    }

    fn follows(&self) -> Follows {
        let log = self.lock();
        let classes = log.about.classes;
        Follows {
            threads: classes.scheduler || log.debug.follows().threads,
            messages: classes.user,
            gc_threads: classes.gc,
            cells: classes.nonmoving,
        }
    }

    fn pause(&mut self, is_paused: bool) {
        let output = &mut self.lock().output;
        output.settle();
        output.write_all();
        output.pause(is_paused);
    }

    fn capability(&mut self, number: usize, events: &[CapabilityEvent]) {
        let log = &mut *self.lock();
        for event in events {
            log.sessions.event(number, event, log.about.classes, &mut log.output);
        }
        let output = &mut log.output;
        log.debug
            .capability(number, events, |time_ns, text| say(time_ns, text, output));
        log.output.write_if_full(number);
    }
}

/// Writes a debug message, as a global event.
fn say(time_ns: u64, text: &str, output: &mut Output) {
    output.put_waiting(&kinds::LOG_MSG, time_ns, &[fitting(text, MOST).as_str().into()]);
}

impl Log {
    fn event(&mut self, event: &Event<'_>) {
        let (time_ns, output) = (event.time_ns, &mut self.output);
        self.debug.event(event, |time_ns, text| say(time_ns, text, output));
        match event.kind {
            EventKind::RunStart(run) => self.start(time_ns, run),
            EventKind::RunEnd { allocated, .. } => self.end(time_ns, allocated),
            EventKind::LookStart(look) => self.look(&kinds::LOOK_BEGIN, time_ns, look),
            EventKind::LookEnd(look) => {
                self.end_sample(time_ns);
                self.look(&kinds::LOOK_END, time_ns, look);
            }
            kind if self.about.classes.gc => self.collecting.event(event, kind, &self.sessions, output),
            _ => {}
        }
        if matches!(event.kind, EventKind::Recorded { .. }) {
            self.output.settle();
            self.output.write_if_due(time_ns);
        }
    }

    /// A look at the stopped heap begins or ends. GHC has no events for this, so the types are
    /// gclab's own. A census has its sample between the two.
    fn look(&mut self, kind: &'static Kind, time_ns: u64, look: Look) {
        let purpose = match look {
            Look::Census => CENSUS,
            Look::Retainers => RETAINERS,
            Look::Check => CHECK,
            Look::Inspect => INSPECT,
        };
        if self.about.classes.gc {
            self.output.put_global(kind, time_ns, &[purpose.into()]);
        }
    }

    fn start(&mut self, time_ns: u64, run: &RunInfo) {
        process::start(time_ns, run, &self.about, &mut self.output);
        // Written now, so that a program killed soon has it in its log.
        self.output.write(time_ns);
    }

    fn end(&mut self, time_ns: u64, allocated: &[u64]) {
        if self.about.classes.gc {
            for (cap, bytes) in allocated.iter().enumerate() {
                let values = [0.into(), (*bytes).into()];
                self.output.put(cap, &kinds::HEAP_ALLOCATED, time_ns, &values);
            }
        }
        self.end_sample(time_ns);
        self.output.settle();
        if self.about.classes.any() {
            // After the last events of the capabilities, however a reader sorts.
            process::end(time_ns + 1, &mut self.output);
        }
        self.output.write(time_ns);
    }
}

impl Drop for Log {
    /// Completes the log of a run that ended in a panic.
    fn drop(&mut self) {
        let _ = self.output.finish();
    }
}
