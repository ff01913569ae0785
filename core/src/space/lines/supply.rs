//! Holes, as mutators ask for them.

use super::holes::{Gap, Hole, LINE, SMALL};
use super::{Filled, LineSpace, YOUNG, hole_of, set_state};
use crate::alloc::Bump;
use crate::block::{BlockState, OutOfMemory};
use crate::capability::Capability;
use crate::heap::Heap;
use crate::prefetch::prefetch_line;
use crate::space::MarkBits;
use crate::words::{Addr, Bytes, Words};
use std::cmp::Ordering;

/// Blocks of the heap in the largest blocks: 32 KiB.
pub(super) const MOST_BLOCKS: u32 = 8;

/// A mutator gets holes until it has this much, and no more than [`MOST_HOLES`] of them.
const ENOUGH: Bytes = Bytes::kib(16);
const MOST_HOLES: usize = 64;

/// The least hole among young closures. Smaller ones are many there, and cost more time than they
/// save memory; a collection of everything finds them.
const LEAST_YOUNG: Bytes = Bytes(256);

/// Bytes that come into the cache together.
const CACHE_LINE: usize = 64;

/// Holes that are put aside in the search for an overflow.
const PUT_ASIDE: usize = 8;

/// Gaps that are looked at together.
const AHEAD: usize = 16;

/// Medium closures that an overflow has room for, at least.
const ROOMY: usize = 3;

impl LineSpace {
    /// A hole for small closures.
    pub(super) fn small_hole<A: AsRef<Bump>>(
        &mut self,
        heap: &mut Heap,
        marks: &MarkBits,
        capability: Capability<'_, A>,
    ) -> Result<Hole, OutOfMemory> {
        if self.has_nursery
            && let Ok(hole) = self.new_block(heap)
        {
            return Ok(hole);
        }
        if let Some(hole) = self.next_hole(marks) {
            return Ok(hole);
        }
        self.new_block(heap).or_else(|error| {
            self.leave_overflow(capability);
            self.spare.pop().ok_or(error)
        })
    }

    /// Returns a hole with room for several closures of `words` words. Takes a new block rather than
    /// search many holes; if there is no memory for one, returns any hole that fits a single closure.
    pub(super) fn medium_hole<A: AsRef<Bump>>(
        &mut self,
        heap: &mut Heap,
        marks: &MarkBits,
        capability: Capability<'_, A>,
        words: Words,
    ) -> Result<Hole, OutOfMemory> {
        if self.has_nursery
            && let Ok(hole) = self.new_block(heap)
        {
            return Ok(hole);
        }
        let enough = Bytes(words.to_bytes().0 * ROOMY);
        for _ in 0..PUT_ASIDE {
            match self.search(marks) {
                Some(hole) if hole.size() >= enough => return Ok(hole),
                Some(hole) => self.spare.push(hole),
                None => break,
            }
        }
        self.new_block(heap).or_else(|error| {
            self.leave_holes(capability);
            let size = words.to_bytes();
            if let Some(hole) = self.spare.take_larger(size) {
                return Ok(hole);
            }
            while let Some(hole) = self.search(marks) {
                if hole.size() >= size {
                    return Ok(hole);
                }
                self.spare.push(hole);
            }
            self.spare.take(size).ok_or(error)
        })
    }

    /// Lends a hole to a mutator for medium closures.
    pub(super) fn lend_overflow<A: AsRef<Bump>>(&mut self, heap: &mut Heap, capability: Capability<'_, A>, hole: Hole) {
        self.taken += hole.size().0;
        self.mix(heap, hole);
        let least = SMALL + Words(1);
        capability.alloc().as_ref().set_overflow(hole.start, hole.end, least);
        self.lent[capability.number()].overflow = hole;
    }

    /// Lends `first` and small holes to a mutator.
    pub(super) fn lend<A: AsRef<Bump>>(
        &mut self,
        heap: &mut Heap,
        marks: &MarkBits,
        capability: Capability<'_, A>,
        first: Hole,
    ) {
        let mut holes = std::mem::take(&mut self.lent[capability.number()].holes);
        holes.push(first);
        let mut size = first.size();
        while size < ENOUGH && holes.len() < MOST_HOLES {
            let Some(hole) = self.next_hole(marks) else {
                break;
            };
            size += hole.size();
            holes.push(hole);
        }
        self.taken += size.0;
        for &hole in &holes {
            self.mix(heap, hole);
            if hole.size() < ENOUGH {
                (0..hole.size().0)
                    .step_by(CACHE_LINE)
                    .for_each(|offset| prefetch_line(hole.start + Bytes(offset)));
            }
        }
        let mut pairs = [(Addr::NULL, Addr::NULL); MOST_HOLES];
        for (pair, hole) in pairs.iter_mut().zip(&holes) {
            *pair = (hole.start, hole.end);
        }
        capability.alloc().as_ref().set_holes(pairs[0], &pairs[1..holes.len()]);
        if self.lent[capability.number()].overflow.size() == Bytes::ZERO {
            capability
                .alloc()
                .as_ref()
                .set_overflow(Addr::NULL, Addr::NULL, SMALL + Words(1));
        }
        self.lent[capability.number()].holes = holes;
    }

