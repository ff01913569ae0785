//! Work queues: one for each worker of a phase, from which the others steal.
//!
//! A queue is a Chase-Lev deque of `crossbeam-deque`. Its worker takes the newest item; a worker
//! with an empty queue steals the oldest item of another queue, starting with a random victim.

use super::termination::Termination;
use crate::sync::deque::{Steal, Stealer, Worker as Deque};

/// All queues of a phase, from the thieves' side.
#[derive(Debug)]
pub(super) struct WorkPool<T> {
    stealers: Vec<Stealer<T>>,
    pub termination: Termination,
}

/// How often a worker looked for work.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Searches {
    pub any_work: u64,
    pub no_work: u64,
}

/// A worker's access to its own queue.
#[derive(Debug)]
pub(crate) struct WorkQueue<'a, T> {
    deque: &'a Deque<T>,
    pool: &'a WorkPool<T>,
}

impl<T> Clone for WorkQueue<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for WorkQueue<'_, T> {}

impl<'a, T> WorkQueue<'a, T> {
    /// The queue `deque`, one of those that `pool` steals from.
    pub(super) fn new(deque: &'a Deque<T>, pool: &'a WorkPool<T>) -> Self {
        WorkQueue { deque, pool }
    }

    /// Adds an item, which any worker may take from now on.
    pub(crate) fn push(self, item: T) {
        self.deque.push(item);
        self.pool.termination.work_added();
    }

    /// Takes the newest item.
    pub(crate) fn pop(self) -> Option<T> {
        self.deque.pop()
    }

    /// Whether a worker is idle and finds nothing in this queue either: time to share part of the
    /// current work.
    #[inline(always)]
    pub(crate) fn should_share(self) -> bool {
        self.pool.termination.has_idle() && self.deque.is_empty()
    }
}

impl<T> WorkPool<T> {
    /// A pool of the queues that `stealers` steal from; `busy` as for [`Termination::new`].
    pub(super) fn new(stealers: Vec<Stealer<T>>, busy: usize) -> Self {
        WorkPool {
            stealers,
            termination: Termination::new(busy),
        }
    }

    /// The caller, which is idle, waits for an item of another worker and becomes busy with it.
    /// `None` after termination.
    pub(super) fn steal_or_wait(&self, rng: &mut u64, searches: &mut Searches) -> Option<T> {
        let mut tries = 0;
        while !self.termination.is_terminated() {
            searches.any_work += 1;
            if self.has_work() {
                // R4: busy before it takes anything.
                if !self.termination.try_become_busy() {
                    continue;
                }
                if let Some(item) = self.steal(rng) {
                    self.termination.got_work();
                    return Some(item);
                }
                // SAFETY: it just became busy, and has nothing.
                unsafe { self.termination.leave_busy() };
            }
            searches.no_work += 1;
            tries += 1;
            self.termination.wait_for_work(tries, || self.has_work());
        }
        None
    }

    fn has_work(&self) -> bool {
        self.stealers.iter().any(|queue| !queue.is_empty())
    }

    /// The oldest item of the first non-empty queue, starting from a random one.
    fn steal(&self, rng: &mut u64) -> Option<T> {
        // Xorshift: victims need not be more random than that.
        *rng ^= *rng << 13;
        *rng ^= *rng >> 7;
        *rng ^= *rng << 17;
        let count = self.stealers.len();
        let first = *rng as usize % count;
        (0..count).find_map(|i| {
            let victim = &self.stealers[(first + i) % count];
            loop {
                match victim.steal() {
                    Steal::Success(item) => return Some(item),
                    Steal::Empty => return None,
                    Steal::Retry => {}
                }
            }
        })
    }
}
