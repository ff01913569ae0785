//! `concurrent`: as `gen-immix`, but old closures are marked concurrently
//! ([`crate::concurrent`]). And `lxr`, which counts references, too, so that most old closures die without
//! being marked (Zhao, Blackburn and McKinley, 2022).
//!
//! Blocks without marks go back to the heap at the end of a cycle, and holes are found from the marks
//! when they are needed. A cycle moves the closures of a few sparse blocks to others, as a collection of
//! everything may.
//!
//! Worst-case memory: F × live, with the allocation area, what died since the cycle began, and the
//! holes between old closures, which may take as much again before everything is collected.

use super::spaces::{Marking, Spaces};
use crate::concurrent::{ConcurrentMarking, Generations, MARKERS};
use gclab_core::block::{FIRST_OLD_STEP, OutOfMemory, Region, Units};
use gclab_core::collector::{Bump, Capabilities, Capability, Description, NotBegun, Outcome, Pause, Refill};
use gclab_core::config::{Config, GENERATIONS, Parameter, SHARING, SIZING, SLICES};
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::mutant;
use gclab_core::sizing::{MajorStrategy, Sizing};
use gclab_core::space::{Burial, Incoming, Ledger, LineSpace, MarkBits, References};
use gclab_core::trace::{Amount, Marked};
use gclab_core::words::{Addr, Bytes, Words};
use std::sync::Arc;

/// `gen-immix` with an old generation that is marked concurrently.
pub type Concurrent = ConcurrentMarking<LineGenerations<false>>;

/// The same, with counts of references to old closures.
pub type Lxr = ConcurrentMarking<LineGenerations<true>>;

/// A nursery and an old generation of lines. If it is `COUNTING`, old closures die when nothing leads to them
/// any more.
#[derive(Debug)]
pub struct LineGenerations<const COUNTING: bool> {
    spaces: Spaces,
    sizing: Sizing,
    /// The slots that lead into blocks that the cycle will empty.
    incoming: Arc<Incoming>,
    /// If it is counting.
    references: Option<References>,
    /// What was buried before this pause, and the blocks where those closures begin. Empty between pauses.
    buried: (Amount, Vec<Addr>),
    /// Bytes that were freed by counts.
    freed: u64,
}

impl<const COUNTING: bool> LineGenerations<COUNTING> {
    /// Takes what was buried before this pause: it does not live any more.
    fn take_buried(&mut self) -> (Amount, Vec<Addr>) {
        let (buried, blocks) = std::mem::take(&mut self.buried);
        self.freed += buried.words.to_bytes().0 as u64;
        self.spaces.lower_live(&buried);
        (buried, blocks)
    }
}

