//! `compacting`: `-c`. The oldest generation is compacted in place, younger ones are copied.
//!
//! A minor collection is that of `parallel`. A major one that compacts goes through everything twice:
//!
//! 1. What lives in younger generations is copied into the oldest (by several threads).
//! 2. What lives in the oldest is marked (by several threads), given its place and moved there ([`Compactor`]).
//!
//! When: at every major collection with `-c`, or with neither that nor `-M`; with `-c<n>`, and with `-M` alone, which is `-c30`, when what lived after the last one is more than n % of
//! the limit, or a copy of it would not fit. Until then a major collection copies, which is faster.
//!
//! With one generation (`-G1`) every collection is a major one.
//!
//! Memory at the worst: F × live, or all that `-M` leaves, with the allocation area twice; and tables of a 32nd and a 512th of that.

use crate::copying::{Generational, Survivors};
use gclab_core::collector::{
    Bump, Capabilities, Capability, Collector, Description, GenerationalBarrier, Outcome, Pause, Refill,
};
use gclab_core::config::{AREA, COMPACTION, Compact, Config, GENERATIONS, MAX_GENERATIONS, SHARING, SIZING};
use gclab_core::events::Phase;
use gclab_core::heap::{Heap, OutOfMemory};
use gclab_core::sizing::{Live, Shape};
use gclab_core::space::{LiveMap, Region};
use gclab_core::trace::{Compactor, Marker};
use gclab_core::words::{Addr, Bytes, Words};

/// Compaction of the oldest generation.
#[derive(Debug)]
pub struct Compacting {
    /// Of two generations or more.
    spaces: Generational<true>,
    map: LiveMap,
    /// Generations as they were asked for.
    generations: u32,
}

// SAFETY: made of core's spaces, evacuator, marker and compactor. A collection that compacts traces and updates every kind of root, when
// the remembered set is empty, since nothing is young.
unsafe impl Collector for Compacting {
    const DESCRIPTION: Description = Description {
        name: "compacting",
        summary: "compacts the oldest generation in place, copies younger ones (-c; -M)",
        moves: true,
        parallel: true,
        generations: (1, MAX_GENERATIONS),
        honours: &[AREA, SIZING, GENERATIONS, COMPACTION, SHARING],
    };
    type Alloc = Bump;
    type Barrier = GenerationalBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let mut asked = config.clone();
        if asked.compaction() == Compact::Never {
            asked.compact = Compact::Always;
        }
        let spaces = Generational::with_generations(heap, &asked, config.generations.max(2))?;
        let mut compacting = Compacting {
            spaces,
            map: LiveMap::new(heap)?,
            generations: config.generations,
        };
        compacting.spaces.shape = compacting.next_shape();
        Ok(compacting)
    }

    fn refill(&mut self, _: &mut Heap, capability: &Capability<Bump>, _: Words) -> Result<Refill, OutOfMemory> {
        Ok(self.spaces.nursery.refill(capability))
    }

    fn allocate_large(&mut self, heap: &mut Heap, words: Words) -> Result<Option<Addr>, OutOfMemory> {
        self.spaces.nursery.allocate_large(heap, words)
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> (Outcome, Result<(), OutOfMemory>) {
        let due = self.spaces.begin(pause);
        let oldest = self.spaces.oldest();
        let generation = if self.generations == 1 { oldest } else { due };
        let done = if generation == oldest && self.spaces.shape == Shape::Compacting {
            self.compact(pause)
        } else {
            // Without room for copies nothing has been condemned; what is young needs less of it.
            let copied = self.spaces.collect_by_copying(pause, generation);
            copied.or_else(|_| self.compact(pause))
        };
        let outcome = match done {
            Ok(outcome) => outcome,
            Err(error) => return (Outcome::not_begun(), Err(error)),
        };
        if outcome.major {
            self.spaces.shape = self.next_shape();
        }
        let room = self.conclude(pause, &outcome);
        let outcome = Outcome {
            generation: outcome.generation.min(self.generations - 1),
            in_place: self.spaces.shape == Shape::Compacting,
            ..outcome
        };
        (outcome, room)
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.spaces.for_each_region(capabilities, visit);
    }
}

impl Compacting {
    fn compact(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Outcome, OutOfMemory> {
        let (spaces, map) = (&mut self.spaces, &mut self.map);
        let (oldest, generation) = (spaces.steps.oldest(), spaces.oldest());
        let copied = spaces.evacuate(pause, oldest - 1, generation, Survivors::BecomeOldest)?;

        let mut marker = Marker::new(pause.heap, &*map);
        let owners = pause.capabilities.owners();
        marker.share_with(spaces.parallel.workers(pause.gc_threads, generation, owners, Bytes(0)));
        pause.roots.for_each(|slot| marker.root(slot));
        marker.mark();
        pause.roots.for_each_weak(|slot| marker.weak(slot));
        let marked = marker.finish();
        pause.events.phase(Phase::Marked);

        let mut compactor = Compactor::plan(&mut spaces.steps, map);
        pause.events.phase(Phase::Planned);
        pause.roots.for_each(|slot| compactor.update(slot));
        pause.roots.for_each_weak(|slot| compactor.update(slot));
        compactor.slide();
        pause.events.phase(Phase::Moved);
        let compacted = compactor.finish(pause.heap, &mut spaces.steps);
        pause.events.phase(Phase::Released);
        debug_assert_eq!(marked.words, spaces.steps.words());

        let mut shared = copied.shared.clone();
        shared += marked.shared;
        Ok(Outcome {
            generation,
            major: true,
            copied: (copied.copied + compacted.moved).to_bytes(),
            promoted: Bytes(0),
            shared,
            ..Outcome::of(&copied, &spaces.steps)
        })
    }

    fn next_shape(&self) -> Shape {
        if self.spaces.sizing.compaction_is_due(Live::of(&self.spaces.steps)) {
            Shape::Compacting
        } else {
            Shape::Copying
        }
    }

    fn conclude(&mut self, pause: &mut Pause<'_, Bump>, outcome: &Outcome) -> Result<(), OutOfMemory> {
        if self.generations > 1 {
            return self.spaces.conclude(pause, outcome);
        }
        let spaces = &mut self.spaces;
        spaces.sizing.note(pause, outcome);
        let live = Live::of(&spaces.steps);
        let area = spaces.sizing.area_of_one_generation(live, spaces.shape);
        spaces
            .sizing
            .resize(&mut spaces.nursery, pause.heap, live, area, spaces.shape)
    }
}
