//! A whole collection on one page: stop, collect, record, resume.

use super::errors::Exhausted;
use super::gate::{Locked, Stop};
use super::state::{World, WorldState};
use crate::abort::{When, abort_on_unwind};
use crate::block::OutOfMemory;
use crate::capability::{Capabilities, Capability, CapabilityData};
use crate::cause::{Cause, Due, NotBegun, Outcome};
use crate::collector::{Collect, Pause, Since};
use crate::events::{Event, EventKind, StopReason};
use crate::kind::MutatorKind;
use crate::roots::Roots;
use crate::roots::handles::HandleTable;
use crate::session::{Participant, Session};
use crate::stats::Cycle;
use crate::sync::Arc;
use crate::words::Bytes;
use std::time::Duration;

/// No memory to start a collection, or no room to continue after it.
struct NoRoom {
    error: OutOfMemory,
    /// No other collection can free more.
    is_everything_collected: bool,
}

impl<M: MutatorKind> World<M> {
    /// Stops the world, collects, records the collection, and resumes. `session` is the caller's,
    /// if it is inside. If there is no memory to collect only some generations, or no room to
    /// continue afterwards, everything is collected: a collector may need less memory for that, and
    /// it frees more.
    ///
    /// # Errors
    /// If there is no room to continue. The heap is intact.
    pub(super) fn stop_and_collect<'w>(
        &'w self,
        state: &mut Locked<'w, M>,
        session: Option<Session<'_, M::Alloc>>,
        cause: Cause,
    ) -> Result<(), Exhausted> {
        let collected = match self.collect_once(state, session, cause) {
            Err(NoRoom {
                is_everything_collected: false,
                ..
            }) => self.collect_once(state, session, Cause::Shortage),
            collected => collected,
        };
        collected.map_err(|no_room| self.exhausted(no_room.error))
    }

    /// Stops the world, collects once if a collection can start, and resumes.
    fn collect_once<'w>(
        &'w self,
        state: &mut Locked<'w, M>,
        session: Option<Session<'_, M::Alloc>>,
        cause: Cause,
    ) -> Result<(), NoRoom> {
        let requested = state.recorder.clock().elapsed_ns();
        let leader = session.map_or(0, |session| session.capability.view().number());
        let reason = if cause.is_forced() {
            StopReason::Asks
        } else {
            StopReason::HeapOverflow
        };
        let mut stop = self.stop(state, session, Some((requested, reason)));
        let mut world = stop.world();

        world.state.recorder.gc_start(requested);
        let since = world.begin(requested);
        world.follow_sampled(self);
        let due = world.due(self.description.name, cause);
        world.announce_start(leader, requested, cause, due);
        let done = world.run_collector(self.description.name, (leader, cause, due), since);
        let kept = world.end(cause, done.as_ref().ok());
        self.memprof
            .collected(self.handles.sampled(), world.state.heap.states());
        let done = match done {
            Ok(mut outcome) => {
                let no_room = outcome.exhausted.take().map(|error| NoRoom {
                    error,
                    is_everything_collected: cause.forces_major() || outcome.work.cycle == Cycle::Whole,
                });
                debug_assert!(
                    outcome.work.is_major() || due.is_none_or(|due| !due.major),
                    "a major collection was due"
                );
                let thrashes = world.record(leader, cause, outcome, kept).map_err(|error| NoRoom {
                    error,
                    is_everything_collected: true,
                });
                no_room.map_or(thrashes, Err)
            }
            Err(NotBegun(error)) => {
                world.announce_not_begun(leader);
                Err(NoRoom {
                    error,
                    is_everything_collected: cause.forces_major(),
                })
            }
        };

        drop(stop);
        // The heap is consistent and the other threads run again, so a listener's panic may now
        // continue.
        state.events.resume_panic();
        done
    }
}

impl<M: MutatorKind> Stop<'_, '_, M> {
    /// The stopped world.
    pub(super) fn world(&mut self) -> WorldAtRest<'_, M> {
        // SAFETY: these are all the participants, and all are stopped; the caller's own thread is
        // here.
        unsafe { WorldAtRest::new(self.state, &self.participants, &self.world.handles) }
    }
}

/// A world in which no mutator runs.
pub(super) struct WorldAtRest<'a, M: MutatorKind> {
    pub(super) state: &'a mut WorldState<M>,
    /// All threads that are inside.
    pub(super) participants: &'a [Arc<Participant<M::Alloc>>],
    pub(super) handles: &'a Arc<HandleTable>,
}

impl<'a, M: MutatorKind> WorldAtRest<'a, M> {
    /// # Safety
    /// `participants` are all threads that are inside, and they are stopped for `'a`.
    pub(super) unsafe fn new(
        state: &'a mut WorldState<M>,
        participants: &'a [Arc<Participant<M::Alloc>>],
        handles: &'a Arc<HandleTable>,
    ) -> Self {
        WorldAtRest {
            state,
            participants,
            handles,
        }
    }

    /// Counts the bytes that were allocated since this was last called. Returns all bytes that were
    /// allocated since the start of the world.
    pub(super) fn count_allocated(&mut self) -> u64 {
        let mut allocated = 0;
        for participant in self.participants {
            // SAFETY: null for a thread that only looks; otherwise part of a stopped thread's
            // mutator (`new`'s caller promises that), and only its cells change.
            if let Some(capability) = unsafe { participant.capability.as_ref() } {
                let bytes = capability.count_allocated();
                participant.counted(bytes);
                allocated += bytes.0 as u64;
            }
        }
        for capability in &self.state.idle {
            allocated += capability.count_allocated().0 as u64;
        }
        self.state.allocated += allocated;
        debug_assert_eq!(
            self.allocated_by_capability().iter().sum::<u64>(),
            self.state.allocated,
            "each byte was allocated on one capability"
        );
        self.state.allocated
    }