// SAFETY: those of `gen-immix`. Of old closures it also frees those with count 0: all slots of old
// closures are counted, and so are frames; other roots make counts stuck.
unsafe impl<const COUNTING: bool> Generations for LineGenerations<COUNTING> {
    type Recorder = Arc<Incoming>;
    const DESCRIPTION: Description = Description {
        name: if COUNTING { "lxr" } else { "concurrent" },
        summary: if COUNTING {
            "concurrent, but most old closures are freed by reference counts"
        } else {
            "gen-immix whose old generation is marked concurrently"
        },
        moves: false,
        parallel: true,
        generations: (2, 2),
        honours: &[
            &[Parameter::AllocationArea],
            SIZING,
            GENERATIONS,
            SHARING,
            SLICES,
            &[Parameter::Own(&MARKERS)],
        ],
    };

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let sizing = Sizing::new(config, heap, MajorStrategy::InPlace);
        let lines = LineSpace::with_nursery(FIRST_OLD_STEP, config.capabilities as usize);
        let references = COUNTING.then(|| References::new(heap)).transpose()?;
        let spaces = Spaces::new(heap, config, lines, sizing.first_area()?)?;
        Ok(LineGenerations {
            spaces: if COUNTING { spaces.logged() } else { spaces },
            sizing,
            incoming: Arc::new(Incoming::new(heap)),
            references,
            buried: Default::default(),
            freed: 0,
        })
    }

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

    fn has_allocated(&self) -> bool {
        self.spaces.has_lent()
    }

    fn is_urgent(&self) -> bool {
        self.sizing.is_urgent()
    }

    fn old_limit(&self) -> Bytes {
        self.sizing.old_limit()
    }

    /// The blocks have more than the limit allows twice over.
    fn is_fragmented(&self, old: Bytes) -> bool {
        let most = self.sizing.old_limit().max(old);
        self.spaces.held_by_old().0 > most.0 * 2
    }

    fn held(&self) -> Bytes {
        self.spaces.held()
    }

    /// What has no room stays.
    fn prepare(&mut self, pause: &mut Pause<'_, Bump>) -> Result<(), NotBegun> {
        self.references
            .iter()
            .for_each(|references| references.end_epoch(pause.capabilities));
        Ok(())
    }

    fn promote(&mut self, pause: &mut Pause<'_, Bump>, also: Option<&MarkBits>) -> Marked {
        let also = also.map(|also| (also, self.recorder()));
        let promoted = self.spaces.mark(pause, Marking::Young, also, self.references.as_ref());
        if let Some(references) = &mut self.references {
            references.count(pause.heap, pause.roots.of_young(), pause.capabilities);
        }
        promoted
    }

    fn burial(&mut self, heap: &Heap) -> Option<Burial> {
        let marks = self.spaces.sticky();
        self.references.as_mut()?.burial(heap.closures(), &marks)
    }

    fn end_burial(&mut self, burial: Burial) {
        let references = self.references.as_mut().expect("it counts");
        self.buried = self.spaces.end_burial(references, burial);
    }

    fn sweep_buried(&mut self, heap: &mut Heap) -> Amount {
        let (buried, blocks) = self.take_buried();
        self.spaces.sweep_buried(heap, &buried, blocks);
        buried
    }

    fn everything(&mut self, pause: &mut Pause<'_, Bump>) -> Marked {
        self.incoming.take();
        self.take_buried();
        if let Some(references) = &mut self.references {
            references.forget(pause.capabilities);
            self.spaces.clear_counts(references);
        }
        let marked = self
            .spaces
            .mark(pause, Marking::Everything, None, self.references.as_ref());
        if let Some(references) = &mut self.references {
            references.count(pause.heap, pause.roots, pause.capabilities);
        }
        marked
    }

    fn marks(&self) -> Arc<MarkBits> {
        self.spaces.sticky()
    }

    fn recorder(&self) -> Arc<Incoming> {
        Arc::clone(&self.incoming)
    }

    fn set_in_snapshot(&mut self, heap: &mut Heap, yes: bool) {
        self.spaces.set_in_snapshot(heap, yes);
        if yes {
            self.spaces.choose(heap, &self.incoming);
        }
    }

    fn marked_memory(&self) -> Vec<(Addr, Addr)> {
        self.spaces.marked_memory()
    }

    fn sweep_old(&mut self, pause: &mut Pause<'_, Bump>, mut marks: MarkBits, live: Bytes) -> (MarkBits, Words) {
        if let Some(references) = &mut self.references
            && !mutant!("lxr/freed-not-subtracted")
        {
            self.spaces.bury_unmarked(pause.heap, references, &marks);
        }
        let moved = self
            .spaces
            .empty_chosen(pause, &mut marks, &self.incoming, self.references.as_mut());
        (self.spaces.sweep_old(pause.heap, marks, live), moved)
    }

    fn after(&mut self, pause: &mut Pause<'_, Bump>, outcome: &mut Outcome) {
        if let Some(area) = self.sizing.after_in_place(pause, outcome) {
            self.spaces.set_area(area);
        }
        if let Some(references) = &self.references {
            references.begin_epoch(pause.capabilities, &self.spaces.sticky());
        }
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.spaces.for_each_region(capabilities, visit);
    }

    fn for_each_units(&self, visit: &mut dyn FnMut(Units)) {
        self.spaces.for_each_units(visit);
    }

    fn figures(&self, figure: &mut dyn FnMut(&'static str, u64)) {
        if COUNTING {
            figure("bytes freed by counts", self.freed);
        }
    }

    fn ledger(&self) -> Option<Ledger<'_>> {
        self.references.as_ref().map(References::ledger)
    }

    fn step_names() -> &'static [&'static str] {
        &["", "nursery", "old"]
    }
}
