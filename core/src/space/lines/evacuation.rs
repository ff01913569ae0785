//! Evacuation: fragmented blocks are emptied while everything is marked (Blackburn and McKinley,
//! section 3.3).
//!
//! *Candidates* are the blocks that were mostly free after the last collection, and in which
//! mutators have not allocated much since: the emptiest first, as many as the *reserve* may have
//! room for. The reserve is free blocks: the heap's when the collection begins. Where mutators may
//! take all of these before, under a limit, the space keeps some for itself. Where memory is short
//! and the free blocks are too few, the fullest candidates are left alone, and their holes are
//! the rest of the reserve: closures of blocks that are nearly empty come together, although no
//! block is free.
//!
//! A [`Marker`] that moves closures to the reserve empties the candidates: it marks closures where
//! they are when there is no room left, since they may be more than the last collection said. The
//! sweep frees the candidates without marks, and the blocks of the reserve that were not needed.
//!
//! It happens only if much of the memory of the blocks holds nothing, although mutators asked for
//! more: then they have no use for the holes, or the holes are too small. Costs: bits of all
//! blocks, and the headers of the closures in those with the fewest.
//!
//! [`Marker`]: crate::trace::Marker

use super::holes::LINE;
use super::reserve::Reserve;
use super::{Filled, LineSpace};
use crate::alloc::Bump;
use crate::block::{BLOCK, BlockRun, poison};
use crate::capability::Capabilities;
use crate::closure::ClosureRef;
use crate::heap::Heap;
use crate::space::MarkBits;
use crate::words::{Bytes, Words};

/// The least part of the blocks that is empty for closures to move: a half; less if memory
/// is short. Builds for tests move some at each collection of everything.
pub(super) const IDLE_PART: usize = if cfg!(debug_assertions) { usize::MAX } else { 2 };
const IDLE_PART_IF_SHORT: usize = if cfg!(debug_assertions) { usize::MAX } else { 16 };

/// The sixteenths of a candidate that may hold closures: a half; nearly all if memory is short,
/// when every byte counts. Any but all in builds for tests.
const FULLEST: usize = if cfg!(debug_assertions) { 16 } else { 8 };
const FULLEST_IF_SHORT: usize = if cfg!(debug_assertions) { 16 } else { 15 };

/// Bytes of a small closure, which few are smaller than: a header and a word.
const LEAST: Bytes = Bytes(16);

/// The part of the blocks that the reserve may be in addition: a sixteenth.
const RESERVE_PART: usize = 16;

/// The free blocks that mutators have in addition to a reserve that is kept, at least: an eighth,
/// or as much as this.
const LEFT_PART: usize = 8;
const LEFT_AT_LEAST: Bytes = Bytes::kib(256);

/// The times that the candidates' closures have room in the reserve, in eighths. Closures do not
/// fill a block to its end. In builds for tests some find no room.
pub(super) const EIGHTHS: usize = if cfg!(debug_assertions) { 4 } else { 9 };

impl LineSpace {
    /// Chooses blocks that the next marking is to empty, and condemns them; it comes before
    /// [`LineSpace::condemn`], which clears the marks that the choice needs. Does nothing unless
    /// fragmentation makes it worth while; sooner `if_short`. `live` are the bytes that the last
    /// collection left in lines.
    pub fn choose<A: AsRef<Bump>>(
        &mut self,
        heap: &mut Heap,
        marks: &mut MarkBits,
        capabilities: Capabilities<'_, A>,
        live: Bytes,
        if_short: bool,
    ) {
        self.leave(marks, capabilities);
        let in_use = live.0 + self.taken;
        let idle = self.held.saturating_sub(in_use);
        (self.is_short, self.in_use) = (if_short, in_use);
        let part = if if_short { IDLE_PART_IF_SHORT } else { IDLE_PART };
        if idle < self.held.div_ceil(part) {
            return;
        }
        let mut sparse = self.sparse_blocks(marks, if if_short { FULLEST_IF_SHORT } else { FULLEST });
        let wanted: usize = sparse.iter().map(|(full, _)| full.0).sum();
        let wanted = Bytes(wanted / 8 * EIGHTHS).min(self.most_reserve());
        let mut room = self.fill_reserve(heap, wanted);
        if if_short {
            room = Bytes(room.0 + self.reserve_sparse(marks, &mut sparse, wanted.saturating_sub(room)).0);
        }
        let mut left = room.0 / EIGHTHS * 8;
        for (full, run) in sparse {
            let Some(rest) = left.checked_sub(full.0) else {
                break;
            };
            left = rest;
            let state = heap.blocks().state_of(run.start());
            heap.set_state(run, state.condemned(true));
            self.candidates.push(run);
        }
    }

