//! A snapshot of a space of lines: its old closures at one moment, marked while the program runs.
//!
//! Sticky marks say which closures are old, and stay as they are: holes, minor collections and the
//! barrier need them. The marks of the snapshot are in a second table
//! ([`SnapshotMarks`](crate::space::SnapshotMarks)). Closures that become old
//! meanwhile get marks in both ([`BothMarks`](crate::space::BothMarks)). When everything in the
//! snapshot is marked, the second table becomes the first.

use super::LineSpace;
use crate::block::BlockState;
use crate::heap::Heap;
use crate::words::Addr;

impl LineSpace {
    /// Turns on or off the recording of values that stores to old closures overwrite. No block is
    /// mixed, or the next marking is of everything.
    pub fn set_in_snapshot(&self, heap: &mut Heap, yes: bool) {
        let state = BlockState::of_step(self.step).in_snapshot(yes);
        self.kept.iter().for_each(|&run| heap.set_state(run, state));
    }

    /// The memory of all blocks that may have marks.
    pub fn for_each_marked_block(&self, mut visit: impl FnMut(Addr, Addr)) {
        let runs = self.kept.iter().chain(&self.fresh).chain(&self.reserve.runs);
        runs.for_each(|run| visit(run.start(), run.end()));
    }
}
