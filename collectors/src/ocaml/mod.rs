//! `ocaml`: the memory manager of OCaml 4.14, over closures of GHC's kinds.
//!
//! New closures lie in the *minor heap*, where mutators bump-allocate. A minor collection promotes
//! all live closures: there is no ageing. The *major heap* is chunks with closures and free blocks
//! of any size. An allocation policy chooses the free block for each promoted closure. A major
//! collection marks and sweeps the major heap. Closures move only when the heap is compacted, once
//! free memory reaches a multiple of live data (module `compaction`).
//!
//! Words allocated in the major heap owe a share of a cycle of marking and sweeping, according to
//! the space overhead (module `pace`). The cycle (module `cycle`) proceeds in slices, between which
//! the program runs: it marks a snapshot of the major heap, and a barrier shows it the values that
//! mutators overwrite. A half-full minor heap triggers a slice, and a full one a minor collection
//! (module `task`).
//!
//! Worst-case memory: live data with the space overhead, the minor heap, and as much again,
//! reserved for promotion.

mod answers;
mod compaction;
mod counts;
mod course;
mod cycle;
mod gc;
mod major;
mod outside;
mod pace;
mod policy;
mod room;
mod settings;
mod slice;
mod stage;
mod task;
mod verbose;

pub use gc::{Control, GcModule, GcView, InvalidControl, Module, NotOcaml, Stat, View};
pub use pace::{
    Compaction, CustomCharge, CustomRatios, Increment, LEAST_CHUNK, MOST_SHARE, MOST_WINDOW, Owed, Slice, Window,
    chunk_words, overhead_of_factor, share_of, slice_is_due, words_to_mark, words_to_sweep,
};
pub use policy::{BestFit, FirstFit, NextFit, Policy};
pub use settings::Settings;

use counts::Counts;
use course::Course;
use gc::Question;
use gclab_core::block::{BLOCK, OutOfMemory, Region};
use gclab_core::collector::{
    Bump, Capabilities, Capability, Cause, Collect, Collector, Cycle, Description, Due, GenerationalBarrier, NotBegun,
    Outcome, Pause, Refill, Request, Work,
};
use gclab_core::config::{Config, SLICES};
use gclab_core::events::Phase;
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::space::Nursery;
use gclab_core::trace::Marked;
use gclab_core::words::{Addr, Bytes, Words};
use major::MajorHeap;
use outside::Outside;
use std::any::Any;
use task::{Major, Occasion, Part, Task};
use verbose::Messages;

/// A minor heap and a major heap.
#[derive(Debug)]
pub struct Ocaml {
    nursery: Nursery,
    major: MajorHeap,
    settings: Settings,
    window: Window,
    /// The occasion of the next pause.
    occasion: Occasion,
    /// The work of the pause that is starting.
    task: Task,
    /// The size of the minor heap, or why there is no room to promote it; then no mutator gets a
    /// part of it.
    area: Bytes,
    /// Each capability's part of it.
    share: Bytes,
    exhausted: Option<OutOfMemory>,
    /// Words promoted since the last slice.
    promoted: Words,
    /// Memory outside the heap.
    outside: Outside,
    /// Cycles that are over.
    cycles: u64,
    /// Memory is short: the minor heap is smaller than it should be, and very small or less than
    /// half of `settled`.
    is_urgent: bool,
    /// The size of the minor heap after the last full collection.
    settled: Bytes,
    counts: Counts,
    /// The module's `stack_limit`, if the program has set it.
    stack_limit: Option<u64>,
    /// Of `Gc.set`.
    change: Change,
    /// The module function that made the next request for a cycle.
    part: Option<Part>,
    messages: Messages,
}

/// Parameters that change in the next pause that the program requests, when the minor heap is
/// empty.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    /// A new allocation policy: the heap is compacted for it.
    policy: Option<u64>,
    /// A new size of the minor heap, in words.
    minor_heap: Option<u64>,
}

/// Whether the program asks for the end of a cycle.
fn is_cycle(cause: Cause) -> bool {
    matches!(cause, Cause::Asked(Request::Cycle | Request::Full | Request::Compact))
}

