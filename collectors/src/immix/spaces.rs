//! The spaces of these collectors: lines, large objects, and the marks of both.

use crate::concurrent::exclusive;
use gclab_core::block::{OutOfMemory, Region, Units};
use gclab_core::collector::{Bump, Capabilities, Capability, Cause, Pause, Refill};
use gclab_core::config::Config;
use gclab_core::events::Phase;
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::mutant;
use gclab_core::space::{
    BothMarks, Burial, Destination, InPlace, Incoming, LargeObjects, LineSpace, MarkBits, Marks, References,
};
use gclab_core::trace::{self, Amount, Marked, Marker};
use gclab_core::words::{Addr, Bytes, Words};
use gclab_core::workers::ParallelPolicy;
use std::sync::Arc;

/// The closures that a collection marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marking {
    /// The unmarked ones.
    Young,
    /// All.
    Everything,
}

/// Minimum room for survivors, in bytes.
const LEAST_EXPECTED: Bytes = Bytes::kib(256);

/// After so many collections of everything in a row, closures may die young that did not before.
const TRIED_AFTER: usize = 8;

/// Blocks that a pause frees at most, of those that a cycle emptied: some tenths of a millisecond.
const MOST_FREED: usize = 256;

/// The spaces of the immix collectors.
#[derive(Debug)]
pub(super) struct Spaces {
    lines: LineSpace,
    large: LargeObjects,
    marks: Arc<MarkBits>,
    parallel: ParallelPolicy,
    /// Bytes that mutators may take before the next collection.
    area: Bytes,
    /// Bytes of marked closures in lines.
    live: Bytes,
    /// The young closures of the last collections.
    young: Young,
    /// The last collection was a full one because memory was short.
    was_short: bool,
    /// The collections of everything since the last one of young closures.
    full_in_a_row: usize,
}

/// Young closures of the last minor collections, each weighted three quarters of the next, so that
/// one unusual collection decides nothing.
#[derive(Debug, Default)]
struct Young {
    /// Bytes of lines that mutators took.
    taken: usize,
    /// Of these, bytes that survived.
    survived: usize,
    /// Most of them died in the last one.
    mostly_died: bool,
}

impl Young {
    /// Notes a minor collection.
    fn note(&mut self, taken: Bytes, survived: Bytes) {
        self.taken = self.taken / 4 * 3 + taken.0;
        self.survived = self.survived / 4 * 3 + survived.0;
        self.mostly_died = survived.0 * 2 < taken.0;
    }

    /// Room to keep for the next collection's survivors, if mutators took `taken` bytes before it:
    /// twice the share that survived. If most closures survive, they are better left in place.
    fn expected(&self, taken: Bytes) -> Bytes {
        if self.survived * 2 > self.taken {
            return Bytes::ZERO;
        }
        let part = self.survived as f64 / self.taken.max(1) as f64;
        Bytes((taken.0 as f64 * part * 2.0) as usize)
            .max(LEAST_EXPECTED)
            .min(taken)
    }
}

impl Spaces {
    /// Empty spaces, from which mutators may take `area`.
    pub(super) fn new(heap: &mut Heap, config: &Config, lines: LineSpace, area: Bytes) -> Result<Self, OutOfMemory> {
        Ok(Spaces {
            large: LargeObjects::new(lines.step()),
            lines,
            marks: Arc::new(MarkBits::new(heap)?),
            parallel: ParallelPolicy::new(config),
            area,
            live: Bytes::ZERO,
            young: Young::default(),
            was_short: false,
            full_in_a_row: 0,
        })
    }

    /// Sets the bytes that mutators may take before the next collection.
    pub(super) fn set_area(&mut self, area: Bytes) {
        self.area = area;
    }

    /// Bytes of all blocks.
    pub(super) fn held(&self) -> Bytes {
        self.lines.held() + self.large.held()
    }

    /// Bytes of blocks without those that mutators have taken since the last collection, and those
    /// that a cycle emptied.
    pub(super) fn held_by_old(&self) -> Bytes {
        let others = self.lines.taken() + self.large.taken() + self.lines.emptied();
        self.held().saturating_sub(others)
    }

    fn is_due(&self) -> bool {
        self.lines.taken() + self.large.taken() >= self.area
    }

    /// As [`gclab_core::collector::Collect::refill`].
    pub(super) fn refill(
        &mut self,
        heap: &mut Heap,
        capability: Capability<'_, Bump>,
        words: Words,
    ) -> Result<Refill, OutOfMemory> {
        if self.is_due() {
            return Ok(Refill::Collect);
        }
        loop {
            match self.lines.refill(heap, &self.marks, capability, words) {
                Err(_) if self.needs_reserve(heap) => {}
                refilled => return refilled.map(|()| Refill::Ready),
            }
        }
    }

