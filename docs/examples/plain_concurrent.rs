//! `plain-concurrent`: old closures are marked while the program runs, and none moves.
//!
//! Each pause is a minor collection: closures without a mark are young, and those that live get one.
//! In addition, a pause may begin a *cycle*, do some of its marking, or end it.

use gclab_core::block::{FIRST_OLD_STEP, OutOfMemory, Region};
use gclab_core::collector::{
    Bump, Capabilities, Capability, Cause, Collect, Collector, Cycle, Description, Due, GenerationalBarrier, NotBegun,
    Outcome, Pause, Refill, Request,
};
use gclab_core::config::{Config, GENERATIONS, Parameter, SIZING, SLICES};
use gclab_core::events::Phase;
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::sizing::{MajorStrategy, Sizing};
use gclab_core::space::{BothMarks, LargeObjects, LineSpace, MarkBits, SnapshotMarks};
use gclab_core::trace::{self, Amount, Marked, Marker, SlicedTrace};
use gclab_core::words::{Addr, Bytes, Words};
use gclab_core::workers::{Background, Helpers, Stop, Worked};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Lines, large objects, and two bits for each closure.
pub(crate) struct PlainConcurrent {
    lines: LineSpace,
    large: LargeObjects,
    marks: Arc<MarkBits>,
    /// The table of the next cycle, clear; absent while one is under way.
    spare: Option<MarkBits>,
    shared: Arc<Shared>,
    task: Task,
    old: Amount,
    sizing: Sizing,
    /// Bytes that mutators may take before the next collection.
    area: Bytes,
    /// `-DI`: pauses mark this much, and no thread does.
    slice: Option<Words>,
}

/// What a pause does: a minor collection, and so many words of a cycle; or it collects everything.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    Begin,
    Mark(Words),
    Everything,
}

/// What the thread takes between pauses, and the collector in them.
#[derive(Default)]
struct Shared {
    snapshot: Mutex<Option<Snapshot>>,
    /// Only a pause can mark more.
    is_dry: AtomicBool,
}

/// The old closures when a cycle began: their marks, the trace, and what it has marked.
type Snapshot = (SnapshotMarks<MarkBits, Arc<MarkBits>>, SlicedTrace, Amount);

impl Background for Shared {
    fn work(&self, stop: &Stop, helpers: &mut Helpers) -> Worked {
        let mut shared = self.snapshot.lock().expect("sound");
        let (marks, trace, mut marked) = shared.take().expect("the pause left it");
        let (trace, found) = trace.advance_concurrently(&marks, stop, helpers);
        marked += &found;
        let is_over = trace.is_dry();
        *shared = Some((marks, trace, marked));
        Worked {
            phase: Phase::Marked,
            closures: found.closures,
            is_over,
        }
    }

    fn over(&self) {
        self.is_dry.store(true, Relaxed);
    }
}

// SAFETY: a minor collection marks all young closures that roots or remembered slots lead to. A cycle
// marks what was reachable when it began: the barrier notes what is overwritten, and what becomes old
// meanwhile gets a mark in both tables. Only memory without marks is handed out or freed.
unsafe impl Collector for PlainConcurrent {
    const DESCRIPTION: Description = Description {
        name: "plain-concurrent",
        summary: "marks old closures while the program runs, and moves nothing",
        moves: false,
        parallel: false,
        generations: (2, 2),
        honours: &[&[Parameter::AllocationArea], SIZING, GENERATIONS, SLICES],
    };
    type Barrier = GenerationalBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let sizing = Sizing::new(config, heap, MajorStrategy::InPlace);
        Ok(PlainConcurrent {
            lines: LineSpace::new(FIRST_OLD_STEP, config.capabilities as usize),
            large: LargeObjects::new(FIRST_OLD_STEP),
            marks: Arc::new(MarkBits::new(heap)?),
            spare: Some(MarkBits::beside_another(heap)?),
            shared: Arc::default(),
            task: Task::Mark(Words(0)),
            old: Amount::default(),
            area: sizing.first_area()?,
            sizing,
            slice: config.slice_limit,
        })
    }
}

