//! A nursery: young closures get their own blocks, and survivors move to the holes between old
//! closures (MMTk's GenImmix).
//!
//! Mutators allocate in blocks that are wholly free, as long as the heap has some. So they write to
//! memory in order, no block is mixed, and the barrier remembers slots of old closures only. A
//! collection condemns these blocks. A [`Marker`] moves the survivors to the reserve: holes that
//! were found before, and free blocks. Survivors for which it has no room stay where they are, and
//! their block is one of old closures then. The sweep frees the blocks without marks.
//!
//! Where the heap has no free block, mutators allocate in holes as without a nursery, and these
//! young closures do not move.
//!
//! [`Marker`]: crate::trace::Marker

use super::holes::Hole;
use super::sweep::has_marks;
use super::{LineSpace, YOUNG, hole_of};
use crate::block::{BlockState, poison};
use crate::heap::Heap;
use crate::space::MarkBits;
use crate::words::Bytes;

/// Blocks that a pause searches for holes at most: some tenths of a millisecond.
const MOST_SEARCHED: usize = 128;

impl LineSpace {
    /// As [`LineSpace::new`], with a nursery. `step` is not the step of young closures.
    pub fn with_nursery(step: u8, capabilities: usize) -> Self {
        LineSpace {
            has_nursery: true,
            ..LineSpace::new(step, capabilities)
        }
    }

    /// Condemns the blocks of the nursery, if the space has one and survivors are expected, and
    /// takes a reserve for `expected` bytes of survivors. These are holes, unless `is_major`:
    /// holes lie between closures that a major marking may move. Then it takes free blocks. A
    /// reserve that was kept is for a major marking. Comes after [`LineSpace::leave`] and
    /// [`LineSpace::choose`].
    pub fn condemn_nursery(&mut self, heap: &mut Heap, marks: &MarkBits, expected: Bytes, is_major: bool) {
        if !self.has_nursery {
            return;
        }
        if !mutant!("evacuate/rest-of-nursery-kept") {
            self.spare.retain(|hole| !is_nursery(heap, hole));
        }
        if !is_major {
            self.reserve.keep();
        }
        if expected == Bytes::ZERO {
            return;
        }
        for &run in &self.fresh {
            let state = heap.blocks().state_of(run.start());
            heap.set_state(run, state.condemned(true));
            self.candidates.push(run);
        }
        let in_holes = if is_major {
            Bytes::ZERO
        } else {
            self.reserve_holes(marks, expected)
        };
        let in_blocks = self.reserved();
        self.fill_reserve(heap, in_blocks + expected.saturating_sub(in_holes));
    }

    /// Takes holes of at least `wanted` bytes together, if [`MOST_SEARCHED`] blocks have that many.
    /// Returns their size.
    fn reserve_holes(&mut self, marks: &MarkBits, wanted: Bytes) -> Bytes {
        let far = self.unsearched.len().saturating_sub(MOST_SEARCHED);
        let mut size = 0;
        while size < wanted.0 {
            let found = self.spare.pop().or_else(|| self.ahead.pop());
            let Some(hole) = found.or_else(|| self.look_ahead(marks, far)) else {
                break;
            };
            // SAFETY: free memory of this space, which no mutator has.
            unsafe { poison::lend(hole.start, hole.size()) };
            size += hole.size().0;
            self.reserve.holes.push(hole);
        }
        Bytes(size)
    }

    /// Ends the evacuation of the nursery: frees its blocks without marks, and those of the
    /// reserve. The others are old from now on, and have holes after the closures that came or
    /// stayed there.
    pub(super) fn free_nursery(&mut self, heap: &mut Heap, marks: &mut MarkBits) {
        self.end_evacuation(marks);
        self.filled
            .retain(|filled| heap.blocks().state_of(filled.hole.start).is_mixed());
        let old = self.old_state();
        for run in self.fresh.drain(..) {
            if !has_marks(marks, run) {
                self.held -= run.bytes().0;
                heap.free(run);
                continue;
            }
            self.unsearched.push(hole_of(run));
            heap.set_state(
                run,
                mutant!("concurrent/block-not-stamped", old => BlockState::of_step(YOUNG)),
            );
            self.kept.push(run);
        }
    }
}

/// Whether a hole is in a block of the nursery: one with young closures only.
fn is_nursery(heap: &Heap, hole: Hole) -> bool {
    let state = heap.blocks().state_of(hole.start);
    state.step() == YOUNG && !state.is_mixed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::space::lines::supply::MOST_BLOCKS;

    /// After a cycle all blocks are to be searched. A pause that finds nothing in dense ones goes on
    /// with free blocks, and the next pause continues behind them.
    #[test]
    fn a_pause_searches_a_bounded_number_of_dense_blocks() {
        const BLOCKS: usize = 3 * MOST_SEARCHED;
        let config = Config {
            reserve: Bytes::mib(64),
            ..Config::default()
        };
        let mut heap = Heap::new(&config).expect("a small heap");
        let mut marks = MarkBits::new(&heap).expect("a small table");
        let mut space = LineSpace::with_nursery(2, 1);
        for _ in 0..BLOCKS {
            let run = heap.allocate(1, MOST_BLOCKS, BlockState::of_step(2)).expect("room");
            (0..run.bytes().0 / 64).for_each(|line| assert!(marks.set(run.start() + Bytes(line * 64))));
            space.kept.push(run);
        }
        space.empty_unmarked(&mut heap, &marks);
        for searched in [MOST_SEARCHED, 2 * MOST_SEARCHED, BLOCKS, BLOCKS] {
            assert_eq!(space.reserve_holes(&marks, Bytes::mib(1)), Bytes::ZERO);
            assert_eq!(space.unsearched.len(), BLOCKS - searched);
        }
    }
}
