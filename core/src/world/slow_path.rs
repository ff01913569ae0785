//! The slow paths of mutators: making room, stopping the world, blocking, and data outside the heap
//! that closures own.
//!
//! Each call takes the world's lock, except `handles` and those for finalisers, values outside the
//! heap and sampled closures, which have their own locks. A call that finds the heap exhausted
//! unwinds to [`World::enter`].

use super::collection::{WorldAtRest, capabilities};
use super::errors::Exhausted;
use super::gate::Locked;
use super::owned::{FinaliserFunction, ForeignValue};
use super::state::{World, WorldState};
use crate::alloc::Alloc;
use crate::block::OutOfMemory;
use crate::cause::{Cause, Refill, Request};
use crate::collector::{Sampling, Since};
use crate::events::{CapabilityEventKind, StopReason};
use crate::heap::LargeRequest;
use crate::kind::MutatorKind;
use crate::recorder::Recorder;
use crate::roots::finalisers::Occasion;
use crate::roots::handles::HandleTable;
use crate::sampled::{MemprofError, Sampled, Track};
use crate::session::{Session, ThreadState};
use crate::stats::{NotEnabled, RtsStats};
use crate::sync::{Arc, panicking, this_thread};
use crate::words::{Addr, Bytes, Words};
use std::any::Any;
use std::panic::resume_unwind;
use std::time::Duration;

/// A collector that asks for more collections than this without making room is faulty. `ocaml` may
/// need three: a slice in the middle of the minor heap, a minor collection at its end, whose slice
/// ends the cycle, and the beginning of the next cycle.
const MOST_COLLECTIONS: u32 = 4;

/// The seed of the first capability's random numbers, so that runs can be repeated.
const SEED: u64 = 42;

impl<M: MutatorKind> World<M> {
    /// The mutator's allocator has no room for `words` words: makes room, and reserves them.
    pub(crate) fn refill(&self, session: Session<'_, M::Alloc>, words: Words) -> Addr {
        self.or_leave(self.try_refill(session, words))
    }

    /// Returns space for a large object.
    pub(crate) fn allocate_large(&self, session: Session<'_, M::Alloc>, request: LargeRequest) -> Addr {
        self.or_leave(self.try_allocate_large(session, request))
    }

    /// Called before allocating a closure that owns `bytes` outside the heap: collects first if the
    /// collector wants to. Returns whether it did.
    pub(crate) fn foreign(&self, session: Session<'_, M::Alloc>, bytes: Bytes) -> bool {
        let mut state = self.lock(session);
        if state.collector.foreign(bytes) == Refill::Ready {
            return false;
        }
        let result = self.stop_and_collect(&mut state, Some(session), Cause::Allocation);
        drop(state);
        self.or_leave(result);
        true
    }

    /// The closure at `closure` owns `value` from now on.
    pub(crate) fn own_foreign(&self, closure: u64, value: ForeignValue, bytes: Bytes) {
        self.values.own(self.handles.foreign(), closure, value, bytes);
    }

    /// Drops the values of closures that have died.
    pub(crate) fn drop_foreign(&self) {
        self.values.drop_dead(self.handles.foreign());
    }

    /// Starts sampling allocated words at this rate for this tracker, or stops sampling.
    pub(crate) fn set_memprof(
        &self,
        session: Session<'_, M::Alloc>,
        start: Option<(f64, Box<dyn Track>)>,
    ) -> Result<(), MemprofError> {
        let mut state = self.lock(session);
        let mut stop = self.stop(&mut state, Some(session), None);
        let (rate, new) = start.unzip();
        let old = self.memprof.replace(new);
        if old.is_ok() {
            stop.world().sample(rate);
        }
        drop(stop);
        drop(state);
        // A tracker is dropped without holding locks: it runs the program's code.
        old.map(drop)
    }

