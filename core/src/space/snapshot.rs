//! The marks of a snapshot: the old closures at one moment, marked while the program runs.

use super::{MarkBits, Marks, Record};
use crate::block::{FIRST_OLD_STEP, StateView};
use crate::closure::{ClosureRef, Slot};
use crate::heap::Heap;
use crate::sync::Arc;
use crate::words::{Addr, Words};
use std::borrow::Borrow;

/// The marks of a trace that began with an empty nursery. Young closures are new: they count as
/// marked, and are not looked into. Mutators may run meanwhile. The slots that are scanned are shown
/// to `R`.
#[derive(Debug)]
pub struct SnapshotMarks<T, M, R = ()> {
    marks: T,
    mixed: M,
    recorder: R,
    states: StateView,
}

/// How to tell old closures in blocks of a young step.
pub trait Mixed: Sync {
    /// Whether the closure at `at`, in such a block, is old.
    fn is_old(&self, at: Addr) -> bool;
}

/// There are no mixed blocks.
impl Mixed for () {
    #[inline(always)]
    fn is_old(&self, _: Addr) -> bool {
        false
    }
}

/// Old closures have sticky marks, which mutators do not change.
impl Mixed for Arc<MarkBits> {
    #[inline(always)]
    fn is_old(&self, at: Addr) -> bool {
        self.get(at) && !mutant!("concurrent/mixed-all-young")
    }
}

impl<T: Borrow<MarkBits>, M: Mixed> SnapshotMarks<T, M> {
    /// The old closures of `heap`, which are marked in `marks`.
    pub fn new(heap: &Heap, marks: T, mixed: M) -> Self {
        SnapshotMarks::recording(heap, marks, mixed, ())
    }
}

impl<T: Borrow<MarkBits>, M: Mixed, R: Record> SnapshotMarks<T, M, R> {
    /// The same, with a `recorder` of slots.
    pub fn recording(heap: &Heap, marks: T, mixed: M, recorder: R) -> Self {
        SnapshotMarks {
            marks,
            mixed,
            recorder,
            states: heap.states(),
        }
    }

    /// The table itself.
    pub fn into_marks(self) -> T {
        self.marks
    }

    #[inline(always)]
    fn is_new(&self, at: Addr) -> bool {
        self.states.of(at).step() < FIRST_OLD_STEP && !self.mixed.is_old(at)
    }
}

// SAFETY: `marks` decides for old closures, and new ones are never marked.
unsafe impl<T: Borrow<MarkBits> + Sync, M: Mixed, R: Record> Marks for SnapshotMarks<T, M, R> {
    #[inline(always)]
    fn records(&self) -> bool {
        self.recorder.is_in_use()
    }

    #[inline(always)]
    fn record(&self, slot: Slot, closure: ClosureRef) {
        self.recorder.record(slot, closure);
    }

    #[inline(always)]
    fn mark<const PARALLEL: bool>(&self, at: Addr, words: Words) -> bool {
        (!self.is_new(at) || mutant!("concurrent/young-marked")) && self.marks.borrow().mark::<PARALLEL>(at, words)
    }

    #[inline(always)]
    fn is_marked(&self, at: Addr) -> bool {
        self.is_new(at) || self.marks.borrow().is_marked(at)
    }

    #[inline]
    fn next_marked(&self, from: Addr, to: Addr) -> Option<Addr> {
        self.marks.borrow().next_marked(from, to)
    }

    #[inline(always)]
    fn prefetch(&self, at: Addr) {
        self.marks.borrow().prefetch(at);
    }
}