    /// Keeps the reserve of the next evacuation after a sweep, if mutators might take all memory of
    /// the heap before it: they may take `area` bytes. Without a reserve no block could be emptied
    /// when mutators have taken the rest: then each collection would find less than the one before.
    /// So the reserve comes first, and mutators have an eighth of the free blocks at least, and the
    /// holes.
    pub fn keep_reserve(&mut self, heap: &mut Heap, area: Bytes) {
        let left = heap.left();
        // Mutators will have all of it.
        let most = Bytes((self.held + left.0) / RESERVE_PART).max(BLOCK);
        let kept = most.min(left - LEFT_AT_LEAST.min(Bytes(left.0 / LEFT_PART)));
        let is_needed = left < area + most && !self.is_dense;
        if kept >= BLOCK && is_needed && !mutant!("evacuate/no-reserve") {
            self.fill_reserve(heap, kept);
        }
    }

    /// Notes after a marking that left `live` bytes whether a reserve would only be in the way: all free
    /// memory would be its, or closures die by the block and leave hardly a hole. The marking emptied
    /// `emptied` bytes of blocks.
    pub(super) fn note_density(&mut self, live: Bytes, emptied: Bytes) {
        let least = self.most_reserve().0;
        let free = self.held.saturating_sub(live.0);
        let in_holes = free.saturating_sub(self.emptied().0);
        let died = self.in_use.saturating_sub(live.0);
        let is_dense = free < least || in_holes < least && emptied.0 > died / 2;
        self.is_dense = self.is_short && is_dense;
    }

    /// Bytes of the blocks that are kept for the next evacuation.
    pub(super) fn reserved(&self) -> Bytes {
        self.reserve.runs.iter().map(|run| run.bytes()).sum()
    }

    /// Whether mutators have nearly all memory of the heap: what is left is less than a reserve.
    pub fn is_cramped(&self, heap: &Heap) -> bool {
        heap.left() < self.most_reserve()
    }

    /// Returns half of the reserve that was kept to the heap, for a mutator that finds no other
    /// memory straight after a collection: a heap must not be exhausted for the sake of the
    /// reserve. Returns whether there was one.
    pub fn release_reserve(&mut self, heap: &mut Heap) -> bool {
        let left = self.reserve.runs.len() / 2;
        let was_kept = !self.reserve.runs.is_empty();
        for run in self.reserve.runs.drain(left..) {
            self.held -= run.bytes().0;
            heap.free(run);
        }
        was_kept
    }

    /// The destination of closures of the blocks that were chosen, if any were.
    pub fn reserve(&self) -> Option<&Reserve> {
        (!self.candidates.is_empty()).then_some(&self.reserve)
    }