    /// The same. If mutators find no memory after a good part of the area, since the reserve was the
    /// rest of it, the young closures are collected before all others, provided that most of them
    /// die. Whether they do may change, so now and then that is tried anyway.
    pub(super) fn refill_or_collect_young(
        &mut self,
        heap: &mut Heap,
        capability: Capability<'_, Bump>,
        words: Words,
    ) -> Result<Refill, OutOfMemory> {
        let refilled = self.refill(heap, capability, words);
        let taken = self.lines.taken() + self.large.taken();
        if refilled.is_err()
            && taken.0 >= self.area.0 / 4
            && (self.young.mostly_died || self.full_in_a_row >= TRIED_AFTER)
        {
            return Ok(Refill::Collect);
        }
        refilled
    }

    /// As [`gclab_core::collector::Collect::allocate_large`].
    pub(super) fn allocate_large(
        &mut self,
        heap: &mut Heap,
        request: LargeRequest,
    ) -> Result<Option<Addr>, OutOfMemory> {
        if self.is_due() {
            return Ok(None);
        }
        loop {
            match self.large.allocate(heap, request) {
                Err(_) if self.lines.free_empty(heap, usize::MAX) || self.needs_reserve(heap) => {}
                allocated => return allocated.map(Some),
            }
        }
    }

    /// Returns part of the reserve to the heap, and whether there was one, if mutators find no
    /// memory right after a collection in a short heap. At any other time a collection comes first,
    /// which may need the reserve.
    fn needs_reserve(&mut self, heap: &mut Heap) -> bool {
        let nothing_taken = self.lines.taken() + self.large.taken() == Bytes::ZERO;
        self.was_short && nothing_taken && self.lines.release_reserve(heap)
    }

    /// Marks live closures, and frees the others that `marking` covers. If that is everything,
    /// closures in fragmented blocks may move. What is marked gets a mark in `also`, too, and its
    /// slots that lead into chosen blocks are recorded. The edges that are found are counted in `references`.
    pub(super) fn mark(
        &mut self,
        pause: &mut Pause<'_, Bump>,
        marking: Marking,
        also: Option<(&MarkBits, Arc<Incoming>)>,
        references: Option<&References>,
    ) -> Marked {
        let marks = exclusive(&mut self.marks);
        let is_short =
            pause.cause == Cause::Shortage || pause.cause.forces_compaction() || self.lines.is_cramped(pause.heap);
        self.was_short = is_short && marking == Marking::Everything;
        self.full_in_a_row = if marking == Marking::Young {
            0
        } else {
            self.full_in_a_row + 1
        };
        match marking {
            Marking::Young => {
                self.lines.leave(marks, pause.capabilities);
                let expected = self.young.expected(self.lines.taken());
                self.lines.condemn_nursery(pause.heap, marks, expected, false);
            }
            Marking::Everything => {
                // At the end of a program nothing is worth moving.
                if pause.cause != Cause::Final {
                    self.lines
                        .choose(pause.heap, marks, pause.capabilities, self.live, is_short);
                    let expected = self.young.expected(self.lines.taken());
                    self.lines.condemn_nursery(pause.heap, marks, expected, true);
                }
                self.lines.condemn(marks, pause.capabilities);
                self.large.condemn(marks);
                // The referents of these slots are found from the roots, if they are live.
                let sets = pause.capabilities.iter().map(Capability::remembered);
                sets.for_each(|set| set.take(|_| ()));
            }
        }
        pause.events.phase(Phase::Condemned);

        let marked = match also {
            None => self.trace_counting(pause, marking, &*self.marks, references),
            Some((also, incoming)) => {
                self.trace_counting(pause, marking, &BothMarks(&self.marks, also, incoming), references)
            }
        };
        let marks = exclusive(&mut self.marks);
        let in_lines = (marked.words - marked.large).to_bytes();
        match marking {
            Marking::Young => {
                self.young.note(self.lines.taken(), in_lines);
                self.live += in_lines;
                self.lines.sweep_young(pause.heap, marks);
                self.large.sweep_young(pause.heap, marks);
                self.free_emptied(pause.heap);
            }
            Marking::Everything => {
                self.live = in_lines;
                self.lines.sweep(pause.heap, marks, in_lines);
                self.large.sweep(pause.heap, marks);
            }
        }
        let until_major = self.area.max(self.held());
        let until_next = if marking == Marking::Young {
            self.area
        } else {
            until_major
        };
        self.lines.keep_reserve(pause.heap, until_next);
        pause.events.phase(Phase::Released);
        marked
    }

