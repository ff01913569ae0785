//! A space whose closures stay where they are, in *lines*: mutators allocate from hole to hole
//! between the closures that lived (Immix).
//!
//! * *block*: up to 32 KiB of neighbouring blocks of the heap, with closures of any size below that
//!   of large objects.
//! * *hole*: free memory between marked closures, with room for a line at least
//!   ([`MarkBits::hole`]). A mutator has one or some small ones, and allocates as in a bump
//!   region.
//!
//! A closure is marked in [`MarkBits`]. Closures that were allocated since the last collection have
//! no marks; they lie in holes that were handed out, from the start to the cursor. A collection of
//! everything clears the marks (*condemn*). One of the young closures keeps them (*sticky* marks).
//! After marking, blocks without marks go back to the heap, and holes are looked for when mutators
//! ask, from the lowest address on. After a collection of the young ones only, these are memory
//! that was handed out since the collection before, and then memory that was not looked at yet.
//!
//! A *medium* closure, larger than a line, might not fit in the hole that its mutator is in. It
//! gets room in another, the *overflow* ([`Bump::set_overflow`]), and smaller closures continue in
//! that hole. The overflow is a large hole if there is one near, and else a new block.
//!
//! A marking of everything may empty fragmented blocks ([`LineSpace::choose`], `evacuation`). A
//! space with a nursery empties the blocks of young closures at each marking
//! ([`LineSpace::condemn_nursery`], `nursery`).
//!
//! Costs: to condemn, a cache line of bits for each block; to sweep, bits up to the first mark of a
//! block; a refill, bits up to the next hole and a header. Memory: the mark bits, 32 bytes
//! a block, and 24 bytes a hole that was handed out since the last collection; these lists count
//! under the limit.

mod evacuation;
mod holes;
mod nursery;
mod reserve;
mod snapshot;
mod spare;
mod supply;
mod sweep;

pub use reserve::Reserve;

use super::MarkBits;
use crate::alloc::Bump;
use crate::block::{BlockRun, BlockState, OutOfMemory, Region, Units};
use crate::capability::{Capabilities, Capability};
use crate::heap::Heap;
use crate::words::{Addr, Bytes, Words};
use holes::{Hole, SMALL};
use spare::SpareHoles;

/// The step of closures that no collection has marked.
const YOUNG: u8 = 1;

/// Blocks with holes.
#[derive(Debug)]
pub struct LineSpace {
    /// The step of closures that were marked. If young closures have another step, blocks with both are
    /// mixed.
    step: u8,
    /// Whether each store to marked closures is to reach the barrier's slow path.
    is_logged: bool,
    /// Whether young closures get their own blocks, and survivors move.
    has_nursery: bool,
    /// Blocks with marks.
    kept: Vec<BlockRun>,
    /// Blocks without marks: all closures in them are young.
    fresh: Vec<BlockRun>,
    /// Blocks that the last sweep emptied, and that are not freed yet.
    empty: Vec<BlockRun>,
    /// Memory that holes have not been looked for in; the first is the last one here.
    unsearched: Vec<Hole>,
    /// The part of it that a marking of young closures left begins here.
    young_from: usize,
    /// Holes that were found and not given to a mutator yet; the first is the last one here.
    ahead: Vec<Hole>,
    /// Holes that were returned, or were too small for a medium closure.
    spare: SpareHoles,
    /// Holes that mutators had since the last collection.
    filled: Vec<Filled>,
    /// Blocks that the marking under way is to empty.
    candidates: Vec<BlockRun>,
    /// The number of the block with which the next choice for a cycle begins.
    looked_at: usize,
    /// Young closures have come between old ones since that choice.
    has_mixed: bool,
    /// The blocks that their closures go to, if they are kept already.
    reserve: Reserve,
    /// Memory was short at the last marking of everything.
    is_short: bool,
    /// It was, and that marking left no block that is worth emptying.
    is_dense: bool,
    /// Bytes of closures before it, dead or alive.
    in_use: usize,
    /// By capability: the memory of its mutator.
    lent: Vec<Lent>,
    /// Bytes of all blocks.
    held: usize,
    /// Bytes of holes handed out since the last collection.
    taken: usize,
    /// Bytes of these lists, as they are charged.
    charged: Bytes,
}

/// The memory of one mutator.
#[derive(Clone, Debug, Default)]
struct Lent {
    /// The holes that it has, and those that it had before the one it is in.
    holes: Vec<Hole>,
    /// The hole for medium closures that do not fit elsewhere.
    overflow: Hole,
}

