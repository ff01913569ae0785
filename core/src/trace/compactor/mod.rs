//! Compaction: sliding marked closures together, in place and in order (LISP-2, with the tables of
//! [`LiveMap`]).
//!
//! After marking there are three things to do:
//!
//! 1. *Plan*: the chunks of each lane are sorted by address. Closures are given places in the same
//!    order, from the first chunk, one map entry at a time. All closures that start in one entry
//!    stay together: if a chunk has no room left for them, they go to the next one.
//! 2. *Update* the roots, and the slots of large objects. (The slots of handles are updated with
//!    those of large objects, as parts of the slide.)
//! 3. *Slide*: go through the closures once, in order. Each is written to its new place, its slots
//!    with the new addresses of their referents, which the map knows, whether the referents have
//!    moved yet or not.
//!
//! Closures keep their order in their lane, and high addresses become free: whole megablocks, in
//! the end.
//!
//! Several workers share the slide ([`slide`] and [`turns`]). The places are known before anything
//! moves, so workers only need to know when a chunk may be overwritten. (Threading, as in Jonkers'
//! method, chains the slots of all closures through their referents, and so cannot be shared.) One
//! thread makes the plan, which takes a twentieth of the time of a slide.
//!
//! Invariant: no closure moves to a later place, in the order of chunks or within its chunk, so
//! none is overwritten before it was moved. (While closures go to an earlier chunk than they come
//! from, that is clear. Once they go to the chunk that they come from, those before them in it need
//! no more room than they had, so everything that fitted still fits.) The plan asserts it for each
//! entry. The waste at the end of a chunk is at most the closures that start in one entry, 470
//! words; with small closures a few words.
//!
//! A [free space](crate::space::FreeSpace) is one lane, with closures of all kinds ([`free`]).
//!
//! Memory: only the map, which is 1/32 + 1/512 of the heap, and two words and a byte for each
//! chunk.

mod free;
mod plan;
mod slide;
mod turns;

use crate::closure::{Slot, SlotRange};
use crate::heap::{Heap, LargeObject};
use crate::profile::MoveSideWords;
use crate::roots::handles::Strength;
use crate::roots::{Roots, Visited};
use crate::space::{Chunk, ENTRY_BYTES, LiveMap, LiveView, Marks, Steps};
use crate::stats::Shared;
use crate::words::{Bytes, Words};
use crate::workers::Workers;
use plan::PlannedLane;
use slide::{Slid, Slide, for_each_live, update};
#[cfg(all(test, gclab_loom))]
pub(super) use turns::Turns;

/// A compaction of the oldest step or of a free space, in progress.
#[derive(Debug)]
pub struct Compactor<'m> {
    map: &'m mut LiveMap,
    lanes: [PlannedLane; 2],
    large: Vec<LargeObject>,
    /// Large objects of the oldest step that died.
    dead_large: Vec<LargeObject>,
    workers: Option<Workers<'m>>,
    /// The slots of handles, which the slide updates.
    handles: Vec<SlotRange>,
    slid: Slid,
    shared: Shared,
}

/// The results of a compaction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compacted {
    /// Words of closures whose address has changed.
    pub moved: Words,
    /// How workers shared the slide. The bytes that each *copied* are those of the closures that it
    /// slid, moved or not.
    pub shared: Shared,
}

impl<'m> Compactor<'m> {
    /// After marking: gives every live closure its place. All live closures are in the oldest step.
    pub fn plan(steps: &mut Steps, map: &'m mut LiveMap) -> Self {
        let step = std::mem::take(steps.step_mut(steps.oldest()));
        let (mut large, mut dead_large) = (Vec::new(), Vec::new());
        for &object in step.large() {
            if map.is_marked(object.start) {
                map.keep_in_place(object.start);
                large.push(object);
            } else {
                dead_large.push(object);
            }
        }
        let lanes = [step.scanned, step.flat].map(|lane| {
            let mut chunks = lane.into_chunks();
            chunks.sort_unstable_by_key(|chunk| chunk.run.start());
            PlannedLane::new(chunks, map)
        });
        Compactor {
            dead_large,
            ..Compactor::planned(map, lanes, large)
        }
    }

