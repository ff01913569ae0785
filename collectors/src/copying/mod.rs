//! `copying` and `parallel`: GHC's default, generational copying collection, by one thread or by several.
//!
//! `-G` generations of two or more. What survives in the nursery is copied once inside generation 0 (ageing) and
//! promoted at its second collection; older generations promote at once. A collection takes generation 0 and every older
//! one that has outgrown its limit, max(F × live, -O), set at the last major collection.
//!
//! In parallel, a collection is begun by one thread, which calls others when there is enough to be shared (`-qg`, `-qb`, `-qn`; [`ParallelPolicy`]).
//!
//! Memory at the worst: (1 + F) × live, with the allocation area twice, while a major collection copies.

use gclab_core::collector::{
    Bump, Capabilities, Capability, Collector, Description, GenerationalBarrier, Outcome, Pause, Refill,
};
use gclab_core::config::{AREA, Config, GENERATIONS, MAX_GENERATIONS, SHARING, SIZING};
use gclab_core::events::Phase;
use gclab_core::heap::{Heap, OutOfMemory};
use gclab_core::sizing::{Live, Shape, Sizing, Young};
use gclab_core::space::{Nursery, Region, Steps};
use gclab_core::trace::{Evacuated, Evacuator};
use gclab_core::words::{Addr, Bytes, Words};
use gclab_core::workers::ParallelPolicy;

/// Generational copying collection, by one thread.
pub type Copying = Generational<false>;

/// Generational copying collection, by as many threads as there is work for.
pub type Parallel = Generational<true>;

/// Generational copying collection.
#[derive(Debug)]
pub struct Generational<const PARALLEL: bool> {
    pub(crate) nursery: Nursery,
    pub(crate) steps: Steps,
    generations: u32,
    pub(crate) sizing: Sizing,
    /// How the next collection in full is done.
    pub(crate) shape: Shape,
    /// The size at which an old generation is collected.
    old_limit: Bytes,
    /// What the last minor collection promoted.
    promoted: Words,
    pub(crate) parallel: ParallelPolicy,
    /// What the last collection of each generation copied.
    copied: Vec<Bytes>,
}

/// Where what survives goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Survivors {
    /// A step up, or to the step of who holds it.
    Age,
    /// To the oldest step.
    BecomeOldest,
}

// SAFETY: made of core's spaces and evacuator; `collect` traces the remembered set (which the generational barrier keeps
// complete), roots and weak handles.
unsafe impl<const PARALLEL: bool> Collector for Generational<PARALLEL> {
    const DESCRIPTION: Description = Description {
        name: if PARALLEL { "parallel" } else { "copying" },
        summary: if PARALLEL {
            "copying by several threads, with load balancing (-N2 and more)"
        } else {
            "generational copying with ageing, GHC's default (-G2 and more)"
        },
        moves: true,
        parallel: PARALLEL,
        generations: (2, MAX_GENERATIONS),
        honours: if PARALLEL {
            &[AREA, SIZING, GENERATIONS, SHARING]
        } else {
            &[AREA, SIZING, GENERATIONS]
        },
    };
    type Alloc = Bump;
    type Barrier = GenerationalBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        Self::with_generations(heap, config, config.generations)
    }

    fn refill(&mut self, _: &mut Heap, capability: &Capability<Bump>, _: Words) -> Result<Refill, OutOfMemory> {
        Ok(self.nursery.refill(capability))
    }

    fn allocate_large(&mut self, heap: &mut Heap, words: Words) -> Result<Option<Addr>, OutOfMemory> {
        self.nursery.allocate_large(heap, words)
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> (Outcome, Result<(), OutOfMemory>) {
        let generation = self.begin(pause);
        let outcome = match self.collect_by_copying(pause, generation) {
            Ok(outcome) => outcome,
            Err(error) => return (Outcome::not_begun(), Err(error)),
        };
        let room = self.conclude(pause, &outcome);
        (outcome, room)
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.nursery.for_each_region(capabilities, visit);
        self.steps.for_each_region(visit);
    }
}

impl<const PARALLEL: bool> Generational<PARALLEL> {
    /// Makes the collector with `generations` generations, two or more, whatever `config` says.
    pub(crate) fn with_generations(heap: &mut Heap, config: &Config, generations: u32) -> Result<Self, OutOfMemory> {
        let mut sizing = Sizing::new(config, heap);
        let area = sizing.area(Live::default(), Bytes(0), Shape::Copying);
        let nursery = sizing.nursery(heap, config, area, Shape::Copying)?;
        let old_limit = sizing.old_limit(Bytes(0), Shape::Copying);
        Ok(Generational {
            nursery,
            steps: Steps::new(generations),
            generations,
            sizing,
            shape: Shape::Copying,
            old_limit,
            promoted: Words(0),
            parallel: ParallelPolicy::new(config),
            copied: vec![Bytes(0); generations as usize],
        })
    }

