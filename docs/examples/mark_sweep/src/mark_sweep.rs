//! `plain-mark-sweep`: live closures are marked and not moved; unmarked memory is used for new
//! closures.

use gclab_core::block::{OutOfMemory, Region, Units};
use gclab_core::collector::{
    Capabilities, Capability, Cells, Collect, Collector, Description, NoBarrier, NotBegun, Outcome, Pause, Refill,
};
use gclab_core::config::{Config, Parameter, SIZING};
use gclab_core::events::Phase;
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::sizing::{MajorStrategy, Sizing};
use gclab_core::space::{CellSpace, LargeObjects, MarkBits};
use gclab_core::trace::{self, Marker};
use gclab_core::words::{Addr, Bytes, Words};

/// All closures are of one step, which is collected as a whole.
const STEP: u8 = 1;

/// Cells of size classes, large objects, and a bit for each closure.
#[derive(Debug)]
pub(crate) struct MarkSweep {
    cells: CellSpace,
    large: LargeObjects,
    marks: MarkBits,
    sizing: Sizing,
    /// Bytes that mutators may take before the next collection.
    area: Bytes,
}

impl MarkSweep {
    fn is_due(&self) -> bool {
        self.cells.taken() + self.large.taken() >= self.area
    }
}

// SAFETY: all closures that roots lead to are marked, and only unmarked cells and large objects are
// handed out or freed.
unsafe impl Collector for MarkSweep {
    const DESCRIPTION: Description = Description {
        name: "plain-mark-sweep",
        summary: "marks everything that lives and moves nothing, with one thread",
        moves: false,
        parallel: false,
        generations: (1, 1),
        honours: &[&[Parameter::AllocationArea], SIZING],
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

    fn collect(&mut self, pause: &mut Pause<'_, Cells>) -> Result<Outcome, NotBegun> {
        self.cells.condemn(&mut self.marks, pause.capabilities);
        self.large.condemn(&mut self.marks);
        pause.events.phase(Phase::Condemned);
        let mut marker = Marker::new(pause.heap, &self.marks);
        trace::live(&mut marker, pause.roots, pause.events.phases());
        let marked = marker.finish();
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
