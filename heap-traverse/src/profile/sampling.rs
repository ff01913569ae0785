//! A census at regular intervals.

use super::profiler::HeapProfiler;
use gclab_core::mutator::MutatorKind;
use gclab_core::world::World;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Runs a program in `world`. The world stops for a census every `interval`; if that is zero, there
/// is none. If the program ends before the first interval, there is none either.
///
/// Threads stop for a census as for a collection: at the next check of their allocation area, or at
/// a safepoint.
///
/// # Errors
/// If the system has no thread for the censuses. The program has not run then.
pub fn while_sampling<M: MutatorKind>(
    world: &World<M>,
    profiler: &HeapProfiler,
    interval: Duration,
    program: &mut dyn FnMut(),
) -> io::Result<()> {
    if interval.is_zero() {
        program();
        return Ok(());
    }
    thread::scope(|scope| {
        let (over, wait) = channel::<()>();
        thread::Builder::new().spawn_scoped(scope, move || {
            // The other end is dropped when the program has ended, also by unwinding.
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(interval) {
                // This thread is never inside the world, so it may inspect it.
                let _ = world.inspect_for(profiler.look(), |stopped| profiler.census(stopped));
            }
        })?;
        let _over = over;
        program();
        Ok(())
    })
}
