//! Collectors that mark their old generation concurrently: `concurrent`, `lxr` and `nonmoving`.
//!
//! A *cycle* begins at the end of a minor collection, when the nursery is empty. Its *snapshot* is
//! everything that the roots lead to then. The background thread marks it in a second table, while
//! the program runs and minor collections go on; these leave old closures in place. The barrier
//! notes the pointers that the program overwrites in the snapshot, and each minor collection hands
//! them to the marker before anything moves. What is promoted meanwhile gets a mark in both tables.
//!
//! When nothing is left, the next pause ends the cycle: it marks what was overwritten last, unless
//! that is much, finds the dead among finalisers and weak handles, and makes the second table the
//! sticky marks. Memory without marks is free from then on, and some spaces empty a few blocks: the
//! marker records the slots that lead into them. The background thread then clears the other table.
//!
//! A cycle begins halfway between the live memory and its limit (`-F`). If the old closures reach
//! the limit first, minor collections mark as well, the more they promote. If memory is short, the
//! program requests a collection, or the blocks are mostly holes when a cycle is due, everything is
//! collected in one pause. A cycle under way is abandoned then.
//!
//! Between cycles the background thread of `lxr` buries dead closures ([`Burial`]).
//!
//! The spaces of a collector are its [`Generations`].

use gclab_core::block::{OutOfMemory, Region, Units};
use gclab_core::collector::{
    Bump, Capabilities, Capability, Cause, Collect, Collector, Cycle, Description, Due, GenerationalBarrier, NotBegun,
    Outcome, Pause, Refill, Request, Work,
};
use gclab_core::config::{Config, OwnFlag};
use gclab_core::events::Phase;
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::mutant;
use gclab_core::space::{Burial, Ledger, MarkBits, Record, SnapshotMarks};
use gclab_core::trace::{Amount, Marked, SlicedTrace};
use gclab_core::words::{Addr, Bytes, Words};
use gclab_core::workers::{Background, Helpers, Stop, Worked};
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// A nursery, and an old generation whose closures stay where they are: the spaces of a collector
/// that marks concurrently. The methods of pauses are called with the nursery's allocators stopped.
///
/// # Safety
/// [`Generations::promote`] and [`Generations::everything`] keep all closures that are reachable, in
/// memory whose marks say so, and hand out or free only memory without marks.
pub unsafe trait Generations: Debug + Sized + Send + 'static {
    /// What markers do with the slots that they scan while a snapshot is marked.
    type Recorder: Record + Debug + Send + 'static;

    /// Of the collector.
    const DESCRIPTION: Description;

    /// Empty generations.
    ///
    /// # Errors
    /// If the heap has no memory for them.
    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory>;

    /// As [`Collect::refill`].
    ///
    /// # Errors
    /// If there is no memory.
    fn refill(
        &mut self,
        heap: &mut Heap,
        capability: Capability<'_, Bump>,
        words: Words,
    ) -> Result<Refill, OutOfMemory>;

    /// As [`Collect::allocate_large`].
    ///
    /// # Errors
    /// If there is no memory.
    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory>;

    /// Whether mutators have taken memory since the last collection.
    fn has_allocated(&self) -> bool;

    /// Whether a minor collection may leave too little memory.
    fn is_urgent(&self) -> bool;

    /// The bytes of old closures that a cycle may not exceed.
    fn old_limit(&self) -> Bytes;

    /// Whether the memory of `old` bytes of old closures is mostly holes, which a collection of
    /// everything would close.
    fn is_fragmented(&self, old: Bytes) -> bool;

    /// Bytes of all memory but the nursery.
    fn held(&self) -> Bytes;

    /// Ensures that the collection that begins has room for survivors.
    ///
    /// # Errors
    /// If it has not. Never, if the nursery is empty.
    fn prepare(&mut self, pause: &mut Pause<'_, Bump>) -> Result<(), NotBegun>;

    /// Makes the live young closures old, and marks them; in `also`, too. Returns them.
    fn promote(&mut self, pause: &mut Pause<'_, Bump>, also: Option<&MarkBits>) -> Marked;

    /// Called at the end of a pause, unless a snapshot is being marked. Returns the dead old closures for the
    /// background thread to bury ([`References`](gclab_core::space::References)), if any.
    fn burial(&mut self, heap: &Heap) -> Option<Burial> {
        let _ = heap;
        None
    }

    /// Called first in the next pause, whether or not the burial is over: clears the marks of what was buried.
    fn end_burial(&mut self, burial: Burial) {
        let _ = burial;
    }

    /// Called straight after a promotion: frees the memory of what was buried. Returns what that was.
    fn sweep_buried(&mut self, heap: &mut Heap) -> Amount {
        let _ = heap;
        Amount::default()
    }

    /// Clears all marks, and collects everything. Returns what lives.
    fn everything(&mut self, pause: &mut Pause<'_, Bump>) -> Marked;

    /// The marks of old closures, for a concurrent marker. A pause needs them back.
    fn marks(&self) -> Arc<MarkBits>;

    /// For a concurrent marker, and for what promotes meanwhile.
    fn recorder(&self) -> Self::Recorder;

    /// Turns on or off the recording of values that stores to old closures overwrite. Straight
    /// after it is turned on, a cycle begins.
    fn set_in_snapshot(&mut self, heap: &mut Heap, yes: bool);

    /// The memory that may have marks.
    fn marked_memory(&self) -> Vec<(Addr, Addr)>;

    /// Frees the old closures that are unmarked in `marks`, straight after a promotion: `live` bytes
    /// outside large objects are marked. Returns the former marks, and the words that moved.
    fn sweep_old(&mut self, pause: &mut Pause<'_, Bump>, marks: MarkBits, live: Bytes) -> (MarkBits, Words);

    /// At the end of a pause, sets the limits for the next one.
    fn after(&mut self, pause: &mut Pause<'_, Bump>, outcome: &mut Outcome);

    /// As [`Collect::for_each_region`].
    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region));

    /// As [`Collect::for_each_units`].
    fn for_each_units(&self, visit: &mut dyn FnMut(Units));

    /// As [`Collect::ledger`].
    fn ledger(&self) -> Option<Ledger<'_>> {
        None
    }

    /// As [`Collect::figures`].
    fn figures(&self, figure: &mut dyn FnMut(&'static str, u64)) {
        let _ = figure;
    }

    /// As [`Collect::step_names`].
    fn step_names() -> &'static [&'static str];
}

/// The marks of [`Generations`], in a pause: nothing else uses them.
pub(crate) fn exclusive(marks: &mut Arc<MarkBits>) -> &mut MarkBits {
    Arc::get_mut(marks).expect("the background thread is parked, and has given the marks back")
}

/// A collector that marks the old generation of `G` concurrently.
#[derive(Debug)]
pub struct ConcurrentMarking<G: Generations> {
    generations: G,
    shared: Arc<SharedStage<G::Recorder>>,
    task: Task,
    /// All old closures, and those that the last cycle found.
    old: Amount,
    live: Bytes,
    /// `-DI`: the program's thread marks as many words in each pause, and no other thread does.
    slice: Option<Words>,
}

/// The number of threads that mark concurrently.
pub(crate) const MARKERS: OwnFlag = OwnFlag {
    name: "markers",
    meaning: "threads that mark beside the program",
    default: 1,
    least: 1,
    most: 256,
};

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
struct SharedStage<R> {
    stage: Mutex<Option<Stage<R>>>,
    /// The burial until the next pause. None while a snapshot is marked.
    burial: Mutex<Option<Burial>>,
    /// A pause is to end the cycle.
    is_dry: AtomicBool,
    /// Threads that mark.
    markers: usize,
}

/// What the second table is in use for.
#[derive(Debug)]
enum Stage<R> {
    /// Nothing: it is clear.
    Idle(MarkBits),
    /// Marking a snapshot.
    Marking(Box<Snapshot<R>>),
    /// It is being cleared: this memory is left.
    Clearing(MarkBits, Vec<(Addr, Addr)>),
}

/// A snapshot that is being marked.
#[derive(Debug)]
struct Snapshot<R> {
    marks: SnapshotMarks<MarkBits, Arc<MarkBits>, R>,
    trace: SlicedTrace,
    marked: Amount,
    /// Bytes that became old meanwhile, which are marked, too.
    newer: Bytes,
}

impl<R> SharedStage<R> {
    fn take(&self) -> Stage<R> {
        self.stage.lock().ok().and_then(|mut stage| stage.take()).expect(THERE)
    }

    fn put(&self, stage: Stage<R>) {
        *self.stage.lock().expect(THERE) = Some(stage);
    }
}

/// Whoever takes the stage puts one back before the other may look.
const THERE: &str = "a stage is there";

impl<R: Record> Stage<R> {
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
    fn advance(self, stop: &Stop, helpers: &mut Helpers) -> (Self, u64) {
        match self {
            Stage::Marking(snapshot) => {
                let mut snapshot = *snapshot;
                let (trace, marked) = snapshot.trace.advance_concurrently(&snapshot.marks, stop, helpers);
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

impl<R: Record + Debug + Send> Background for SharedStage<R> {
    fn work(&self, stop: &Stop, helpers: &mut Helpers) -> Worked {
        let stage = self.take();
        let phase = if matches!(stage, Stage::Marking(_)) {
            Phase::Marked
        } else {
            Phase::Released
        };
        let (stage, closures) = stage.advance(stop, helpers);
        // The next cycle needs a clear table, so that comes first.
        let mut burial = self.burial.lock().expect(THERE);
        if let Some(burial) = &mut *burial
            && !stop.is_asked()
        {
            burial.advance(|_| !stop.is_asked());
        }
        let is_over =
            (stage.is_dry() || matches!(stage, Stage::Idle(_))) && burial.as_ref().is_none_or(Burial::is_over);
        self.put(stage);
        Worked {
            phase,
            closures,
            is_over,
        }
    }

    fn threads(&self) -> usize {
        self.markers
    }

    fn over(&self) {
        let stage = self.stage.lock().expect(THERE);
        self.is_dry.store(stage.as_ref().is_some_and(Stage::is_dry), Relaxed);
    }
}

// SAFETY: a minor collection is that of the generations, and marks what it promotes in both tables. A
// cycle marks all closures that were reachable when it began; until it is over, they neither move
// nor leave. The barrier notes what is overwritten in the meantime, which is marked before the cycle
// ends.
unsafe impl<G: Generations> Collector for ConcurrentMarking<G> {
    const DESCRIPTION: Description = G::DESCRIPTION;
    type Barrier = GenerationalBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        // All tables come before the nursery, which is sized for what is left.
        let marks = MarkBits::beside_another(heap)?;
        Ok(ConcurrentMarking {
            generations: G::new(heap, config)?,
            shared: Arc::new(SharedStage {
                stage: Mutex::new(Some(Stage::Idle(marks))),
                burial: Mutex::new(None),
                is_dry: AtomicBool::new(false),
                markers: MARKERS.of(config) as usize,
            }),
            task: Task::Minor,
            old: Amount::default(),
            live: Bytes::ZERO,
            slice: config.slice_limit,
        })
    }
}

impl<G: Generations> Collect for ConcurrentMarking<G> {
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
        self.generations.refill(heap, capability, words)
    }

    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        if self.wants_pause() {
            return Ok(None);
        }
        self.generations.allocate_large(heap, request)
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
        self.generations.prepare(pause)?;
        let burial = self.shared.burial.lock().expect(THERE).take();
        if let Some(mut burial) = burial {
            if let Some(Words(mut left)) = self.slice.filter(|_| self.task != Task::Everything) {
                burial.advance(|read| {
                    left = left.saturating_sub(read);
                    left > 0
                });
            }
            self.generations.end_burial(burial);
        }
        let stage = self.shared.take();
        let (mut stage, mut outcome) = if self.task == Task::Everything {
            self.everything(pause, stage)
        } else {
            self.minor(pause, stage)
        };
        self.generations.after(pause, &mut outcome);
        if outcome.exhausted.is_some() && outcome.work.cycle != Cycle::Whole {
            // There is no room to promote another nursery. This one is empty, so marking needs none.
            let copied = outcome.work.copied;
            self.generations.prepare(pause).expect("nothing has to move");
            (stage, outcome) = self.everything(pause, stage);
            outcome.work.copied += copied;
            self.generations.after(pause, &mut outcome);
        }
        let stage = if self.slice.is_some() && matches!(stage, Stage::Clearing(..)) {
            Stage::Idle(stage.cleared())
        } else {
            stage
        };
        let burial = if matches!(stage, Stage::Marking(_)) {
            None
        } else {
            self.generations.burial(pause.heap)
        };
        let is_over = burial.is_none() && (stage.is_dry() || matches!(stage, Stage::Idle(_)));
        *self.shared.burial.lock().expect(THERE) = burial;
        if self.slice.is_none() && !is_over {
            pause.background.start(Arc::clone(&self.shared) as Arc<dyn Background>);
        }
        self.shared.is_dry.store(stage.is_dry(), Relaxed);
        self.shared.put(stage);
        Ok(outcome)
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.generations.for_each_region(capabilities, visit);
    }

    fn for_each_units(&self, visit: &mut dyn FnMut(Units)) {
        self.generations.for_each_units(visit);
    }

    fn figures(&self, figure: &mut dyn FnMut(&'static str, u64)) {
        self.generations.figures(figure);
    }

    fn ledger(&self) -> Option<Ledger<'_>> {
        self.generations.ledger()
    }

    fn step_names(&self) -> &'static [&'static str] {
        G::step_names()
    }
}

impl<G: Generations> ConcurrentMarking<G> {
    /// Whether a pause can end the cycle, and need not wait for the nursery to be full.
    fn wants_pause(&self) -> bool {
        self.shared.is_dry.load(Relaxed) && self.slice.is_none() && self.generations.has_allocated()
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
            _ if cause.forces_major() || self.generations.is_urgent() => Task::Everything,
            _ if is_marking && let Some(words) = self.slice => Task::Mark(words),
            _ if is_marking && self.old.bytes() > self.generations.old_limit() => Task::Assist,
            _ if is_marking && stage.is_dry() => Task::Mark(LAST),
            _ if is_marking => Task::Minor,
            _ if self.generations.is_fragmented(self.old.bytes()) => Task::Everything,
            // If the thread has not come to clearing the table, the pause does it.
            _ if is_idle && self.old.bytes() > self.begins_at() || self.old.bytes() > self.generations.old_limit() => {
                Task::Begin
            }
            _ => Task::Minor,
        }
    }

    /// The bytes of old closures at which a cycle begins.
    fn begins_at(&self) -> Bytes {
        let limit = self.generations.old_limit();
        Bytes(self.live.0 + limit.saturating_sub(self.live).0 / 2)
    }

    /// Collects everything. A cycle is abandoned.
    fn everything(&mut self, pause: &mut Pause<'_, Bump>, stage: Stage<G::Recorder>) -> (Stage<G::Recorder>, Outcome) {
        let stage = match stage {
            Stage::Marking(snapshot) => {
                let Snapshot { marks, trace, .. } = *snapshot;
                trace.abandon(pause);
                self.generations.set_in_snapshot(pause.heap, false);
                let memory =
                    mutant!("concurrent/abandoned-not-cleared", self.generations.marked_memory() => Vec::new());
                Stage::Clearing(marks.into_marks(), memory)
            }
            stage => stage,
        };
        let marked = self.generations.everything(pause);
        self.old = Amount::from(&marked);
        self.live = self.old.bytes();
        let outcome = self.outcome(&marked, Cycle::Whole, None);
        (stage, outcome)
    }

    /// A minor collection, and a part of a cycle.
    fn minor(&mut self, pause: &mut Pause<'_, Bump>, stage: Stage<G::Recorder>) -> (Stage<G::Recorder>, Outcome) {
        match stage {
            Stage::Marking(snapshot) => self.minor_while_marking(pause, *snapshot),
            stage => {
                let promoted = self.generations.promote(pause, None);
                self.old += &promoted;
                self.old -= self.generations.sweep_buried(pause.heap);
                if self.task != Task::Begin {
                    return (stage, self.outcome(&promoted, Cycle::None, None));
                }
                let (stage, marked) = self.begin(pause, stage.cleared());
                (stage, self.outcome(&promoted, Cycle::Began, Some(marked)))
            }
        }
    }

    /// A minor collection while a snapshot is marked, and a part of that.
    fn minor_while_marking(
        &mut self,
        pause: &mut Pause<'_, Bump>,
        snapshot: Snapshot<G::Recorder>,
    ) -> (Stage<G::Recorder>, Outcome) {
        let Snapshot {
            marks,
            trace,
            mut marked,
            mut newer,
        } = snapshot;
        let (trace, noted) = trace.note_overwritten(pause, &marks);
        marked += &noted;
        let marks = marks.into_marks();
        let promoted = self.generations.promote(pause, Some(&marks));
        self.old += &promoted;
        if !mutant!("concurrent/promoted-not-counted") {
            marked += &promoted;
        }
        newer += promoted.words.to_bytes();
        let budget = match self.task {
            Task::Mark(words) => mutant!("concurrent/budget-ignored", words => Words(usize::MAX)),
            Task::Finish => Words(usize::MAX),
            Task::Assist => Words(promoted.words.0 * ASSIST) + ASSIST_LEAST,
            Task::Minor | Task::Begin | Task::Everything => Words(0),
        };
        let marks = self.snapshot_marks(pause.heap, marks);
        let (left, slice) = if budget == Words(0) {
            (Some(trace), Marked::default())
        } else {
            let (left, slice) = match self.task {
                // The thread's part comes first.
                Task::Mark(words) if self.slice.is_some() && !trace.is_dry() => {
                    let (trace, slice) = trace.advance_as_if_concurrently(&marks, words);
                    (Some(trace), slice)
                }
                _ => trace.advance(pause, &marks, budget),
            };
            pause.events.phase(Phase::Marked);
            (left, slice)
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
                self.generations.set_in_snapshot(pause.heap, false);
                let memory = self.generations.marked_memory();
                let live = (marked.words - marked.large).to_bytes();
                let (former, moved) = self.generations.sweep_old(pause, marks.into_marks(), live);
                let memory = mutant!("concurrent/freed-not-cleared", memory => self.generations.marked_memory());
                pause.events.phase(Phase::Released);
                let newer = mutant!("concurrent/newer-counted", newer => Bytes::ZERO);
                (self.old, self.live) = (marked, marked.bytes().saturating_sub(newer));
                let mut outcome = Outcome {
                    newer,
                    ..self.outcome(&promoted, Cycle::Ended, in_slice)
                };
                outcome.work.copied += moved.to_bytes();
                (Stage::Clearing(former, memory), outcome)
            }
        }
    }

    /// Begins a cycle, straight after a minor collection. Returns the bytes that were marked, too.
    fn begin(&mut self, pause: &mut Pause<'_, Bump>, marks: MarkBits) -> (Stage<G::Recorder>, Bytes) {
        if !mutant!("concurrent/snapshot-not-said") {
            self.generations.set_in_snapshot(pause.heap, true);
        }
        let marks = self.snapshot_marks(pause.heap, marks);
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

    /// The marks of the snapshot, in `marks`.
    fn snapshot_marks(&self, heap: &Heap, marks: MarkBits) -> SnapshotMarks<MarkBits, Arc<MarkBits>, G::Recorder> {
        SnapshotMarks::recording(heap, marks, self.generations.marks(), self.generations.recorder())
    }

    /// The outcome of a pause that did this part of a cycle: it marked these young closures, or
    /// everything, and in a slice `in_slice` bytes of old ones.
    fn outcome(&self, marked: &Marked, cycle: Cycle, in_slice: Option<Bytes>) -> Outcome {
        let held = self.generations.held();
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
