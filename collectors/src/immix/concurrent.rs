//! `concurrent`: as `gen-immix`, but old closures are marked concurrently.
//!
//! A *cycle* begins at the end of a minor collection, when the nursery is empty. Its *snapshot* is
//! everything that the roots lead to then. The background thread marks it in a second table, while
//! the program runs and minor collections go on; these leave old closures in place. The barrier
//! notes the pointers that the program overwrites in the snapshot, and each minor collection hands
//! them to the marker before anything moves. What is promoted meanwhile gets a mark in both tables.
//!
//! When nothing is left, the next pause ends the cycle: it marks what was overwritten last, unless
//! that is much, finds the dead among finalisers and weak handles, and makes the second table the
//! sticky marks. Blocks without marks go back to the heap, and holes are found from the marks when
//! they are needed. The background thread then clears the other table.
//!
//! A cycle begins halfway between the live memory and its limit (`-F`). If the old closures reach
//! the limit first, minor collections mark as well, the more they promote. If memory is short, the
//! program asks for it, or the blocks are mostly holes when a cycle is due, everything is collected
//! in one pause. A cycle under way is given up then.
//!
//! Worst-case memory: F × live, with the allocation area, what died since the cycle began, and the
//! holes between old closures, which may take as much again before everything is collected.

use super::spaces::{Marking, Spaces};
use gclab_core::block::{FIRST_OLD_STEP, OutOfMemory, Region, Units};
use gclab_core::collector::{
    Bump, Capabilities, Capability, Cause, Collect, Collector, Cycle, Description, Due, GenerationalBarrier, NotBegun,
    Outcome, Pause, Refill, Request, Work,
};
use gclab_core::config::{Config, GENERATIONS, Parameter, SHARING, SIZING, SLICES};
use gclab_core::events::Phase;
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::mutant;
use gclab_core::sizing::{MajorStrategy, Sizing};
use gclab_core::space::{LineSpace, MarkBits, SnapshotMarks};
use gclab_core::trace::{Amount, Marked, SlicedTrace};
use gclab_core::words::{Addr, Bytes, Words};
use gclab_core::workers::{Background, Stop, Worked};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Concurrent marking, with a nursery.
#[derive(Debug)]
pub struct Concurrent {
    spaces: Spaces,
    sizing: Sizing,
    shared: Arc<SharedStage>,
    task: Task,
    /// All old closures, and those that the last cycle found.
    old: Amount,
    live: Bytes,
    /// `-DI`: the program's thread marks as many words in each pause, and no other thread does.
    slice: Option<Words>,
}

/// Words that the last pause of a cycle marks at most: a fraction of a millisecond.
const LAST: Words = Words(1 << 15);

/// Words that a minor collection marks for each word that it promotes, and in addition, once the old
/// closures have reached their limit.
const ASSIST: usize = 4;
const ASSIST_LEAST: Words = Words(1 << 16);

/// The task of a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    /// A minor collection.
    Minor,
    /// The same, and a cycle begins.
    Begin,
    /// The same, and this much of the cycle's marking, in words.
    Mark(Words),
    /// The same, and the rest of the cycle.
    Finish,
    /// The same, and marking as the old closures have reached their limit.
    Assist,
    /// A collection of everything.
    Everything,
}

/// The stage, which the background thread takes between pauses and the collector in them.
#[derive(Debug)]
struct SharedStage {
    stage: Mutex<Option<Stage>>,
    /// A pause is to end the cycle.
    is_dry: AtomicBool,
}

/// What the second table is in use for.
#[derive(Debug)]
enum Stage {
    /// Nothing: it is clear.
    Idle(MarkBits),
    /// Marking a snapshot.
    Marking(Box<Snapshot>),
    /// It is being cleared: this memory is left.
    Clearing(MarkBits, Vec<(Addr, Addr)>),
}

/// A snapshot that is being marked.
#[derive(Debug)]
struct Snapshot {
    marks: SnapshotMarks<MarkBits, Arc<MarkBits>>,
    trace: SlicedTrace,
    marked: Amount,
    /// Bytes that became old meanwhile, which are marked, too.
    newer: Bytes,
}

impl SharedStage {
    fn take(&self) -> Stage {
        self.stage.lock().ok().and_then(|mut stage| stage.take()).expect(THERE)
    }

    fn put(&self, stage: Stage) {
        *self.stage.lock().expect(THERE) = Some(stage);
    }
}