    /// Follows a closure that has sampled words.
    pub(crate) fn follow_sampled(&self, sampled: Sampled) {
        self.memprof.follow(self.handles.sampled(), sampled);
    }

    /// Whether there is news for the tracker of sampled closures.
    pub(crate) fn memprof_is_due(&self) -> bool {
        self.memprof.is_due()
    }

    /// Calls the tracker with the news.
    pub(crate) fn call_memprof_tracker(&self) {
        self.memprof.call_tracker();
    }

    /// Stops the world and shows `message` to the collector. Returns whether it understands it.
    pub(crate) fn ask_collector(&self, session: Session<'_, M::Alloc>, message: &mut dyn Any) -> bool {
        let mut state = self.lock(session);
        let mut stop = self.stop(&mut state, Some(session), None);
        let answered = stop.world().ask(self.description.name, message);
        drop(stop);
        state.events.resume_panic();
        answered
    }

    /// Collects, as `request` says.
    pub(crate) fn collect(&self, session: Session<'_, M::Alloc>, request: Request) {
        let result = self.stop_and_collect(&mut self.lock(session), Some(session), Cause::Asked(request));
        self.or_leave(result);
    }

    /// Stops the world and announces that a part of the program called `name` begins.
    pub(crate) fn marker(&self, session: Session<'_, M::Alloc>, name: &str) {
        let mut state = self.lock(session);
        let mut stop = self.stop(&mut state, Some(session), None);
        stop.world().announce_marker(session.capability.view().number(), name);
        drop(stop);
        state.events.resume_panic();
    }

    /// Stops the world and pauses or resumes the record of events.
    pub(crate) fn pause_events(&self, session: Session<'_, M::Alloc>, is_paused: bool) {
        let mut state = self.lock(session);
        // Once the world has stopped, all events up to here have been passed on.
        let mut stop = self.stop(&mut state, Some(session), None);
        stop.world().state.events.pause(is_paused);
        drop(stop);
        state.events.resume_panic();
    }

    /// Passes the events of the capability on to listeners.
    pub(crate) fn pass_on_events(&self, session: Session<'_, M::Alloc>) {
        self.lock(session).pass_on_events(session.capability);
    }

    /// Stops the world and notes that the measured phase begins.
    pub(crate) fn measure_start(&self, session: Session<'_, M::Alloc>) {
        self.mark_measured(&mut self.lock(session), Some(session), Recorder::measure_start);
    }

    /// Stops the world and notes that the measured phase ends.
    pub(crate) fn measure_end(&self, session: Session<'_, M::Alloc>) {
        self.mark_measured(&mut self.lock(session), Some(session), Recorder::measure_end);
    }

    /// Returns the statistics up to now.
    pub(crate) fn rts_stats_inside(&self, session: Session<'_, M::Alloc>) -> Result<RtsStats, NotEnabled> {
        self.rts_stats_locked(&self.lock(session))
    }

    /// Waits while another thread keeps the world stopped.
    pub(crate) fn safepoint(&self, session: Session<'_, M::Alloc>) {
        drop(self.lock(session));
    }

    /// The thread does not touch the heap until [`World::leave_blocking`]: collections do not
    /// wait for it.
    pub(crate) fn enter_blocking(&self, session: Session<'_, M::Alloc>) {
        let mut state = self.state.lock();
        session.report_allocated();
        let events = &session.capability.common.events;
        events.record(|| CapabilityEventKind::Stop(StopReason::Blocks));
        self.no_longer_runs(&mut state, session.participant, ThreadState::Blocking);
    }

