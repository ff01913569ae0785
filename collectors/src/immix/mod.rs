//! `immix`, `sticky-immix` and `gen-immix`: closures are marked, and most stay in place. Mutators
//! allocate in the holes between them. Closures in fragmented blocks and in the nursery of
//! `gen-immix` move, if there is room.
//!
//! `immix` marks everything at each collection. Between two collections mutators take (F − 1) ×
//! live, but at least -A.
//!
//! Worst-case memory: F × live, and holes that are too small.

mod concurrent;
mod generational;
mod spaces;

pub use concurrent::{Concurrent, Lxr};
pub use generational::{GenImmix, StickyImmix};

use gclab_core::block::{OutOfMemory, Region, Units};
use gclab_core::collector::{
    Bump, Capabilities, Capability, Cause, Collect, Collector, Description, Due, NoBarrier, NotBegun, Outcome, Pause,
    Refill,
};
use gclab_core::config::{Config, Parameter, SHARING, SIZING};
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::sizing::{MajorStrategy, Sizing};
use gclab_core::space::LineSpace;
use gclab_core::words::{Addr, Words};
use spaces::{Marking, Spaces};

/// The step of all closures, which is collected each time.
const STEP: u8 = 1;

/// Marking of everything, and allocation in holes.
#[derive(Debug)]
pub struct Immix {
    spaces: Spaces,
    sizing: Sizing,
}

// SAFETY: each collection marks all reachable closures. Core's spaces hand out and free only memory
// without marked closures.
unsafe impl Collector for Immix {
    const DESCRIPTION: Description = Description {
        name: "immix",
        summary: "marks everything, allocates in the holes between, empties fragmented blocks",
        moves: false,
        parallel: true,
        generations: (1, 1),
        honours: &[&[Parameter::AllocationArea, Parameter::Generations], SIZING, SHARING],
    };
    type Barrier = NoBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let sizing = Sizing::new(config, heap, MajorStrategy::InPlace);
        let area = sizing.first_area()?;
        Ok(Immix {
            spaces: Spaces::new(heap, config, LineSpace::new(STEP, config.capabilities as usize), area)?,
            sizing,
        })
    }
}

impl Collect for Immix {
    type Alloc = Bump;

    fn refill(
        &mut self,
        heap: &mut Heap,
        capability: Capability<'_, Bump>,
        words: Words,
    ) -> Result<Refill, OutOfMemory> {
        self.spaces.refill(heap, capability, words)
    }

    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        self.spaces.allocate_large(heap, request)
    }

    fn due(&mut self, _: Cause, _: Capabilities<'_, Bump>) -> Option<Due> {
        Some(Due {
            generation: 0,
            major: true,
        })
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Outcome, NotBegun> {
        let marked = self.spaces.mark(pause, Marking::Everything, None, None);
        let mut outcome = marked.outcome(self.spaces.held());
        if let Some(area) = self.sizing.after_in_place(pause, &mut outcome) {
            self.spaces.set_area(area);
        }
        Ok(outcome)
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.spaces.for_each_region(capabilities, visit);
    }

    fn for_each_units(&self, visit: &mut dyn FnMut(Units)) {
        self.spaces.for_each_units(visit);
    }

    fn step_names(&self) -> &'static [&'static str] {
        &["", "lines"]
    }
}