/// Whoever takes the stage puts one back before the other may look.
const THERE: &str = "a stage is there";

impl Stage {
    /// Whether a pause has to end the cycle.
    fn is_dry(&self) -> bool {
        matches!(self, Stage::Marking(snapshot) if snapshot.trace.is_dry())
    }

    /// The table of a stage without a snapshot, clear.
    fn cleared(self) -> MarkBits {
        match self {
            Stage::Idle(marks) => marks,
            Stage::Clearing(mut marks, left) => {
                let left = left.into_iter().filter(|_| !mutant!("concurrent/clearing-skipped"));
                left.for_each(|(from, to)| marks.clear(from, to));
                marks
            }
            Stage::Marking(_) => unreachable!("a snapshot is being marked"),
        }
    }

    /// Goes on concurrently, until `stop` is asked for. Returns the closures that were marked, too.
    fn advance(self, stop: &Stop) -> (Stage, u64) {
        match self {
            Stage::Marking(snapshot) => {
                let mut snapshot = *snapshot;
                let (trace, marked) = snapshot.trace.advance_concurrently(&snapshot.marks, stop);
                snapshot.marked += &marked;
                (
                    Stage::Marking(Box::new(Snapshot { trace, ..snapshot })),
                    marked.closures,
                )
            }
            Stage::Clearing(mut marks, mut left) => {
                while !stop.is_asked()
                    && let Some((from, to)) = left.pop()
                {
                    if !mutant!("concurrent/marks-not-cleared") {
                        marks.clear(from, to);
                    }
                }
                let stage = if left.is_empty() {
                    Stage::Idle(marks)
                } else {
                    Stage::Clearing(marks, left)
                };
                (stage, 0)
            }
            idle @ Stage::Idle(_) => (idle, 0),
        }
    }
}

impl Background for SharedStage {
    fn work(&self, stop: &Stop) -> Worked {
        let stage = self.take();
        let phase = if matches!(stage, Stage::Marking(_)) {
            Phase::Marked
        } else {
            Phase::Released
        };
        let (stage, closures) = stage.advance(stop);
        let is_over = stage.is_dry() || matches!(stage, Stage::Idle(_));
        self.put(stage);
        Worked {
            phase,
            closures,
            is_over,
        }
    }

    fn over(&self) {
        let stage = self.stage.lock().expect(THERE);
        self.is_dry.store(stage.as_ref().is_some_and(Stage::is_dry), Relaxed);
    }
}

// SAFETY: a minor collection is that of `gen-immix`, and marks what it promotes in both tables. A
// cycle marks all closures that were reachable when it began; until it is over, they neither move
// nor leave. The barrier notes what is overwritten in the meantime, which is marked before the cycle
// ends. Core's spaces hand out and free only memory without marked closures.
unsafe impl Collector for Concurrent {
    const DESCRIPTION: Description = Description {
        name: "concurrent",
        summary: "gen-immix whose old generation is marked concurrently",
        moves: false,
        parallel: true,
        generations: (2, 2),
        honours: &[&[Parameter::AllocationArea], SIZING, GENERATIONS, SHARING, SLICES],
    };
    type Barrier = GenerationalBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let sizing = Sizing::new(config, heap, MajorStrategy::InPlace);
        let lines = LineSpace::with_nursery(FIRST_OLD_STEP, config.capabilities as usize);
        Ok(Concurrent {
            spaces: Spaces::new(heap, config, lines, sizing.first_area()?)?,
            sizing,
            shared: Arc::new(SharedStage {
                stage: Mutex::new(Some(Stage::Idle(MarkBits::beside_another(heap)?))),
                is_dry: AtomicBool::new(false),
            }),
            task: Task::Minor,
            old: Amount::default(),
            live: Bytes::ZERO,
            slice: config.slice_limit,
        })
    }
}

impl Collect for Concurrent {
    type Alloc = Bump;