    /// The sticky marks, for a concurrent marker. A pause needs them back.
    pub(super) fn sticky(&self) -> Arc<MarkBits> {
        Arc::clone(&self.marks)
    }

    /// Whether mutators have taken memory since the last collection.
    pub(super) fn has_lent(&self) -> bool {
        self.lines.taken() + self.large.taken() > Bytes::ZERO
    }

    /// Turns on or off the recording of values that stores to old closures overwrite.
    pub(super) fn set_in_snapshot(&self, heap: &mut Heap, yes: bool) {
        self.lines.set_in_snapshot(heap, yes);
        if !mutant!("concurrent/large-not-noted") {
            self.large.set_in_snapshot(heap, yes);
        }
    }

    /// Straight after the recording was turned on, chooses blocks that the end of the cycle is to
    /// empty.
    pub(super) fn choose(&mut self, heap: &mut Heap, incoming: &Incoming) {
        incoming.choose(self.lines.choose_for_cycle(heap, &self.marks, self.live, self.area));
    }

    /// Straight before the sweep that ends a cycle, empties the chosen blocks of the closures that are
    /// marked in `marks`. Returns the words that moved.
    pub(super) fn empty_chosen(
        &mut self,
        pause: &mut Pause<'_, Bump>,
        marks: &mut MarkBits,
        incoming: &Incoming,
        references: Option<&mut References>,
    ) -> Words {
        let blocks = incoming.take();
        if !self.lines.condemn_chosen(pause.heap, &blocks) {
            return Words(0);
        }
        let reserve = self.lines.reserve().expect("blocks are condemned");
        let moved = match references {
            None => trace::relocate(pause.heap, pause.roots, marks, &blocks, reserve, |_, _| ()),
            Some(references) => {
                let moves = |from, to| references.moved(from, to);
                let moved = trace::relocate(pause.heap, pause.roots, marks, &blocks, reserve, moves);
                references.all_moved(pause.heap.closures());
                moved
            }
        };
        pause.events.phase(Phase::Moved);
        moved
    }

    /// The same spaces, for a collector that logs the stores to marked closures.
    pub(super) fn logged(self) -> Self {
        Spaces {
            lines: self.lines.logged(),
            large: self.large.logged(),
            ..self
        }
    }

    /// Clears the counts of marked closures, before everything is marked.
    pub(super) fn clear_counts(&self, references: &mut References) {
        self.lines.for_each_marked_block(|from, to| references.clear(from, to));
        self.large
            .for_each_region(&mut |region| references.clear(region.run.start(), region.run.end()));
    }

    /// As [`References::end_burial`].
    pub(super) fn end_burial(&mut self, references: &mut References, burial: Burial) -> (Amount, Vec<Addr>) {
        references.end_burial(burial, &mut self.marks)
    }

    /// These closures do not live any more.
    pub(super) fn lower_live(&mut self, dead: &Amount) {
        self.live -= (dead.words - dead.large).to_bytes();
    }

    /// Straight after a marking of young closures: frees old ones that were buried, in these blocks.
    pub(super) fn sweep_buried(&mut self, heap: &mut Heap, buried: &Amount, mut blocks: Vec<Addr>) {
        blocks.retain(|block| !heap.blocks().state_of(*block).is_large());
        if !mutant!("lxr/blocks-not-swept") {
            self.lines.sweep_blocks(heap, &self.marks, &blocks);
        }
        if buried.large > Words::ZERO && !mutant!("lxr/large-not-swept") {
            self.large.sweep(heap, &self.marks);
        }
    }

    /// A trace has marked the old closures that live in `marks`: subtracts the references of the others.
    pub(super) fn bury_unmarked(&self, heap: &Heap, references: &mut References, marks: &MarkBits) {
        references.bury_unmarked(heap.closures(), &self.marks, marks, &self.marked_memory());
    }

    /// The memory that may have marks.
    pub(super) fn marked_memory(&self) -> Vec<(Addr, Addr)> {
        let mut memory = Vec::new();
        self.lines.for_each_marked_block(|from, to| memory.push((from, to)));
        let large = Some(&self.large).filter(|_| !mutant!("concurrent/large-marks-left"));
        large.into_iter().for_each(|large| {
            large.for_each_region(&mut |region| memory.push((region.start, region.start + Words(1))))
        });
        memory
    }

