//! A collector that works in slices, between which the program runs: a nursery whose survivors are
//! promoted at once, and an old space that is marked from a snapshot and swept, a little in each
//! pause. It is as small as core's interface allows, and tests that interface.

mod cycles;
mod old;

use gclab_core::block::{OutOfMemory, Region};
use gclab_core::collector::{
    Bump, Capabilities, Capability, Cause, Collect, Collector, Cycle, Description, Due, GenerationalBarrier, NotBegun,
    Outcome, Pause, Refill, Request, SnapshotBarrier, Work,
};
use gclab_core::config::{AREA, Config, GENERATIONS, SIZING, SLICES};
use gclab_core::events::Phase;
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::mutant;
use gclab_core::sizing::{Live, MajorStrategy, Sizing};
use gclab_core::space::Nursery;
use gclab_core::trace::{self, Amount, Marked, Marker, SlicedTrace};
use gclab_core::words::{Addr, Bytes, Words};
use old::Old;

/// The work of a slice, in words, unless `-DI` lowers it.
const SLICE: Words = Words(2000);

/// A budget without limit.
const ALL: Words = Words(usize::MAX);

/// How far the cycle has come.
enum Stage {
    Idle,
    Marking(SlicedTrace),
    Sweeping,
}

/// What a pause does besides a minor collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Nothing,
    Slice(Words),
    /// The rest of the cycle, or a whole cycle.
    Cycle,
    /// The rest of the cycle, and then a whole cycle.
    Everything,
}

/// A nursery, and an old space that is collected in slices.
pub(crate) struct Sliced {
    nursery: Nursery,
    old: Old,
    stage: Stage,
    task: Task,
    /// The work of each slice, in words, on top of the words promoted; so cycles end.
    slice: Words,
    /// All closures of the old space, except known garbage.
    live: Amount,
    /// The ones marked in the current cycle.
    marked: Amount,
    sizing: Sizing,
    is_urgent: bool,
}

// SAFETY: a minor collection copies everything reachable from roots and remembered slots. A cycle
// marks all closures reachable when it starts, and those promoted in the meantime; the barrier
// records what is overwritten in the meantime. Only unmarked closures are freed.
unsafe impl Collector for Sliced {
    const DESCRIPTION: Description = Description {
        name: "sliced",
        summary: "marks and sweeps old closures in slices",
        moves: true,
        parallel: false,
        generations: (2, 2),
        honours: &[AREA, SIZING, GENERATIONS, SLICES],
    };
    type Barrier = SnapshotBarrier<GenerationalBarrier>;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let mut sizing = Sizing::new(config, heap, MajorStrategy::InPlace);
        Ok(Sliced {
            nursery: sizing.nursery(heap, config)?,
            old: Old::new(heap)?,
            stage: Stage::Idle,
            task: Task::Nothing,
            slice: config.slice_limit.unwrap_or(SLICE),
            live: Amount::default(),
            marked: Amount::default(),
            sizing,
            is_urgent: false,
        })
    }
}

impl Collect for Sliced {
    type Alloc = Bump;

    fn refill(&mut self, heap: &mut Heap, capability: Capability<'_, Bump>, _: Words) -> Result<Refill, OutOfMemory> {
        Ok(self.nursery.refill(heap, capability))
    }

    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        self.nursery.allocate_large(heap, request)
    }

    fn due(&mut self, cause: Cause, _: Capabilities<'_, Bump>) -> Option<Due> {
        self.task = match cause.request() {
            _ if self.is_urgent => Task::Everything,
            None | Some(Request::Minor) if !self.slice_is_due() => Task::Nothing,
            None | Some(Request::Minor | Request::Slice(Words(0))) => Task::Slice(self.slice),
            Some(Request::Slice(words)) => Task::Slice(words.min(self.slice)),
            Some(Request::Cycle) => Task::Cycle,
            Some(Request::Full | Request::Compact) => Task::Everything,
        };
        Some(Due {
            generation: u32::from(self.task != Task::Nothing),
            major: matches!(self.task, Task::Cycle | Task::Everything),
        })
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Outcome, NotBegun> {
        let promoted = self.promote(pause)?;
        let was_idle = self.is_idle();
        let (mut marked, mut swept) = (Words(0), Bytes::ZERO);
        let mut advance = |this: &mut Self, budget| {
            let (words, bytes) = this.advance(pause, budget);
            marked += words;
            swept += bytes;
        };
        let cycle = match self.task {
            Task::Nothing => Cycle::None,
            Task::Slice(words) => {
                advance(self, promoted.words + words);
                match (was_idle, self.is_idle()) {
                    (true, _) => Cycle::Began,
                    (false, true) => Cycle::Ended,
                    (false, false) => Cycle::Continued,
                }
            }
            Task::Cycle | Task::Everything => {
                let again = was_idle || self.task == Task::Everything;
                while !self.is_idle() {
                    advance(self, ALL);
                }
                if again {
                    advance(self, ALL);
                }
                while !self.is_idle() {
                    advance(self, ALL);
                }
                if again { Cycle::Whole } else { Cycle::Ended }
            }
        };
        let work = Work {
            generation: u32::from(cycle != Cycle::None),
            cycle,
            copied: promoted.moved.to_bytes(),
            marked: cycle.is_slice().then(|| marked.to_bytes()),
            swept: cycle.is_slice().then_some(swept),
            counted: promoted.counted,
            ..Work::default()
        };
        Ok(self.outcome(pause, work))
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.nursery.for_each_region(capabilities, visit);
        self.old.for_each_region(visit);
    }
}

