//! The sweep of a space of lines: which blocks stay, and where holes are looked for.

use super::holes::Hole;
use super::supply::MOST_BLOCKS;
use super::{LineSpace, hole_of, set_state};
use crate::block::{BLOCK, BlockRun, BlockState, OutOfMemory, poison};
use crate::heap::Heap;
use crate::space::MarkBits;
use crate::words::Addr;

impl LineSpace {
    /// From now on fresh blocks with marks are kept.
    pub(super) fn keep_marked(&mut self, heap: &mut Heap, marks: &MarkBits) {
        let (old, kept) = (self.old_state(), &mut self.kept);
        self.fresh.retain(|&run| {
            let is_marked = has_marks(marks, run);
            if is_marked {
                heap.set_state(run, old);
                kept.push(run);
            }
            !is_marked
        });
    }

    /// Sets all blocks without marks aside, and begins to look for holes at the lowest address.
    pub(super) fn empty_unmarked(&mut self, heap: &mut Heap, marks: &MarkBits) {
        let old = self.old_state();
        self.empty.append(&mut self.fresh);
        self.empty
            .extend(self.kept.extract_if(.., |run| !has_marks(marks, *run)));
        for run in &self.empty {
            // SAFETY: no closure of the block lives.
            unsafe { poison::retire(run.start(), run.bytes()) };
        }
        for &run in self.kept.iter().chain(&self.empty) {
            if heap.blocks().state_of(run.start()) != old {
                heap.set_state(run, old);
            }
        }
        self.kept.sort_unstable_by_key(|run| std::cmp::Reverse(run.start()));
        self.unsearched.clear();
        self.unsearched.extend(self.kept.iter().map(|&run| hole_of(run)));
        self.young_from = self.unsearched.len();
        if !mutant!("lines/aside-kept") {
            self.spare.drain().for_each(drop);
        }
        if !mutant!("lines/ahead-kept") {
            self.ahead.clear();
        }
        self.filled.clear();
    }

    /// Straight after a marking of young closures: old ones died in the blocks of these addresses, and have no marks
    /// any more. Blocks without marks go back to the heap; in the others unmarked memory is free from now on.
    pub fn sweep_blocks(&mut self, heap: &mut Heap, marks: &MarkBits, died: &[Addr]) {
        if died.is_empty() {
            return;
        }
        let old = self.old_state();
        let mut runs: Vec<BlockRun> = died.iter().filter_map(|at| heap.blocks().run_of(*at)).collect();
        runs.sort_unstable_by_key(|run| run.start());
        runs.dedup();
        runs.iter().for_each(|&run| heap.set_state(run, old.condemned(true)));
        let is_swept = |heap: &Heap, at: Addr| heap.blocks().state_of(at).is_condemned();
        let is_left = |hole: &Hole| !is_swept(heap, hole.start) || mutant!("lxr/hole-twice");
        self.retain_unsearched(is_left);
        self.ahead.retain(is_left);
        self.spare.retain(|hole| is_left(&hole));
        let emptied = self
            .kept
            .extract_if(.., |run| is_swept(heap, run.start()) && !has_marks(marks, *run));
        let emptied: Vec<_> = emptied.collect();
        runs.iter().for_each(|&run| heap.set_state(run, old));
        // They come before what young closures left: their small holes count, too.
        runs.retain(|&run| has_marks(marks, run));
        let from = self.young_from;
        self.unsearched.splice(from..from, runs.iter().map(|&run| hole_of(run)));
        self.young_from += runs.len();
        for run in emptied {
            // SAFETY: no closure of the block lives.
            unsafe { poison::retire(run.start(), run.bytes()) };
            self.held -= run.bytes().0;
            heap.free(run);
        }
        self.begin_search(marks);
        self.charge_lists(heap);
    }

    /// Frees blocks that a sweep emptied: `most` of them at most. Returns whether there were any.
    pub fn free_empty(&mut self, heap: &mut Heap, most: usize) -> bool {
        let left = self.empty.len().saturating_sub(most);
        let freed = self.empty.drain(left..);
        let were_any = freed.len() > 0;
        for run in freed {
            self.held -= run.bytes().0;
            heap.free(run);
        }
        were_any
    }

    /// Keeps the memory that holes are to be looked for in for which `is_left` is true.
    pub(super) fn retain_unsearched(&mut self, is_left: impl Fn(&Hole) -> bool) {
        let mut young = self.unsearched.split_off(self.young_from);
        self.unsearched.retain(&is_left);
        self.young_from = self.unsearched.len();
        young.retain(is_left);
        self.unsearched.append(&mut young);
    }

