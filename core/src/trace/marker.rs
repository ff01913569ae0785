//! Marking: finds what lives and leaves it where it is.
//!
//! A set mark bit ([`MarkBits`]) says that a closure was reached. A closure that is found goes into a *ring* first, while its header
//! and its mark bit come into the cache; when it comes out it is *visited*: marked, and the run of its slots put on the mark
//! stack as a *span*. Spans are taken from the stack in pieces and the closures that their slots lead to are found. There is no recursion, and
//! no closure's kind matters.
//!
//! **Memory is bounded.** The mark stack takes a 32nd of the memory of the heap at most, and 64 KiB at least. When it is full, or
//! the system refuses memory for it, spans are *dropped*: the addresses of their closures are kept as one interval. When
//! the stack is empty, all marked closures of the interval are scanned again. Each such pass marks as many closures as the stack
//! holds or is the last, so there are few of them, whatever the shape of the heap.
//!
//! Invariant: a closure whose bit was set by this marker was scanned, or has a span on the stack, or lies in the interval of what was
//! dropped. Checked by `-DS` (an unmarked referent of a marked closure is a pointer to where no closure starts). With
//! debug assertions the stack is much smaller, so that tests go through passes all the time.

use super::queue::{prefetch, prefetch_line};
use crate::closure::{ClosureRef, Extent, Slot};
use crate::heap::Heap;
use crate::space::{LARGE_OBJECT, MarkBits};
use crate::words::{Addr, Words};

/// Closures between the prefetch of a header and the visit: enough for the time that a line takes to come from memory.
const DEPTH: usize = 16;

/// Slots of a span that are looked at before the spans they led to: few, so that a large array does not fill the stack.
const PIECE: usize = 64;

/// Bytes of heap for each span on the stack: with 16 bytes a span, a 32nd.
const HEAP_PER_SPAN: usize = if cfg!(debug_assertions) { 1 << 20 } else { 512 };

/// Spans that the stack holds at least.
const LEAST_SPANS: usize = if cfg!(debug_assertions) { 4 } else { 4096 };

/// Slots that have not been looked at.
#[derive(Debug, Clone, Copy)]
struct Span {
    first: *mut u64,
    slots: usize,
}

/// One marking of what lives, under way.
#[derive(Debug)]
pub struct Marker<'m> {
    marks: &'m mut MarkBits,
    ring: [u64; DEPTH],
    next: usize,
    stack: Vec<Span>,
    most_spans: usize,
    /// The first and the last closure whose span was dropped.
    dropped: Option<(Addr, Addr)>,
    marked: Marked,
}

/// What was marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marked {
    /// Closures.
    pub closures: u64,
    /// Their words.
    pub words: Words,
    /// Of these, words of large objects.
    pub large: Words,
}

impl<'m> Marker<'m> {
    /// Begin to mark in `marks`. Every space that holds closures of `heap` has been condemned: its marks are clear.
    pub fn new(heap: &Heap, marks: &'m mut MarkBits) -> Self {
        let committed = heap.blocks().accounting().committed().0;
        Marker {
            marks,
            ring: [0; DEPTH],
            next: 0,
            stack: Vec::new(),
            most_spans: (committed / HEAP_PER_SPAN).max(LEAST_SPANS),
            dropped: None,
            marked: Marked::default(),
        }
    }

    /// Mark what a root leads to.
    #[inline]
    pub fn root(&mut self, slot: Slot) {
        // SAFETY: the slots that a collector gets to see are those of a stopped world.
        self.found(unsafe { slot.load() });
    }

    /// Mark everything that can be reached from what has been found.
    pub fn mark(&mut self) {
        loop {
            if let Some(span) = self.stack.pop() {
                self.scan(span);
            } else if let Some(closure) = self.newest() {
                self.visit(closure);
            } else if !self.rescan() {
                return;
            }
        }
    }

    /// After marking: clears a weak slot whose referent was not reached.
    pub fn weak(&self, slot: Slot) {
        // SAFETY: as for `root`; null is no closure, but may be stored.
        unsafe {
            let referent = slot.load();
            if referent != 0 && !self.marks.get(Addr(referent as usize)) {
                slot.store(0);
            }
        }
    }

