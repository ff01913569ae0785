//! What one thread marks with: all that is hot in marking.
//!
//! A closure that is found goes into a *ring* first, while its header and its mark come into the cache; when it comes out it is *visited*: marked, and the
//! run of its slots put on the thread's mark stack as a *span*. Spans are taken from the stack in pieces and what their slots lead to is found. There is no
//! recursion, and no closure's kind matters.
//!
//! If the stack is full, spans are *dropped*: the addresses of their closures are kept as one interval. When nothing else is left, the marked closures of the
//! interval are scanned again, in address order. What such a pass drops and has not come to yet it comes to anyway; what lies
//! behind it is the next interval. Each pass that drops anything has marked as many closures as the stack holds, and most mark far more.
//!
//! Invariant: a closure that this thread marked was scanned, or has a span on a stack or under way to another thread, or lies in the interval.

use super::queue::{prefetch, prefetch_line};
use super::span_stack::{Span, SpanStack};
use crate::closure::{ClosureRef, Slot};
use crate::space::{LARGE_OBJECT, Marks};
use crate::words::{Addr, Words};

/// Closures between the prefetch of a header and the visit: enough for the time that a line takes to come from memory.
const DEPTH: usize = 16;

/// Slots of a span that are looked at before the spans they led to: few, so that a large array does not fill the stack.
const PIECE: usize = 64;

/// See the module's text.
#[derive(Debug)]
pub(super) struct MarkLoop<'m, M> {
    marks: &'m M,
    ring: [u64; DEPTH],
    next: usize,
    pub stack: SpanStack,
    pub dropped: Dropped,
    /// Closures that this thread marked.
    pub closures: u64,
    /// Their words.
    pub words: Words,
    /// Of these, words of large objects.
    pub large: Words,
}

/// Which closures have to be scanned again: the first and the last one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dropped {
    first: Addr,
    last: Addr,
    /// From here on to `pass_last` they are being scanned.
    pass: Addr,
    pass_last: Addr,
}

impl Dropped {
    pub const NONE: Dropped = Dropped {
        first: Addr(usize::MAX),
        last: Addr::NULL,
        pass: Addr(usize::MAX),
        pass_last: Addr::NULL,
    };

    pub fn is_none(&self) -> bool {
        self.first > self.last
    }

    fn add(&mut self, at: Addr) {
        if at >= self.pass {
            self.pass_last = self.pass_last.max(at);
        } else {
            self.first = self.first.min(at);
            self.last = self.last.max(at);
        }
    }
}

impl<'m, M: Marks> MarkLoop<'m, M> {
    pub fn new(marks: &'m M, stack: SpanStack) -> Self {
        MarkLoop {
            marks,
            ring: [0; DEPTH],
            next: 0,
            stack,
            dropped: Dropped::NONE,
            closures: 0,
            words: Words(0),
            large: Words(0),
        }
    }

    /// Mark what can be reached from what was found, until nothing is left but what was dropped.
    pub fn trace<const PARALLEL: bool>(&mut self) {
        loop {
            if let Some(span) = self.stack.pop() {
                self.scan::<PARALLEL>(span);
            } else if let Some(closure) = self.newest() {
                self.visit::<PARALLEL>(closure);
            } else {
                return;
            }
        }
    }

    /// A slot holds `closure`, or null.
    #[inline(always)]
    pub fn found<const PARALLEL: bool>(&mut self, closure: u64) {
        if closure == 0 {
            return;
        }
        prefetch(closure);
        prefetch_line(self.marks.entry_address(Addr(closure as usize)) as u64);
        let oldest = std::mem::replace(&mut self.ring[self.next], closure);
        self.next = (self.next + 1) % DEPTH;
        if oldest != 0 {
            self.visit::<PARALLEL>(oldest);
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
    fn visit<const PARALLEL: bool>(&mut self, closure: u64) {
        let at = Addr(closure as usize);
        // SAFETY: a slot of a root or of a closure held it, so a closure is there (the heap's invariant), and nothing moves.
        let extent = unsafe { ClosureRef(closure as *mut u64).extent() };
        if !self.marks.mark::<PARALLEL>(at, extent.words) {
            return;
        }
        self.closures += 1;
        self.words.0 += extent.words.0;
        if extent.words >= LARGE_OBJECT {
            self.large.0 += extent.words.0;
        }
        if extent.slots > 0 && !self.stack.push(Span::of(extent)) {
            self.drop_span(at);
        }
    }

    #[cold]
    #[inline(never)]
    fn drop_span(&mut self, at: Addr) {
        self.dropped.add(at);
    }

    /// Find what the slots of a span lead to, or some of them.
    #[inline(always)]
    fn scan<const PARALLEL: bool>(&mut self, mut span: Span) {
        if span.slots > PIECE {
            let piece = span.split_off(PIECE);
            // There is room: the span was taken from the stack just now.
            self.stack.push(span);
            span = piece;
        }
        for index in 0..span.slots {
            // SAFETY: one of the slots of a closure, which nobody writes while the world is stopped.
            let closure = unsafe { Slot(span.first.wrapping_add(index)).load() };
            self.found::<PARALLEL>(closure);
        }
    }

    /// Scan what was dropped again, and what that leads to; some of it may be dropped then. Nobody else marks meanwhile.
    #[cold]
    #[inline(never)]
    pub fn rescan(&mut self) {
        let (first, last) = (self.dropped.first, self.dropped.last);
        self.dropped = Dropped {
            pass: first,
            pass_last: last,
            ..Dropped::NONE
        };
        while let Some(at) = self
            .marks
            .next_marked(self.dropped.pass, self.dropped.pass_last + Words(1))
        {
            // SAFETY: it was marked in this marking (no closure had been), so a closure is there.
            let extent = unsafe { ClosureRef(at.as_mut_ptr()).extent() };
            // Where the next one may start, and no mark lies before that belongs to this one.
            self.dropped.pass = at + extent.words;
            let mut span = Span::of(extent);
            while span.slots > 0 {
                let piece = span.split_off(PIECE.min(span.slots));
                self.scan::<false>(piece);
                while let Some(span) = self.stack.pop() {
                    self.scan::<false>(span);
                }
            }
        }
        self.dropped.pass = Addr(usize::MAX);
    }
}
