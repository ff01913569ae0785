//! `concurrent`: as `gen-immix`, but old closures are marked concurrently
//! ([`crate::concurrent`]).
//!
//! Blocks without marks go back to the heap at the end of a cycle, and holes are found from the marks
//! when they are needed. A cycle moves the closures of a few sparse blocks to others, as a collection of
//! everything may.
//!
//! Worst-case memory: F × live, with the allocation area, what died since the cycle began, and the
//! holes between old closures, which may take as much again before everything is collected.

use super::spaces::{Marking, Spaces};
use crate::concurrent::{ConcurrentMarking, Generations, MARKERS};
use gclab_core::block::{FIRST_OLD_STEP, OutOfMemory, Region, Units};
use gclab_core::collector::{Bump, Capabilities, Capability, Description, NotBegun, Outcome, Pause, Refill};
use gclab_core::config::{Config, GENERATIONS, Parameter, SHARING, SIZING, SLICES};
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::sizing::{MajorStrategy, Sizing};
use gclab_core::space::{Incoming, LineSpace, MarkBits};
use gclab_core::trace::Marked;
use gclab_core::words::{Addr, Bytes, Words};
use std::sync::Arc;

/// `gen-immix` with an old generation that is marked concurrently.
pub type Concurrent = ConcurrentMarking<LineGenerations>;

/// A nursery and an old generation of lines.
#[derive(Debug)]
pub struct LineGenerations {
    spaces: Spaces,
    sizing: Sizing,
    /// The slots that lead into blocks that the cycle will empty.
    incoming: Arc<Incoming>,
}

// SAFETY: those of `gen-immix`.
unsafe impl Generations for LineGenerations {
    type Recorder = Arc<Incoming>;
    const DESCRIPTION: Description = Description {
        name: "concurrent",
        summary: "gen-immix whose old generation is marked concurrently",
        moves: false,
        parallel: true,
        generations: (2, 2),
        honours: &[
            &[Parameter::AllocationArea],
            SIZING,
            GENERATIONS,
            SHARING,
            SLICES,
            &[Parameter::Own(&MARKERS)],
        ],
    };

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let sizing = Sizing::new(config, heap, MajorStrategy::InPlace);
        let lines = LineSpace::with_nursery(FIRST_OLD_STEP, config.capabilities as usize);
        Ok(LineGenerations {
            spaces: Spaces::new(heap, config, lines, sizing.first_area()?)?,
            sizing,
            incoming: Arc::new(Incoming::new(heap)),
        })
    }

    fn refill(
        &mut self,
        heap: &mut Heap,
        capability: Capability<'_, Bump>,
        words: Words,
    ) -> Result<Refill, OutOfMemory> {
        self.spaces.refill_or_collect_young(heap, capability, words)
    }

    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        self.spaces.allocate_large(heap, request)
    }

    fn has_allocated(&self) -> bool {
        self.spaces.has_lent()
    }

    fn is_urgent(&self) -> bool {
        self.sizing.is_urgent()
    }

    fn old_limit(&self) -> Bytes {
        self.sizing.old_limit()
    }

    /// The blocks have more than the limit allows twice over.
    fn is_fragmented(&self, old: Bytes) -> bool {
        let most = self.sizing.old_limit().max(old);
        self.spaces.held_by_old().0 > most.0 * 2
    }

    fn held(&self) -> Bytes {
        self.spaces.held()
    }

    /// Nothing: what has no room stays.
    fn prepare(&mut self, _: &mut Pause<'_, Bump>) -> Result<(), NotBegun> {
        Ok(())
    }

    fn promote(&mut self, pause: &mut Pause<'_, Bump>, also: Option<&MarkBits>) -> Marked {
        let also = also.map(|also| (also, self.recorder()));
        self.spaces.mark(pause, Marking::Young, also)
    }

    fn everything(&mut self, pause: &mut Pause<'_, Bump>) -> Marked {
        self.incoming.take();
        self.spaces.mark(pause, Marking::Everything, None)
    }

    fn marks(&self) -> Arc<MarkBits> {
        self.spaces.sticky()
    }

    fn recorder(&self) -> Arc<Incoming> {
        Arc::clone(&self.incoming)
    }

    fn set_in_snapshot(&mut self, heap: &mut Heap, yes: bool) {
        self.spaces.set_in_snapshot(heap, yes);
        if yes {
            self.spaces.choose(heap, &self.incoming);
        }
    }

    fn marked_memory(&self) -> Vec<(Addr, Addr)> {
        self.spaces.marked_memory()
    }

    fn sweep_old(&mut self, pause: &mut Pause<'_, Bump>, mut marks: MarkBits, live: Bytes) -> (MarkBits, Words) {
        let moved = self.spaces.empty_chosen(pause, &mut marks, &self.incoming);
        (self.spaces.sweep_old(pause.heap, marks, live), moved)
    }

    fn after(&mut self, pause: &mut Pause<'_, Bump>, outcome: &mut Outcome) {
        if let Some(area) = self.sizing.after_in_place(pause, outcome) {
            self.spaces.set_area(area);
        }
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.spaces.for_each_region(capabilities, visit);
    }

    fn for_each_units(&self, visit: &mut dyn FnMut(Units)) {
        self.spaces.for_each_units(visit);
    }

    fn step_names() -> &'static [&'static str] {
        &["", "nursery", "old"]
    }
}