    /// What was marked.
    pub fn finish(self) -> Marked {
        debug_assert!(self.stack.is_empty() && self.dropped.is_none(), "marking is not over");
        self.marked
    }

    /// A slot holds `closure`, or null.
    #[inline(always)]
    fn found(&mut self, closure: u64) {
        if closure == 0 {
            return;
        }
        prefetch(closure);
        prefetch_line(self.marks.entry_address(Addr(closure as usize)) as u64);
        let oldest = std::mem::replace(&mut self.ring[self.next], closure);
        self.next = (self.next + 1) % DEPTH;
        if oldest != 0 {
            self.visit(oldest);
        }
    }

    /// The closure that was found last, of those in the ring.
    #[inline(always)]
    fn newest(&mut self) -> Option<u64> {
        let newest = (self.next + DEPTH - 1) % DEPTH;
        let closure = std::mem::take(&mut self.ring[newest]);
        if closure == 0 {
            return None;
        }
        self.next = newest;
        Some(closure)
    }

    #[inline(always)]
    fn visit(&mut self, closure: u64) {
        let at = Addr(closure as usize);
        if !self.marks.set(at) {
            return;
        }
        // SAFETY: a slot of a root or of a closure held it, so a closure is there (the heap's invariant), and nothing moves.
        let extent = unsafe { ClosureRef(closure as *mut u64).extent() };
        self.marked.closures += 1;
        self.marked.words.0 += extent.words.0;
        if extent.words >= LARGE_OBJECT {
            self.marked.large.0 += extent.words.0;
        }
        self.push(at, extent);
    }

    #[inline(always)]
    fn push(&mut self, at: Addr, extent: Extent) {
        if extent.slots == 0 {
            return;
        }
        if self.stack.len() == self.stack.capacity() && !self.grow() {
            self.drop_span(at);
            return;
        }
        self.stack.push(Span {
            first: extent.first,
            slots: extent.slots,
        });
    }

    /// Makes the stack larger, unless it is as large as it may be, or the system refuses.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> bool {
        let capacity = self.stack.capacity();
        let more = (self.most_spans.saturating_sub(capacity)).min(capacity.max(LEAST_SPANS));
        more > 0 && self.stack.try_reserve_exact(more).is_ok()
    }

    #[cold]
    #[inline(never)]
    fn drop_span(&mut self, at: Addr) {
        let (first, last) = self.dropped.unwrap_or((at, at));
        self.dropped = Some((first.min(at), last.max(at)));
    }

    /// Find what the slots of a span lead to, or some of them.
    #[inline(always)]
    fn scan(&mut self, mut span: Span) {
        if span.slots > PIECE {
            // There is room: the span was taken from the stack just now.
            self.stack.push(Span {
                first: span.first.wrapping_add(PIECE),
                slots: span.slots - PIECE,
            });
            span.slots = PIECE;
        }
        for index in 0..span.slots {
            // SAFETY: one of the slots of a closure, which nobody writes while the world is stopped.
            let closure = unsafe { Slot(span.first.wrapping_add(index)).load() };
            self.found(closure);
        }
    }

    /// Scan the marked closures of the interval of what was dropped again; false if nothing was.
    #[cold]
    #[inline(never)]
    fn rescan(&mut self) -> bool {
        let Some((first, last)) = self.dropped.take() else {
            return false;
        };
        let mut from = first;
        let behind = Addr(last.0 + 8);
        while let Some(at) = self.marks.next_set(from, behind) {
            // SAFETY: this marker set the bit (all had been clear), for a closure.
            let extent = unsafe { ClosureRef(at.as_mut_ptr()).extent() };
            for slot in extent.slots() {
                // SAFETY: a slot of that closure, which nobody writes while the world is stopped.
                self.found(unsafe { slot.load() });
            }
            while let Some(span) = self.stack.pop() {
                self.scan(span);
            }
            from = Addr(at.0 + 8);
        }
        true
    }
}