/// A hole that a mutator had.
#[derive(Clone, Copy, Debug)]
struct Filled {
    hole: Hole,
    /// The end of the closures in it. Null: it has to be looked for ([`Bump::filled`]).
    end: Addr,
}

impl LineSpace {
    /// An empty space for the mutators of `capabilities` capabilities. Marked closures belong to
    /// `step`, and unmarked ones to step 1.
    pub fn new(step: u8, capabilities: usize) -> Self {
        LineSpace {
            step,
            is_logged: false,
            has_nursery: false,
            kept: Vec::new(),
            fresh: Vec::new(),
            empty: Vec::new(),
            unsearched: Vec::new(),
            young_from: 0,
            ahead: Vec::new(),
            spare: SpareHoles::default(),
            filled: Vec::new(),
            candidates: Vec::new(),
            looked_at: 0,
            has_mixed: false,
            reserve: Reserve::default(),
            is_short: false,
            is_dense: false,
            in_use: 0,
            lent: vec![Lent::default(); capabilities],
            held: 0,
            taken: 0,
            charged: Bytes::ZERO,
        }
    }

    /// The same, for a collector that [logs](crate::collector::FieldLog) the stores to marked closures.
    #[must_use]
    pub fn logged(self) -> Self {
        LineSpace {
            is_logged: true,
            ..self
        }
    }

    /// The step of marked closures.
    pub fn step(&self) -> u8 {
        self.step
    }

    /// The state of blocks with marked closures, where they are not mixed.
    fn old_state(&self) -> BlockState {
        BlockState::of_step(self.step).in_snapshot(self.is_logged)
    }

    /// Charges for the lists of holes and blocks as they are now. There may be a hole for each line
    /// of the heap, so they count under the limit. They are never refused: the next block is.
    fn charge_lists(&mut self, heap: &Heap) {
        let holes = [&self.unsearched, &self.ahead, &self.reserve.holes, &self.reserve.roomy];
        let holes = self.spare.capacity() + holes.iter().map(|list| list.capacity()).sum::<usize>();
        let blocks = [
            &self.kept,
            &self.fresh,
            &self.empty,
            &self.candidates,
            &self.reserve.runs,
        ];
        let runs = size_of::<BlockRun>() * blocks.iter().map(|list| list.capacity()).sum::<usize>();
        let bytes = Bytes(size_of::<Hole>() * holes + size_of::<Filled>() * self.filled.capacity() + runs);
        if bytes == self.charged || mutant!("lines/lists-not-charged") {
            return;
        }
        heap.charges().release(self.charged);
        heap.charges().charge_anyway(bytes);
        self.charged = bytes;
    }

    /// Gives the mutator another hole, with room for `words` words, in a new block if there is
    /// none; or some small ones at a time. A hole for a medium closure becomes its overflow.
    ///
    /// # Errors
    /// If the heap has no memory for a block.
    pub fn refill<A: AsRef<Bump>>(
        &mut self,
        heap: &mut Heap,
        marks: &MarkBits,
        capability: Capability<'_, A>,
        words: Words,
    ) -> Result<(), OutOfMemory> {
        if words <= SMALL {
            self.leave_holes(capability);
            let first = self.small_hole(heap, marks, capability)?;
            self.lend(heap, marks, capability, first);
        } else {
            self.leave_overflow(capability);
            let hole = self.medium_hole(heap, marks, capability, words)?;
            self.lend_overflow(heap, capability, hole);
        }
        self.charge_lists(heap);
        Ok(())
    }

    /// Prepares for marking of young closures: takes the mutators' holes back.
    pub fn leave<A: AsRef<Bump>>(&mut self, marks: &mut MarkBits, capabilities: Capabilities<'_, A>) {
        for capability in capabilities.iter() {
            self.leave_holes(capability);
            if !mutant!("lines/overflow-kept") {
                self.leave_overflow(capability);
            }
        }
        if mutant!("lines/sticky-marks-cleared") {
            self.clear(marks);
        }
    }

    /// Prepares for marking of everything: takes the mutators' holes back, and clears the marks.
    pub fn condemn<A: AsRef<Bump>>(&mut self, marks: &mut MarkBits, capabilities: Capabilities<'_, A>) {
        self.leave(marks, capabilities);
        if !mutant!("lines/marks-not-cleared") {
            self.clear(marks);
        }
    }

