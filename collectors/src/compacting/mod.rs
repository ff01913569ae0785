//! `compacting`: `-c`. The oldest generation is compacted in place, younger ones are copied.
//!
//! Minor collections are as in `parallel`. A compacting major collection goes through everything
//! twice:
//!
//! 1. Live closures in younger generations are copied into the oldest (by several threads).
//! 2. Live closures in the oldest are marked (by several threads), given new places (by one) and
//!    moved there (by several; [`Compactor`]).
//!
//! It compacts at every major collection with `-c`, or with neither `-c` nor `-M`. With `-c<n>`,
//! and with `-M` alone, which is `-c30`, it compacts when more than n % of the limit was live after
//! the last one, or a copy would not fit. Until then a major collection copies, which is faster.
//!
//! With one generation (`-G1`) every collection is major, and counts as one of generation 0 for
//! `-qg` and `-qb`, as under `two-space`.
//!
//! Worst-case memory: F × live, or all that `-M` leaves, with twice the allocation area, plus
//! tables of 1/32 + 1/512 of that.

use crate::copying::Generational;
use gclab_core::block::{OutOfMemory, Region};
use gclab_core::collector::{
    Bump, Capabilities, Capability, Cause, Collect, Collector, Cycle, Description, Due, GenerationalBarrier, NotBegun,
    Outcome, Pause, Refill, Work,
};
use gclab_core::config::{AREA, COMPACTION, Compact, Config, GENERATIONS, MAX_GENERATIONS, SHARING, SIZING};
use gclab_core::events::Phase;
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::space::LiveMap;
use gclab_core::trace::{self, Compactor, Marker, Tracing};
use gclab_core::words::{Addr, Bytes, Words};

/// Compaction of the oldest generation.
#[derive(Debug)]
pub struct Compacting {
    spaces: Generational<true>,
    map: LiveMap,
}

// SAFETY: built from core's spaces, evacuator, marker and compactor. A compacting collection traces
// and updates every kind of root; the remembered set is empty then, since nothing is young.
unsafe impl Collector for Compacting {
    const DESCRIPTION: Description = Description {
        name: "compacting",
        summary: "compacts the oldest generation in place, copies younger ones (-c; -M)",
        moves: true,
        parallel: true,
        generations: (1, MAX_GENERATIONS),
        honours: &[AREA, SIZING, GENERATIONS, COMPACTION, SHARING],
    };
    type Barrier = GenerationalBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let mut asked = config.clone();
        if asked.compaction() == Compact::Never {
            asked.compact = Compact::Always;
        }
        // The nursery is planned beside the tables.
        let map = LiveMap::new(heap)?;
        let spaces = Generational::compactable(heap, &asked)?;
        Ok(Compacting { spaces, map })
    }
}

impl Collect for Compacting {
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

    fn due(&mut self, cause: Cause, capabilities: Capabilities<'_, Bump>) -> Option<Due> {
        self.spaces.due(cause, capabilities)
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Outcome, NotBegun> {
        let generation = self.spaces.generation_of(pause.due);
        let mut outcome = if self.spaces.compacts(generation) || pause.cause.forces_compaction() {
            self.compact(pause)?
        } else {
            // If there was no room for copies, nothing has been condemned. A compaction copies only
            // young closures, which needs less.
            let copied = self.spaces.copy(pause, generation);
            copied.or_else(|_| self.compact(pause))?
        };
        if outcome.work.is_major() {
            self.spaces.choose_strategy();
        }
        self.spaces.set_limits(pause, &mut outcome);
        self.spaces.compact_if_exhausted(pause, &mut outcome);
        Ok(self.spaces.as_asked(outcome))
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.spaces.for_each_region(capabilities, visit);
    }
}

impl Compacting {
    /// A major collection in place.
    fn compact(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Outcome, NotBegun> {
        let mut work = self.spaces.promote_all(pause)?;

        let mut marker = Marker::new(pause.heap, &self.map);
        marker.share_with(self.spaces.markers(pause.gc_threads, pause.capabilities.owners()));
        if gclab_core::mutant!("compact/weak-kept") {
            pause.roots.for_each_weak(|slot| marker.root(slot));
        }
        trace::live(&mut marker, pause.roots, |_| ());
        let marked = marker.finish();
        pause.events.phase(Phase::Marked);

        let mut compactor = Compactor::plan(self.spaces.steps(), &mut self.map);
        pause.events.phase(Phase::Planned);
        compactor.update_roots(pause.roots);
        compactor.share_with(self.spaces.markers(pause.gc_threads, pause.capabilities.owners()));
        compactor.slide();
        pause.events.phase(Phase::Moved);
        let steps = self.spaces.steps();
        let compacted = compactor.finish(pause.heap, steps);
        pause.events.phase(Phase::Released);
        debug_assert_eq!(marked.words, steps.words());

        work.shared += marked.shared;
        work.shared += compacted.shared;
        work.counted += marked.counted;
        work.copied += compacted.moved.to_bytes();
        let work = Work {
            generation: u32::from(steps.oldest()) - 1,
            cycle: Cycle::Whole,
            compacted: true,
            promoted: Bytes(0),
            ..work
        };
        let work = steps.account(work);
        self.spaces.note_promoted(&work);
        Ok(work.into())
    }
}