    /// Frees the old closures that `marks` leaves out, and some of the blocks that are empty then,
    /// straight after a marking of young closures:
    /// `live` bytes of lines are marked. Returns the former marks.
    pub(super) fn sweep_old(&mut self, heap: &mut Heap, marks: MarkBits, live: Bytes) -> MarkBits {
        let former =
            mutant!("concurrent/epoch-not-flipped", std::mem::replace(exclusive(&mut self.marks), marks) => marks);
        let marks = exclusive(&mut self.marks);
        self.live = live;
        self.lines.sweep_in_steps(heap, marks);
        self.large.sweep(heap, marks);
        self.free_emptied(heap);
        // The next area is not that of before the cycle.
        self.lines.keep_reserve(heap, self.area.max(self.held()));
        former
    }

    /// Frees some of the blocks that a cycle emptied; all if mutators might need them.
    fn free_emptied(&mut self, heap: &mut Heap) {
        let is_short = self.lines.is_cramped(heap) || heap.left() < self.area;
        let most = if is_short { usize::MAX } else { MOST_FREED };
        self.lines.free_empty(heap, most);
    }

    /// Marks the live closures, and counts edges in `references`.
    fn trace_counting(
        &self,
        pause: &mut Pause<'_, Bump>,
        marking: Marking,
        marks: &impl Marks,
        references: Option<&References>,
    ) -> Marked {
        match references {
            Some(references) => self.trace_to_reserve(pause, marking, &references.counting(marks)),
            None => self.trace_to_reserve(pause, marking, marks),
        }
    }

    /// Marks the live closures. Those in blocks to be emptied go to the reserve.
    fn trace_to_reserve(&self, pause: &mut Pause<'_, Bump>, marking: Marking, marks: &impl Marks) -> Marked {
        match self.lines.reserve() {
            Some(reserve) => self.trace(pause, marking, marks, reserve),
            None => self.trace(pause, marking, marks, &InPlace),
        }
    }

    /// Marks the live closures. Those in blocks to be emptied go to `destination`.
    fn trace(
        &self,
        pause: &mut Pause<'_, Bump>,
        marking: Marking,
        marks: &impl Marks,
        destination: &impl Destination,
    ) -> Marked {
        let mut marker = Marker::moving(pause.heap, marks, destination);
        let generation = u32::from(pause.due.is_some_and(|due| due.generation > 0));
        let owners = pause.capabilities.owners();
        marker.share_with(self.parallel.workers(pause.gc_threads, generation, owners, Bytes::ZERO));
        let phase = pause.events.phases();
        match marking {
            Marking::Young => trace::live_and_remembered(&mut marker, pause.capabilities, pause.roots, phase),
            Marking::Everything => trace::live(&mut marker, pause.roots, phase),
        }
        marker.finish()
    }

    /// As [`gclab_core::collector::Collect::for_each_units`].
    pub(super) fn for_each_units(&self, visit: &mut dyn FnMut(Units)) {
        self.lines.for_each_units(visit);
    }

    /// As [`gclab_core::collector::Collect::for_each_region`].
    pub(super) fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.lines.for_each_region(&self.marks, capabilities, visit);
        self.large.for_each_region(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected survivors of 4 MiB, after collections of 4 MiB in which these shares survived.
    fn expected(percents: &[usize]) -> Bytes {
        let mut young = Young::default();
        for percent in percents {
            young.note(Bytes::mib(4), Bytes(Bytes::mib(4).0 / 100 * percent));
        }
        young.expected(Bytes::mib(4))
    }

    #[test]
    fn one_unusual_collection_does_not_decide_whether_survivors_move() {
        let usual = [5; 10];
        let unusual = expected(&[&usual[..], &[95]].concat());
        assert!(unusual > Bytes::mib(1) && unusual < Bytes::mib(4), "{unusual}");
        // A phase in which most survive is noticed, and so is its end.
        assert_eq!(expected(&[&usual[..], &[95; 3]].concat()), Bytes::ZERO);
        assert_eq!(expected(&[&[95; 10][..], &[5]].concat()), Bytes::ZERO);
        assert!(expected(&[&[95; 10][..], &[5; 3]].concat()) > Bytes::ZERO);
    }

    #[test]
    fn there_is_room_for_twice_the_part_that_survived() {
        let mut young = Young::default();
        assert_eq!(young.expected(Bytes::mib(4)), LEAST_EXPECTED);
        young.note(Bytes::mib(1), Bytes::kib(256));
        assert_eq!(young.expected(Bytes::mib(4)), Bytes::mib(2));
        assert_eq!(young.expected(Bytes::kib(64)), Bytes::kib(64));
    }
}
