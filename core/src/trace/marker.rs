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
use super::order::Tracing;
use super::span_stack::{SpanStack, StackPool};
use crate::cause::Outcome;
use crate::closure::Slot;
use crate::heap::Heap;
use crate::roots::Roots;
use crate::space::Marks;
use crate::sync::Arc;
use crate::words::{Addr, Bytes, Words};
use crate::workers::{ParallelPhase, Workers};
use gclab_stats::{Shared, Sharing};

/// Bytes of heap for each byte of mark stacks.
const HEAP_PER_BYTE: usize = if cfg!(debug_assertions) { 1 << 16 } else { 64 };

/// What mark stacks may take at least.
const LEAST_STACK: Bytes = if cfg!(debug_assertions) {
    Bytes(128)
} else {
    Bytes::kib(64)
};

/// Words marked by one thread after which workers are woken, if there is anything to share: 256 KiB.
const SHARE_AFTER: Words = Words(if cfg!(debug_assertions) { 1 << 7 } else { 1 << 15 });

/// One marking of what lives, under way.
#[derive(Debug)]
pub struct Marker<'m, M> {
    marks: &'m M,
    /// Of the thread that collects.
    first: MarkLoop<'m, M>,
    pool: Arc<StackPool>,
    workers: Option<Workers<'m>>,
    /// What the others did, and how it was shared.
    marked: Marked,
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
    /// The most memory that mark stacks took at a time, beside a KiB that each begins with.
    pub stack: Bytes,
    /// How several threads shared the work; what each *copied* is what it marked.
    pub shared: Shared,
}

impl<'m, M: Marks> Marker<'m, M> {
    /// Begin to mark in `marks`. Every space that holds closures of `heap` has been condemned: its marks are clear.
    pub fn new(heap: &Heap, marks: &'m M) -> Self {
        let committed = heap.blocks().accounting().committed().0;
        let most = Bytes(committed / HEAP_PER_BYTE).max(LEAST_STACK);
        Marker::within(most, heap, marks)
    }

    /// Mark with so much memory for mark stacks.
    fn within(most: Bytes, heap: &Heap, marks: &'m M) -> Self {
        let pool = Arc::new(StackPool::new(most, heap.charges()));
        Marker {
            marks,
            first: MarkLoop::new(marks, SpanStack::new(Arc::clone(&pool))),
            pool,
            workers: None,
            marked: Marked::default(),
        }
    }

    /// From now on there are others who may help. Comes before anything is found. Marking is shared with load balancing or not at all: there is nothing in it
    /// that belongs to a thread.
    pub fn share_with(&mut self, workers: Workers<'m>) {
        self.marked.shared.sharing = match workers.sharing_so_far() {
            so_far @ (Sharing::Younger | Sharing::TooLittle) if workers.is_balanced() || !workers.has_helpers() => {
                so_far
            }
            _ => Sharing::Alone,
        };
        self.workers = Some(workers).filter(Workers::is_balanced);
        if let Some(workers) = &self.workers {
            self.pool.share_between(workers.count());
            self.first.share_at = SHARE_AFTER;
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
        loop {
            if !self.first.trace::<false>(None) {
                self.share();
            } else if !self.first.dropped.is_none() {
                self.first.rescan();
            } else {
                return;
            }
        }
    }

    /// Call the others, and mark with them until nothing is left but what was dropped.
    #[cold]
    #[inline(never)]
    fn share(&mut self) {
        let Some(workers) = &mut self.workers else {
            unreachable!("nothing is worth sharing if there is nobody to share with");
        };
        let (marks, pool, first) = (self.marks, &self.pool, &mut self.first);
        let absent = || MarkLoop::new(marks, SpanStack::new(Arc::clone(pool)));
        let phase = ParallelPhase::new(workers, Vec::new(), |queue| {
            first.give::<false>(queue);
            let first = std::mem::replace(first, absent());
            std::iter::once(first)
                .chain((1..workers.count()).map(|_| absent()))
                .collect()
        });
        let (loops, figures, parallel_ns) = phase.run(workers);
        let shared = &mut self.marked.shared;
        shared.sharing = Sharing::Balanced;
        shared.parallel_ns += parallel_ns;
        shared.threads.resize(figures.len(), Default::default());
        let threads = shared.threads.iter_mut().zip(figures);
        for (number, (marker, (sum, figures))) in loops.into_iter().zip(threads).enumerate() {
            *sum += &figures;
            if number == 0 {
                *first = marker;
                continue;
            }
            sum.copied += marker.words.to_bytes().0 as u64;
            self.marked.closures += marker.closures;
            self.marked.words += marker.words;
            self.marked.large += marker.large;
            first.dropped.join(marker.dropped);
        }
        // What a rescan leads to may be as much again.
        first.share_at = first.words + SHARE_AFTER;
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
    pub fn finish(mut self) -> Marked {
        debug_assert!(
            self.first.stack.len() == 0 && self.first.dropped.is_none(),
            "marking is not over"
        );
        if let Some(thread) = self.marked.shared.threads.first_mut() {
            thread.copied = self.first.words.to_bytes().0 as u64;
        }
        Marked {
            closures: self.marked.closures + self.first.closures,
            words: self.marked.words + self.first.words,
            large: self.marked.large + self.first.large,
            stack: self.pool.taken(),
            shared: self.marked.shared,
        }
    }
}

impl<M: Marks> Tracing for Marker<'_, M> {
    fn roots(&mut self, roots: Roots<'_>) {
        roots.for_each(|slot| self.root(slot));
    }

    fn trace(&mut self) {
        self.mark();
    }

    fn weak(&mut self, slot: Slot) {
        Marker::weak(self, slot);
    }
}

impl Marked {
    /// The outcome of a collection of everything by marking, after which closures take blocks of `held` bytes; nothing was
    /// moved.
    pub fn outcome(&self, held: Bytes) -> Outcome {
        let live = self.words.to_bytes();
        Outcome {
            major: true,
            in_place: true,
            live,
            large: self.large.to_bytes(),
            slop: Bytes(held.0 - live.0),
            shared: self.shared.clone(),
            ..Outcome::default()
        }
    }
}

#[cfg(all(test, not(any(gclab_loom, gclab_shuttle))))]
mod tests;