impl Collect for PlainConcurrent {
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
        const LAST: Words = Words(1 << 15);
        let limited = |words: Words| words.min(self.slice.unwrap_or(words));
        let is_marking = self.spare.is_none();
        self.task = match cause.request() {
            Some(Request::Cycle) if is_marking => Task::Mark(Words(usize::MAX)),
            Some(Request::Slice(_)) if !is_marking => Task::Begin,
            Some(Request::Slice(words)) => Task::Mark(limited(words)),
            _ if cause.forces_major() || self.sizing.is_urgent() => Task::Everything,
            _ if is_marking && (self.slice.is_some() || self.shared.is_dry.load(Relaxed)) => Task::Mark(limited(LAST)),
            _ if !is_marking && self.old.bytes() > self.sizing.old_limit() => Task::Begin,
            _ => Task::Mark(Words(0)),
        };
        let major = matches!(self.task, Task::Everything | Task::Mark(Words(usize::MAX)));
        Some(Due {
            generation: u32::from(major),
            major,
        })
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Outcome, NotBegun> {
        self.shared.is_dry.store(false, Relaxed);
        let snapshot = self.shared.snapshot.lock().expect("sound").take();
        let (marked, cycle, in_slice) = match (self.task, snapshot) {
            (Task::Everything, snapshot) => (self.everything(pause, snapshot), Cycle::Whole, Words(0)),
            (Task::Begin, _) => self.begin(pause),
            (Task::Mark(budget), Some(snapshot)) => self.advance(pause, snapshot, budget),
            (Task::Mark(_), None) => (self.promote(pause, None), Cycle::None, Words(0)),
        };
        if self.spare.is_none() && self.slice.is_none() {
            pause.background.start(Arc::clone(&self.shared) as Arc<dyn Background>);
        } else {
            pause.background.give_up();
        }
        let held = self.lines.held() + self.large.held();
        let mut outcome = marked.outcome(held);
        let work = &mut outcome.work;
        (work.cycle, work.generation) = (cycle, u32::from(cycle != Cycle::None));
        (work.live, work.large) = (self.old.bytes(), self.old.large.to_bytes());
        work.slop = held - work.live;
        work.marked = cycle.is_slice().then(|| in_slice.to_bytes());
        if let Some(area) = self.sizing.after_in_place(pause, &mut outcome) {
            self.area = area;
        }
        Ok(outcome)
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.lines.for_each_region(&self.marks, capabilities, visit);
        self.large.for_each_region(visit);
    }
}

impl PlainConcurrent {
    fn is_due(&self) -> bool {
        let taken = self.lines.taken() + self.large.taken();
        taken >= self.area || self.shared.is_dry.load(Relaxed) && taken > Bytes::ZERO
    }

    /// A minor collection. What becomes old gets a mark in `also`, too.
    fn promote(&mut self, pause: &mut Pause<'_, Bump>, also: Option<&MarkBits>) -> Marked {
        let marks = exclusive(&mut self.marks);
        self.lines.leave(marks, pause.capabilities);
        pause.events.phase(Phase::Condemned);
        let both = BothMarks(marks, also.unwrap_or(marks), ());
        let mut marker = Marker::new(pause.heap, &both);
        trace::live_and_remembered(&mut marker, pause.capabilities, pause.roots, pause.events.phases());
        let promoted = marker.finish();
        self.old += &promoted;
        self.lines.sweep_young(pause.heap, marks);
        self.large.sweep_young(pause.heap, marks);
        pause.events.phase(Phase::Released);
        promoted
    }

    /// A minor collection, after which a cycle begins: marks the referents of roots.
    fn begin(&mut self, pause: &mut Pause<'_, Bump>) -> (Marked, Cycle, Words) {
        let promoted = self.promote(pause, None);
        self.set_in_snapshot(pause.heap, true);
        let spare = self.spare.take().expect("no cycle is under way");
        let marks = SnapshotMarks::new(pause.heap, spare, Arc::clone(&self.marks));
        let (trace, found) = SlicedTrace::begin(pause, &marks);
        *self.shared.snapshot.lock().expect("sound") = Some((marks, trace, Amount::from(&found)));
        (promoted, Cycle::Began, found.words)
    }