    /// A compaction of these lanes, between these large objects, which live.
    fn planned(map: &'m mut LiveMap, lanes: [PlannedLane; 2], large: Vec<LargeObject>) -> Self {
        Compactor {
            map,
            lanes,
            large,
            dead_large: Vec::new(),
            workers: None,
            handles: Vec::new(),
            slid: Slid::default(),
            shared: Shared::default(),
        }
    }

    /// From now on `workers` may help to slide. The slide is shared with load balancing or not at
    /// all, as marking is.
    pub fn share_with(&mut self, workers: Workers<'m>) {
        self.workers = Some(workers).filter(Workers::is_balanced);
    }

    /// Updates the roots, and the weak slots whose referents are live: frames and named roots now,
    /// and handles, of which there may be many, as part of the slide.
    pub fn update_roots(&mut self, roots: Roots<'m>) {
        let map = self.map.view();
        // SAFETY: roots of a stopped world, which no other thread uses; their referents are marked
        // and planned, or they are null.
        let update = |slot: Slot| unsafe { update(slot, map) };
        let handles = roots.handles();
        if !mutant!("compact/root-forgotten") {
            roots.for_each_frame_slot(update);
            handles.for_each_heap_root(update);
            self.handles
                .push(handles.visit_handles(Strength::Strong, Visited::All, |_| ()));
            handles.finalisers().for_each_ready(update);
        }
        if !mutant!("finalisers/registered-forgotten") {
            handles.for_each_observing(Visited::All, update);
        }
        handles.for_each_weak_heap_root(update);
        self.handles
            .push(handles.visit_handles(Strength::Weak, Visited::All, |_| ()));
    }

    /// Moves everything to its place, and updates all slots.
    pub fn slide(&mut self) {
        let map = self.map.view();
        let side_words = self.map.side_words();
        if let Some(side_words) = side_words.filter(|_| !mutant!("profiles/side-words-not-slid")) {
            for chunk in self.lanes.iter().flat_map(|lane| &lane.chunks) {
                // SAFETY: everything is planned, and nothing has moved.
                unsafe { move_side_words(*chunk, map, side_words.view()) };
            }
        }
        let handles = std::mem::take(&mut self.handles);
        // SAFETY: a collector calls this in a pause (`unsafe trait Collector`). Everything is
        // planned, and nothing has moved.
        let slide = unsafe { Slide::new(handles, &self.large, &self.lanes, map) };
        (self.slid, self.shared) = slide.run(self.workers.as_mut());
    }

    /// Gives the oldest step the chunks that are still needed, frees the rest, and clears the map.
    pub fn finish(self, heap: &mut Heap, steps: &mut Steps) -> Compacted {
        for chunk in self.lanes.iter().flat_map(|lane| &lane.chunks) {
            if !mutant!("compact/map-kept") {
                self.map
                    .clear(chunk.run.start(), chunk.end.align_up(Bytes(ENTRY_BYTES)));
            }
        }
        for large in &self.large {
            if !mutant!("compact/large-kept") {
                self.map.unmark_large(large.start);
            }
        }
        let step = steps.step_mut(steps.oldest());
        self.dead_large.into_iter().for_each(|large| heap.free_large(large));
        let mut freed = Vec::new();
        for (lane, planned) in [&mut step.scanned, &mut step.flat].into_iter().zip(self.lanes) {
            let PlannedLane { chunks, ends, .. } = planned;
            freed.extend(chunks[ends.len()..].iter().map(|chunk| chunk.run));
            let runs = chunks.into_iter().map(|chunk| chunk.run);
            *lane = runs.zip(ends).map(|(run, end)| Chunk { run, end }).collect();
        }
        self.large.into_iter().for_each(|large| step.push_large(large));
        freed.into_iter().for_each(|run| heap.free(run));
        Compacted {
            moved: self.slid.moved,
            shared: self.shared,
        }
    }
}

/// Moves the side words of a chunk's live closures to their destinations. Chunks come in order, so
/// no side word is overwritten before it was moved.
///
/// # Safety
/// Every live closure is in `map`, with its destination, and still where it was.
unsafe fn move_side_words(chunk: Chunk, map: LiveView<'_>, side_words: impl MoveSideWords) {
    for_each_live(chunk, map, |closure, to| {
        // SAFETY: both places are in chunks of the heap. Live closures start where bits start, in
        // order.
        unsafe {
            let words = closure.words();
            side_words.moves(closure.addr(), to.addr(), words);
            words
        }
    });
}

#[cfg(test)]
mod tests;