// SAFETY: a minor collection moves all nursery closures reachable from roots and remembered slots
// into free blocks, for which room was reserved. The barrier remembers each slot of an old closure
// that is made to point to a young one. A cycle marks all closures reachable when it starts, when
// none is young, and those promoted meanwhile; the barrier records the values that are overwritten
// meanwhile. Only white closures are freed.
unsafe impl Collector for Ocaml {
    const DESCRIPTION: Description = Description {
        name: "ocaml",
        summary: "OCaml 4.14's: a minor heap, and mark and sweep in free blocks of any size",
        moves: false,
        parallel: false,
        generations: (2, 2),
        honours: &[settings::HONOURED, SLICES],
    };
    type Barrier = GenerationalBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let settings = Settings::of(config);
        let nursery = Nursery::new(heap, BLOCK, config)?;
        let major = MajorHeap::new(heap, &settings)?;
        let mut messages = Messages::new(settings.verbose, major.words());
        messages.initial(&Control::of(&settings, None), major.words().to_bytes());
        let mut ocaml = Ocaml {
            nursery,
            major,
            window: Window::new(settings.window),
            settings,
            occasion: Occasion::default(),
            task: Task::default(),
            area: Bytes::ZERO,
            share: Bytes::ZERO,
            exhausted: None,
            promoted: Words::ZERO,
            outside: Outside::default(),
            cycles: 0,
            is_urgent: false,
            settled: Bytes(usize::MAX),
            counts: Counts::default(),
            stack_limit: None,
            change: Change::default(),
            part: None,
            messages,
        };
        ocaml.set_area(heap)?;
        Ok(ocaml)
    }
}

impl Collect for Ocaml {
    type Alloc = Bump;

    fn refill(
        &mut self,
        heap: &mut Heap,
        capability: Capability<'_, Bump>,
        words: Words,
    ) -> Result<Refill, OutOfMemory> {
        // First, so that a collection of an exhausted heap leaves a part for it.
        let has_part = self.use_part(heap, capability.number());
        if let Some(error) = &self.exhausted {
            return Err(error.clone());
        }
        if !has_part {
            self.occasion.minor_is_asked();
            return Ok(Refill::Collect);
        }
        let all = self.share.min(self.nursery.area(capability.number())).to_words_up();
        let used = self.nursery.taken(capability);
        let Some(most) = self.occasion.room(words, used, all, self.is_urgent) else {
            return Ok(Refill::Collect);
        };
        let refill = self.nursery.refill_up_to(capability, words, most);
        if refill == Refill::Collect {
            self.occasion.minor_is_asked();
        }
        Ok(refill)
    }

    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        if slice_is_due(self.allocated(), self.settings.minor_heap.to_words_up()) {
            self.occasion.slice_is_asked();
            return Ok(None);
        }
        let at = loop {
            match self.major.allocate_large(heap, request) {
                Ok(at) => break at,
                Err(error) => self.give_way(heap).ok_or(error)?,
            }
        };
        self.counts.direct += request.words;
        self.messages.heap(self.major.words());
        Ok(Some(at))
    }

    fn due(&mut self, cause: Cause, _: Capabilities<'_, Bump>) -> Option<Due> {
        // Promoted words may make a slice due, too, but are not known yet.
        self.task = if self.is_urgent || self.exhausted.is_some() {
            Task::everything()
        } else if cause == Cause::Asked(Request::Minor) && self.change.minor_heap.is_some() {
            Task::minor()
        } else if self.part.is_some_and(|part| part != Part::Policy) && is_cycle(cause) {
            Task::cycle()
        } else {
            self.occasion.task(cause.request(), self.major.is_idle())
        };
        Some(Due {
            generation: u32::from(self.task.major != Major::Nothing),
            major: self.task.ends_cycle(),
        })
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Outcome, NotBegun> {
        let part = self.part.take_if(|_| is_cycle(pause.cause));
        if self.task.minor {
            self.prepare(pause)?;
        }
        pause.events.phase(Phase::Condemned);
        let is_announced = part != Some(Part::SecondHalf);
        if is_announced {
            self.announce(pause);
        }
        let is_full = matches!(pause.cause, Cause::Asked(Request::Full | Request::Compact));
        let is_forced = is_full && part != Some(Part::FirstHalf);
        self.counts.begin(is_forced, pause.since.allocated.to_words_up());
        // OCaml does not collect at the end of a program.
        let last = (pause.cause == Cause::Final).then_some((self.counts, self.cycles));
        let task = self.task;
        let promoted = if task.minor {
            self.minor(pause)
        } else {
            Marked::default()
        };
        if is_announced {
            self.announce_cycle(pause);
        }
        let (cycle, done) = self.work(pause, task.major);
        pause.events.phase(Phase::Released);
        let mut course = Course {
            task,
            promoted,
            cycle,
            done,
        };
        if part != Some(Part::FirstHalf) {
            self.end_cycle(pause, &mut course);
        }
        self.messages.slice_is_over();
        let is_resized = self.change_minor_heap(pause.cause);
        if part.is_some() {
            course.done += self.begin_next(pause);
        }
        if course.task.minor && !self.make_room(pause, course.cycle) {
            self.last_resort(pause, &mut course);
        }
        if let Some(last) = last {
            (self.counts, self.cycles) = last;
        }
        let is_asked = matches!(pause.cause, Cause::Asked(_));
        self.occasion
            .has_passed(course.task, course.cycle, (is_asked, self.major.is_idle()));
        if is_resized {
            self.occasion.minor_heap_is_new();
        }
        Ok(self.outcome(&course))
    }

    fn foreign(&mut self, bytes: Bytes) -> Refill {
        let (heap, minor_heap) = (self.major.words(), self.minor_heap().to_words_up());
        let refill = self
            .outside
            .allocated(&self.settings.custom, bytes, heap.max(Words(1)), minor_heap);
        if self.outside.minor_is_due() {
            self.occasion.minor_is_asked();
        } else if refill == Refill::Collect {
            self.occasion.slice_is_asked();
        }
        refill
    }

    fn finalisers(&mut self, are_over: bool) {
        self.messages.finalisers(are_over);
    }

    fn answer(&mut self, pause: &mut Pause<'_, Bump>, message: &mut dyn Any) -> bool {
        let question = message.downcast_mut::<Question>();
        question.map(|question| self.reply(pause, question)).is_some()
    }

    fn figures(&self, figure: &mut dyn FnMut(&'static str, u64)) {
        self.counts.figures(self.cycles, self.major.top(), figure);
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.nursery.for_each_region(capabilities, visit);
        self.major.for_each_region(visit);
    }

    fn step_names(&self) -> &'static [&'static str] {
        &["minor heap", "", "major heap"]
    }
}