    /// A minor collection while a snapshot is marked. If nothing is left to mark, the cycle ends.
    fn advance(&mut self, pause: &mut Pause<'_, Bump>, snapshot: Snapshot, budget: Words) -> (Marked, Cycle, Words) {
        let (marks, trace, mut marked) = snapshot;
        // The notes come first: a minor collection frees young closures.
        let (trace, noted) = trace.note_overwritten(pause, &marks);
        let marks = marks.into_marks();
        let promoted = self.promote(pause, Some(&marks));
        marked += &noted;
        marked += &promoted;
        let marks = SnapshotMarks::new(pause.heap, marks, Arc::clone(&self.marks));
        let (left, found) = trace.advance(pause, &marks, budget);
        pause.events.phase(Phase::Marked);
        marked += &found;
        if let Some(trace) = left {
            *self.shared.snapshot.lock().expect("sound") = Some((marks, trace, marked));
            return (promoted, Cycle::Continued, noted.words + found.words);
        }
        self.set_in_snapshot(pause.heap, false);
        let marks = marks.into_marks();
        let former = std::mem::replace(exclusive(&mut self.marks), marks);
        self.spare = Some(self.cleared(former));
        self.old = marked;
        self.sweep(pause);
        (promoted, Cycle::Ended, noted.words + found.words)
    }

    /// Collects everything. A cycle is given up.
    fn everything(&mut self, pause: &mut Pause<'_, Bump>, snapshot: Option<Snapshot>) -> Marked {
        if let Some((marks, trace, _)) = snapshot {
            trace.abandon(pause);
            self.set_in_snapshot(pause.heap, false);
            self.spare = Some(self.cleared(marks.into_marks()));
        }
        let marks = exclusive(&mut self.marks);
        self.lines.condemn(marks, pause.capabilities);
        self.large.condemn(marks);
        let sets = pause.capabilities.iter().map(Capability::remembered);
        sets.for_each(|set| set.take(|_| ()));
        pause.events.phase(Phase::Condemned);
        let mut marker = Marker::new(pause.heap, marks);
        trace::live(&mut marker, pause.roots, pause.events.phases());
        let marked = marker.finish();
        self.old = Amount::from(&marked);
        self.sweep(pause);
        marked
    }

    /// Frees what has no mark.
    fn sweep(&mut self, pause: &mut Pause<'_, Bump>) {
        let marks = exclusive(&mut self.marks);
        let in_lines = (self.old.words - self.old.large).to_bytes();
        self.lines.sweep(pause.heap, marks, in_lines);
        self.large.sweep(pause.heap, marks);
        pause.events.phase(Phase::Released);
    }

    /// Clears a table. The blocks with marks are not freed yet.
    fn cleared(&self, mut marks: MarkBits) -> MarkBits {
        self.lines.for_each_marked_block(|from, to| marks.clear(from, to));
        let mut clear = |region: Region| marks.clear(region.start, region.start + Words(1));
        self.large.for_each_region(&mut clear);
        marks
    }

    /// Turns on or off the notes of what stores to old closures overwrite.
    fn set_in_snapshot(&self, heap: &mut Heap, yes: bool) {
        self.lines.set_in_snapshot(heap, yes);
        self.large.set_in_snapshot(heap, yes);
    }
}

/// The marks, in a pause: the thread is parked, and nobody else has them.
fn exclusive(marks: &mut Arc<MarkBits>) -> &mut MarkBits {
    Arc::get_mut(marks).expect("the marker has given them back")
}

/// `-DI` instead of the thread: each fault of a cycle repeats.
#[test]
fn closures_hidden_during_marking_survive() {
    gclab_proof::slices::slices::<PlainConcurrent>();
}

#[test]
fn cycles_begin_and_end_unasked() {
    gclab_proof::slices::cycles::<PlainConcurrent>();
}