    fn refill(
        &mut self,
        heap: &mut Heap,
        capability: Capability<'_, Bump>,
        words: Words,
    ) -> Result<Refill, OutOfMemory> {
        if self.wants_pause() {
            return Ok(Refill::Collect);
        }
        self.spaces.refill(heap, capability, words)
    }

    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        if self.wants_pause() {
            return Ok(None);
        }
        self.spaces.allocate_large(heap, request)
    }

    fn due(&mut self, cause: Cause, _: Capabilities<'_, Bump>) -> Option<Due> {
        self.task = self.next_task(cause);
        let major = matches!(self.task, Task::Everything | Task::Finish);
        Some(Due {
            generation: u32::from(major),
            major,
        })
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Outcome, NotBegun> {
        let stage = self.shared.take();
        let (stage, mut outcome) = if self.task == Task::Everything {
            self.everything(pause, stage)
        } else {
            self.minor(pause, stage)
        };
        let stage = if self.slice.is_some() && matches!(stage, Stage::Clearing(..)) {
            Stage::Idle(stage.cleared())
        } else {
            stage
        };
        if self.slice.is_none() && !stage.is_dry() && !matches!(stage, Stage::Idle(_)) {
            pause.background.start(Arc::clone(&self.shared) as Arc<dyn Background>);
        }
        self.shared.is_dry.store(stage.is_dry(), Relaxed);
        self.shared.put(stage);
        if let Some(area) = self.sizing.after_in_place(pause, &mut outcome) {
            self.spaces.set_area(area);
        }
        Ok(outcome)
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.spaces.for_each_region(capabilities, visit);
    }

    fn for_each_units(&self, visit: &mut dyn FnMut(Units)) {
        self.spaces.for_each_units(visit);
    }

    fn step_names(&self) -> &'static [&'static str] {
        &["", "nursery", "old"]
    }
}

impl Concurrent {
    /// Whether a pause can end the cycle, and need not wait for the nursery to be full.
    fn wants_pause(&self) -> bool {
        self.shared.is_dry.load(Relaxed) && self.slice.is_none() && self.spaces.has_lent()
    }

    /// The task of a pause with this cause.
    fn next_task(&self, cause: Cause) -> Task {
        let stage = self.shared.stage.lock().expect(THERE);
        let stage = stage.as_ref().expect(THERE);
        let is_marking = matches!(stage, Stage::Marking(_));
        let is_idle = matches!(stage, Stage::Idle(_));
        let limited = |words: Words| words.min(self.slice.unwrap_or(words));
        match cause.request() {
            Some(Request::Cycle) if is_marking => Task::Finish,
            Some(Request::Slice(_)) if !is_marking => Task::Begin,
            Some(Request::Slice(Words(0))) => Task::Mark(limited(LAST)),
            Some(Request::Slice(words)) => Task::Mark(limited(words)),
            _ if cause.forces_major() || self.sizing.is_urgent() => Task::Everything,
            _ if is_marking && let Some(words) = self.slice => Task::Mark(words),
            _ if is_marking && self.old.bytes() > self.sizing.old_limit() => Task::Assist,
            _ if is_marking && stage.is_dry() => Task::Mark(LAST),
            _ if is_marking => Task::Minor,
            // If the thread has not come to clearing the table, the pause does it.
            _ if is_idle && self.old.bytes() > self.begins_at() || self.old.bytes() > self.sizing.old_limit() => {
                if self.is_fragmented() {
                    Task::Everything
                } else {
                    Task::Begin
                }
            }
            _ => Task::Minor,
        }
    }

    /// The bytes of old closures at which a cycle begins.
    fn begins_at(&self) -> Bytes {
        let limit = self.sizing.old_limit();
        Bytes(self.live.0 + limit.saturating_sub(self.live).0 / 2)
    }

    /// Whether the blocks of old closures are mostly holes, and more than the limit allows twice over.
    fn is_fragmented(&self) -> bool {
        let most = self.sizing.old_limit().max(self.old.bytes());
        self.spaces.held_by_old().0 > most.0 * 2
    }

    /// Collects everything. A cycle is given up.
    fn everything(&mut self, pause: &mut Pause<'_, Bump>, stage: Stage) -> (Stage, Outcome) {
        let stage = match stage {
            Stage::Marking(snapshot) => {
                let Snapshot { marks, trace, .. } = *snapshot;
                trace.abandon(pause);
                self.spaces.set_in_snapshot(pause.heap, false);
                Stage::Clearing(marks.into_marks(), self.spaces.marked_memory())
            }
            stage => stage,
        };
        let marked = self.spaces.mark(pause, Marking::Everything, None);
        self.old = Amount::from(&marked);
        self.live = self.old.bytes();
        let outcome = self.outcome(&marked, Cycle::Whole, None);
        (stage, outcome)
    }