    /// The thread touches the heap again. Waits while the world is stopped, and while another
    /// thread runs finalisers with this thread's mutator. If one of them panicked, the panic
    /// continues here.
    pub(crate) fn leave_blocking(&self, session: Session<'_, M::Alloc>) {
        let mut state = self.state.lock();
        let participant = session.participant;
        // A finaliser may itself be in a blocking call.
        let must_wait = || participant.is_lent() && participant.thread == this_thread();
        loop {
            while must_wait() {
                self.given_back.wait(&mut state);
            }
            // The lock is free meanwhile.
            self.wait_while_stopping(&mut state);
            if !must_wait() {
                break;
            }
        }
        self.resume(&mut state, session);
        if participant.is_lent() {
            return;
        }
        let panic = participant.take_panic();
        drop(state);
        if let Some(panic) = panic.filter(|_| !panicking()) {
            resume_unwind(panic);
        }
    }

    /// The handles of the heap.
    pub(crate) fn handles(&self) -> &Arc<HandleTable> {
        &self.handles
    }

    /// Registers a finaliser of the closure at `closure` (0 for an alarm). Returns its number.
    pub(crate) fn register_finaliser(&self, occasion: Occasion, closure: u64, function: FinaliserFunction) -> u64 {
        let table = self.handles.finalisers();
        self.functions.register(table, (occasion, closure), function)
    }

    /// Returns the function of this number, which is about to run. `None` if it is an alarm that
    /// was removed, or runs on another thread.
    pub(crate) fn take_finaliser(&self, number: u64) -> Option<FinaliserFunction> {
        self.functions.take(number)
    }

    /// Tells the collector that finalisers are about to run, or have run.
    pub(crate) fn note_finalisers(&self, are_over: bool) {
        self.state.lock().collector.finalisers(are_over);
    }

    /// An alarm has run: it may ring again, unless it was removed.
    pub(crate) fn put_alarm_back(&self, number: u64, alarm: FinaliserFunction) {
        self.functions.put_alarm_back(self.handles.finalisers(), number, alarm);
    }

    /// Removes an alarm.
    pub(crate) fn remove_alarm(&self, number: u64) {
        self.functions.remove_alarm(self.handles.finalisers(), number);
    }
}

