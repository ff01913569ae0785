//! `nonmoving`: a copying nursery, and an old generation in cells that is marked concurrently
//! (GHC's `-xn`).
//!
//! A minor collection moves what survives in the nursery to cells of its size class
//! ([`CellSpace`]), where it stays. Cycles of marking are those of
//! [`concurrent`](crate::concurrent). After a cycle, cells without marks are free: promotion finds
//! them when it needs them, and pauses free empty segments, a few at a time.
//!
//! Differences from GHC: closures do not age in the nursery, so no collection has to prepare for a
//! cycle. Marks are bits in two side tables, not bytes with an epoch. A forced major collection stops
//! the program. Size classes are finer.
//!
//! Worst-case memory: F × live, with the allocation area twice and a chunk for each size class and GC thread, what
//! died since the cycle began, and the free cells of size classes that the program no longer needs.

use crate::concurrent::{ConcurrentMarking, Generations, MARKERS, exclusive};
use gclab_core::block::{FIRST_OLD_STEP, OutOfMemory, Region, Units};
use gclab_core::collector::{Bump, Capabilities, Capability, Description, NotBegun, Outcome, Pause, Refill};
use gclab_core::config::{AREA, Config, GENERATIONS, Parameter, SHARING, SIZING, SLICES};
use gclab_core::events::Phase;
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::mutant;
use gclab_core::sizing::{Live, MajorStrategy, Sizing};
use gclab_core::space::{BothMarks, CellSpace, LargeObjects, MarkBits, Marks, Nursery};
use gclab_core::trace::{self, Marked, Marker};
use gclab_core::words::{Addr, Bytes, Words};
use gclab_core::workers::ParallelPolicy;
use std::sync::Arc;

/// A copying nursery, and cells that are marked concurrently.
pub type Nonmoving = ConcurrentMarking<CellGenerations>;

/// Segments that a pause sweeps: 8 MiB of them.
const SWEPT_IN_PAUSE: usize = 1 << 8;

/// A nursery, whose survivors move to cells.
#[derive(Debug)]
pub struct CellGenerations {
    nursery: Nursery,
    cells: CellSpace,
    large: LargeObjects,
    /// The cells and the large objects in use.
    marks: Arc<MarkBits>,
    /// `-AL`.
    large_limit: Bytes,
    parallel: ParallelPolicy,
    sizing: Sizing,
    live: Live,
    /// The threads for which the next promotion has room.
    copiers: usize,
}

