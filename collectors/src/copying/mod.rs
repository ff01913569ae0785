//! `copying` and `parallel`: GHC's default, generational copying collection, with one thread or
//! several.
//!
//! `-G` generations of two or more. A closure that survives in the nursery is copied once inside
//! generation 0 (ageing) and promoted at its second collection; older generations promote at once.
//! A collection takes generation 0 and every older one that has outgrown its limit, max(F × live,
//! -O), set at the last major collection.
//!
//! In parallel, one thread starts a collection, and wakes others when there is enough to share
//! (`-qg`, `-qb`, `-qn`; [`ParallelPolicy`]).
//!
//! Worst-case memory: (1 + F) × live, with twice the allocation area, while a major collection
//! copies.

use gclab_core::block::{OutOfMemory, Region};
use gclab_core::collector::{
    Bump, Capabilities, Capability, Cause, Collect, Collector, Description, Due, GenerationalBarrier, NotBegun,
    Outcome, Pause, Refill, Work,
};
use gclab_core::config::{AREA, Config, GENERATIONS, MAX_GENERATIONS, SHARING, SIZING};
use gclab_core::events::Phase;
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::sizing::{Live, MajorStrategy, Sizing};
use gclab_core::space::{Nursery, Steps};
use gclab_core::trace::{self, Evacuator};
use gclab_core::words::{Addr, Bytes, Words};
use gclab_core::workers::{GcThreads, ParallelPolicy, Workers};

/// Generational copying collection, with one thread.
pub type Copying = Generational<false>;

/// Generational copying collection, with as many threads as there is work for.
pub type Parallel = Generational<true>;

/// Generational copying collection.
#[derive(Debug)]
pub struct Generational<const PARALLEL: bool> {
    nursery: Nursery,
    steps: Steps,
    /// The requested number of generations. One stands for two that are always collected together.
    generations: u32,
    sizing: Sizing,
    /// Words that the last minor collection promoted.
    promoted: Words,
    parallel: ParallelPolicy,
    /// Bytes that the last collection of each generation copied.
    copied: Vec<Bytes>,
}

// SAFETY: built from core's spaces and evacuator; `collect` traces the remembered set (which the
// generational barrier keeps complete), roots and weak handles.
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
    type Barrier = GenerationalBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let mut sizing = Sizing::new(config, heap, MajorStrategy::Copying);
        let steps = config.generations.max(2);
        Ok(Generational {
            nursery: sizing.nursery(heap, config)?,
            steps: Steps::new(steps),
            generations: config.generations,
            sizing,
            promoted: Words(0),
            parallel: ParallelPolicy::new(config),
            copied: vec![Bytes(0); steps as usize],
        })
    }
}

impl<const PARALLEL: bool> Collect for Generational<PARALLEL> {
    type Alloc = Bump;

    fn refill(&mut self, heap: &mut Heap, capability: Capability<'_, Bump>, _: Words) -> Result<Refill, OutOfMemory> {
        Ok(self.nursery.refill(heap, capability))
    }

    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        self.nursery.allocate_large(heap, request)
    }

    fn due(&mut self, cause: Cause, capabilities: Capabilities<'_, Bump>) -> Option<Due> {
        self.nursery.leave(capabilities);
        let generation = if cause.forces_major() || self.generations == 1 {
            self.oldest()
        } else {
            self.generation_due()
        };
        Some(Due {
            generation: generation.min(self.generations - 1),
            major: generation == self.oldest(),
        })
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Outcome, NotBegun> {
        let mut outcome = self.copy(pause, self.generation_of(pause.due))?;
        self.set_limits(pause, &mut outcome);
        Ok(outcome)
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.nursery.for_each_region(capabilities, visit);
        self.steps.for_each_region(visit);
    }
}

/// The parts of a collection, in their order.
impl<const PARALLEL: bool> Generational<PARALLEL> {
    /// The generation of a collection that is due. (If one generation was requested, two are
    /// collected together.)
    pub(crate) fn generation_of(&self, due: Option<Due>) -> u32 {
        let minor = due.filter(|due| !due.major);
        minor.map_or(self.oldest(), |due| due.generation)
    }

    /// Collects `generation` and all younger ones by copying.
    pub(crate) fn copy(&mut self, pause: &mut Pause<'_, Bump>, generation: u32) -> Result<Outcome, NotBegun> {
        let last = self.steps.last_of(generation);
        let mut evacuator = Evacuator::condemn(pause.heap, &mut self.nursery, &mut self.steps, last)?;
        if PARALLEL {
            let (owners, expected) = (pause.capabilities.owners(), self.copied[generation as usize]);
            evacuator.share_with(self.workers(pause.gc_threads, generation, owners, expected));
        }
        pause.events.phase(Phase::Condemned);
        trace::live_and_remembered(&mut evacuator, pause.capabilities, pause.roots, pause.events.phases());
        let work = evacuator.finish(&mut self.steps, pause.capabilities);
        pause.events.phase(Phase::Released);

        self.copied[generation as usize] = work.copied;
        self.note_promoted(&work);
        Ok(work.into())
    }

