//! A census every so many seconds.

use super::profiler::HeapProfiler;
use gclab_core::mutator::MutatorKind;
use gclab_core::world::World;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Runs a program in `world`, with a census every `interval`, for which the world stops; none if it is zero. Of a program that ends before that there is none.
///
/// Threads stop for a census as for a collection: when their allocation area is looked at next, or at a safepoint.
pub fn while_sampling<M: MutatorKind>(
    world: &World<M>,
    profiler: &HeapProfiler,
    interval: Duration,
    program: &mut dyn FnMut(),
) {
    if interval.is_zero() {
        program();
        return;
    }
    thread::scope(|scope| {
        let (over, wait) = channel::<()>();
        scope.spawn(move || {
            // The other end goes when the program has ended, also by unwinding.
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(interval) {
                // This thread is never inside, so it may look.
                let _ = world.inspect(|stopped| profiler.census(stopped));
            }
        });
        let _over = over;
        program();
    });
}