// SAFETY: a promotion moves all closures of the nursery that are reachable from roots and remembered
// slots to cells, for which there was room, and marks them. Core's spaces hand out and free only
// memory without marks.
unsafe impl Generations for CellGenerations {
    type Recorder = ();
    const DESCRIPTION: Description = Description {
        name: "nonmoving",
        summary: "GHC's -xn: a copying nursery, and an old generation in cells that is marked concurrently",
        moves: false,
        parallel: true,
        generations: (2, 2),
        honours: &[
            AREA,
            SIZING,
            GENERATIONS,
            SHARING,
            SLICES,
            &[Parameter::Nonmoving, Parameter::Own(&MARKERS)],
        ],
    };

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        heap.copy_into_cells();
        let marks = Arc::new(MarkBits::new(heap)?);
        let mut sizing = Sizing::new(config, heap, MajorStrategy::Promoting);
        Ok(CellGenerations {
            nursery: sizing.nursery(heap, config)?,
            cells: CellSpace::new(FIRST_OLD_STEP),
            large: LargeObjects::beside_nursery(FIRST_OLD_STEP),
            marks,
            large_limit: config.large_limit(),
            parallel: ParallelPolicy::new(config),
            sizing,
            live: Live::default(),
            copiers: 1,
        })
    }

    fn refill(&mut self, heap: &mut Heap, capability: Capability<'_, Bump>, _: Words) -> Result<Refill, OutOfMemory> {
        Ok(self.nursery.refill(heap, capability))
    }

    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        if self.large.taken() >= self.large_limit {
            return Ok(None);
        }
        loop {
            match self.large.allocate(heap, request) {
                Ok(at) => return Ok(Some(at)),
                Err(error) => self.nursery.give_way(heap).ok_or(error)?,
            }
        }
    }

    fn has_allocated(&self) -> bool {
        self.nursery.is_in_use() || self.large.taken() > Bytes::ZERO
    }

    fn is_urgent(&self) -> bool {
        self.sizing.major_is_urgent(self.live, &self.nursery)
    }

    fn old_limit(&self) -> Bytes {
        self.sizing.old_limit()
    }

    /// Never: nothing that stays can be moved.
    fn is_fragmented(&self, _: Bytes) -> bool {
        false
    }

    fn held(&self) -> Bytes {
        self.cells.held() + self.large.held()
    }

    fn prepare(&mut self, pause: &mut Pause<'_, Bump>) -> Result<(), NotBegun> {
        self.nursery.leave(pause.capabilities);
        self.copiers = CellSpace::prepare(pause.heap, self.nursery.words())?;
        Ok(())
    }

    fn promote(&mut self, pause: &mut Pause<'_, Bump>, also: Option<&MarkBits>) -> Marked {
        pause.events.phase(Phase::Condemned);
        let marks = Arc::clone(&self.marks);
        let promoted = match also {
            None => self.trace_young(pause, &*marks),
            Some(also) => self.trace_young(pause, &BothMarks(&marks, also, ())),
        };
        pause.heap.end_promotion();
        drop(marks);
        let marks = exclusive(&mut self.marks);
        self.large.sweep_young(pause.heap, marks);
        self.nursery.reset();
        let fresh = self.nursery.take_fresh(pause.heap);
        let replaced = self.nursery.replace(fresh);
        replaced.into_iter().for_each(|run| pause.heap.free(run));
        self.cells.sweep_some(pause.heap, marks, SWEPT_IN_PAUSE);
        pause.events.phase(Phase::Released);
        promoted
    }

    fn everything(&mut self, pause: &mut Pause<'_, Bump>) -> Marked {
        let promoted = self.promote(pause, None);
        let marks = exclusive(&mut self.marks);
        self.cells.clear_marks(marks);
        self.large.condemn(marks);
        let mut marker = Marker::new(pause.heap, marks);
        let owners = pause.capabilities.owners();
        marker.share_with(self.parallel.workers(pause.gc_threads, 1, owners, Bytes::ZERO));
        trace::live(&mut marker, pause.roots, |_| ());
        let marked = marker.finish();
        pause.events.phase(Phase::Marked);
        self.cells.sweep(pause.heap, marks);
        self.large.sweep(pause.heap, marks);
        pause.events.phase(Phase::Released);
        let mut counted = promoted.counted;
        counted += marked.counted;
        let mut shared = promoted.shared;
        shared += marked.shared;
        Marked {
            moved: promoted.moved,
            counted,
            shared,
            ..marked
        }
    }

    fn recorder(&self) {}

    fn marks(&self) -> Arc<MarkBits> {
        Arc::clone(&self.marks)
    }

    fn set_in_snapshot(&mut self, heap: &mut Heap, yes: bool) {
        if yes {
            self.cells.sweep_some(heap, &self.marks, usize::MAX);
        }
        self.cells.set_in_snapshot(heap, yes);
        self.large.set_in_snapshot(heap, yes);
    }

    fn marked_memory(&self) -> Vec<(Addr, Addr)> {
        let mut memory = Vec::new();
        self.cells.for_each_run(|run| memory.push((run.start(), run.end())));
        self.large
            .for_each_region(&mut |region| memory.push((region.start, region.start + Words(1))));
        memory
    }

    fn sweep_old(&mut self, pause: &mut Pause<'_, Bump>, marks: MarkBits, _: Bytes) -> (MarkBits, Words) {
        let sticky = exclusive(&mut self.marks);
        let former = mutant!("concurrent/cells-not-flipped", std::mem::replace(sticky, marks) => marks);
        self.cells.begin_sweep();
        self.cells.sweep_some(pause.heap, &self.marks, SWEPT_IN_PAUSE);
        self.large.sweep(pause.heap, &self.marks);
        (former, Words(0))
    }

    fn after(&mut self, pause: &mut Pause<'_, Bump>, outcome: &mut Outcome) {
        let work = &outcome.work;
        self.live = Live {
            old: work.live.saturating_sub(outcome.newer),
            ..Live::in_place(work)
        };
        self.sizing.after(pause, outcome, &mut self.nursery, self.live);
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.nursery.for_each_region(capabilities, visit);
        self.cells.for_each_marked_region(&self.marks, visit);
        self.large.for_each_region(visit);
    }

    fn for_each_units(&self, visit: &mut dyn FnMut(Units)) {
        self.cells.for_each_units(visit);
    }

    fn step_names() -> &'static [&'static str] {
        &["nursery", "", "cells"]
    }
}

impl CellGenerations {
    /// Moves the live closures of the nursery to cells, and marks them and young large objects.
    fn trace_young(&mut self, pause: &mut Pause<'_, Bump>, marks: &impl Marks) -> Marked {
        let promotion = self.cells.promotion(pause.heap, &self.marks);
        let mut marker = promotion.with_heap(|heap| Marker::moving(heap, marks, &promotion));
        let owners = pause.capabilities.owners();
        let workers = self.parallel.workers(pause.gc_threads, 0, owners, Bytes::ZERO);
        marker.share_with(workers.at_most(self.copiers));
        trace::live_and_remembered(&mut marker, pause.capabilities, pause.roots, pause.events.phases());
        let promoted = marker.finish();
        assert_eq!(promoted.moved, promoted.words - promoted.large, "room was prepared");
        promoted
    }
}
