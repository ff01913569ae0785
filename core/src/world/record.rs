//! The end of a collection: what is returned to the system, the record, and the events.

use super::collection::{WorldAtRest, capabilities};
use super::state::WorldState;
use crate::block::{BLOCK, CELLS, OutOfMemory};
use crate::capability::Capabilities;
use crate::cause::{Cause, Outcome};
use crate::events::{CellsOfSize, Event, EventKind, Occasion};
use crate::heap::{AfterMajor, Kept};
use crate::kind::MutatorKind;
use crate::recorder::Ended;
use crate::stats::Memory;
use crate::words::Bytes;
use crate::workers::turns;
use std::collections::BTreeMap;

impl<M: MutatorKind> WorldAtRest<'_, M> {
    /// Ends the collection: frees the handles that were dropped meanwhile, and returns memory to
    /// the system as the heap decides. Returns the bytes given back, and the heap's decision.
    /// There is an `outcome` unless the collection did not begin.
    pub(super) fn end(&mut self, cause: Cause, outcome: Option<&Outcome>) -> (Bytes, Option<Kept>) {
        let states = outcome.map(|_| self.state.heap.states());
        self.handles.end_collection(states);
        if outcome.is_some_and(|outcome| outcome.work.is_major()) {
            self.handles.finalisers().ring();
        }
        let heap = &mut self.state.heap;
        heap.blocks.collection_ended(outcome.is_some());
        let left = outcome.filter(|outcome| outcome.work.is_major()).map(|outcome| {
            let work = &outcome.work;
            let blocks = heap.blocks().accounting().blocks_in_use as usize * BLOCK.0;
            AfterMajor {
                preallocated: Bytes(blocks).saturating_sub(work.live + work.slop),
                copied: work.live - work.large + work.slop,
                large: work.large,
                in_place: outcome.in_place,
            }
        });
        let returned = heap.blocks().accounting().returned_bytes;
        let kept = heap.end_collection(left, !cause.is_forced());
        let returned = heap.blocks().accounting().returned_bytes - returned;
        self.state.last_ended = self.state.recorder.clock().elapsed_ns();
        (returned, kept)
    }

    /// Records the collection and announces its end. `kept` is what [`WorldAtRest::end`] returned.
    ///
    /// # Errors
    /// If the run thrashes.
    pub(super) fn record(
        &mut self,
        leader: usize,
        cause: Cause,
        outcome: Outcome,
        (returned, kept): (Bytes, Option<Kept>),
    ) -> Result<(), OutOfMemory> {
        let state = &mut *self.state;
        let blocks = state.heap.blocks().accounting();
        let ended = Ended {
            cause,
            phases: state.events.take_phases(),
            idle_cpu_ns: state.gc_threads.take_idle_cpu_ns(),
            allocated_total: state.allocated,
            memory: Memory {
                in_use: blocks.committed(),
                fragmentation: blocks.fragmentation(),
                taken: blocks.taken,
                returned,
                resident: None,
            },
            work: outcome.work,
        };
        let blocks = Bytes(blocks.blocks_in_use as usize * BLOCK.0);
        let collection = state.recorder.gc_end(ended);
        let thrashes = state.overhead.note(collection, outcome.in_place);
        if state.events.is_empty() {
            return thrashes;
        }
        let collection = collection.clone();
        let collection = &collection;
        let start_ns = collection.time.start_ns;
        let event = Event {
            time_ns: start_ns + collection.time.elapsed_ns,
            capability: Some(leader),
            kind: EventKind::Recorded { collection, blocks },
        };
        if state.events.follow_gc_threads() {
            let done_ns = self.state.last_ended;
            self.announce_turns(leader, start_ns, done_ns);
        }
        if let Some(kept) = kept {
            let time_ns = self.state.last_ended;
            self.state.events.announce(&Event {
                time_ns,
                capability: Some(leader),
                kind: EventKind::Returned(kept),
            });
        }
        if collection.is_major() && self.state.events.follow_cells() {
            let cells = self.cells();
            self.state.events.announce(&Event {
                kind: EventKind::Cells(&cells),
                ..event
            });
        }
        self.state.events.announce(&event);
        self.announce_stopped(leader, Occasion::Collection, |stopped, announce| {
            announce(EventKind::End { collection, stopped })
        });
        thrashes
    }

    /// The cells of each size.
    fn cells(&self) -> Vec<CellsOfSize> {
        let WorldState { collector, idle, .. } = &*self.state;
        let mut segments = Vec::new();
        collector.for_each_units(&mut |units| {
            if units.name == CELLS {
                segments.push((units.run, units.size.0, 0));
            }
        });
        segments.sort_unstable_by_key(|(run, ..)| run.start());
        // SAFETY: `new`'s caller promises that they are inside and stopped.
        let capabilities = unsafe { capabilities(self.participants, idle) };
        collector.for_each_region(Capabilities::new(&capabilities), &mut |region| {
            let place = segments.partition_point(|(run, ..)| run.end() <= region.start);
            if let Some((run, size, live)) = segments.get_mut(place)
                && run.start() <= region.start
            {
                // The last closure of a region may leave a part of its cell empty.
                *live += (region.end - region.start).0.div_ceil(*size);
            }
        });
        let mut cells = BTreeMap::<usize, CellsOfSize>::new();
        for (run, size, live) in segments {
            let of_size = cells.entry(size).or_default();
            of_size.size = Bytes(size);
            of_size.live += live as u32;
            let is_filled = live == run.bytes().0 / size;
            *(if is_filled {
                &mut of_size.filled
            } else {
                &mut of_size.active
            }) += 1;
        }
        cells.into_values().collect()
    }

    /// Announces when the collection's GC threads worked. The collecting thread counts as
    /// capability `leader`'s GC thread; the others belong to the other capabilities, in order.
    fn announce_turns(&mut self, leader: usize, start_ns: u64, end_ns: u64) {
        let state = &mut *self.state;
        let phases = state.gc_threads.take_phases();
        let count = state.run.capabilities as usize;
        for (time_ns, worker, gc_thread) in turns(&phases, start_ns, end_ns) {
            let capability = match worker {
                0 => leader,
                _ if worker <= leader => worker - 1,
                _ => worker,
            };
            state.events.announce(&Event {
                time_ns,
                capability: (capability < count).then_some(capability),
                kind: EventKind::GcThread {
                    worker,
                    state: gc_thread,
                },
            });
        }
    }
}