    /// A minor collection, and a part of a cycle.
    fn minor(&mut self, pause: &mut Pause<'_, Bump>, stage: Stage) -> (Stage, Outcome) {
        match stage {
            Stage::Marking(snapshot) => self.minor_while_marking(pause, *snapshot),
            stage => {
                let promoted = self.spaces.mark(pause, Marking::Young, None);
                self.old += &promoted;
                if self.task != Task::Begin {
                    return (stage, self.outcome(&promoted, Cycle::None, None));
                }
                let (stage, marked) = self.begin(pause, stage.cleared());
                (stage, self.outcome(&promoted, Cycle::Began, Some(marked)))
            }
        }
    }

    /// A minor collection while a snapshot is marked, and a part of that.
    fn minor_while_marking(&mut self, pause: &mut Pause<'_, Bump>, snapshot: Snapshot) -> (Stage, Outcome) {
        let Snapshot {
            marks,
            trace,
            mut marked,
            mut newer,
        } = snapshot;
        let (trace, noted) = trace.note_overwritten(pause, &marks);
        marked += &noted;
        let marks = marks.into_marks();
        let promoted = self.spaces.mark(pause, Marking::Young, Some(&marks));
        self.old += &promoted;
        if !mutant!("concurrent/promoted-not-counted") {
            marked += &promoted;
        }
        newer += promoted.words.to_bytes();
        let budget = match self.task {
            Task::Mark(words) => words,
            Task::Finish => Words(usize::MAX),
            Task::Assist => Words(promoted.words.0 * ASSIST) + ASSIST_LEAST,
            Task::Minor | Task::Begin | Task::Everything => Words(0),
        };
        let marks = SnapshotMarks::new(pause.heap, marks, self.spaces.sticky());
        let (left, slice) = if budget > Words(0) {
            let (left, slice) = trace.advance(pause, &marks, budget);
            pause.events.phase(Phase::Marked);
            (left, slice)
        } else {
            (Some(trace), Marked::default())
        };
        marked += &slice;
        let in_slice = Some((noted.words + slice.words).to_bytes());
        match left {
            Some(trace) => {
                let cycle = if budget > Words(0) {
                    Cycle::Continued
                } else {
                    Cycle::None
                };
                let snapshot = Snapshot {
                    marks,
                    trace,
                    marked,
                    newer,
                };
                (
                    Stage::Marking(Box::new(snapshot)),
                    self.outcome(&promoted, cycle, in_slice),
                )
            }
            None => {
                self.spaces.set_in_snapshot(pause.heap, false);
                let memory = self.spaces.marked_memory();
                let in_lines = (marked.words - marked.large).to_bytes();
                let former = self.spaces.sweep_old(pause.heap, marks.into_marks(), in_lines);
                pause.events.phase(Phase::Released);
                (self.old, self.live) = (marked, marked.bytes().saturating_sub(newer));
                let outcome = Outcome {
                    newer,
                    ..self.outcome(&promoted, Cycle::Ended, in_slice)
                };
                (Stage::Clearing(former, memory), outcome)
            }
        }
    }

    /// Begins a cycle, straight after a minor collection. Returns the bytes that were marked, too.
    fn begin(&self, pause: &mut Pause<'_, Bump>, marks: MarkBits) -> (Stage, Bytes) {
        if !mutant!("concurrent/snapshot-not-said") {
            self.spaces.set_in_snapshot(pause.heap, true);
        }
        let marks = SnapshotMarks::new(pause.heap, marks, self.spaces.sticky());
        let (trace, found) = SlicedTrace::begin(pause, &marks);
        let marked = Amount::from(&found);
        let snapshot = Snapshot {
            marks,
            trace,
            marked,
            newer: Bytes::ZERO,
        };
        (Stage::Marking(Box::new(snapshot)), marked.bytes())
    }

    /// The outcome of a pause that did this part of a cycle: it marked these young closures, or
    /// everything, and in a slice `in_slice` bytes of old ones.
    fn outcome(&self, marked: &Marked, cycle: Cycle, in_slice: Option<Bytes>) -> Outcome {
        let held = self.spaces.held();
        let outcome = marked.outcome(held);
        Outcome {
            work: Work {
                generation: u32::from(cycle != Cycle::None),
                cycle,
                live: self.old.bytes(),
                large: self.old.large.to_bytes(),
                slop: held - self.old.bytes(),
                promoted: if cycle == Cycle::Whole {
                    Bytes::ZERO
                } else {
                    marked.words.to_bytes()
                },
                marked: in_slice.filter(|_| cycle.is_slice()),
                swept: cycle.is_slice().then_some(Bytes::ZERO),
                ..outcome.work
            },
            ..outcome
        }
    }
}
