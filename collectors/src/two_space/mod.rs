//! `two-space`: GHC's `-G1`. Everything that is live is copied at every collection.
//!
//! One generation: the nursery and one step, whose survivors go to the same step of to-space. No write barrier, no
//! remembered set, no ageing. The allocation area grows with what is live: max(F × live, -A).
//!
//! Memory at the worst: (2 + F) × live with F × live of allocation area.

use gclab_core::collector::{
    Bump, Capabilities, Capability, Collector, Description, NoBarrier, Outcome, Pause, Refill,
};
use gclab_core::config::{AREA, Config, Parameter, SIZING};
use gclab_core::events::Phase;
use gclab_core::heap::{Heap, OutOfMemory};
use gclab_core::sizing::{Live, Shape, Sizing};
use gclab_core::space::{Nursery, Region, Steps};
use gclab_core::trace::Evacuator;
use gclab_core::words::{Addr, Words};

/// Two-space copying collection of one generation.
#[derive(Debug)]
pub struct TwoSpace {
    nursery: Nursery,
    survivors: Steps,
    sizing: Sizing,
}

// SAFETY: made of core's spaces and evacuator; `collect` traces roots and weak handles, and everything is condemned at every
// collection, so nothing else points into what is.
unsafe impl Collector for TwoSpace {
    const DESCRIPTION: Description = Description {
        name: "two-space",
        summary: "copies everything that is live at every collection (-G1)",
        moves: true,
        parallel: false,
        generations: (1, 1),
        honours: &[AREA, SIZING, &[Parameter::Generations]],
    };
    type Alloc = Bump;
    type Barrier = NoBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let mut sizing = Sizing::new(config, heap);
        let area = sizing.area_of_one_generation(Live::default(), Shape::Copying);
        let nursery = sizing.nursery(heap, config, area, Shape::Copying)?;
        Ok(TwoSpace {
            nursery,
            survivors: Steps::new(1),
            sizing,
        })
    }

    fn refill(&mut self, _: &mut Heap, capability: &Capability<Bump>, _: Words) -> Result<Refill, OutOfMemory> {
        Ok(self.nursery.refill(capability))
    }

    fn allocate_large(&mut self, heap: &mut Heap, words: Words) -> Result<Option<Addr>, OutOfMemory> {
        self.nursery.allocate_large(heap, words)
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> (Outcome, Result<(), OutOfMemory>) {
        self.nursery.leave(pause.capabilities);
        let mut evacuator = match Evacuator::condemn(pause.heap, &mut self.nursery, &mut self.survivors, 1) {
            Ok(evacuator) => evacuator,
            Err(error) => return (Outcome::not_begun(), Err(error)),
        };
        pause.events.phase(Phase::Condemned);
        pause.roots.for_each(|slot| evacuator.root(slot));
        pause.events.phase(Phase::RootsTraced);
        evacuator.scavenge();
        pause.events.phase(Phase::HeapTraced);
        pause.roots.for_each_weak(|slot| evacuator.weak(slot));
        pause.events.phase(Phase::WeakProcessed);
        let done = evacuator.finish(&mut self.survivors, pause.capabilities);
        pause.events.phase(Phase::Released);

        let outcome = Outcome {
            major: true,
            ..Outcome::of(&done, &self.survivors)
        };
        self.sizing.note(pause, &outcome);
        let live = Live::of(&self.survivors);
        let area = self.sizing.area_of_one_generation(live, Shape::Copying);
        let resized = self
            .sizing
            .resize(&mut self.nursery, pause.heap, live, area, Shape::Copying);
        (outcome, resized)
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.nursery.for_each_region(capabilities, visit);
        self.survivors.for_each_region(visit);
    }
}
