//! A snapshot of a space of lines: its old closures at one moment, marked while the program runs.
//!
//! Sticky marks say which closures are old, and stay as they are: holes, minor collections and the
//! barrier need them. The marks of the snapshot are in a second table. Closures that become old
//! meanwhile get marks in both ([`BothMarks`](crate::space::BothMarks)). When everything in the
//! snapshot is marked, the second table becomes the first.

use super::{LineSpace, YOUNG};
use crate::block::{BlockState, StateView};
use crate::heap::Heap;
use crate::space::{MarkBits, Marks};
use crate::sync::Arc;
use crate::words::{Addr, Words};

/// The table of a snapshot's marks. Young closures are new: they count as marked, and are not looked
/// into. It may be used while mutators run, who change no sticky mark.
#[derive(Debug)]
pub struct SnapshotMarks {
    sticky: Arc<MarkBits>,
    marks: MarkBits,
    states: StateView,
}

impl SnapshotMarks {
    /// The snapshot of the closures of `heap` that are marked in `sticky`, with its own `marks`.
    pub fn new(heap: &Heap, sticky: Arc<MarkBits>, marks: MarkBits) -> Self {
        SnapshotMarks {
            sticky,
            marks,
            states: heap.states(),
        }
    }

    /// Its own marks. It no longer uses the sticky ones.
    pub fn into_marks(self) -> MarkBits {
        self.marks
    }

    /// Whether a closure is younger than the snapshot and not old yet. In a block with old closures
    /// the sticky mark tells.
    #[inline(always)]
    fn is_new(&self, at: Addr) -> bool {
        self.states.of(at).step() <= YOUNG && !self.sticky.get(at)
    }
}

// SAFETY: `marks` decides for closures of the snapshot, and new ones are never marked here.
unsafe impl Marks for SnapshotMarks {
    #[inline(always)]
    fn mark<const PARALLEL: bool>(&self, at: Addr, words: Words) -> bool {
        (!self.is_new(at) || mutant!("concurrent/young-marked")) && self.marks.mark::<PARALLEL>(at, words)
    }

    #[inline(always)]
    fn is_marked(&self, at: Addr) -> bool {
        self.is_new(at) || self.marks.is_marked(at)
    }

    #[inline]
    fn next_marked(&self, from: Addr, to: Addr) -> Option<Addr> {
        self.marks.next_marked(from, to)
    }

    #[inline(always)]
    fn entry_address(&self, at: Addr) -> *const u8 {
        self.marks.entry_address(at)
    }
}

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
