//! A snapshot of a space of lines: its old closures at one moment, marked while the program runs.
//!
//! Sticky marks say which closures are old, and stay as they are: holes, minor collections and the
//! barrier need them. The marks of the snapshot are in a second table
//! ([`SnapshotMarks`](crate::space::SnapshotMarks)). Closures that become old
//! meanwhile get marks in both ([`BothMarks`](crate::space::BothMarks)). When everything in the
//! snapshot is marked, the second table becomes the first.
//!
//! A cycle also empties some sparse blocks, if much of the memory of the blocks holds nothing. They are
//! chosen when it begins, by the sticky marks: those with the fewest in their first part. Meanwhile
//! their state is that of mixed blocks, and nobody gets their holes; the slots that lead into them
//! are recorded ([`Incoming`](crate::space::Incoming)). When everything is marked, their closures move
//! to free blocks. Costs: a quarter of the bits of the blocks that are looked at, and all bits and the
//! headers of the closures in those that are chosen, and in some of those that are not.

use super::evacuation::{EIGHTHS, IDLE_PART};
use super::holes::Hole;
use super::{LineSpace, YOUNG};
use crate::block::{BLOCK, BlockRun, BlockState};
use crate::heap::Heap;
use crate::space::{ChosenBlock, MarkBits};
use crate::words::{Addr, Bytes, Words};

/// Marked bytes of all blocks that are chosen: this much, or half of the allocation area, and up to
/// [`MOST_TIMES`] as much if more of the blocks holds nothing. About half of them live when the cycle
/// ends, and take a millisecond. A block counts as a thirty-second of the largest ones at least, so that
/// there are not too many.
const MOST_MARKED: Bytes = Bytes::mib(1);
const MOST_TIMES: f64 = 2.0;
const LEAST_COUNTED: Bytes = Bytes::kib(1);

/// Blocks that are looked at for a cycle, and how much of each. The next cycle goes on behind them.
const MOST_LOOKED_AT: usize = 8192;
const SAMPLE: Bytes = Bytes::kib(8);

/// The usual size of a closure, which bounds the headers that are read.
const USUAL: Bytes = Bytes(32);

/// The eighths of a block that may hold closures: a quarter. Builds for tests empty any.
const FULLEST: usize = if cfg!(debug_assertions) { 8 } else { 2 };

impl LineSpace {
    /// Turns on or off the recording of values that stores to old closures overwrite. No block is
    /// mixed, or the next marking is of everything.
    pub fn set_in_snapshot(&self, heap: &mut Heap, yes: bool) {
        let state = self.old_state().in_snapshot(yes || self.is_logged);
        self.kept.iter().for_each(|&run| heap.set_state(run, state));
    }

    /// The memory of all blocks that may have marks.
    pub fn for_each_marked_block(&self, mut visit: impl FnMut(Addr, Addr)) {
        let runs = self.kept.iter().chain(&self.fresh).chain(&self.reserve.runs);
        runs.for_each(|run| visit(run.start(), run.end()));
    }

    /// Straight after the recording was turned on, chooses blocks that the end of the cycle is to
    /// empty. The marked closures take `live` bytes, and mutators `area` bytes between two
    /// collections.
    pub fn choose_for_cycle(
        &mut self,
        heap: &mut Heap,
        marks: &MarkBits,
        live: Bytes,
        area: Bytes,
    ) -> Vec<ChosenBlock> {
        self.has_mixed = false;
        let held = self.held.saturating_sub(self.emptied().0);
        let idle = held.saturating_sub(live.0);
        if idle < held.div_ceil(IDLE_PART) || self.is_cramped(heap) {
            return Vec::new();
        }
        let first = self.looked_at % self.kept.len().max(1);
        self.looked_at = first + MOST_LOOKED_AT;
        let around = self.kept[first..].iter().chain(&self.kept[..first]);
        let around = around.take(MOST_LOOKED_AT);
        let sample = |run: &BlockRun| marks.count(run.start(), run.end().min(run.start() + SAMPLE));
        let mut sparse: Vec<_> = around.map(|&run| (sample(&run), run)).collect();
        sparse.sort_unstable_by_key(|&(closures, run)| (closures, run.start()));
        let times = (idle as f64 / live.0.max(1) as f64).clamp(1.0, MOST_TIMES);
        let mut bytes_left = Bytes((MOST_MARKED.0.max(area.0 / 2) as f64 * times) as usize);
        let mut closures_left = bytes_left.0 / USUAL.0;
        let fullest = |run: BlockRun| Bytes(run.bytes().0 / 8 * FULLEST);
        let mut chosen = Vec::new();
        for (_, run) in sparse {
            let closures = marks.count(run.start(), run.end());
            // Nearly all closures have two words or more.
            if Words(2 * closures).to_bytes() > fullest(run) {
                continue;
            }
            if closures > closures_left || bytes_left == Bytes::ZERO {
                break;
            }
            closures_left -= closures;
            marks.prefetch_marked(run.start(), run.end());
            let full = marks.bytes_marked(run.start(), run.end());
            if full <= fullest(run) {
                bytes_left = bytes_left.saturating_sub(full.max(LEAST_COUNTED));
                heap.set_state(run, BlockState::of_step(YOUNG).mixed().in_snapshot(true));
                chosen.push(ChosenBlock::new(run, full));
            }
        }
        let is_left = |hole: &Hole| !heap.blocks().state_of(hole.start).is_mixed() || mutant!("chosen/hole-handed-out");
        self.retain_unsearched(is_left);
        chosen
    }

