//! A space whose closures stay where they are, in *lines*: mutators allocate from hole to hole
//! between the closures that lived (Immix, without evacuation).
//!
//! * *block*: up to 32 KiB of neighbouring blocks of the heap, with closures of any size below that
//!   of large objects.
//! * *hole*: free memory between marked closures, with room for a line at least
//!   ([`MarkBits::next_hole`]). A mutator has one or some small ones, and allocates as in a bump
//!   region.
//!
//! A closure is marked in [`MarkBits`]. Closures that were allocated since the last collection have
//! no marks; they lie in holes that were handed out, from the start to the cursor. A collection of
//! everything clears the marks (*condemn*). One of the young closures keeps them (*sticky* marks).
//! After marking, blocks without marks go back to the heap, and holes are looked for when mutators
//! ask, from the lowest address on. After a collection of the young ones only, these are memory
//! that was handed out since the collection before, and then memory that was not looked at yet.
//!
//! A *medium* closure, larger than a line, may not fit in the next hole. Some holes are then put
//! aside for smaller closures; after that, the mutator gets a new block.
//!
//! Costs: to condemn, a cache line of bits for each block; to sweep, bits up to the first mark of a
//! block; a refill, bits up to the next hole and a header. Memory: that of the mark bits, 32 bytes
//! a block, and 24 bytes a hole that was handed out since the last collection.

mod holes;
mod sweep;

use super::MarkBits;
use crate::alloc::Bump;
use crate::block::{BlockRun, BlockState, OutOfMemory, Region, blocks_for};
use crate::capability::{Capabilities, Capability};
use crate::heap::Heap;
use crate::words::{Addr, Bytes, Words};
use holes::{Hole, LINE, SMALL};
use std::cmp::Ordering;

/// Blocks of the heap in the largest blocks: 32 KiB.
const MOST_BLOCKS: u32 = 8;

/// Holes that are put aside for one medium closure.
const PUT_ASIDE: usize = 8;

/// A mutator gets holes until it has this much, and no more than [`MOST_HOLES`] of them.
const ENOUGH: Bytes = Bytes::kib(4);
const MOST_HOLES: usize = 32;

/// The step of closures that no collection has marked.
const YOUNG: u8 = 1;

