//! A run that is interrupted prints its statistics so far, as GHC's programs do.
//!
//! A thread waits for SIGINT or SIGTERM while the program runs. It exists only if there is
//! something to print, so runs that are timed do without it. At the signal it asks the world for
//! its statistics, prints them, and ends the process in the way that the signal would have ended
//! it. A second signal ends the process at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use gclab_core::mutator::MutatorKind;
use gclab_core::world::World;
use gclab_stats::render::Printer;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::{flag, low_level};

/// Ends the wait for signals when dropped.
struct Closes(Handle);

impl Drop for Closes {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Runs `program`; a signal meanwhile prints the statistics of `world` and ends the process. If the
/// system refuses a handler or a thread, a signal ends the process without them.
pub(crate) fn with_statistics<M: MutatorKind, R>(
    world: &World<M>,
    printer: &Printer,
    program: &mut dyn FnMut() -> R,
) -> R {
    // Relaxed: no other data is published with it.
    let at_once = Arc::new(AtomicBool::new(false));
    // The handlers that end the process at once come first, so that only a later signal finds the
    // flag set.
    let registered = [SIGINT, SIGTERM]
        .into_iter()
        .try_for_each(|signal| flag::register_conditional_default(signal, Arc::clone(&at_once)).map(|_| ()));
    if registered.is_err() {
        at_once.store(true, Ordering::Relaxed);
        return program();
    }
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else {
        at_once.store(true, Ordering::Relaxed);
        return program();
    };
    // Dropped when the program ends, also by a panic: the thread must end then.
    let closes = Closes(signals.handle());
    let result = thread::scope(|scope| {
        let _closes = closes;
        let waiter = || {
            let Some(signal) = signals.forever().next() else {
                return;
            };
            at_once.store(true, Ordering::Relaxed);
            if let Ok(statistics) = world.statistics() {
                printer.finish(&statistics);
            }
            // It returns only if the signal has no default.
            let _ = low_level::emulate_default_handler(signal);
        };
        if thread::Builder::new().spawn_scoped(scope, waiter).is_err() {
            at_once.store(true, Ordering::Relaxed);
        }
        program()
    });
    // From now on a signal ends the process as ever: the first handlers stay.
    at_once.store(true, Ordering::Relaxed);
    result
}