    /// Clears the marks of all closures.
    fn clear(&self, marks: &mut MarkBits) {
        for run in &self.kept {
            marks.clear(run.start(), run.end());
        }
    }

    /// Sweeps after marking of everything, which left `live` bytes: frees the blocks without marks.
    /// In the others, unmarked memory is free from now on.
    pub fn sweep(&mut self, heap: &mut Heap, marks: &mut MarkBits, live: Bytes) {
        let reserved = self.reserved();
        self.sweep_in_steps(heap, marks);
        self.note_density(live, self.emptied().saturating_sub(reserved));
        self.free_empty(heap, usize::MAX);
    }

    /// As [`LineSpace::sweep`], but it is for [`LineSpace::free_empty`] to free the blocks.
    pub fn sweep_in_steps(&mut self, heap: &mut Heap, marks: &mut MarkBits) {
        self.end_evacuation(marks);
        self.keep_marked(heap, marks);
        self.empty_unmarked(heap, marks);
        self.begin_search(marks);
        self.charge_lists(heap);
    }

    /// Sweeps after marking of young closures. Unmarked memory that mutators had is free from now
    /// on. It stays with them, in whole blocks, too, unless they are of a nursery.
    pub fn sweep_young(&mut self, heap: &mut Heap, marks: &mut MarkBits) {
        if self.has_nursery {
            self.free_nursery(heap, marks);
        } else {
            self.keep_marked(heap, marks);
        }
        self.search_again(heap);
        self.begin_search(marks);
        self.charge_lists(heap);
    }

    /// Bytes handed out to mutators since the last collection.
    pub fn taken(&self) -> Bytes {
        Bytes(self.taken)
    }

    /// Bytes of all blocks.
    pub fn held(&self) -> Bytes {
        Bytes(self.held)
    }

    /// Of these, bytes of blocks that a sweep emptied, and that are not freed yet.
    pub fn emptied(&self) -> Bytes {
        self.empty.iter().map(|run| run.bytes()).sum()
    }

    /// Visits the lines of all blocks.
    pub fn for_each_units(&self, visit: &mut dyn FnMut(Units)) {
        self.kept.iter().chain(&self.fresh).for_each(|&run| {
            visit(Units {
                run,
                size: holes::LINE,
                name: "lines",
            });
        });
    }

    /// Visits the regions that hold closures: marked ones that lie back to back, and the filled
    /// parts of holes.
    pub fn for_each_region<A: AsRef<Bump>>(
        &self,
        marks: &MarkBits,
        capabilities: Capabilities<'_, A>,
        visit: &mut dyn FnMut(Region),
    ) {
        let mut filled = self.filled.clone();
        for capability in capabilities.iter() {
            filled.extend(self.filled_by(capability));
        }
        filled.iter_mut().for_each(Filled::look_for_end);
        filled.retain(|filled| filled.hole.start < filled.end);
        filled.sort_unstable_by_key(|filled| filled.hole.start);
        let kept = self.kept.iter().chain(&self.empty).chain(&self.reserve.runs);
        let kept = kept.map(|&run| (run, self.step));
        for (run, step) in kept.chain(self.fresh.iter().map(|&run| (run, YOUNG))) {
            let first = filled.partition_point(|filled| filled.end <= run.start());
            let inside = filled[first..].iter().take_while(|filled| filled.end <= run.end());
            inside.clone().for_each(|filled| visit(filled.region(run)));
            marks.for_each_region(run, &[], step, &mut |region| {
                // An empty region represents a block that is in no other.
                if region.start < region.end || inside.clone().count() == 0 {
                    visit(region);
                }
            });
        }
    }
}

impl Filled {
    fn look_for_end(&mut self) {
        if self.end.is_null() {
            self.end = Bump::filled(self.hole.start, self.hole.end);
        }
    }

    /// The closures in it. It lies in `run`.
    fn region(self, run: BlockRun) -> Region {
        Region {
            run,
            start: self.hole.start,
            end: self.end,
            step: YOUNG,
            large: false,
        }
    }
}

/// All of a block.
fn hole_of(run: BlockRun) -> Hole {
    Hole {
        start: run.start(),
        end: run.end(),
    }
}

/// Sets the state of the block that `hole` is in.
fn set_state(heap: &mut Heap, hole: Hole, state: BlockState) {
    let run = heap.blocks().run_of(hole.start);
    heap.set_state(run.expect("a hole is in a block"), state);
}