    /// Takes the holes of a capability back.
    pub(super) fn leave_holes<A: AsRef<Bump>>(&mut self, capability: Capability<'_, A>) {
        let current = self.current_hole(capability);
        let end = capability.alloc().as_ref().leave_region();
        let mut holes = std::mem::take(&mut self.lent[capability.number()].holes);
        for (number, hole) in holes.drain(..).enumerate() {
            match number.cmp(&current) {
                Ordering::Less => self.filled.push(Filled { hole, end: Addr::NULL }),
                Ordering::Equal => self.leave_hole(hole, end),
                Ordering::Greater => self.put_back(hole),
            }
        }
        self.lent[capability.number()].holes = holes;
    }

    /// Takes the overflow of a capability back.
    pub(super) fn leave_overflow<A: AsRef<Bump>>(&mut self, capability: Capability<'_, A>) {
        let end = capability.alloc().as_ref().leave_overflow();
        let hole = std::mem::take(&mut self.lent[capability.number()].overflow);
        if hole.size() > Bytes::ZERO {
            self.leave_hole(hole, end);
        }
    }

    /// The holes in which the mutator of a capability has allocated since it got them.
    pub(super) fn filled_by<A: AsRef<Bump>>(&self, capability: Capability<'_, A>) -> impl Iterator<Item = Filled> {
        let (bump, lent) = (capability.alloc().as_ref(), &self.lent[capability.number()]);
        let (current, cursor) = (self.current_hole(capability), bump.cursor());
        let had = lent.holes.iter().take(current + 1);
        let overflow = Filled {
            hole: lent.overflow,
            end: bump.overflow_cursor(),
        };
        had.enumerate()
            .map(move |(number, &hole)| Filled {
                hole,
                end: if number == current { cursor } else { Addr::NULL },
            })
            .chain(std::iter::once(overflow))
    }

    /// The number of the hole that a mutator is in, among those that it got.
    fn current_hole<A: AsRef<Bump>>(&self, capability: Capability<'_, A>) -> usize {
        let waiting = capability.alloc().as_ref().free().skip(1).count();
        let holes = &self.lent[capability.number()].holes;
        holes.len().saturating_sub(waiting + 1)
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

    /// Takes back a hole without closures.
    fn put_back(&mut self, hole: Hole) {
        self.taken -= hole.size().0;
        self.spare.push(hole);
    }

    /// A hole that was put aside, or else the next.
    pub(super) fn next_hole(&mut self, marks: &MarkBits) -> Option<Hole> {
        self.spare.pop().or_else(|| self.search(marks))
    }

    /// The next hole that no mutator has had since the last collection.
    #[inline]
    pub(super) fn search(&mut self, marks: &MarkBits) -> Option<Hole> {
        self.ahead.pop().or_else(|| self.look_ahead(marks, 0))
    }

    /// Looks for some holes at a time, so that their headers come from memory together. Leaves
    /// `far` stretches of memory unsearched.
    pub(super) fn look_ahead(&mut self, marks: &MarkBits, far: usize) -> Option<Hole> {
        while self.unsearched.len() > far {
            let number = self.unsearched.len() - 1;
            let least = if number < self.young_from { LINE } else { LEAST_YOUNG };
            let rest = &mut self.unsearched[number];
            let (mut gaps, mut count) = ([Gap::default(); AHEAD], 0);
            while count < AHEAD {
                let Some(gap) = marks.next_gap(rest.start, rest.end) else {
                    break;
                };
                gap.prefetch();
                rest.start = gap.stop;
                gaps[count] = gap;
                count += 1;
            }
            if count == 0 {
                self.unsearched.pop();
            }
            let holes = gaps[..count].iter().rev().filter_map(|gap| marks.hole(gap));
            self.ahead.extend(holes.filter(|hole| hole.size() >= least));
            if let Some(hole) = self.ahead.pop() {
                return Some(hole);
            }
        }
        None
    }

    /// A new block, which has room for every closure that is not a large object.
    fn new_block(&mut self, heap: &mut Heap) -> Result<Hole, OutOfMemory> {
        let run = self.allocate(heap, YOUNG)?;
        self.fresh.push(run);
        Ok(hole_of(run))
    }

    /// Notes that the block of `hole` gets young closures. If it has old ones, it is mixed from now on.
    pub(super) fn mix(&mut self, heap: &mut Heap, hole: Hole) {
        let state = heap.blocks().state_of(hole.start);
        if state.step() > YOUNG && !mutant!("lines/block-not-mixed") {
            self.has_mixed = true;
            let mixed = BlockState::of_step(YOUNG).mixed();
            set_state(
                heap,
                hole,
                mixed.in_snapshot(state.is_in_snapshot() && !mutant!("concurrent/mixed-not-noted")),
            );
        }
    }
}