impl Ocaml {
    /// Words allocated in the major heap since the last slice.
    fn allocated(&self) -> Words {
        self.promoted + self.major.direct()
    }

    fn take_allocated(&mut self) -> Words {
        std::mem::take(&mut self.promoted) + self.major.take_direct()
    }

    /// A minor collection: promotes everything live in the minor heap, for which there is room.
    fn minor(&mut self, pause: &mut Pause<'_, Bump>) -> Marked {
        let used = self.nursery.words().to_bytes();
        let is_empty = used == Bytes::ZERO;
        if !is_empty {
            self.messages.minor_begins();
            // (A minor heap that gave way to a large object may have no size.)
            self.window.tick(used.0 as f64 / self.minor_heap().0 as f64);
        }
        let heap = self.major.words().max(Words(1));
        let promoted = self.major.promote(pause, &self.settings);
        self.nursery.reset();
        let fresh = self.nursery.take_fresh(pause.heap);
        self.nursery
            .replace(fresh)
            .into_iter()
            .for_each(|run| pause.heap.free(run));
        self.messages.heap(self.major.words());
        self.promoted += promoted.moved;
        if !is_empty {
            self.messages.minor_is_over();
            self.counts.minor(promoted.moved);
        }
        self.outside.promoted(pause.roots, &self.settings.custom, heap);
        promoted
    }

    /// The outcome of a pause of this course.
    fn outcome(&self, course: &Course) -> Outcome {
        let Course {
            promoted, cycle, done, ..
        } = course;
        let (cycle, compactions) = (*cycle, done.compactions);
        let live = self.major.live().words.to_bytes();
        let mut counted = promoted.counted;
        counted += done.counted;
        Outcome {
            in_place: true,
            exhausted: self.exhausted.clone(),
            work: Work {
                generation: u32::from(cycle != Cycle::None),
                cycle,
                compacted: compactions.count > 0,
                copied: (promoted.moved + compactions.moved).to_bytes(),
                promoted: promoted.words.to_bytes(),
                live,
                marked: cycle.is_slice().then_some(done.marked),
                swept: cycle.is_slice().then_some(done.swept),
                large: self.major.live().large.to_bytes(),
                slop: self.major.held() - live,
                counted,
                ..Work::default()
            },
            ..Outcome::default()
        }
    }
}
