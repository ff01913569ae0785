//! Ctrl-C and SIGTERM end a run early, with complete statistics, profile and event log, as in GHC's
//! programs.
//!
//! A thread waits for a signal while the program runs. It exists only if there are figures to keep,
//! so timed runs do without it. At the signal it interrupts the world: the program's threads leave
//! the heap at their next safepoint, and the run ends normally. Then the process ends by the signal
//! ([`end_by`]), as a Haskell program does: a shell shows the status 130 or 143. A second signal
//! ends the process at once.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use gclab_core::mutator::MutatorKind;
use gclab_core::world::World;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::{flag, low_level};

/// The signals that end a run.
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// Registers the handlers that end the process at the next signal if the flag is set. They stay for
/// the life of the process, so all its runs share them and the flag.
fn at_once() -> io::Result<Arc<AtomicBool>> {
    static REGISTERED: OnceLock<Result<Arc<AtomicBool>, io::ErrorKind>> = OnceLock::new();
    let register = || {
        let at_once = Arc::new(AtomicBool::new(false));
        for signal in SIGNALS {
            flag::register_conditional_default(signal, Arc::clone(&at_once)).map_err(|error| error.kind())?;
        }
        Ok(at_once)
    };
    REGISTERED.get_or_init(register).clone().map_err(io::Error::from)
}

/// Ends the wait for signals when dropped.
struct Closes(Handle);

impl Drop for Closes {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Runs `program`; a signal meanwhile interrupts `world`. Returns the signal, if one came. If the
/// system refuses a handler or a thread, a signal ends the process as usual.
pub(crate) fn interruptible<M: MutatorKind, R>(world: &World<M>, program: &mut dyn FnMut() -> R) -> (R, Option<i32>) {
    // The handlers that end the process at once come first, so that only a later signal finds the
    // flag set.
    let Ok(at_once) = at_once() else {
        return (program(), None);
    };
    let Ok(mut signals) = Signals::new(SIGNALS) else {
        at_once.store(true, Ordering::Relaxed);
        return (program(), None);
    };
    // A run before this one has set it. Relaxed: no other data is published with it.
    at_once.store(false, Ordering::Relaxed);
    // Dropped when the program ends, also by a panic: the thread must end then.
    let closes = Closes(signals.handle());
    // 0: none came. Relaxed: the thread is joined before the last look.
    let came = AtomicI32::new(0);
    let result = thread::scope(|scope| {
        let _closes = closes;
        let waiter = || {
            let Some(signal) = signals.forever().next() else {
                return;
            };
            came.store(signal, Ordering::Relaxed);
            at_once.store(true, Ordering::Relaxed);
            // This thread is never inside the world, so it may interrupt it.
            let _ = world.interrupt();
        };
        if thread::Builder::new().spawn_scoped(scope, waiter).is_err() {
            at_once.store(true, Ordering::Relaxed);
        }
        program()
    });
    // From now on a signal ends the process as usual: the first handlers stay.
    at_once.store(true, Ordering::Relaxed);
    let came = came.into_inner();
    (result, (came != 0).then_some(came))
}

/// Ends the process by `signal`. Returns the exit status that a shell shows for it, if the system
/// refuses that.
pub fn end_by(signal: i32) -> u8 {
    // It returns only if the signal cannot be sent.
    let _ = low_level::emulate_default_handler(signal);
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}
