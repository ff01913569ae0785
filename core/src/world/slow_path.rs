//! The world as its mutators call it: making room, stopping, blocking.

use super::errors::Exhausted;
use super::gate::Locked;
use super::state::{World, WorldState};
use crate::alloc::Alloc;
use crate::block::OutOfMemory;
use crate::cause::{Cause, Refill, Request};
use crate::collector::Description;
use crate::events::{CapabilityEventKind, StopReason};
use crate::kind::MutatorKind;
use crate::mutator::{FinaliserFunction, ForeignValue, SlowPath};
use crate::recorder::Recorder;
use crate::roots::finalisers::Occasion;
use crate::roots::handles::HandleTable;
use crate::sampled::{MemprofError, Sampled, Track};
use crate::session::{Session, ThreadState};
use crate::stats::{NotEnabled, RtsStats};
use crate::sync::Arc;
use crate::words::{Addr, Bytes, Words};
use std::any::Any;

/// The collections that a collector may ask for before it gives room.
const MOST_COLLECTIONS: u32 = 2;

impl<M: MutatorKind> SlowPath<M> for World<M> {
    fn refill(&self, session: Session<'_, M::Alloc>, words: Words) -> Addr {
        self.or_leave(self.try_refill(session, words))
    }

    fn allocate_large(&self, session: Session<'_, M::Alloc>, words: Words) -> Addr {
        self.or_leave(self.try_allocate_large(session, words))
    }

    fn foreign(&self, session: Session<'_, M::Alloc>, bytes: Bytes) -> bool {
        self.note_foreign(session, bytes)
    }

    fn own_foreign(&self, closure: u64, value: ForeignValue, bytes: Bytes) {
        self.own_foreign_value(closure, value, bytes);
    }

    fn drop_foreign(&self) {
        self.drop_foreign_values();
    }

    fn set_memprof(
        &self,
        session: Session<'_, M::Alloc>,
        start: Option<(f64, Box<dyn Track>)>,
    ) -> Result<(), MemprofError> {
        World::set_memprof(self, session, start)
    }

    fn follow_sampled(&self, sampled: Sampled) {
        World::follow_sampled(self, sampled);
    }

    fn memprof_is_due(&self) -> bool {
        World::memprof_is_due(self)
    }

    fn call_memprof_tracker(&self) {
        World::call_memprof_tracker(self);
    }

    fn collector(&self) -> &'static Description {
        self.description
    }

    fn ask_collector(&self, session: Session<'_, M::Alloc>, message: &mut dyn Any) -> bool {
        World::ask_collector(self, session, message)
    }

    fn collect(&self, session: Session<'_, M::Alloc>, request: Request) {
        let result = self.stop_and_collect(&mut self.lock(session), Some(session), Cause::Asked(request));
        self.or_leave(result);
    }

    fn marker(&self, session: Session<'_, M::Alloc>, name: &str) {
        let mut state = self.lock(session);
        let mut stop = self.stop(&mut state, Some(session), None);
        stop.world().announce_marker(session.capability.view().number(), name);
        drop(stop);
        state.events.resume_panic();
    }

    fn pause_events(&self, session: Session<'_, M::Alloc>, is_paused: bool) {
        let mut state = self.lock(session);
        // All events up to here have been passed on when the world has stopped.
        let mut stop = self.stop(&mut state, Some(session), None);
        stop.world().state.events.pause(is_paused);
        drop(stop);
        state.events.resume_panic();
    }

    fn pass_on_events(&self, session: Session<'_, M::Alloc>) {
        self.lock(session).pass_on_events(session.capability);
    }

    fn measure_start(&self, session: Session<'_, M::Alloc>) {
        self.mark_measured(&mut self.lock(session), Some(session), Recorder::measure_start);
    }

    fn measure_end(&self, session: Session<'_, M::Alloc>) {
        self.mark_measured(&mut self.lock(session), Some(session), Recorder::measure_end);
    }

    fn rts_stats(&self, session: Session<'_, M::Alloc>) -> Result<RtsStats, NotEnabled> {
        self.rts_stats_locked(&self.lock(session))
    }

    fn safepoint(&self, session: Session<'_, M::Alloc>) {
        drop(self.lock(session));
    }

    fn enter_blocking(&self, session: Session<'_, M::Alloc>) {
        let mut state = self.state.lock();
        session.report_allocated();
        let events = &session.capability.common.events;
        events.record(|| CapabilityEventKind::Stop(StopReason::Blocks));
        self.no_longer_runs(&mut state, session.participant, ThreadState::Blocking);
    }

    fn leave_blocking(&self, session: Session<'_, M::Alloc>) {
        self.resume(&mut self.state.lock(), session);
    }

    fn handles(&self) -> &Arc<HandleTable> {
        &self.handles
    }

    fn register_finaliser(&self, occasion: Occasion, closure: u64, function: FinaliserFunction) -> u64 {
        let table = self.handles.finalisers();
        self.functions.register(table, (occasion, closure), function)
    }

    fn take_finaliser(&self, number: u64) -> Option<FinaliserFunction> {
        self.functions.take(number)
    }

    fn note_finalisers(&self, are_over: bool) {
        self.state.lock().collector.finalisers(are_over);
    }

    fn put_alarm_back(&self, number: u64, alarm: FinaliserFunction) {
        self.functions.put_alarm_back(self.handles.finalisers(), number, alarm);
    }

    fn remove_alarm(&self, number: u64) {
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
        // Room for this allocation only: the next one comes here again.
        capability.alloc.restrict(Some(words));
        Ok(at)
    }

    /// Reserves `words` words for a small closure. The lock is kept throughout, so no other thread
    /// takes the room that a collection made here before this thread has.
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

    fn try_allocate_large(&self, session: Session<'_, M::Alloc>, words: Words) -> Result<Addr, Exhausted> {
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
            match collector.allocate_large(heap, words) {
                Ok(Some(at)) => {
                    state.allocated += words.to_bytes().0 as u64;
                    if !mutant!("events/large-objects-uncounted") {
                        session.capability.common.count(words.to_bytes());
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
