//! `sticky-immix` and `gen-immix`: two generations in one space. A marked closure is old, and stays
//! marked until the next major collection (sticky mark bits).
//!
//! A minor collection marks the live young closures, from the roots and the remembered slots. They
//! are then old: there is no ageing. A minor collection happens after -A. A major one happens when
//! the old closures have grown to F × live, or when there is little room; it may evacuate
//! fragmented blocks.
//!
//! Under `sticky-immix` mutators allocate in the holes of old blocks, which then are *mixed*: each
//! store to a closure in a mixed block is remembered, since the barrier reads only block states.
//! Under `gen-immix` young closures have a nursery, and survivors move, unless most closures
//! survived last time.
//!
//! Worst-case memory: F × live, with the allocation area and holes that are too small.

use super::spaces::{Marking, Spaces};
use gclab_core::block::{FIRST_OLD_STEP, OutOfMemory, Region, Units};
use gclab_core::collector::{
    Bump, Capabilities, Capability, Cause, Collect, Collector, Cycle, Description, Due, GenerationalBarrier, NotBegun,
    Outcome, Pause, Refill, Work,
};
use gclab_core::config::{Config, GENERATIONS, Parameter, SHARING, SIZING};
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::sizing::{MajorStrategy, Sizing};
use gclab_core::space::LineSpace;
use gclab_core::trace::Marked;
use gclab_core::words::{Addr, Bytes, Words};

/// Young closures among the old ones, in holes.
pub type StickyImmix = GenerationalImmix<false>;

/// Young closures in a nursery, from which the survivors move to holes.
pub type GenImmix = GenerationalImmix<true>;

/// Marking of the young closures, or of everything, and allocation in holes or in a nursery.
#[derive(Debug)]
pub struct GenerationalImmix<const NURSERY: bool> {
    spaces: Spaces,
    sizing: Sizing,
    /// Bytes of old closures, and of large ones among them.
    old: Bytes,
    old_large: Bytes,
}

/// The description of both, except for names.
const DESCRIPTION: Description = Description {
    name: "",
    summary: "",
    moves: false,
    parallel: true,
    generations: (2, 2),
    honours: &[&[Parameter::AllocationArea], SIZING, GENERATIONS, SHARING],
};

// SAFETY: a minor collection marks all unmarked closures reachable from roots and remembered slots.
// The barrier remembers each slot of a marked closure that is made to point to an unmarked one,
// since blocks with both are mixed. A major collection clears the marks, and marks all reachable
// closures. Core's spaces hand out and free only memory without marked closures.
unsafe impl<const NURSERY: bool> Collector for GenerationalImmix<NURSERY> {
    const DESCRIPTION: Description = if NURSERY {
        Description {
            name: "gen-immix",
            summary: "immix with a nursery, whose survivors move to the holes of the old generation",
            ..DESCRIPTION
        }
    } else {
        Description {
            name: "sticky-immix",
            summary: "immix with two generations in one space, told apart by marks",
            ..DESCRIPTION
        }
    };
    type Barrier = GenerationalBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let sizing = Sizing::new(config, heap, MajorStrategy::InPlace);
        let area = sizing.first_area()?;
        let capabilities = config.capabilities as usize;
        let lines = if NURSERY {
            LineSpace::with_nursery(FIRST_OLD_STEP, capabilities)
        } else {
            LineSpace::new(FIRST_OLD_STEP, capabilities)
        };
        Ok(GenerationalImmix {
            spaces: Spaces::new(heap, config, lines, area)?,
            sizing,
            old: Bytes::ZERO,
            old_large: Bytes::ZERO,
        })
    }
}

impl<const NURSERY: bool> Collect for GenerationalImmix<NURSERY> {
    type Alloc = Bump;

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

    fn due(&mut self, cause: Cause, _: Capabilities<'_, Bump>) -> Option<Due> {
        let major = cause.forces_major() || self.sizing.major_is_due(self.old);
        Some(Due {
            generation: u32::from(major),
            major,
        })
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Outcome, NotBegun> {
        let mut outcome = match pause.due {
            Some(Due { major: false, .. }) => self.minor(pause),
            _ => self.major(pause),
        };
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
        if NURSERY {
            &["", "nursery", "old"]
        } else {
            &["", "young", "old"]
        }
    }
}

impl<const NURSERY: bool> GenerationalImmix<NURSERY> {
    /// A minor collection, whose survivors become old.
    fn minor(&mut self, pause: &mut Pause<'_, Bump>) -> Outcome {
        let marked = self.spaces.mark(pause, Marking::Young, None, None);
        self.old += marked.words.to_bytes();
        self.old_large += marked.large.to_bytes();
        self.outcome(&marked, 0)
    }

    /// A major collection.
    fn major(&mut self, pause: &mut Pause<'_, Bump>) -> Outcome {
        let marked = self.spaces.mark(pause, Marking::Everything, None, None);
        self.old = marked.words.to_bytes();
        self.old_large = marked.large.to_bytes();
        self.outcome(&marked, 1)
    }

    /// The outcome of a collection of `generation` that marked these closures.
    fn outcome(&self, marked: &Marked, generation: u32) -> Outcome {
        let held = self.spaces.held();
        let outcome = marked.outcome(held);
        let major = generation > 0;
        Outcome {
            work: Work {
                generation,
                cycle: Cycle::whole_if(major),
                live: self.old,
                large: self.old_large,
                slop: held - self.old,
                promoted: if major { Bytes::ZERO } else { marked.words.to_bytes() },
                ..outcome.work
            },
            ..outcome
        }
    }
}
