//! Marking: finds what lives and leaves it where it is.
//!
//! What is marked is told by a table ([`Marks`]) that belongs to the collector. [`super::mark_loop`] says how it is done.
//!
//! **Memory is bounded.** Mark stacks take a 64th of the memory of the heap at most, and 64 KiB at least. When a stack is full, or
//! the system refuses memory for it, spans are dropped, and marked closures scanned again, whatever the shape of the heap. With
//! debug assertions the bound is much smaller, so that tests go through this all the time.
//!
//! Checked by `-DS`: an unmarked referent of a marked closure is a pointer to where no closure starts.

use super::mark_loop::MarkLoop;
use super::span_stack::{SpanStack, StackPool};
use crate::closure::Slot;
use crate::heap::Heap;
use crate::space::Marks;
use crate::sync::Arc;
use crate::words::{Addr, Bytes, Words};

/// Bytes of heap for each byte of mark stacks.
const HEAP_PER_BYTE: usize = if cfg!(debug_assertions) { 1 << 16 } else { 64 };

/// What mark stacks may take at least.
const LEAST_STACK: Bytes = if cfg!(debug_assertions) {
    Bytes(128)
} else {
    Bytes::kib(64)
};

/// One marking of what lives, under way.
#[derive(Debug)]
pub struct Marker<'m, M> {
    marks: &'m M,
    /// Of the thread that collects.
    first: MarkLoop<'m, M>,
    pool: Arc<StackPool>,
}

/// What was marked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marked {
    /// Closures.
    pub closures: u64,
    /// Their words.
    pub words: Words,
    /// Of these, words of large objects.
    pub large: Words,
    /// The most memory that mark stacks took.
    pub stack: Bytes,
}

impl<'m, M: Marks> Marker<'m, M> {
    /// Begin to mark in `marks`. Every space that holds closures of `heap` has been condemned: its marks are clear.
    pub fn new(heap: &Heap, marks: &'m M) -> Self {
        let committed = heap.blocks().accounting().committed().0;
        let most = Bytes(committed / HEAP_PER_BYTE).max(LEAST_STACK);
        let pool = Arc::new(StackPool::new(most, 1));
        Marker {
            marks,
            first: MarkLoop::new(marks, SpanStack::new(Arc::clone(&pool))),
            pool,
        }
    }

    /// Mark what a root leads to.
    #[inline]
    pub fn root(&mut self, slot: Slot) {
        // SAFETY: the slots that a collector gets to see are those of a stopped world.
        self.first.found::<false>(unsafe { slot.load() });
    }

    /// Mark everything that can be reached from what has been found.
    pub fn mark(&mut self) {
        self.first.trace::<false>();
        while !self.first.dropped.is_none() {
            self.first.rescan();
            self.first.trace::<false>();
        }
    }

    /// After marking: clears a weak slot whose referent was not reached.
    pub fn weak(&self, slot: Slot) {
        // SAFETY: as for `root`; null is no closure, but may be stored.
        unsafe {
            let referent = slot.load();
            if referent != 0 && !self.marks.is_marked(Addr(referent as usize)) {
                slot.store(0);
            }
        }
    }

    /// What was marked.
    pub fn finish(self) -> Marked {
        debug_assert!(
            self.first.stack.len() == 0 && self.first.dropped.is_none(),
            "marking is not over"
        );
        Marked {
            closures: self.first.closures,
            words: self.first.words,
            large: self.first.large,
            stack: self.pool.taken(),
        }
    }
}