/// Blocks with holes.
#[derive(Debug)]
pub struct LineSpace {
    /// The step of closures that were marked. If it is not that of young ones, blocks with both are
    /// mixed.
    step: u8,
    /// Blocks with marks.
    kept: Vec<BlockRun>,
    /// Blocks without marks: all closures in them are young.
    fresh: Vec<BlockRun>,
    /// Memory that holes have not been looked for in; the first is the last one here.
    unsearched: Vec<Hole>,
    /// Holes that were too small for a medium closure.
    aside: Vec<Hole>,
    /// Holes that mutators had since the last collection.
    filled: Vec<Filled>,
    /// By capability: the holes that its mutator has, or had before the one it is in.
    lent: Vec<Vec<Hole>>,
    /// Bytes of all blocks.
    held: usize,
    /// Bytes of holes handed out since the last collection.
    taken: usize,
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
            kept: Vec::new(),
            fresh: Vec::new(),
            unsearched: Vec::new(),
            aside: Vec::new(),
            filled: Vec::new(),
            lent: vec![Vec::new(); capabilities],
            held: 0,
            taken: 0,
        }
    }

    /// Gives the mutator another hole, with room for `words` words, in a new block if there is
    /// none; or some small ones at a time.
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
        self.leave_one(capability);
        let first = match self.next_hole(marks, words) {
            Some(hole) => hole,
            None => match self.new_block(heap, words) {
                Ok(hole) => hole,
                Err(error) => self.any_hole(marks, words).ok_or(error)?,
            },
        };
        let mut lent = std::mem::take(&mut self.lent[capability.number()]);
        lent.push(first);
        let mut size = first.size();
        while size < ENOUGH && lent.len() < MOST_HOLES {
            let Some(hole) = self.aside.pop().or_else(|| self.search(marks)) else {
                break;
            };
            size += hole.size();
            lent.push(hole);
        }
        self.taken += size.0;
        lent.iter().for_each(|&hole| self.mix(heap, hole));
        let mut holes = [(Addr::NULL, Addr::NULL); MOST_HOLES];
        let pairs = lent.iter().map(|hole| (hole.start, hole.end));
        holes.iter_mut().zip(pairs).for_each(|(to, pair)| *to = pair);
        capability.alloc().as_ref().set_holes(holes[0], &holes[1..lent.len()]);
        self.lent[capability.number()] = lent;
        Ok(())
    }

    /// Prepares for marking of young closures: takes the mutators' holes back.
    pub fn leave<A: AsRef<Bump>>(&mut self, marks: &mut MarkBits, capabilities: Capabilities<'_, A>) {
        capabilities.iter().for_each(|capability| self.leave_one(capability));
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

    /// Sweeps after marking of everything: frees the blocks without marks. In the others, unmarked
    /// memory is free from now on.
    pub fn sweep(&mut self, heap: &mut Heap, marks: &MarkBits) {
        self.keep_marked(heap, marks);
        self.free_unmarked(heap, marks);
        self.begin_search(marks);
    }

    /// Sweeps after marking of young closures. Unmarked memory that mutators had is free from now
    /// on. It stays with them, in whole blocks, too.
    pub fn sweep_young(&mut self, heap: &mut Heap, marks: &MarkBits) {
        self.keep_marked(heap, marks);
        self.search_again(heap);
        self.begin_search(marks);
    }

    /// Bytes handed out to mutators since the last collection.
    pub fn taken(&self) -> Bytes {
        Bytes(self.taken)
    }

    /// Bytes of all blocks.
    pub fn held(&self) -> Bytes {
        Bytes(self.held)
    }

    /// Visits the regions that hold closures: marked ones that lie one behind the other, and the
    /// filled parts of holes.
    pub fn for_each_region<A: AsRef<Bump>>(
        &self,
        marks: &MarkBits,
        capabilities: Capabilities<'_, A>,
        visit: &mut dyn FnMut(Region),
    ) {
        let mut filled = self.filled.clone();
        for capability in capabilities.iter() {
            let (lent, current) = self.lent_to(capability);
            let end = |number| {
                if number == current {
                    capability.alloc().as_ref().cursor()
                } else {
                    Addr::NULL
                }
            };
            let had = lent.iter().take(current + 1).enumerate();
            filled.extend(had.map(|(number, &hole)| Filled { hole, end: end(number) }));
        }
        filled.iter_mut().for_each(Filled::look_for_end);
        filled.retain(|filled| filled.hole.start < filled.end);
        filled.sort_unstable_by_key(|filled| filled.hole.start);
        let kept = self.kept.iter().map(|&run| (run, self.step));
        for (run, step) in kept.chain(self.fresh.iter().map(|&run| (run, YOUNG))) {
            let first = filled.partition_point(|filled| filled.end <= run.start());
            let inside = filled[first..].iter().take_while(|filled| filled.end <= run.end());
            inside.clone().for_each(|filled| visit(filled.region(run)));
            marks.for_each_region(run, &[], step, &mut |region| {
                // An empty region stands for a block that is in no other.
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

/// Holes, as mutators ask for them.
impl LineSpace {
    /// The holes of a capability, and the number of the one that its mutator is in.
    fn lent_to<A: AsRef<Bump>>(&self, capability: Capability<'_, A>) -> (&[Hole], usize) {
        let lent = &self.lent[capability.number()];
        let waiting = capability.alloc().as_ref().free().skip(1).count();
        (lent, lent.len().saturating_sub(waiting + 1))
    }

    /// Takes the holes of a capability back.
    fn leave_one<A: AsRef<Bump>>(&mut self, capability: Capability<'_, A>) {
        let (_, current) = self.lent_to(capability);
        let end = capability.alloc().as_ref().leave_region();
        let mut lent = std::mem::take(&mut self.lent[capability.number()]);
        for (number, hole) in lent.drain(..).enumerate() {
            match number.cmp(&current) {
                Ordering::Less => self.filled.push(Filled { hole, end: Addr::NULL }),
                Ordering::Equal => self.leave_hole(hole, end),
                Ordering::Greater => self.put_back(hole),
            }
        }
        self.lent[capability.number()] = lent;
    }

    /// Takes a hole back whose closures end at `end`.
    fn leave_hole(&mut self, hole: Hole, end: Addr) {
        let rest = Hole {
            start: mutant!("lines/hole-twice", end => hole.start),
            ..hole
        };
        if rest.size() < LINE {
            self.filled.push(Filled { hole, end });
        } else {
            self.filled.push(Filled {
                hole: Hole { end, ..hole },
                end,
            });
            self.put_back(rest);
        }
    }

    /// Takes a hole back in which there are no closures.
    fn put_back(&mut self, hole: Hole) {
        self.taken -= hole.size().0;
        self.aside.push(hole);
    }

    /// A hole with room for `words` words, unless many must be looked at for it.
    fn next_hole(&mut self, marks: &MarkBits, words: Words) -> Option<Hole> {
        if words <= SMALL {
            return self.aside.pop().or_else(|| self.search(marks));
        }
        for _ in 0..PUT_ASIDE {
            let hole = self.search(marks)?;
            if hole.size() >= words.to_bytes() {
                return Some(hole);
            }
            self.aside.push(hole);
        }
        None
    }

    /// Any hole with room for `words` words: there is no memory for another block.
    #[cold]
    fn any_hole(&mut self, marks: &MarkBits, words: Words) -> Option<Hole> {
        while let Some(hole) = self.search(marks) {
            self.aside.push(hole);
        }
        let fits = |hole: &Hole| hole.size() >= words.to_bytes();
        let found = self.aside.iter().rposition(fits)?;
        Some(self.aside.swap_remove(found))
    }

    /// The next hole that no mutator has had since the last collection.
    #[inline]
    fn search(&mut self, marks: &MarkBits) -> Option<Hole> {
        while let Some(rest) = self.unsearched.last_mut() {
            if let Some(hole) = marks.next_hole(rest.start, rest.end) {
                rest.start = hole.end;
                return Some(hole);
            }
            self.unsearched.pop();
        }
        None
    }

    /// A new block, with room for `words` words.
    fn new_block(&mut self, heap: &mut Heap, words: Words) -> Result<Hole, OutOfMemory> {
        let run = heap.allocate(blocks_for(words.to_bytes()), MOST_BLOCKS, BlockState::of_step(YOUNG))?;
        self.held += run.bytes().0;
        self.fresh.push(run);
        Ok(hole_of(run))
    }

    /// Notes that a block with marks gets young closures, too.
    fn mix(&self, heap: &mut Heap, hole: Hole) {
        if heap.blocks().state_of(hole.start).step() > YOUNG && !mutant!("lines/block-not-mixed") {
            set_state(heap, hole, BlockState::of_step(YOUNG).mixed());
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
