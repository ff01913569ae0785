//! Threads of a workload, each with a stay of its own in the world.
//!
//! There may be more threads than capabilities: one too many waits at [`World::enter`] until another has left. So threads must not wait for
//! each other inside of the heap, but in `Mutator::blocking`, if at all; then every workload runs with one capability, too.
//!
//! A thread whose heap is exhausted ends with that error while the others go on, until they end or are exhausted as well; the workload then ends
//! with the error. A panic goes on in whoever started the threads, once all have ended.

use gclab_core::collector::Collector;
use gclab_core::mutator::Mutator;
use gclab_core::world::World;

use crate::RunError;

/// Threads that a workload may have: far more than any machine has processors, and few enough to be started.
pub const MOST: u64 = 1 << 10;

/// Runs `stay` in `world` on as many threads, which are told their numbers from 0; gives what they gave, in order.
///
/// # Errors
/// That of the first thread, by number, that had one.
pub fn enter_each<C: Collector, R: Send>(
    world: &World<C>,
    threads: u64,
    stay: impl Fn(&mut Mutator<'_, C>, u64) -> R + Sync,
) -> Result<Vec<R>, RunError> {
    let stay = &stay;
    std::thread::scope(|scope| {
        let start = |number| {
            let work = move || world.enter(|m| stay(m, number));
            let started = std::thread::Builder::new().spawn_scoped(scope, work);
            started.map_err(|error| RunError::Thread { number, threads, error })
        };
        let started: Vec<_> = (0..threads).map(start).collect::<Result<_, _>>()?;
        // All are joined before a panic goes on.
        let ended: Vec<_> = started.into_iter().map(|thread| thread.join()).collect();
        ended
            .into_iter()
            .map(|ended| {
                ended
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                    .map_err(RunError::from)
            })
            .collect()
    })
}
