//! A collector that works in slices, between which the program runs: a nursery whose survivors are
//! promoted at once, and an old space that is marked from a snapshot and swept, a little in each
//! pause. It is as small as the seams of core allow, and tests them.

mod old;

use gclab_core::block::{OutOfMemory, Region};
use gclab_core::collector::{
    Bump, Capabilities, Capability, Cause, Collect, Collector, Description, Due, GenerationalBarrier, NotBegun,
    Outcome, Pause, Refill, SnapshotBarrier, Work,
};
use gclab_core::config::{AREA, Config, GENERATIONS, SIZING};
use gclab_core::events::Phase;
use gclab_core::heap::Heap;
use gclab_core::sizing::{Live, MajorStrategy, Sizing, Young};
use gclab_core::space::Nursery;
use gclab_core::trace::{self, Marked, Marker, SlicedTrace};
use gclab_core::words::{Addr, Bytes, Words};
use old::Old;

const IN_PLACE: MajorStrategy = MajorStrategy::InPlace;

/// A cycle of marking and sweeping.
enum Cycle {
    Idle,
    Marking(SlicedTrace),
    Sweeping,
}

/// Words of closures of the old space, and of large ones among them.
#[derive(Debug, Clone, Copy, Default)]
struct Amount {
    words: Words,
    large: Words,
}

impl std::ops::AddAssign<&Marked> for Amount {
    fn add_assign(&mut self, marked: &Marked) {
        self.words += marked.words;
        self.large += marked.large;
    }
}

/// `SLICE`: the words of work in each slice, in addition to the words promoted: so cycles end.
pub(crate) struct Sliced<const SLICE: usize> {
    nursery: Nursery,
    old: Old,
    cycle: Cycle,
    /// All closures of the old space, without those that are known as garbage.
    live: Amount,
    /// Those that are marked in the cycle under way.
    marked: Amount,
    sizing: Sizing,
    old_limit: Bytes,
    is_urgent: bool,
}

// SAFETY: a minor collection copies what roots and remembered slots lead to. A cycle marks all
// closures that roots lead to when it begins, and those promoted meanwhile; the barrier notes what
// is overwritten meanwhile. Only unmarked closures are freed.
unsafe impl<const SLICE: usize> Collector for Sliced<SLICE> {
    const DESCRIPTION: Description = Description {
        name: "sliced",
        summary: "marks and sweeps old closures in slices",
        moves: true,
        parallel: false,
        generations: (2, 2),
        honours: &[AREA, SIZING, GENERATIONS],
    };
    type Barrier = SnapshotBarrier<GenerationalBarrier>;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let mut sizing = Sizing::new(config, heap);
        let old_limit = sizing.old_limit(Bytes::ZERO, IN_PLACE);
        let area = sizing.area(Live::default(), old_limit, IN_PLACE);
        Ok(Sliced {
            nursery: sizing.nursery(heap, config, area, IN_PLACE)?,
            old: Old::new(heap)?,
            cycle: Cycle::Idle,
            live: Amount::default(),
            marked: Amount::default(),
            sizing,
            old_limit,
            is_urgent: false,
        })
    }
}

impl<const SLICE: usize> Collect for Sliced<SLICE> {
    type Alloc = Bump;

    fn refill(&mut self, _: &mut Heap, capability: Capability<'_, Bump>, _: Words) -> Result<Refill, OutOfMemory> {
        Ok(self.nursery.refill(capability))
    }

    fn allocate_large(&mut self, heap: &mut Heap, words: Words) -> Result<Option<Addr>, OutOfMemory> {
        self.nursery.allocate_large(heap, words)
    }