    /// The mutators leave the nursery; gives the generation that is to be collected.
    pub(crate) fn begin(&mut self, pause: &Pause<'_, Bump>) -> u32 {
        self.nursery.leave(pause.capabilities);
        if pause.cause.forces_major() {
            self.oldest()
        } else {
            self.generation_due()
        }
    }

    pub(crate) fn oldest(&self) -> u32 {
        self.generations - 1
    }

    /// Collect `generation` and all younger ones; an error if there is no room for a copy of them.
    pub(crate) fn collect_by_copying(
        &mut self,
        pause: &mut Pause<'_, Bump>,
        generation: u32,
    ) -> Result<Outcome, OutOfMemory> {
        let last = self.steps.last_of(generation);
        let done = self.evacuate(pause, last, generation, Survivors::Age)?;
        pause.events.phase(Phase::Released);
        if generation == 0 {
            self.promoted = done.promoted;
        }
        Ok(Outcome {
            generation,
            major: generation == self.oldest(),
            ..Outcome::of(&done, &self.steps)
        })
    }

    /// What a collection did counts, and the next thresholds follow from it.
    pub(crate) fn conclude(&mut self, pause: &mut Pause<'_, Bump>, outcome: &Outcome) -> Result<(), OutOfMemory> {
        self.sizing.note(pause, outcome);
        if outcome.major {
            let live = self.steps.step(self.steps.oldest()).words().to_bytes();
            self.old_limit = self.sizing.old_limit(live, self.shape);
        }
        let live = Live::of(&self.steps);
        let area = self.sizing.area(live, self.old_limit, self.shape);
        self.sizing
            .resize(&mut self.nursery, pause.heap, live, area, self.shape)
    }

    /// Copy what lives in the nursery and in the steps up to `last`. The workers are those for `generation`.
    pub(crate) fn evacuate(
        &mut self,
        pause: &mut Pause<'_, Bump>,
        last: u8,
        generation: u32,
        survivors: Survivors,
    ) -> Result<Evacuated, OutOfMemory> {
        let mut evacuator = Evacuator::condemn(pause.heap, &mut self.nursery, &mut self.steps, last)?;
        if survivors == Survivors::BecomeOldest {
            evacuator.promote_everything();
        }
        if PARALLEL {
            let expected = self.copied[generation as usize];
            let owners = pause.capabilities.owners();
            evacuator.share_with(self.parallel.workers(pause.gc_threads, generation, owners, expected));
        }
        pause.events.phase(Phase::Condemned);
        evacuator.remembered(pause.capabilities);
        pause.events.phase(Phase::RememberedTraced);
        evacuator.roots(pause.roots);
        pause.events.phase(Phase::RootsTraced);
        evacuator.scavenge();
        pause.events.phase(Phase::HeapTraced);
        pause.roots.for_each_weak(|slot| evacuator.weak(slot));
        pause.events.phase(Phase::WeakProcessed);
        let done = evacuator.finish(&mut self.steps, pause.capabilities);
        if survivors == Survivors::Age {
            self.copied[generation as usize] = done.copied.to_bytes();
        }
        Ok(done)
    }

    /// The oldest generation that has outgrown its limit.
    ///
    /// What the collection of generation 0 would promote into generation 1 counts already, if generation 1 is half full: this
    /// keeps the peak of memory below that of a limit that is noticed afterwards. (If it is not, there is little to collect
    /// in it, and a major collection would be one in name only.) It is what has aged, or as much as the last one promoted, which may be more: what
    /// remembered slots point to does not age.
    fn generation_due(&self) -> u32 {
        let (live, young) = (Live::of(&self.steps), Young::of(&self.nursery));
        if self.sizing.major_is_urgent(live, young, self.shape) {
            return self.oldest();
        }
        let limit = self.old_limit.to_words_up().0;
        // Before a compaction all that survives is promoted, what is new as well as what has aged.
        let at_once = if self.shape == Shape::Compacting {
            self.promoted.0
        } else {
            0
        };
        let outgrown = |generation: &u32| {
            let step = self.steps.last_of(*generation);
            let old = self.steps.step(step).words().0;
            let arriving = match generation {
                1 if old > limit / 2 => at_once + self.steps.step(step - 1).words().0.max(self.promoted.0),
                _ => 0,
            };
            old + arriving > limit
        };
        (1..self.generations).rev().find(outgrown).unwrap_or(0)
    }
}