    /// Condemns the chosen `blocks` at the end of the cycle, and takes a reserve for their closures.
    /// Returns whether any are: those whose slots are known, unless memory was so short that young
    /// closures came between old ones. (Slots in blocks that are mixed for this reason were not
    /// recorded.)
    pub fn condemn_chosen(&mut self, heap: &mut Heap, blocks: &[ChosenBlock]) -> bool {
        let known = || blocks.iter().filter(|block| block.is_known());
        if known().next().is_none() || self.has_mixed && !mutant!("chosen/emptied-while-mixed") {
            return false;
        }
        self.reserve.keep();
        let kept: usize = self.reserve.runs.iter().map(|run| run.bytes().0).sum();
        let full: usize = known().map(|block| block.full.0).sum();
        self.fill_reserve(heap, Bytes(kept + (full / 8 * EIGHTHS).max(BLOCK.0)));
        for block in known() {
            heap.set_state(block.run, self.old_state().condemned(true));
            self.candidates.push(block.run);
        }
        !self.candidates.is_empty()
    }
}

// Other builds read the headers of marked closures, and there are none here.
#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;
    use crate::block::BlockRun;
    use crate::config::Config;
    use crate::space::lines::hole_of;
    use crate::space::lines::supply::MOST_BLOCKS;
    use crate::words::Words;

    /// The first blocks have two closures each, the others one. (Closures that cannot be read count as
    /// a word.)
    #[test]
    fn a_cycle_looks_at_some_blocks_and_chooses_the_emptiest() {
        const BLOCKS: usize = MOST_LOOKED_AT + 2000;
        const MOST_CHOSEN: usize = MOST_MARKED.0 / LEAST_COUNTED.0;
        let config = Config {
            reserve: Bytes::mib(512),
            ..Config::default()
        };
        let mut heap = Heap::new(&config).expect("a small heap");
        let mut marks = MarkBits::new(&heap).expect("a small table");
        let mut space = LineSpace::with_nursery(2, 1);
        for number in 0..BLOCKS {
            let run = heap.allocate(1, MOST_BLOCKS, BlockState::of_step(2)).expect("room");
            marks.set(run.start());
            if number < MOST_LOOKED_AT {
                marks.set(run.start() + Words(1));
            }
            space.held += run.bytes().0;
            space.kept.push(run);
        }
        space.unsearched = space.kept.iter().map(|&run| hole_of(run)).collect();
        space.young_from = 100;
        for closures in [2, 1] {
            space.set_in_snapshot(&mut heap, true);
            let all = space.unsearched.len();
            let chosen = space.choose_for_cycle(&mut heap, &marks, Bytes(space.held / 2), Bytes::ZERO);
            assert_eq!(chosen.len(), MOST_CHOSEN);
            assert!(chosen.iter().all(|block| block.full == Words(closures).to_bytes()));
            // Nobody gets their holes.
            assert_eq!(space.unsearched.len(), all - MOST_CHOSEN);
            let is_hole = |run: BlockRun| space.unsearched.iter().any(|hole| hole.start == run.start());
            assert!(!chosen.iter().any(|block| is_hole(block.run)));
        }
        assert_eq!(space.young_from, 0);
        // If more of the blocks holds nothing, a cycle empties more.
        space.set_in_snapshot(&mut heap, true);
        let chosen = space.choose_for_cycle(&mut heap, &marks, Bytes(space.held / 5 * 2), Bytes::ZERO);
        assert_eq!(chosen.len(), MOST_CHOSEN / 2 * 3);
    }

    #[test]
    fn nothing_moves_if_young_closures_came_between_old_ones_meanwhile() {
        let config = Config {
            reserve: Bytes::mib(8),
            ..Config::default()
        };
        let mut heap = Heap::new(&config).expect("a small heap");
        let mut marks = MarkBits::new(&heap).expect("a small table");
        let mut space = LineSpace::with_nursery(2, 1);
        let mut old_block = || heap.allocate(1, MOST_BLOCKS, BlockState::of_step(2)).expect("room");
        let (sparse, other) = (old_block(), old_block());
        marks.set(sparse.start());
        space.held = sparse.bytes().0;
        space.kept.push(sparse);
        for is_mixed in [false, true] {
            let chosen = space.choose_for_cycle(&mut heap, &marks, Bytes::ZERO, Bytes::ZERO);
            assert_eq!(chosen.len(), 1);
            if is_mixed {
                space.mix(&mut heap, hole_of(other));
            }
            assert_eq!(space.condemn_chosen(&mut heap, &chosen), !is_mixed);
            assert_eq!(std::mem::take(&mut space.candidates).len(), usize::from(!is_mixed));
        }
    }
}
