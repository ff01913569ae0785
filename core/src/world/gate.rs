//! How the world is stopped.
//!
//! * Threads that *run* are counted. A thread that enters a slow path takes the world's lock. If
//!   another thread is stopping the world, it is no longer counted, and waits until the stop is
//!   over. A thread in a blocking call ([`crate::mutator::Mutator::blocking`]) is not counted
//!   either.
//! * The thread that stops the world records that in the state, interrupts the allocators of all
//!   running threads, waits until none runs, and holds the lock until the others may resume.
//! * The background thread of a concurrent collector is parked meanwhile.
//!
//! An interrupt cannot be lost: it sets another thread's limit under the lock, and that thread sets
//! its limit only under the lock, on a refill or on resuming, both of which wait while the world is
//! being stopped. So *interrupted* implies *being stopped*, until the thread resumes; or the run
//! was interrupted, and the thread leaves at its next slow path. Fast paths take no lock and have
//! no fence; how soon they see the interrupt is up to the machine (a store takes less than a
//! microsecond).
//!
//! The end of a stop wakes one of the threads that wait, and each thread that resumes wakes the
//! next. If another stop begins meanwhile, the threads that have not been woken sleep on: they need
//! not run in order to be stopped. (With hundreds of threads on a few processors and small
//! allocation areas, each stop would otherwise wake all of them for nothing.)
//!
//! The writes of stopped threads happen before the collection, and its writes happen before their
//! next reads: all are ordered by the lock.
//!
//! Another thread can end a run, after Ctrl-C for example ([`World::interrupt`]). Each running
//! thread finds its allocator interrupted, enters a slow path, sees the request and unwinds to
//! [`World::enter`]; a thread waiting for a capability does so at once. The heap stays consistent
//! throughout, so statistics and profiles of the part that ran are complete.

use super::errors::{EnterError, Leave};
use super::state::{World, WorldState};
use crate::capability::CapabilityData;
use crate::events::{CapabilityEventKind, StopReason};
use crate::kind::MutatorKind;
use crate::session::{Participant, Session, ThreadState};
use crate::sync::{Arc, MutexGuard};
use std::panic::resume_unwind;

/// The state of the world, locked.
pub(super) type Locked<'w, M> = MutexGuard<'w, WorldState<M>>;

