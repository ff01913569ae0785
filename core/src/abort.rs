//! A panic in the middle of a collection ends the process: such a collection can neither continue
//! nor be abandoned.

use std::cell::Cell;
use std::fmt::Display;
use std::io::Write;

thread_local! {
    static IN_COLLECTOR: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is running collector code, whose panic ends the process. For panic hooks:
/// anything they do not print then is lost.
pub fn in_collector() -> bool {
    IN_COLLECTOR.get()
}

/// Calls `work`. If it panics, names `party` on standard error and ends the process.
pub(crate) fn abort_on_unwind<R>(party: impl Display, work: impl FnOnce() -> R) -> R {
    let abort = Abort(party);
    let outside = !IN_COLLECTOR.replace(true);
    let result = work();
    IN_COLLECTOR.set(!outside);
    std::mem::forget(abort);
    result
}

/// Ends the process when it is dropped.
struct Abort<P: Display>(P);

impl<P: Display> Drop for Abort<P> {
    #[cold]
    fn drop(&mut self) {
        // Written directly, since the test harness captures the output of `eprintln`.
        let message = format!(
            "gclab: {} panicked in the middle of a collection, which leaves no heap to go on with\n",
            self.0
        );
        let _ = std::io::stderr().write_all(message.as_bytes());
        std::process::abort();
    }
}