    /// Freezes the handle table. Adds up the bytes that all capabilities have allocated since the
    /// previous collection.
    fn begin(&mut self, requested: u64) -> Since {
        self.handles.begin_collection();
        self.handles.finalisers().begin_collection();
        self.state.heap.blocks.collection_begins();
        self.count_allocated();
        let state = &mut *self.state;
        let clock = state.recorder.clock();
        let since = Since {
            running: Duration::from_nanos(requested.saturating_sub(state.last_ended)),
            allocated: Bytes((state.allocated - state.allocated_before) as usize),
            clock,
            began: clock.elapsed_ns(),
        };
        state.allocated_before = state.allocated;
        since
    }

    /// Bytes allocated by each capability since the start of the world, as they were last counted.
    fn allocated_by_capability(&self) -> Vec<u64> {
        allocated_by_capability(self.participants, &self.state.idle)
    }

    /// Asks the collector which generations are due. `name` is for the message if it panics.
    fn due(&mut self, name: &'static str, cause: Cause) -> Option<Due> {
        let WorldState { collector, idle, .. } = &mut *self.state;
        // SAFETY: `new`'s caller promises that they are inside and stopped.
        let all = unsafe { capabilities(self.participants, idle) };
        abort_on_unwind(format_args!("the {name} collector"), When::InCollection, || {
            collector.due(cause, Capabilities::new(&all))
        })
    }

    /// Announces that a collection begins, on capability `leader`.
    fn announce_start(&mut self, leader: usize, requested_ns: u64, cause: Cause, due: Option<Due>) {
        if self.state.events.is_empty() {
            return;
        }
        let allocated = self.allocated_by_capability();
        let state = &mut *self.state;
        state.events.announce(&Event {
            time_ns: state.recorder.gc_started_ns(),
            capability: Some(leader),
            kind: EventKind::Start {
                cause,
                due,
                requested_ns,
                parallel: state.run.parallel,
                allocated: &allocated,
            },
        });
    }

    /// Announces that the collection has not begun.
    fn announce_not_begun(&mut self, leader: usize) {
        let state = &mut *self.state;
        state.events.announce(&Event {
            time_ns: state.recorder.clock().elapsed_ns(),
            capability: Some(leader),
            kind: EventKind::NotBegun,
        });
    }

    /// Calls the collector's `collect`. `name` is for the message if it panics.
    fn run_collector(
        &mut self,
        name: &'static str,
        (leader, cause, due): (usize, Cause, Option<Due>),
        since: Since,
    ) -> Result<Outcome, NotBegun> {
        self.state.events.phases_begin(since.clock, leader);
        self.in_pause(name, (cause, due), since, |collector, pause| collector.collect(pause))
    }

    /// Calls `call` with the collector and everything that it works on. `name` is for the message
    /// if it panics.
    pub(super) fn in_pause<R>(
        &mut self,
        name: &'static str,
        (cause, due): (Cause, Option<Due>),
        since: Since,
        call: impl FnOnce(&mut dyn Collect<Alloc = M::Alloc>, &mut Pause<'_, M::Alloc>) -> R,
    ) -> R {
        let WorldState {
            heap,
            collector,
            idle,
            events,
            gc_threads,
            background,
            ..
        } = &mut *self.state;
        // SAFETY: `new`'s caller promises that they are inside and stopped.
        let all = unsafe { capabilities(self.participants, idle) };
        let frames: Vec<_> = all.iter().map(|capability| capability.frames()).collect();
        // SAFETY: the mutators are stopped.
        let roots = unsafe { Roots::new(&frames, self.handles) };
        let capabilities = Capabilities::new(&all);
        let mut pause = Pause {
            heap,
            roots,
            capabilities,
            gc_threads,
            background,
            cause,
            due,
            events,
            since,
        };
        abort_on_unwind(format_args!("the {name} collector"), When::InCollection, || {
            call(&mut **collector, &mut pause)
        })
    }
}

/// Bytes allocated by each capability, as they were last counted.
pub(super) fn allocated_by_capability<A>(participants: &[Arc<Participant<A>>], idle: &[CapabilityData<A>]) -> Vec<u64> {
    // SAFETY: null for a thread that only looks; else it lies in the mutator of a thread that is
    // stopped, and its changes are to cells.
    let inside = participants
        .iter()
        .filter_map(|participant| unsafe { participant.capability.as_ref() });
    let mut allocated = Vec::with_capacity(participants.len() + idle.len());
    for capability in inside.chain(idle) {
        let number = capability.view().number();
        allocated.resize(allocated.len().max(number + 1), 0);
        allocated[number] = capability.common.allocated.get();
    }
    allocated
}

/// All capabilities, in the order of their numbers. Free ones are included:
/// their nurseries and remembered sets still hold data.
///
/// # Safety
/// `participants` are inside, and stopped for `'a`.
pub(super) unsafe fn capabilities<'a, A>(
    participants: &'a [Arc<Participant<A>>],
    idle: &'a [CapabilityData<A>],
) -> Vec<Capability<'a, A>> {
    let idle = mutant!("threads/idle-forgotten", idle => &[]);
    let forgotten = usize::from(mutant!("threads/one-member-forgotten"));
    let inside = participants.iter().skip(forgotten).filter_map(|participant| {
        // SAFETY: null for a thread that only looks; else it lies in the mutator of a thread that
        // is stopped, and its changes are to cells.
        unsafe { participant.capability.as_ref() }
    });
    // Their numbers are distinct, since each is below their count.
    let mut all = vec![None; participants.len() + idle.len()];
    for capability in inside.chain(idle).map(CapabilityData::view) {
        all[capability.number()] = Some(capability);
    }
    all.into_iter().flatten().collect()
}
