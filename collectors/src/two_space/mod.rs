//! `two-space`: GHC's `-G1`. Every collection copies everything live.
//!
//! One generation: the nursery and one step, whose survivors go to the same step of to-space. No
//! write barrier, no remembered set, no ageing. The allocation area grows with the live data: max(F
//! × live, -A).
//!
//! One thread starts a collection, and wakes others when there is enough to share (`-N`, `-qg`,
//! `-qb`, `-qn`; [`ParallelPolicy`]). Every collection counts as one of generation 0: `-qg1` leaves
//! them all to one thread, and `-qb1` shares them by capability.
//!
//! Worst-case memory: (2 + F) × live with F × live of allocation area.

use gclab_core::block::{OutOfMemory, Region};
use gclab_core::collector::{
    Bump, Capabilities, Capability, Cause, Collect, Collector, Description, Due, NoBarrier, NotBegun, Outcome, Pause,
    Refill,
};
use gclab_core::config::{AREA, Config, Parameter, SHARING, SIZING};
use gclab_core::events::Phase;
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::sizing::{Live, MajorStrategy, Sizing};
use gclab_core::space::{Nursery, Steps};
use gclab_core::trace::{self, Evacuator, RememberedTracing};
use gclab_core::words::{Addr, Bytes, Words};
use gclab_core::workers::ParallelPolicy;

/// Two-space copying collection, one generation.
#[derive(Debug)]
pub struct TwoSpace {
    nursery: Nursery,
    survivors: Steps,
    sizing: Sizing,
    parallel: ParallelPolicy,
    /// Bytes that the last collection copied.
    copied: Bytes,
}

// SAFETY: built from core's spaces and evacuator; `collect` traces roots and weak handles.
// Everything is condemned at every collection, so nothing else points into condemned memory.
unsafe impl Collector for TwoSpace {
    const DESCRIPTION: Description = Description {
        name: "two-space",
        summary: "copies everything that is live at every collection (-G1)",
        moves: true,
        parallel: true,
        generations: (1, 1),
        honours: &[AREA, SIZING, &[Parameter::Generations], SHARING],
    };
    type Barrier = NoBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let mut sizing = Sizing::new(config, heap, MajorStrategy::Copying);
        Ok(TwoSpace {
            nursery: sizing.nursery(heap, config)?,
            survivors: Steps::new(1),
            sizing,
            parallel: ParallelPolicy::new(config),
            copied: Bytes(0),
        })
    }
}

impl Collect for TwoSpace {
    type Alloc = Bump;

    fn refill(&mut self, heap: &mut Heap, capability: Capability<'_, Bump>, _: Words) -> Result<Refill, OutOfMemory> {
        Ok(self.nursery.refill(heap, capability))
    }

    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        self.nursery.allocate_large(heap, request)
    }

    fn due(&mut self, _: Cause, capabilities: Capabilities<'_, Bump>) -> Option<Due> {
        self.nursery.leave(capabilities);
        Some(Due {
            generation: 0,
            major: true,
        })
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Outcome, NotBegun> {
        let mut evacuator = Evacuator::condemn(pause.heap, &mut self.nursery, &mut self.survivors, 1)?;
        let owners = pause.capabilities.owners();
        evacuator.share_with(self.parallel.workers(pause.gc_threads, 0, owners, self.copied));
        pause.events.phase(Phase::Condemned);
        // No slot is remembered. Without load balancing, this makes each capability's frames one
        // worker's task.
        evacuator.remembered(pause.capabilities);
        trace::live(&mut evacuator, pause.roots, pause.events.phases());
        let work = evacuator.finish(&mut self.survivors, pause.capabilities);
        pause.events.phase(Phase::Released);

        self.copied = work.copied;
        let mut outcome = Outcome::from(work);
        let live = Live::of(&self.survivors);
        self.sizing.after(pause, &mut outcome, &mut self.nursery, live);
        Ok(outcome)
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.nursery.for_each_region(capabilities, visit);
        self.survivors.for_each_region(visit);
    }
}
