//! `clockwork`: every eighth collection is a major one, for any size of the heap (or every n-th,
//! with `--own=period=n`).
//!
//! Two generations, as `copying` has by default, without its limits: no `-F`, no `-O`. The
//! experiment is to find out whether a clock is a worse trigger than a size.

use gclab_core::block::{OutOfMemory, Region};
use gclab_core::collector::{
    Bump, Capabilities, Capability, Collect, Collector, Description, GenerationalBarrier, NotBegun, Outcome, Pause,
    Refill,
};
use gclab_core::config::{AREA, Config, OwnFlag, Parameter};
use gclab_core::events::Phase;
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::sizing::{Live, MajorStrategy, Sizing};
use gclab_core::space::{Nursery, Steps};
use gclab_core::trace::{self, Evacuator};
use gclab_core::words::{Addr, Words};

/// A flag of this collector alone.
const PERIOD: OwnFlag = OwnFlag {
    name: "period",
    meaning: "collections from one major collection to the next",
    default: 8,
    least: 1,
    most: 1000,
};

/// Two generations and a clock.
#[derive(Debug)]
pub(crate) struct Clockwork {
    nursery: Nursery,
    steps: Steps,
    sizing: Sizing,
    /// Collections since the last major one.
    ticks: u64,
    /// Collections from one major collection to the next.
    period: u64,
}

// SAFETY: made of core's spaces and evacuator; `collect` traces the remembered set, the roots and
// the weak handles.
unsafe impl Collector for Clockwork {
    const DESCRIPTION: Description = Description {
        name: "clockwork",
        summary: "two generations; every eighth collection is a major one",
        moves: true,
        parallel: false,
        generations: (2, 2),
        honours: &[AREA, &[Parameter::MinFree, Parameter::Own(&PERIOD)]],
    };
    type Barrier = GenerationalBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let mut sizing = Sizing::new(config, heap, MajorStrategy::Copying);
        Ok(Clockwork {
            nursery: sizing.nursery(heap, config)?,
            steps: Steps::new(2),
            sizing,
            ticks: 0,
            period: PERIOD.of(config),
        })
    }
}

impl Collect for Clockwork {
    type Alloc = Bump;

    fn refill(&mut self, heap: &mut Heap, capability: Capability<'_, Bump>, _: Words) -> Result<Refill, OutOfMemory> {
        Ok(self.nursery.refill(heap, capability))
    }

    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        self.nursery.allocate_large(heap, request)
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Outcome, NotBegun> {
        self.nursery.leave(pause.capabilities);
        self.ticks += 1;
        let urgent = self.sizing.major_is_urgent(Live::of(&self.steps), &self.nursery);
        let major = self.ticks >= self.period || urgent || pause.cause.forces_major();
        let generation = u32::from(major);

        let condemned = self.steps.last_of(generation);
        let mut evacuator = Evacuator::condemn(pause.heap, &mut self.nursery, &mut self.steps, condemned)?;
        pause.events.phase(Phase::Condemned);
        trace::live_and_remembered(&mut evacuator, pause.capabilities, pause.roots, pause.events.phases());
        let work = evacuator.finish(&mut self.steps, pause.capabilities);
        pause.events.phase(Phase::Released);

        if major {
            self.ticks = 0;
        }
        let mut outcome = Outcome::from(work);
        let live = Live::of(&self.steps);
        self.sizing.after(pause, &mut outcome, &mut self.nursery, live);
        Ok(outcome)
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.nursery.for_each_region(capabilities, visit);
        self.steps.for_each_region(visit);
    }
}
