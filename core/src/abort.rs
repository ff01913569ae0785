//! A panic of collector code ends the process: neither a collection nor work beside the program can
//! continue or be abandoned.

use std::cell::Cell;
use std::fmt::Display;
use std::io::Write;

/// When collector code runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum When {
    #[default]
    InCollection,
    /// Concurrently.
    BesideProgram,
}

thread_local! {
    static RUNS: Cell<Option<When>> = const { Cell::new(None) };
}

/// When the collector code runs that this thread is running, if it is.
pub(crate) fn runs_collector() -> Option<When> {
    RUNS.get()
}

/// Whether this thread is running collector code, whose panic ends the process. For panic hooks:
/// anything they do not print then is lost.
pub fn in_collector() -> bool {
    RUNS.get().is_some()
}

/// Calls `work`. If it panics, names `party` on standard error and ends the process.
pub(crate) fn abort_on_unwind<R>(party: impl Display, when: When, work: impl FnOnce() -> R) -> R {
    let abort = Abort(party, when);
    let outer = RUNS.replace(Some(when));
    let result = work();
    RUNS.set(outer);
    std::mem::forget(abort);
    result
}

/// Ends the process when it is dropped.
struct Abort<P: Display>(P, When);

impl<P: Display> Drop for Abort<P> {
    #[cold]
    fn drop(&mut self) {
        // Written directly, since the test harness captures the output of `eprintln`.
        let when = match self.1 {
            When::InCollection => "in the middle of a collection",
            When::BesideProgram => "beside the program",
        };
        let message = format!(
            "gclab: {} panicked {when}, which leaves no heap to go on with\n",
            self.0
        );
        let _ = std::io::stderr().write_all(message.as_bytes());
        std::process::abort();
    }
}