impl<M: MutatorKind> World<M> {
    /// Stops the world, since only then it is known how much was allocated, and tells the recorder
    /// that the measured phase begins or ends. `session` is the caller's, if it is inside.
    pub(super) fn mark_measured<'w>(
        &'w self,
        state: &mut Locked<'w, M>,
        session: Option<Session<'_, M::Alloc>>,
        mark: fn(&mut Recorder, u64),
    ) {
        let mut stop = self.stop(state, session, None);
        let allocated = stop.world().count_allocated();
        mark(&mut stop.state.recorder, allocated);
    }

    /// The result of a slow path; if the heap is exhausted, unwinds the session to its
    /// [`World::enter`]. The lock is free again.
    pub(super) fn or_leave<R>(&self, result: Result<R, Exhausted>) -> R {
        result.unwrap_or_else(|exhausted| self.leave(exhausted.into()))
    }

    pub(super) fn exhausted(&self, cause: OutOfMemory) -> Exhausted {
        Exhausted {
            collector: self.description.name,
            cause,
        }
    }

    fn try_refill(&self, session: Session<'_, M::Alloc>, words: Words) -> Result<Addr, Exhausted> {
        let mut state = self.lock(session);
        let capability = session.capability;
        let Some(every) = state.stress else {
            return self.make_room(&mut state, session, words);
        };
        let left = capability.common.until_stress.get();
        if left <= 1 {
            self.stop_and_collect(&mut state, Some(session), Cause::Stress)?;
            capability.common.until_stress.set(every);
        } else {
            capability.common.until_stress.set(left - 1);
        }
        capability.alloc.restrict(None);
        let at = self.make_room(&mut state, session, words)?;
        // Room for this allocation only: the next one takes the slow path again.
        capability.alloc.restrict(Some(words));
        Ok(at)
    }

    /// Reserves `words` words for a small closure. The lock is held throughout, so no other thread
    /// can take the room that a collection makes for this one.
    fn make_room<'w>(
        &'w self,
        state: &mut Locked<'w, M>,
        session: Session<'_, M::Alloc>,
        words: Words,
    ) -> Result<Addr, Exhausted> {
        let (mut collections, mut all_collected) = (0, false);
        loop {
            let alloc = &session.capability.alloc;
            if let Some(at) = alloc.reserve_any(words).or_else(|| alloc.reserve_elsewhere(words)) {
                return Ok(at);
            }
            let WorldState {
                collector,
                heap,
                recorder,
                ..
            } = &mut **state;
            match recorder.refill(|| collector.refill(heap, session.capability.view(), words)) {
                Ok(Refill::Ready) => {}
                Ok(Refill::Collect) if collections < MOST_COLLECTIONS => {
                    self.stop_and_collect(state, Some(session), Cause::Allocation)?;
                    collections += 1;
                }
                Ok(Refill::Collect) => panic!("{}: no room straight after collections", self.description.name),
                // A minor collection may have left garbage.
                Err(_) if !all_collected => {
                    self.stop_and_collect(state, Some(session), Cause::Shortage)?;
                    (collections, all_collected) = (MOST_COLLECTIONS, true);
                }
                Err(cause) => return Err(self.exhausted(cause)),
            }
        }
    }

    fn try_allocate_large(&self, session: Session<'_, M::Alloc>, request: LargeRequest) -> Result<Addr, Exhausted> {
        let mut state = self.lock(session);
        if let Some(every) = state.stress {
            let until_stress = &session.capability.common.until_stress;
            let left = until_stress.get().saturating_sub(1);
            until_stress.set(left);
            if left == 0 {
                self.stop_and_collect(&mut state, Some(session), Cause::Stress)?;
                until_stress.set(every);
            }
        }
        let mut last = None;
        for cause in [Some(Cause::Allocation), Some(Cause::Shortage), None] {
            let WorldState { collector, heap, .. } = &mut *state;
            match collector.allocate_large(heap, request) {
                Ok(Some(at)) => {
                    let bytes = request.words.to_bytes();
                    state.allocated += bytes.0 as u64;
                    if !mutant!("events/large-objects-uncounted") {
                        session.capability.common.count(bytes);
                    }
                    return Ok(at);
                }
                Ok(None) => {}
                Err(error) => last = Some(error),
            }
            if let Some(cause) = cause {
                self.stop_and_collect(&mut state, Some(session), cause)?;
            }
        }
        let cause = last.expect("a collector that has no room straight after a collection says why");
        Err(self.exhausted(cause))
    }
}

impl<M: MutatorKind> WorldAtRest<'_, M> {
    fn ask(&mut self, name: &'static str, message: &mut dyn Any) -> bool {
        let allocated = self.count_allocated();
        let state = &mut *self.state;
        let clock = state.recorder.clock();
        let began = clock.elapsed_ns();
        let since = Since {
            running: Duration::from_nanos(began.saturating_sub(state.last_ended)),
            allocated: Bytes((allocated - state.allocated_before) as usize),
            clock,
            began,
        };
        self.in_pause(name, (Cause::default(), None), since, |collector, pause| {
            collector.answer(pause, message)
        })
    }

    /// Has all allocators sample words at this rate.
    fn sample(&mut self, rate: Option<f64>) {
        // SAFETY: `new`'s caller promises that they are inside and stopped.
        for capability in unsafe { capabilities(self.participants, &self.state.idle) } {
            let seed = SEED + capability.number() as u64;
            capability.alloc().sample(rate.map(|rate| Sampling { rate, seed }));
            capability.take_sampled();
        }
    }

    /// A collection begins: follows the sampled closures that mutators have allocated since they
    /// were last in a slow path.
    pub(super) fn follow_sampled(&mut self, world: &World<M>) {
        // SAFETY: as for `sample`.
        for capability in unsafe { capabilities(self.participants, &self.state.idle) } {
            if let Some(sampled) = capability.take_sampled() {
                world.follow_sampled(sampled);
            }
        }
    }
}
