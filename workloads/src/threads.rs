//! Threads of a workload, each of which enters the world itself.
//!
//! There may be more threads than capabilities: a thread that finds none free waits in
//! [`World::enter`] until another thread leaves. So threads must not wait for each other inside the
//! heap, except in `Mutator::blocking`; thus every workload also runs with one capability.
//!
//! A thread that exhausts the heap ends with that error. The others run on until they end or
//! exhaust it as well; then the workload ends with the error. A panic is resumed in the thread that
//! started the others, once all have ended.

use gclab_core::mutator::{Mutator, MutatorKind};
use gclab_core::world::World;

use crate::RunError;

/// The most threads of a workload: far more than any machine has processors, yet few enough to
/// start.
pub(crate) const MOST: u64 = 1 << 10;

/// Runs `session` in `world` on `threads` threads, with the thread's number from 0. Returns the
/// results in the order of the numbers.
///
/// # Errors
/// The error of the first thread, by number, that had one.
pub(crate) fn enter_each<M: MutatorKind, R: Send>(
    world: &World<M>,
    threads: u64,
    session: impl Fn(&mut Mutator<'_, M>, u64) -> R + Sync,
) -> Result<Vec<R>, RunError> {
    let session = &session;
    std::thread::scope(|scope| {
        let start = |number| {
            let work = move || world.enter(|m| session(m, number));
            let started = std::thread::Builder::new().spawn_scoped(scope, work);
            started.map_err(|error| RunError::Thread { number, threads, error })
        };
        let started: Vec<_> = (0..threads).map(start).collect::<Result<_, _>>()?;
        // All are joined before a panic is resumed.
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

#[cfg(test)]
mod tests {
    use super::*;
    use gclab_collectors::Copying;
    use gclab_core::collector::KindOf;
    use gclab_core::config::Config;
    use gclab_core::words::Bytes;
    use gclab_core::world::EnterError;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicU64, Ordering};

    fn world() -> World<KindOf<Copying>> {
        let config = Config {
            capabilities: 2,
            max_heap: Some(Bytes(8 << 20)),
            reserve: Bytes(1 << 30),
            ..Config::default()
        };
        World::new::<Copying>(&config).expect("a small heap")
    }

    #[test]
    fn results_come_in_order() {
        assert_eq!(
            enter_each(&world(), 9, |_, number| number * number).unwrap(),
            [0, 1, 4, 9, 16, 25, 36, 49, 64]
        );
    }

    #[test]
    fn an_error_of_one_thread_is_returned_when_the_others_have_ended() {
        let ended = AtomicU64::new(0);
        let result = enter_each(&world(), 4, |m, number| {
            if number == 2 {
                m.alloc_bytes_filled(100 << 20, 0);
            }
            ended.fetch_add(1, Ordering::Relaxed);
        });
        assert!(
            matches!(result, Err(RunError::Heap(EnterError::Exhausted(_)))),
            "{result:?}"
        );
        assert_eq!(ended.into_inner(), 3);
    }

    #[test]
    fn a_panic_of_one_thread_is_resumed_when_the_others_have_ended() {
        let (world, ended) = (world(), AtomicU64::new(0));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            enter_each(&world, 4, |_, number| {
                if number == 0 {
                    std::panic::resume_unwind(Box::new("on purpose"));
                }
                ended.fetch_add(1, Ordering::Relaxed);
            })
        }));
        assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"on purpose"));
        assert_eq!(ended.into_inner(), 3);
        assert!(world.enter(|_| ()).is_ok());
    }
}