    /// The blocks that may be candidates, the emptiest first, with the bytes in them that may hold
    /// closures: `fullest` sixteenths at most. Reading headers is slow, so only as many blocks are
    /// measured as the reserve may have room for, those with the fewest closures; the others follow,
    /// and count as full, whatever they hold.
    fn sparse_blocks(&mut self, marks: &MarkBits, fullest: usize) -> Vec<(Bytes, BlockRun)> {
        self.filled.sort_unstable_by_key(|filled| filled.hole.start);
        let most = |run: BlockRun| Bytes(run.bytes().0 / 16 * fullest);
        let least = |run: BlockRun| {
            let closures = marks.count(run.start(), run.end());
            Bytes(closures * LEAST.0) + self.filled_in(run)
        };
        let blocks = self.kept.iter().map(|&run| (least(run), run));
        let mut sparse: Vec<_> = blocks.filter(|&(least, run)| least <= most(run)).collect();
        sparse.sort_unstable_by_key(|&(least, run)| (least, run.start()));
        let mut room = self.most_reserve();
        sparse.retain_mut(|(full, run)| {
            if room == Bytes::ZERO {
                *full = run.bytes();
                return true;
            }
            *full = marks.bytes_marked(run.start(), run.end()) + self.filled_in(*run);
            let is_sparse = *full <= most(*run) && *full < run.bytes();
            room = room.saturating_sub(if is_sparse { *full } else { Bytes::ZERO });
            is_sparse
        });
        sparse.sort_by_key(|&(full, run)| (full == run.bytes(), full));
        sparse
    }

    /// Takes blocks out of `sparse`, the fullest of those that mutators had no memory of, until
    /// their holes have at least `wanted` bytes together. The holes are part of the reserve, so
    /// these blocks are not emptied. Returns the size of the holes.
    fn reserve_sparse(&mut self, marks: &MarkBits, sparse: &mut Vec<(Bytes, BlockRun)>, wanted: Bytes) -> Bytes {
        let (mut size, mut number) = (0, sparse.len());
        while size < wanted.0 && number > 1 {
            number -= 1;
            let (_, run) = sparse[number];
            // Young closures have no marks. Their memory is not a hole.
            if self.filled_in(run) > Bytes::ZERO {
                continue;
            }
            sparse.remove(number);
            let mut from = run.start();
            while let Some(gap) = marks.next_gap(from, run.end()) {
                from = gap.stop;
                let Some(hole) = marks.hole(&gap) else { continue };
                // SAFETY: free memory of this space, which no mutator has.
                unsafe { poison::lend(hole.start, hole.size()) };
                size += hole.size().0;
                self.reserve.push(hole);
            }
        }
        Bytes(size)
    }

    /// The bytes of `run` that mutators had since the last collection. The list of such memory is
    /// sorted.
    fn filled_in(&self, run: BlockRun) -> Bytes {
        let first = self.filled.partition_point(|filled| filled.hole.start < run.start());
        let inside = self.filled[first..]
            .iter()
            .take_while(|filled| filled.hole.start < run.end());
        Bytes(inside.map(|Filled { hole, .. }| hole.size().0).sum())
    }

    /// The bound of the reserve.
    fn most_reserve(&self) -> Bytes {
        Bytes(self.held / RESERVE_PART).max(BLOCK)
    }

    /// Takes free blocks until the reserve has `wanted` bytes of them, or the heap has none left.
    /// Returns their size.
    pub(super) fn fill_reserve(&mut self, heap: &mut Heap, wanted: Bytes) -> Bytes {
        let mut room = self.reserved().0;
        while room < wanted.0 {
            let Ok(run) = self.allocate(heap, self.step) else {
                break;
            };
            room += run.bytes().0;
            self.reserve.runs.push(run);
        }
        Bytes(room)
    }

    /// Ends an evacuation, before the sweep. The reserve's blocks are now ordinary blocks: those without
    /// marks were not needed. Closures lie in the first part of its holes.
    pub(super) fn end_evacuation(&mut self, marks: &mut MarkBits) {
        for run in self.candidates.drain(..).filter(|_| !mutant!("evacuate/bit-left")) {
            let mut from = run.start();
            while let Some(at) = marks.next_set(from, run.end()) {
                // SAFETY: a closure starts where a bit is set, and this is the only thread.
                unsafe { ClosureRef(at.as_mut_ptr()).settle() };
                from = at + Words(1);
            }
        }
        let in_use = self.fresh.len();
        self.fresh
            .extend(self.reserve.end(&mut self.unsearched, &mut self.ahead));
        if let Some(run) = self.fresh.get(in_use).filter(|_| mutant!("evacuate/line-not-marked")) {
            marks.clear(run.start(), run.start() + LINE);
        }
    }
}
