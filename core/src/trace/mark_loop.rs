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

use super::span_stack::{Span, SpanStack};
use crate::block::LARGE_OBJECT;
use crate::closure::{ClosureRef, Slot};
use crate::prefetch::{prefetch, prefetch_line};
use crate::space::Marks;
use crate::words::{Addr, Words};
use crate::workers::{Tracer, WorkQueue};
use std::convert::Infallible;

/// Closures between the prefetch of a header and the visit: enough for the time that a line takes to come from memory.
const DEPTH: usize = 32;

/// Slots of a span that are looked at before the spans they led to: few, so that a large array does not fill the stack.
const PIECE: usize = 64;

/// Spans that are scanned until a thread looks whether something is to be shared: a microsecond or two. Builds for tests look often.
const LOOK: u32 = if cfg!(debug_assertions) { 2 } else { 64 };

/// Spans at most that are given away at a time, the oldest.
const GIVEN: usize = 16;

/// Closures and spans that are worth to be shared. Whole trees may hang on each.
const WORTH_GIVING: usize = if cfg!(debug_assertions) { 2 } else { 8 };

/// Slots that are worth to be cut in two.
const WORTH_CUTTING: usize = 2 * PIECE;

/// See the module's text.
#[derive(Debug)]
pub(super) struct MarkLoop<'m, M> {
    marks: &'m M,
    /// What was found, from `oldest` on.
    ring: [u64; DEPTH],
    oldest: usize,
    found: usize,
    pub stack: SpanStack,
    pub dropped: Dropped,
    /// When so many words are marked, others are to be called if there is anything to be shared.
    pub share_at: Words,
    /// Spans until the next look at that.
    until_look: u32,
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

    /// Together with what another thread dropped.
    pub fn join(&mut self, other: Dropped) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }

    fn next_of_pass(&self, marks: &impl Marks) -> Option<Addr> {
        marks.next_marked(self.pass, self.pass_last + Words(1))
    }

    /// What the pass has not come to, if anything, remains.
    fn end_pass(&mut self) {
        if self.pass <= self.pass_last {
            self.join(Dropped {
                first: self.pass,
                last: self.pass_last,
                ..Dropped::NONE
            });
        }
        (self.pass, self.pass_last) = (Dropped::NONE.pass, Dropped::NONE.pass_last);
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
            oldest: 0,
            found: 0,
            stack,
            dropped: Dropped::NONE,
            share_at: Words(usize::MAX),
            until_look: LOOK,
            closures: 0,
            words: Words(0),
            large: Words(0),
        }
    }

    /// Mark what can be reached from what was found, until nothing is left but what was dropped; or, as long as there is nobody to share with (no `queue`), until
    /// somebody had better be called: says whether it is the former.
    pub fn trace<const PARALLEL: bool>(&mut self, queue: Option<WorkQueue<'_, Span>>) -> bool {
        loop {
            if !self.scan_all::<PARALLEL>(queue) {
                return false;
            }
            let Some(closure) = self.take_oldest() else {
                return true;
            };
            self.visit::<PARALLEL>(closure);
        }
    }

    /// [`MarkLoop::trace`] until no span is left.
    #[inline(always)]
    fn scan_all<const PARALLEL: bool>(&mut self, queue: Option<WorkQueue<'_, Span>>) -> bool {
        while let Some(span) = self.stack.pop() {
            self.scan::<PARALLEL>(span);
            self.until_look -= 1;
            if self.until_look == 0 {
                self.until_look = LOOK;
                match queue {
                    Some(queue) if queue.should_share() => self.give::<PARALLEL>(queue),
                    None if self.is_worth_sharing() => return false,
                    _ => {}
                }
            }
        }
        true
    }

    /// Whether so much was marked that others had better be called, if there is anything for them.
    fn is_worth_sharing(&mut self) -> bool {
        self.words >= self.share_at
            && (self.stack.len() >= WORTH_GIVING || self.stack.oldest().is_some_and(|span| span.slots >= WORTH_CUTTING))
    }

    /// Offer half of what is known to who has nothing.
    #[cold]
    #[inline(never)]
    pub fn give<const PARALLEL: bool>(&mut self, queue: WorkQueue<'_, Span>) {
        if self.stack.len() < WORTH_GIVING {
            // Of a tree much of what hangs between the root and here waits in the ring.
            while let Some(closure) = self.take_oldest() {
                self.visit::<PARALLEL>(closure);
            }
        }
        for _ in 0..self.stack.len().div_ceil(2).min(GIVEN) {
            let several = self.stack.len() > 1;
            let Some(span) = self.stack.oldest() else {
                return;
            };
            if span.slots >= WORTH_CUTTING {
                queue.push(span.split_off(span.slots / 2));
            } else if several {
                self.stack.take_oldest().into_iter().for_each(|span| queue.push(span));
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
        let place = &mut self.ring[(self.oldest + self.found) % DEPTH];
        let oldest = std::mem::replace(place, closure);
        if self.found < DEPTH {
            self.found += 1;
        } else {
            self.oldest = (self.oldest + 1) % DEPTH;
            self.visit::<PARALLEL>(oldest);
        }
    }

    /// The closure that was found first, of those in the ring. (The one found last has not come into the cache yet.)
    #[inline(always)]
    fn take_oldest(&mut self) -> Option<u64> {
        if self.found == 0 {
            return None;
        }
        let closure = self.ring[self.oldest];
        self.oldest = (self.oldest + 1) % DEPTH;
        self.found -= 1;
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

    /// Scan what was dropped again, and what that leads to, or as much of it as [`MarkLoop::trace`] does; some may be dropped then. Nobody else marks meanwhile.
    #[cold]
    #[inline(never)]
    pub fn rescan(&mut self) {
        let (first, last) = (self.dropped.first, self.dropped.last);
        self.dropped = Dropped {
            pass: first,
            pass_last: last,
            ..Dropped::NONE
        };
        let mut goes_on = true;
        while let Some(at) = self.dropped.next_of_pass(self.marks).filter(|_| goes_on) {
            // SAFETY: it was marked in this marking (no closure had been), so a closure is there.
            let extent = unsafe { ClosureRef(at.as_mut_ptr()).extent() };
            // Where the next one may start, and no mark lies before that belongs to this one.
            self.dropped.pass = at + extent.words;
            // There is room: nothing else is on the stack.
            self.stack.push(Span::of(extent));
            goes_on = self.scan_all::<false>(None);
        }
        self.dropped.end_pass();
    }
}

// SAFETY: it holds marks, which threads share, addresses of slots, which they only read, and a stack that nobody else has.
unsafe impl<M: Marks> Tracer for MarkLoop<'_, M> {
    type Item = Span;
    type Task = Infallible;

    fn trace_shared(&mut self, piece: Option<Span>, queue: WorkQueue<'_, Span>) {
        let mut next = piece;
        loop {
            // There is room: nothing else is on the stack.
            next.into_iter().for_each(|span| _ = self.stack.push(span));
            self.trace::<true>(Some(queue));
            next = queue.pop();
            if next.is_none() {
                return;
            }
        }
    }

    fn begin(&mut self, task: &Infallible) {
        match *task {}
    }
}