    fn due(&mut self, cause: Cause, _: Capabilities<'_, Bump>) -> Option<Due> {
        let major = cause.forces_major() || self.is_urgent;
        let generation = u32::from(major || self.slice_is_due());
        Some(Due { generation, major })
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Outcome, NotBegun> {
        let (generation, major) = pause.due.map_or((1, true), |due| (due.generation, due.major));
        let promoted = self.promote(pause)?;
        if major {
            while !matches!(self.cycle, Cycle::Idle) {
                self.advance(pause, Words(usize::MAX));
            }
            self.advance(pause, Words(usize::MAX));
            while !matches!(self.cycle, Cycle::Idle) {
                self.advance(pause, Words(usize::MAX));
            }
        } else if generation == 1 {
            self.advance(pause, promoted.words + Words(SLICE));
        }
        Ok(self.outcome(pause, &promoted, (generation, major)))
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.nursery.for_each_region(capabilities, visit);
        self.old.for_each_region(visit);
    }
}

impl<const SLICE: usize> Sliced<SLICE> {
    fn slice_is_due(&self) -> bool {
        !matches!(self.cycle, Cycle::Idle) || self.live.words.to_bytes() > self.old_limit
    }

    /// A minor collection: promotes everything that lives in the nursery.
    fn promote(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Marked, NotBegun> {
        self.nursery.leave(pause.capabilities);
        let room = self.old.room(pause.heap, self.nursery.words()).map_err(NotBegun)?;
        let black = matches!(self.cycle, Cycle::Marking(_));
        let table = self.old.promotion(black);
        let mut marker = Marker::moving(pause.heap, &table, &room);
        pause.events.phase(Phase::Condemned);
        trace::live_and_remembered(&mut marker, pause.capabilities, pause.roots, |phase| {
            pause.events.phase(phase);
        });
        let promoted = marker.finish();
        self.live += &promoted;
        if black {
            self.marked += &promoted;
        }
        let large = self.nursery.reset();
        self.old.promoted(pause.heap, room, large);
        Ok(promoted)
    }

    /// The next slice of the cycle, or the first of another one.
    fn advance(&mut self, pause: &mut Pause<'_, Bump>, budget: Words) {
        self.cycle = match std::mem::replace(&mut self.cycle, Cycle::Idle) {
            Cycle::Idle => {
                let (trace, marked) = SlicedTrace::begin(pause, &self.old.marks);
                self.marked = Amount::default();
                self.marked += &marked;
                Cycle::Marking(trace)
            }
            Cycle::Marking(trace) => {
                let (left, marked) = trace.advance(pause, &self.old.marks, budget);
                self.marked += &marked;
                match left {
                    Some(left) => Cycle::Marking(left),
                    None => {
                        self.old.begin_sweep(pause.heap);
                        self.live = self.marked;
                        Cycle::Sweeping
                    }
                }
            }
            Cycle::Sweeping if self.old.sweep(pause.heap, budget) => {
                pause.events.phase(Phase::Released);
                Cycle::Idle
            }
            Cycle::Sweeping => Cycle::Sweeping,
        };
    }

    fn outcome(&mut self, pause: &mut Pause<'_, Bump>, promoted: &Marked, (generation, major): (u32, bool)) -> Outcome {
        let live = self.live.words.to_bytes();
        let mut outcome = Outcome::from(Work {
            generation,
            major,
            copied: promoted.moved.to_bytes(),
            live,
            large: self.live.large.to_bytes(),
            slop: Bytes(self.old.held().0 - live.0),
            ..Work::default()
        });
        self.sizing.note(pause, &outcome);
        if matches!(self.cycle, Cycle::Idle) {
            self.old_limit = self.sizing.old_limit(live, IN_PLACE);
        }
        let live = Live::in_place(&outcome.work);
        let area = self.sizing.area(live, self.old_limit, IN_PLACE);
        let resized = self.sizing.resize(&mut self.nursery, pause.heap, live, area, IN_PLACE);
        self.is_urgent = self.sizing.major_is_urgent(live, Young::of(&self.nursery), IN_PLACE);
        outcome.exhausted = resized.err();
        outcome
    }
}

mod random {
    use super::Sliced;

    #[test]
    fn tiny_slices_agree_with_a_plain_heap() {
        gclab_proof::random_programs::<Sliced<1>>();
    }

    #[test]
    fn slices_agree_with_a_plain_heap() {
        gclab_proof::random_programs::<Sliced<200>>();
    }
}

#[test]
fn every_workload_has_its_checksum() {
    gclab_proof::workloads::<Sliced<2000>, gclab_workloads::All>();
}
