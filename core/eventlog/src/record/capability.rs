//! Events of threads, messages and markers.

use crate::{Classes, Kind, kinds};
use gclab_core::events::{CapabilityEvent, CapabilityEventKind, StopReason};

use super::output::{Output, fitting};

/// GHC's numbers for the reasons why a thread stops.
const HEAP_OVERFLOW: u64 = 1;
const YIELDING: u64 = 3;
const FINISHED: u64 = 5;
const FOREIGN_CALL: u64 = 6;

/// Longest text, in bytes.
const MOST: usize = 65_535;

/// The open sessions, by capability.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: Vec<Option<Session>>,
}

#[derive(Debug, Clone, Copy)]
struct Session {
    number: u64,
    has_task: bool,
    /// When it stopped; `None` while it runs.
    stopped_ns: Option<u64>,
}

impl Sessions {
    /// When the thread on this capability stopped; `None` if it runs or there is none.
    pub(crate) fn stopped_ns(&self, cap: usize) -> Option<u64> {
        self.open.get(cap).copied().flatten()?.stopped_ns
    }

    /// Writes an event of capability `cap`.
    pub(crate) fn event(&mut self, cap: usize, event: &CapabilityEvent, classes: Classes, output: &mut Output) {
        let time_ns = event.time_ns;
        match &event.kind {
            CapabilityEventKind::Message(text) if classes.user => say(cap, &kinds::USER_MSG, time_ns, text, output),
            CapabilityEventKind::Marker(text) if classes.user => say(cap, &kinds::USER_MARKER, time_ns, text, output),
            CapabilityEventKind::Message(_) | CapabilityEventKind::Marker(_) => {}
            kind if classes.scheduler => self.thread(cap, time_ns, kind, output),
            _ => {}
        }
    }

    fn thread(&mut self, cap: usize, time_ns: u64, kind: &CapabilityEventKind, output: &mut Output) {
        if self.open.len() <= cap {
            self.open.resize(cap + 1, None);
        }
        let open = &mut self.open[cap];
        match (kind, open.as_mut()) {
            (CapabilityEventKind::Enter { session, os_thread }, _) => {
                let number = *session;
                if let Some(os_thread) = os_thread {
                    let values = [number.into(), (cap as u64).into(), (*os_thread).into()];
                    output.put_waiting(&kinds::TASK_CREATE, time_ns, &values);
                }
                output.put(cap, &kinds::CREATE_THREAD, time_ns, &[thread(number).into()]);
                output.put(cap, &kinds::RUN_THREAD, time_ns, &[thread(number).into()]);
                *open = Some(Session {
                    number,
                    has_task: os_thread.is_some(),
                    stopped_ns: None,
                });
            }
            (CapabilityEventKind::Run, Some(session)) => {
                output.put(cap, &kinds::RUN_THREAD, time_ns, &[thread(session.number).into()]);
                session.stopped_ns = None;
            }
            (CapabilityEventKind::Stop(reason), Some(session)) => {
                let status = match reason {
                    StopReason::HeapOverflow => HEAP_OVERFLOW,
                    StopReason::Asks | StopReason::Yields => YIELDING,
                    StopReason::Blocks => FOREIGN_CALL,
                };
                session.stop(cap, time_ns, status, output);
            }
            (CapabilityEventKind::Leave, Some(session)) => {
                session.stop(cap, time_ns, FINISHED, output);
                if session.has_task {
                    output.put_waiting(&kinds::TASK_DELETE, time_ns, &[session.number.into()]);
                }
                *open = None;
            }
            // Messages are handled elsewhere; other events belong to sessions that the log does not
            // know.
            _ => {}
        }
    }
}

impl Session {
    fn stop(&mut self, cap: usize, time_ns: u64, status: u64, output: &mut Output) {
        if self.stopped_ns.is_some() {
            // A session being unwound ends where it had stopped.
            output.put(cap, &kinds::RUN_THREAD, time_ns, &[thread(self.number).into()]);
        }
        let values = [thread(self.number).into(), status.into(), 0.into()];
        output.put(cap, &kinds::STOP_THREAD, time_ns, &values);
        self.stopped_ns = Some(time_ns);
    }
}

/// A session's number as a thread number of four bytes.
fn thread(session: u64) -> u64 {
    session & u64::from(u32::MAX)
}

/// Writes a text without NULs, cut to the length that fits an event.
fn say(cap: usize, kind: &'static Kind, time_ns: u64, text: &str, output: &mut Output) {
    output.put(cap, kind, time_ns, &[fitting(text, MOST).as_str().into()]);
}
