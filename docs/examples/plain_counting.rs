//! `plain-counting`: closures die when nothing leads to them any more, and none moves.
//!
//! Each pause ends an *epoch*. Closures without a mark are young: those that live get one, and a count of
//! the slots that lead to them. [`References`] counts: for each slot of an old closure that the program
//! overwrote, its new value, and the old one no longer. A closure whose count is 0 is dead, and what it led to may
//! die with it. Circles, and what handles led to, wait for a trace of everything, which counts anew.

use gclab_core::block::{FIRST_OLD_STEP, OutOfMemory, Region};
use gclab_core::collector::{
    Bump, Capabilities, Capability, Cause, Collect, Collector, Cycle, Description, Due, GenerationalBarrier, NotBegun,
    Outcome, Pause, Refill,
};
use gclab_core::config::{Config, GENERATIONS, OwnFlag, Parameter, SIZING};
use gclab_core::events::Phase;
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::sizing::{MajorStrategy, Sizing};
use gclab_core::space::{LargeObjects, Ledger, LineSpace, MarkBits, References};
use gclab_core::trace::{self, Amount, Marked, Marker};
use gclab_core::words::{Addr, Bytes, Words};
use std::sync::Arc;

/// A flag of this collector alone.
const LAZY: OwnFlag = OwnFlag {
    name: "lazy",
    meaning: "slots and closures that a pause reads to bury dead ones, about",
    default: 100_000,
    least: 1,
    most: 1_000_000_000,
};

/// Lines, large objects, and the references to old closures.
pub(crate) struct PlainCounting {
    lines: LineSpace,
    large: LargeObjects,
    /// Old closures have marks.
    marks: Arc<MarkBits>,
    references: References,
    old: Amount,
    sizing: Sizing,
    /// Bytes that mutators may take before the next collection.
    area: Bytes,
    /// The next collection is of everything.
    is_everything: bool,
    /// `--own=lazy`.
    lazy: u64,
    freed: u64,
    traces: u64,
}

// SAFETY: a collection marks the young closures that roots or logged slots lead to. Of the marked ones it
// frees those with count 0. All slots of marked closures are counted, and so are frames; other roots make
// counts stuck.
unsafe impl Collector for PlainCounting {
    const DESCRIPTION: Description = Description {
        name: "plain-counting",
        summary: "counts references to old closures, and traces now and then",
        moves: false,
        parallel: false,
        generations: (2, 2),
        honours: &[&[Parameter::AllocationArea, Parameter::Own(&LAZY)], SIZING, GENERATIONS],
    };
    type Barrier = GenerationalBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let sizing = Sizing::new(config, heap, MajorStrategy::InPlace);
        Ok(PlainCounting {
            lines: LineSpace::new(FIRST_OLD_STEP, config.capabilities as usize).logged(),
            large: LargeObjects::new(FIRST_OLD_STEP).logged(),
            marks: Arc::new(MarkBits::new(heap)?),
            references: References::new(heap)?,
            old: Amount::default(),
            area: sizing.first_area()?,
            sizing,
            is_everything: false,
            lazy: LAZY.of(config),
            freed: 0,
            traces: 0,
        })
    }
}

impl Collect for PlainCounting {
    type Alloc = Bump;