    /// A block of some kilobytes from the heap.
    pub(super) fn allocate(&mut self, heap: &mut Heap, step: u8) -> Result<BlockRun, OutOfMemory> {
        let run = match heap.allocate(1, MOST_BLOCKS, BlockState::of_step(step)) {
            Err(_) if self.free_empty(heap, usize::MAX) => heap.allocate(1, MOST_BLOCKS, BlockState::of_step(step)),
            run => run,
        }?;
        self.held += run.bytes().0;
        Ok(run)
    }

    /// Looks for holes again in the memory that was handed out since the last collection, first.
    pub(super) fn search_again(&mut self, heap: &mut Heap) {
        let mut again: Vec<Hole> = self.filled.drain(..).map(|filled| filled.hole).collect();
        again.extend(self.spare.drain());
        again.append(&mut self.ahead);
        again.sort_unstable_by_key(|hole| std::cmp::Reverse(hole.start));
        for hole in &again {
            let state = heap.blocks().state_of(hole.start);
            if state.is_mixed() {
                let old = self.old_state();
                let is_noted = state.is_in_snapshot() && !mutant!("concurrent/unmixed-not-noted");
                set_state(heap, *hole, old.in_snapshot(is_noted || self.is_logged));
            }
        }
        // Neighbours are one stretch again: what a mutator had, and the rest that was put aside. (A
        // block may begin where another ends.)
        again.dedup_by(|low, high| {
            let joined = low.end == high.start && !high.start.is_aligned(BLOCK);
            if joined {
                high.start = low.start;
            }
            joined
        });
        self.young_from = self.unsearched.len();
        self.unsearched.append(&mut again);
    }

    /// Ends a sweep. With debug assertions all holes are poisoned, so that a use of free memory is
    /// found.
    pub(super) fn begin_search(&mut self, marks: &MarkBits) {
        self.taken = 0;
        if cfg!(debug_assertions) {
            let (unsearched, ahead) = (self.unsearched.clone(), self.ahead.clone());
            while let Some(hole) = self.search(marks) {
                // SAFETY: the hole lies in a block of this space, between live closures.
                unsafe { poison::retire(hole.start, hole.size()) };
            }
            (self.unsearched, self.ahead) = (unsearched, ahead);
        }
    }
}

/// Whether a closure of `run` is marked.
pub(super) fn has_marks(marks: &MarkBits, run: BlockRun) -> bool {
    marks.next_set(run.start(), run.end()).is_some()
}

// Other builds read the headers of marked closures, and there are none here.
#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::space::lines::holes::LINE;
    use crate::words::Bytes;

    /// A closure of a word in every fourth line. One dies between two holes, of which one is known already.
    #[test]
    fn holes_beside_dead_closures_are_handed_out_once() {
        const LINES: usize = 4;
        let config = Config {
            reserve: Bytes::mib(8),
            ..Config::default()
        };
        let mut heap = Heap::new(&config).expect("a small heap");
        let mut marks = MarkBits::new(&heap).expect("a small table");
        let mut space = LineSpace::new(2, 1).logged();
        let run = heap.allocate(1, MOST_BLOCKS, space.old_state()).expect("room");
        let closure = |number: usize| run.start() + Bytes(number * LINES * LINE.0);
        (0..8).for_each(|number| _ = marks.set(closure(number)));
        space.held = run.bytes().0;
        space.kept.push(run);
        space.unsearched = vec![hole_of(run)];
        space.begin_search(&marks);
        assert_eq!(space.next_hole(&marks).map(|hole| hole.end), Some(closure(1)));
        marks.unset(closure(3));
        space.sweep_blocks(&mut heap, &marks, &[closure(3)]);
        let mut holes: Vec<_> = std::iter::from_fn(|| space.next_hole(&marks)).collect();
        holes.sort_unstable_by_key(|hole| hole.start);
        assert!(holes.windows(2).all(|pair| pair[0].end <= pair[1].start), "{holes:?}");
        let ends: Vec<_> = holes.iter().map(|hole| hole.end).collect();
        assert_eq!(
            ends,
            [1, 2, 4, 5, 6, 7]
                .map(closure)
                .into_iter()
                .chain([run.end()])
                .collect::<Vec<_>>()
        );
    }
}