    /// After a collection: the limits for the next one follow from its `outcome`.
    pub(crate) fn set_limits(&mut self, pause: &mut Pause<'_, Bump>, outcome: &mut Outcome) {
        let live = Live::of(&self.steps);
        self.sizing.after(pause, outcome, &mut self.nursery, live);
    }

    /// A minor collection is expected to promote as much as the last one did; after a major one,
    /// nothing is known: an old figure would make every collection a major one.
    pub(crate) fn note_promoted(&mut self, work: &Work) {
        self.promoted = if work.generation == 0 {
            work.promoted.to_words_up()
        } else {
            Words(0)
        };
    }

    /// The workers for a collection of `generation`, in terms of the requested generations: with
    /// one, every collection is one of generation 0, as in `two-space`.
    fn workers<'h>(
        &self,
        gc_threads: &'h mut GcThreads,
        generation: u32,
        owners: usize,
        expected: Bytes,
    ) -> Workers<'h> {
        let asked = generation.min(self.generations - 1);
        self.parallel.workers(gc_threads, asked, owners, expected)
    }

    fn oldest(&self) -> u32 {
        self.generations.max(2) - 1
    }

    /// The oldest generation that has outgrown its limit.
    ///
    /// Words that a collection of generation 0 would promote into generation 1 already count if
    /// generation 1 is half full: this keeps peak memory lower than noticing the limit afterwards.
    /// (If it is not half full, there is little to collect in it, and a major collection would be
    /// one in name only.) These words are those that have aged, or as many as the last collection
    /// promoted, which may be more: referents of remembered slots do not age.
    fn generation_due(&self) -> u32 {
        if self.sizing.major_is_urgent(Live::of(&self.steps), &self.nursery) {
            return self.oldest();
        }
        let limit = self.sizing.old_limit().to_words_up().0;
        // Before a compaction all survivors are promoted, new closures as well as aged ones.
        let at_once = if self.sizing.strategy() == MajorStrategy::Compacting {
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
        (1..=self.oldest()).rev().find(outgrown).unwrap_or(0)
    }
}

/// The parts that compaction of the oldest generation needs ([`crate::Compacting`]).
impl Generational<true> {
    /// Like [`Collector::new`], with the kind of the first major collection chosen.
    pub(crate) fn compactable(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let mut spaces = Self::new(heap, config)?;
        spaces.choose_strategy();
        Ok(spaces)
    }

    /// Copies everything live in younger generations into the oldest one.
    pub(crate) fn promote_all(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Work, NotBegun> {
        let mut evacuator = Evacuator::promote_everything(pause.heap, &mut self.nursery, &mut self.steps)?;
        let (owners, expected) = (pause.capabilities.owners(), self.copied[self.oldest() as usize]);
        evacuator.share_with(self.workers(pause.gc_threads, self.oldest(), owners, expected));
        pause.events.phase(Phase::Condemned);
        trace::live_and_remembered(&mut evacuator, pause.capabilities, pause.roots, pause.events.phases());
        Ok(evacuator.finish(&mut self.steps, pause.capabilities))
    }

    /// The GC threads that mark and compact the oldest generation.
    pub(crate) fn markers<'h>(&self, gc_threads: &'h mut GcThreads, owners: usize) -> Workers<'h> {
        self.workers(gc_threads, self.oldest(), owners, Bytes(0))
    }

    /// The steps, of which the oldest is compacted.
    pub(crate) fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    /// Whether a collection of `generation` compacts the oldest one.
    pub(crate) fn compacts(&self, generation: u32) -> bool {
        generation == self.oldest() && self.sizing.strategy() == MajorStrategy::Compacting
    }

    /// Decides how the next major collection is done.
    pub(crate) fn choose_strategy(&mut self) {
        self.sizing.choose_strategy(Live::of(&self.steps));
    }

    /// Has the next major collection compact if the outcome is that there is no room to copy.
    pub(crate) fn compact_if_exhausted(&mut self, pause: &mut Pause<'_, Bump>, outcome: &mut Outcome) {
        let live = Live::of(&self.steps);
        self.sizing
            .compact_if_exhausted(pause.heap, outcome, &mut self.nursery, live);
    }

    /// `outcome` in terms of the requested generations, and of the next major collection.
    pub(crate) fn as_asked(&self, mut outcome: Outcome) -> Outcome {
        outcome.work.generation = outcome.work.generation.min(self.generations - 1);
        outcome.in_place = self.sizing.strategy() == MajorStrategy::Compacting;
        outcome
    }
}