    fn refill(
        &mut self,
        heap: &mut Heap,
        capability: Capability<'_, Bump>,
        words: Words,
    ) -> Result<Refill, OutOfMemory> {
        if self.is_due() {
            return Ok(Refill::Collect);
        }
        self.lines.refill(heap, &self.marks, capability, words)?;
        Ok(Refill::Ready)
    }

    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        (!self.is_due()).then(|| self.large.allocate(heap, request)).transpose()
    }

    fn due(&mut self, cause: Cause, _: Capabilities<'_, Bump>) -> Option<Due> {
        let is_full = self.old.bytes() > self.sizing.old_limit();
        self.is_everything = cause.forces_major() || self.sizing.is_urgent() || is_full;
        Some(Due {
            generation: u32::from(self.is_everything),
            major: self.is_everything,
        })
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Outcome, NotBegun> {
        self.references.end_epoch(pause.capabilities);
        let marked = if self.is_everything {
            self.everything(pause)
        } else {
            self.epoch(pause)
        };
        self.references.begin_epoch(pause.capabilities, &self.marks);
        pause.events.phase(Phase::Released);
        let held = self.lines.held() + self.large.held();
        let mut outcome = marked.outcome(held);
        let work = &mut outcome.work;
        work.generation = u32::from(self.is_everything);
        if !self.is_everything {
            work.cycle = Cycle::None;
        }
        (work.live, work.large) = (self.old.bytes(), self.old.large.to_bytes());
        work.slop = held - work.live;
        if let Some(area) = self.sizing.after_in_place(pause, &mut outcome) {
            self.area = area;
        }
        Ok(outcome)
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.lines.for_each_region(&self.marks, capabilities, visit);
        self.large.for_each_region(visit);
    }

    fn figures(&self, figure: &mut dyn FnMut(&'static str, u64)) {
        figure("bytes freed by counts", self.freed);
        figure("traces", self.traces);
    }

    fn ledger(&self) -> Option<Ledger<'_>> {
        Some(self.references.ledger())
    }
}

impl PlainCounting {
    fn is_due(&self) -> bool {
        self.lines.taken() + self.large.taken() >= self.area
    }

    /// Marks young closures, which become old, and frees old ones that nothing leads to any more.
    fn epoch(&mut self, pause: &mut Pause<'_, Bump>) -> Marked {
        let marks = exclusive(&mut self.marks);
        self.lines.leave(marks, pause.capabilities);
        pause.events.phase(Phase::Condemned);
        let counting = self.references.counting(&*marks);
        let mut marker = Marker::new(pause.heap, &counting);
        trace::live_and_remembered(&mut marker, pause.capabilities, pause.roots, pause.events.phases());
        let promoted = marker.finish();
        self.old += &promoted;
        let (heap, roots) = (&*pause.heap, pause.roots.of_young());
        self.references.count(heap, roots, pause.capabilities);
        if let Some(mut burial) = self.references.burial(heap.closures(), &self.marks) {
            let mut left = self.lazy;
            burial.advance(|read| {
                left = left.saturating_sub(read as u64);
                left > 0
            });
            let (died, _) = self.references.end_burial(burial, &mut self.marks);
            self.freed += died.words.to_bytes().0 as u64;
            self.old -= died;
        }
        self.sweep(pause.heap);
        promoted
    }

    /// Traces everything, and counts anew.
    fn everything(&mut self, pause: &mut Pause<'_, Bump>) -> Marked {
        self.traces += 1;
        self.references.forget(pause.capabilities);
        let references = &mut self.references;
        self.lines.for_each_marked_block(|from, to| references.clear(from, to));
        self.large
            .for_each_region(&mut |region| references.clear(region.run.start(), region.run.end()));
        let marks = exclusive(&mut self.marks);
        self.lines.condemn(marks, pause.capabilities);
        self.large.condemn(marks);
        pause.events.phase(Phase::Condemned);
        let counting = self.references.counting(&*marks);
        let mut marker = Marker::new(pause.heap, &counting);
        trace::live(&mut marker, pause.roots, pause.events.phases());
        let marked = marker.finish();
        self.old = Amount::from(&marked);
        self.references.count(pause.heap, pause.roots, pause.capabilities);
        self.sweep(pause.heap);
        marked
    }

    /// Frees memory without marks.
    fn sweep(&mut self, heap: &mut Heap) {
        let marks = exclusive(&mut self.marks);
        let in_lines = (self.old.words - self.old.large).to_bytes();
        self.lines.sweep(heap, marks, in_lines);
        self.large.sweep(heap, marks);
    }
}

/// The marks, in a pause: no barrier has them.
fn exclusive(marks: &mut Arc<MarkBits>) -> &mut MarkBits {
    Arc::get_mut(marks).expect("the epoch is over")
}

#[test]
fn what_is_overwritten_dies_without_a_trace() {
    gclab_proof::counting::deaths::<PlainCounting>(&[]);
    gclab_proof::counting::deaths::<PlainCounting>(&["lazy=10000"]);
}