impl Sliced {
    fn is_idle(&self) -> bool {
        matches!(self.stage, Stage::Idle)
    }

    fn slice_is_due(&self) -> bool {
        !self.is_idle() || self.live.words.to_bytes() > self.sizing.old_limit()
    }

    /// A minor collection: promotes everything live in the nursery.
    fn promote(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Marked, NotBegun> {
        self.nursery.leave(pause.capabilities);
        let room = self.old.room(pause.heap, self.nursery.words()).map_err(NotBegun)?;
        let black = matches!(self.stage, Stage::Marking(_)) && !mutant!("sliced/promoted-white");
        let table = self.old.promotion(black);
        let mut marker = Marker::moving(pause.heap, &table, &room);
        pause.events.phase(Phase::Condemned);
        trace::live_and_remembered(&mut marker, pause.capabilities, pause.roots, pause.events.phases());
        let promoted = marker.finish();
        self.live += &promoted;
        if black {
            self.marked += &promoted;
        }
        let large = self.nursery.reset();
        self.old.promoted(pause.heap, room, large);
        Ok(promoted)
    }

    /// The next slice of the cycle, or the first slice of another. Returns the words marked and the
    /// bytes swept.
    fn advance(&mut self, pause: &mut Pause<'_, Bump>, budget: Words) -> (Words, Bytes) {
        let (mut words, mut swept) = (Words(0), Bytes::ZERO);
        self.stage = match std::mem::replace(&mut self.stage, Stage::Idle) {
            Stage::Idle => {
                let (trace, marked) = SlicedTrace::begin(pause, &self.old.marks);
                self.marked = Amount::from(&marked);
                words = marked.words;
                Stage::Marking(trace)
            }
            Stage::Marking(trace) => {
                let (left, marked) = trace.advance(pause, &self.old.marks, budget);
                self.marked += &marked;
                words = marked.words;
                match left {
                    Some(left) => Stage::Marking(left),
                    None => {
                        self.old.begin_sweep(pause.heap);
                        self.live = self.marked;
                        Stage::Sweeping
                    }
                }
            }
            Stage::Sweeping => {
                swept = self.old.sweep(pause.heap, budget);
                pause.events.phase(Phase::Released);
                if self.old.is_swept() {
                    Stage::Idle
                } else {
                    Stage::Sweeping
                }
            }
        };
        (words, swept)
    }

    /// The outcome of a pause that did this `work`, and the limits until the next one.
    fn outcome(&mut self, pause: &mut Pause<'_, Bump>, work: Work) -> Outcome {
        let live = self.live.words.to_bytes();
        let mut outcome = Outcome::from(Work {
            live,
            large: self.live.large.to_bytes(),
            slop: Bytes(self.old.held().0 - live.0),
            ..work
        });
        // Small holes are lost.
        let live = Live {
            slop: outcome.work.slop,
            ..Live::in_place(&outcome.work)
        };
        self.sizing.after(pause, &mut outcome, &mut self.nursery, live);
        self.is_urgent = self.sizing.major_is_urgent(live, &self.nursery);
        outcome
    }
}

#[test]
fn slices_agree_with_a_plain_heap() {
    gclab_proof::random_programs::<Sliced>();
}

#[test]
fn every_workload_has_its_checksum() {
    gclab_proof::workloads::<Sliced, gclab_workloads::All>();
}
