//! Idle collections: a thread outside the heap collects when no thread has run in it for a time.
//!
//! The world is *idle* while no thread runs in it: each has left, or is in
//! [`crate::mutator::Mutator::blocking`]. After some time ([`Config::idle_delay`]) everything is
//! collected, once until a thread runs again. The collecting thread decides under the world's lock.
//! So a thread that gets the lock first, to go back to work, cancels the collection; a thread that
//! comes later waits until it is over.
//!
//! Threads note that they start or stop running where they take the lock anyway: two stores, and a
//! clock reading if idle collections are on.
//!
//! Finalisers that an idle collection makes ready run at once, on the collecting thread (GHC starts
//! a thread for them), so an idle server's connections get closed.
//!
//! [`Config::idle_delay`]: crate::config::Config::idle_delay

use super::gate::Locked;
use super::state::World;

use crate::cause::Cause;
use crate::events::{CapabilityEventKind, StopReason};
use crate::kind::MutatorKind;
use crate::mutator::Mutator;
use crate::session::{Participant, Session, ThreadState};
use crate::sync::Arc;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

impl<M: MutatorKind> World<M> {
    /// Collects everything if no thread has run for `delay`, unless the last idle collection was
    /// less than `wait` ago, or no thread has run since. Returns the time after which to ask again.
    /// Idleness before the first call does not count. The calling thread is outside the heap; if it
    /// is inside, nothing is collected.
    pub fn collect_if_idle(&self, delay: Duration, wait: Duration) -> Duration {
        if self.check_outside().is_err() {
            return delay;
        }
        let mut state = self.state.lock();
        self.wait_while_stopping(&mut state);
        let now = state.recorder.clock().elapsed_ns();
        let running = state.running > 0 && !mutant!("idle/runs");
        let idleness = &mut state.idleness;
        idleness.watched = true;
        if running || !idleness.ran {
            return delay;
        }
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let idle_long_enough = idleness.since_ns.get_or_insert(now).saturating_add(nanos(delay));
        let far_enough = idleness.collected_ns.map_or(0, |last| last.saturating_add(nanos(wait)));
        let due = idle_long_enough.max(far_enough);
        if now < due {
            return Duration::from_nanos(due - now);
        }
        idleness.ran = mutant!("idle/again-and-again");
        idleness.collected_ns = Some(now);
        // If memory does not suffice, the heap is unchanged; no thread asked for room.
        let _ = self.stop_and_collect(&mut state, None, Cause::Idle);
        self.finalise(state);
        delay
    }

    /// Runs the finalisers that are ready, on this thread: by the mutator of a thread in a blocking
    /// call, which waits at the end of its call until they are over, or else by a free capability.
    fn finalise(&self, mut state: Locked<'_, M>) {
        if !self.handles.finalisers().is_due() {
            return;
        }
        let can_lend = |one: &&Arc<Participant<M::Alloc>>| one.state() == ThreadState::Blocking && !one.is_lent();
        let lender = self.participants.read(|all| all.iter().find(can_lend).cloned());
        let Some(lender) = lender else {
            drop(state);
            // A finished run has nothing left to finalise.
            let _ = self.enter(|m| m.run_finalisers());
            return;
        };
        lender.lend();
        let session = Session {
            // SAFETY: its thread is inside and does not leave before the mutator is returned.
            capability: unsafe { &*lender.capability },
            participant: &lender,
        };
        self.resume(&mut state, session);
        drop(state);
        let mutator = lender.mutator.cast::<Mutator<'_, M>>();
        // SAFETY: it is valid for the same reason, and its thread waits to use it.
        let ran = catch_unwind(AssertUnwindSafe(|| unsafe { &mut *mutator }.run_finalisers()));
        let mut state = self.state.lock();
        let events = &session.capability.common.events;
        events.record(|| CapabilityEventKind::Stop(StopReason::Blocks));
        self.no_longer_runs(&mut state, &lender, ThreadState::Blocking);
        lender.give_back(ran.err());
        drop(state);
        self.given_back.notify_all();
    }
}