impl<M: MutatorKind> World<M> {
    /// Takes the lock for a running thread, at a safepoint, once no other thread is stopping the
    /// world. If the run was interrupted, unwinds the session.
    pub(super) fn lock(&self, session: Session<'_, M::Alloc>) -> Locked<'_, M> {
        let mut state = self.state.lock();
        session.report_allocated();
        session.capability.view().overwritten().answer();
        if state.stopping {
            let events = &session.capability.common.events;
            events.record(|| CapabilityEventKind::Stop(StopReason::Yields));
            self.no_longer_runs(&mut state, session.participant, ThreadState::Stopped);
            self.resume(&mut state, session);
        }
        if state.interrupted {
            drop(state);
            self.leave(EnterError::Interrupted);
        }
        state
    }

    /// A thread stops, blocks or leaves.
    pub(super) fn no_longer_runs(
        &self,
        state: &mut Locked<'_, M>,
        participant: &Participant<M::Alloc>,
        now: ThreadState,
    ) {
        participant.set_state(now);
        // SAFETY: null for a thread that only looks; otherwise this thread's, or lent to it.
        if let Some(capability) = unsafe { participant.capability.as_ref() } {
            capability.view().overwritten().flush();
        }
        state.running -= 1;
        if state.running == 0 {
            let clock = state.recorder.clock();
            state.idleness.rests(|| clock.elapsed_ns());
            if state.stopping {
                self.all_stopped.notify_one();
            }
        }
    }

    /// The thread of `session` runs again, as soon as no other one is stopping the world.
    pub(super) fn resume(&self, state: &mut Locked<'_, M>, session: Session<'_, M::Alloc>) {
        self.wait_while_stopping(state);
        state.running += 1;
        state.idleness.runs();
        session.participant.set_state(ThreadState::Running);
        session.capability.resume(state.stress.is_some());
        if state.interrupted && !mutant!("threads/interrupt-forgotten") {
            // SAFETY: the session's own capability.
            unsafe { CapabilityData::interrupt(session.capability) };
        }
        let events = &session.capability.common.events;
        events.record(|| CapabilityEventKind::Run);
        if events.are_many() {
            state.pass_on_events(session.capability);
        }
    }

    /// Interrupts the allocators of the threads that run.
    pub(super) fn interrupt_running(&self, _: &Locked<'_, M>) {
        self.participants.read(|all| {
            for participant in all.iter().filter(|one| one.state() == ThreadState::Running) {
                // SAFETY: it is inside and running; it cannot leave without the lock, which the
                // caller holds.
                unsafe { CapabilityData::interrupt(participant.capability) };
            }
        });
    }

    /// Waits until no thread is stopping the world, and wakes the next thread that waits for that.
    pub(super) fn wait_while_stopping(&self, state: &mut Locked<'_, M>) {
        if !state.stopping || mutant!("threads/blocked-comes-back-early") {
            return;
        }
        while state.stopping {
            self.resumed.wait(state);
        }
        if !mutant!("threads/next-not-woken") {
            self.resumed.notify_one();
        }
    }

    /// Stops all running threads. `session` is the caller's, if it is running itself. `due`: for a
    /// collection, the reading of the recorder's clock when it became due, and why. Passes on the
    /// events of all capabilities.
    ///
    /// # Panics
    /// If another thread is stopping the world. A caller that runs has the lock by [`World::lock`],
    /// which waits for that thread; others wait by [`World::wait_while_stopping`].
    pub(super) fn stop<'a, 'w>(
        &'w self,
        state: &'a mut Locked<'w, M>,
        session: Option<Session<'a, M::Alloc>>,
        due: Option<(u64, StopReason)>,
    ) -> Stop<'a, 'w, M> {
        assert!(!state.stopping, "another thread is stopping the world");
        state.stopping = true;
        state.background.ask_to_stop();
        if let Some(session) = session {
            state.running -= 1;
            session.participant.set_state(ThreadState::Stopping);
            let events = &session.capability.common.events;
            match due {
                Some((time_ns, reason)) => events.record_at(time_ns, CapabilityEventKind::Stop(reason)),
                None => events.record(|| CapabilityEventKind::Stop(StopReason::Asks)),
            }
        }
        if state.running > 0 {
            self.interrupt_running(state);
        }
        while state.running > 0 && !mutant!("threads/collects-beside-runners") {
            self.all_stopped.wait(state);
        }
        if let Some(stretch) = state.background.park() {
            state.worked_concurrently(stretch);
        }
        let participants = self.participants.snapshot();
        if state.events.follow_capabilities() {
            state.pass_on_all_events(&participants);
        }
        Stop {
            participants,
            world: self,
            state,
            session,
        }
    }
}

/// The world is stopped as long as this lives.
pub(super) struct Stop<'a, 'w, M: MutatorKind> {
    pub(super) world: &'w World<M>,
    pub(super) state: &'a mut Locked<'w, M>,
    session: Option<Session<'a, M::Alloc>>,
    /// All threads that are inside: none enters or leaves meanwhile.
    pub(super) participants: Arc<Vec<Arc<Participant<M::Alloc>>>>,
}

impl<M: MutatorKind> Drop for Stop<'_, '_, M> {
    fn drop(&mut self) {
        self.state.stopping = false;
        self.state.background.resume();
        if let Some(session) = self.session {
            self.world.resume(self.state, session);
        }
        if mutant!("threads/all-woken") {
            self.world.resumed.notify_all();
        } else if !mutant!("threads/not-woken") {
            self.world.resumed.notify_one();
        }
    }
}

impl<M: MutatorKind> World<M> {
    /// Ends all sessions: each thread that is inside unwinds at its next safepoint, and
    /// [`World::enter`] returns [`EnterError::Interrupted`] from now on. It does not wait for them.
    ///
    /// # Errors
    /// [`EnterError::Entered`] if this thread is inside.
    pub fn interrupt(&self) -> Result<(), EnterError> {
        self.check_outside()?;
        let mut state = self.state.lock();
        self.wait_while_stopping(&mut state);
        state.interrupted = true;
        self.interrupt_running(&state);
        drop(state);
        self.left.notify_all();
        Ok(())
    }

    /// Unwinds this thread's session to its [`World::enter`], which returns `why`. The lock is
    /// released.
    #[cold]
    pub(super) fn leave(&self, why: EnterError) -> ! {
        let world = std::ptr::from_ref(self).addr();
        resume_unwind(Box::new(Leave { world, why }))
    }
}
