//! `mark-sweep`: everything live is marked, nothing moves, and new closures go where dead ones
//! were.
//!
//! Closures of similar size lie in the cells of segments ([`CellSpace`]); large objects are
//! separate. A collection clears all marks, marks everything reachable, and returns segments and
//! large objects without marks to the heap. The other free cells are found when a mutator needs
//! them (lazy sweeping): a refill goes through one segment and hands out all its holes, until the
//! mutator has had the bytes that sizing allows between two collections (at least `-A`).
//!
//! One thread starts marking, and wakes others when there is enough to share (`-N`, `-qg`, `-qn`;
//! [`ParallelPolicy`]). Every collection counts as one of generation 0.
//!
//! Worst-case memory: *F* × live, and the free cells of size classes that the program no longer
//! needs: a segment changes its class only when it is empty.

use gclab_core::block::{OutOfMemory, Region, Units};
use gclab_core::collector::{
    Capabilities, Capability, Cause, Cells, Collect, Collector, Description, Due, NoBarrier, NotBegun, Outcome, Pause,
    Refill,
};
use gclab_core::config::{Config, Parameter, SHARING, SIZING};
use gclab_core::events::Phase;
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::sizing::{MajorStrategy, Sizing};
use gclab_core::space::{CellSpace, LargeObjects, MarkBits};
use gclab_core::trace::{self, Marked, Marker};
use gclab_core::words::{Addr, Bytes, Words};
use gclab_core::workers::ParallelPolicy;

/// All closures are in one step, which is collected as a whole.
const STEP: u8 = 1;

/// Mark and sweep in cells of size classes.
#[derive(Debug)]
pub struct MarkSweep {
    cells: CellSpace,
    large: LargeObjects,
    marks: MarkBits,
    sizing: Sizing,
    /// Bytes that mutators may take before the next collection.
    area: Bytes,
    parallel: ParallelPolicy,
}

impl MarkSweep {
    fn is_due(&self) -> bool {
        self.cells.taken() + self.large.taken() >= self.area
    }

    /// Marks everything reachable from the roots.
    fn mark(&self, pause: &mut Pause<'_, Cells>) -> Marked {
        let mut marker = Marker::new(pause.heap, &self.marks);
        let owners = pause.capabilities.owners();
        marker.share_with(self.parallel.workers(pause.gc_threads, 0, owners, Bytes::ZERO));
        trace::live(&mut marker, pause.roots, pause.events.phases());
        marker.finish()
    }
}

// SAFETY: all closures reachable from the roots are marked, and only unmarked cells and large
// objects are handed out or freed.
unsafe impl Collector for MarkSweep {
    const DESCRIPTION: Description = Description {
        name: "mark-sweep",
        summary: "marks everything that lives, moves nothing, and allocates in free cells",
        moves: false,
        parallel: true,
        generations: (1, 1),
        honours: &[&[Parameter::AllocationArea, Parameter::Generations], SIZING, SHARING],
    };
    type Barrier = NoBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let sizing = Sizing::new(config, heap, MajorStrategy::InPlace);
        Ok(MarkSweep {
            cells: CellSpace::new(STEP),
            large: LargeObjects::new(STEP),
            marks: MarkBits::new(heap)?,
            area: sizing.first_area()?,
            sizing,
            parallel: ParallelPolicy::new(config),
        })
    }
}

impl Collect for MarkSweep {
    type Alloc = Cells;

    fn refill(
        &mut self,
        heap: &mut Heap,
        capability: Capability<'_, Cells>,
        words: Words,
    ) -> Result<Refill, OutOfMemory> {
        if self.is_due() {
            return Ok(Refill::Collect);
        }
        self.cells.refill(heap, &mut self.marks, capability, words)?;
        Ok(Refill::Ready)
    }

    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        if self.is_due() {
            return Ok(None);
        }
        self.large.allocate(heap, request).map(Some)
    }

    fn due(&mut self, _: Cause, _: Capabilities<'_, Cells>) -> Option<Due> {
        Some(Due {
            generation: 0,
            major: true,
        })
    }

    fn collect(&mut self, pause: &mut Pause<'_, Cells>) -> Result<Outcome, NotBegun> {
        self.cells.condemn(&mut self.marks, pause.capabilities);
        self.large.condemn(&mut self.marks);
        pause.events.phase(Phase::Condemned);
        let marked = self.mark(pause);
        self.cells.sweep(pause.heap, &self.marks);
        self.large.sweep(pause.heap, &self.marks);
        pause.events.phase(Phase::Released);

        let mut outcome = marked.outcome(self.cells.held() + self.large.held());
        if let Some(area) = self.sizing.after_in_place(pause, &mut outcome) {
            self.area = area;
        }
        Ok(outcome)
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Cells>, visit: &mut dyn FnMut(Region)) {
        self.cells.for_each_region(&self.marks, capabilities, visit);
        self.large.for_each_region(visit);
    }

    fn for_each_units(&self, visit: &mut dyn FnMut(Units)) {
        self.cells.for_each_units(visit);
    }

    fn step_names(&self) -> &'static [&'static str] {
        &["", "cells"]
    }
}
