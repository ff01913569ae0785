//! One thread's marking: the hot path.
//!
//! A closure that is found first goes into a *ring*, while its header and mark are prefetched. When
//! it comes out it is *visited*: marked, and its slots pushed to the thread's mark stack as a
//! *span*. Spans are taken from the stack in pieces, and the referents of their slots are found.
//! There is no recursion, and no closure's kind matters.
//!
//! If the stack is full, spans are *dropped*: the addresses of their closures are kept as one
//! interval. When nothing else is left, the marked closures of the interval are scanned again, in
//! address order. Such a *pass* will reach the closures that it drops ahead of it; those that it
//! drops after it form the next interval. Each pass that drops anything has marked at least as many
//! closures as the stack holds, and most mark far more.
//!
//! If closures move ([`Destination`]), the ring holds slots, not closures: a visit starts by
//! finding the closure's place ([`Mover`]), and updates the slot.
//!
//! Invariant: a closure that this thread marked was scanned, or has a span on a stack or under way
//! to another worker, or lies in the interval.

use super::dropped::Dropped;
use super::mover::Mover;
use super::span_stack::{Span, SpanStack};
use crate::block::LARGE_OBJECT;
use crate::closure::{ClosureRef, Slot, SlotRange};
use crate::prefetch::{PrefetchRing, prefetch_closure};
use crate::space::{Destination, Marks};
use crate::stats::Counted;
use crate::trace::drained::{Drained, UNBOUNDED};
use crate::words::{Addr, Words};
use crate::workers::{Stop, Tracer, WorkQueue};
use std::convert::Infallible;
use std::ptr::NonNull;

/// Closures between the prefetch of a header and the visit: enough to cover the latency of memory.
const QUEUED_CLOSURES: usize = 32;

/// Slots of a span that are scanned before the spans they lead to: few, so that a large array does
/// not fill the stack.
const PIECE: usize = 64;

/// Spans scanned between two checks for idle workers: a microsecond or two. Test builds check
/// often.
const LOOK: u32 = if cfg!(debug_assertions) { 2 } else { 64 };

/// At most this many spans are shared at a time, the oldest ones.
const MOST_SHARED: usize = 16;

/// Number of closures and spans worth sharing. Whole trees may hang off each.
const WORTH_SHARING: usize = if cfg!(debug_assertions) { 2 } else { 8 };

/// Number of slots from which a span is worth splitting.
const SPAN_WORTH_SPLITTING: usize = 2 * PIECE;

/// One thread's marking: see the module's text.
#[derive(Debug)]
pub(super) struct MarkLoop<'m, M, D: Destination> {
    marks: &'m M,
    pub mover: Mover<'m, D>,
    /// Closures that were found and have not been visited; or the slots that hold them.
    ring: PrefetchRing<NonNull<u64>, QUEUED_CLOSURES>,
    pub stack: SpanStack,
    pub dropped: Dropped,
    /// Once this many words are marked, workers are woken if there is anything to share.
    pub share_at: Words,
    /// A thread that marks alone stops after this much work.
    stop_at: Words,
    /// Several threads that mark concurrently stop when this is asked for.
    pub stop: Option<&'m Stop>,
    /// Spans of queues, which were taken when it stopped.
    pub left: Vec<Span>,
    /// Spans until the next check of these limits and for idle workers.
    until_look: u32,
    /// Spans between two checks.
    between_looks: u32,
    /// Words of pieces of long spans, and of closures that were scanned again.
    scanned_apart: Words,
    /// Closures that this thread marked.
    pub closures: u64,
    /// The words of these closures.
    pub words: Words,
    /// Of these, words of large objects.
    pub large: Words,
    /// The numbers that this thread counted for the collection's record.
    pub counted: Counted,
}

impl<'m, M: Marks, D: Destination> MarkLoop<'m, M, D> {
    /// A loop that marks in `marks`, and moves closures by `mover`.
    ///
    /// # Safety
    /// As long as the loop exists, only such loops move closures, and no block is freed. A closure
    /// starts at each mark. The mutators are stopped; or nothing moves, `marks` refuses closures that
    /// are newer than the marking, and the mutators' barriers note what they overwrite.
    pub(super) unsafe fn new(marks: &'m M, mover: Mover<'m, D>, stack: SpanStack) -> Self {
        MarkLoop {
            marks,
            mover,
            ring: PrefetchRing::new(),
            stack,
            dropped: Dropped::NONE,
            share_at: UNBOUNDED,
            stop_at: UNBOUNDED,
            stop: None,
            left: Vec::new(),
            until_look: LOOK,
            between_looks: LOOK,
            scanned_apart: Words(0),
            closures: 0,
            words: Words(0),
            large: Words(0),
            counted: Counted::default(),
        }
    }

    /// The work that this thread has done, in words: small closures that it marked, long spans as
    /// far as they were scanned, and closures that it scanned again.
    pub(super) fn work(&self) -> Words {
        self.words - self.large + self.scanned_apart
    }

    /// From now on the thread does `budget` words of work if it marks alone, or a little more: it
    /// stops between two spans. With a small budget it checks after each span.
    pub(super) fn set_budget(&mut self, budget: Words) {
        self.stop_at = Words(self.work().0.saturating_add(budget.0));
        let spans = u32::try_from(budget.0 / PIECE).unwrap_or(LOOK);
        self.between_looks = spans.clamp(1, LOOK);
        self.until_look = self.between_looks;
    }

    /// Whether the budget is used up.
    pub(super) fn has_used_budget(&self) -> bool {
        self.work() >= self.stop_at
    }

    /// Marks everything that can be reached from the closures that were found. Without a `queue`,
    /// stops when the budget is used up, or `share_at` words are marked and there is work to share.
    /// Closures that were dropped are left.
    pub(super) fn trace<const PARALLEL: bool>(&mut self, queue: Option<WorkQueue<'_, Span>>) -> Drained {
        loop {
            let drained = self.scan_all::<PARALLEL>(queue);
            if drained != Drained::All {
                return drained;
            }
            // The newest has not come into the cache yet.
            let Some(waiting) = self.ring.pop_oldest().filter(|_| !mutant!("mark/ring-forgotten")) else {
                return Drained::All;
            };
            // SAFETY: `found` put it into the ring.
            unsafe { self.visit::<PARALLEL>(waiting) };
        }
    }

    /// [`MarkLoop::trace`] until no span is left.
    #[inline(always)]
    fn scan_all<const PARALLEL: bool>(&mut self, queue: Option<WorkQueue<'_, Span>>) -> Drained {
        while let Some(span) = self.stack.pop() {
            self.scan::<PARALLEL>(span);
            self.until_look -= 1;
            if self.until_look == 0 {
                self.until_look = self.between_looks;
                match queue {
                    Some(_) if self.must_stop() => return Drained::BudgetUsed,
                    Some(queue) if queue.should_share() => self.share::<PARALLEL>(queue),
                    None if self.is_worth_sharing() => return Drained::WorthSharing,
                    None if self.has_used_budget() => return Drained::BudgetUsed,
                    _ => {}
                }
            }
        }
        Drained::All
    }

    fn must_stop(&self) -> bool {
        self.stop.is_some_and(Stop::is_asked)
    }

    /// Whether `share_at` words are marked and there is work for other workers, so that they should
    /// be woken.
    fn is_worth_sharing(&mut self) -> bool {
        self.words >= self.share_at
            && (self.stack.len() >= WORTH_SHARING
                || self
                    .stack
                    .oldest()
                    .is_some_and(|span| span.len() >= SPAN_WORTH_SPLITTING))
    }

    /// Pushes half of the work at hand to `queue`.
    #[cold]
    #[inline(never)]
    pub(super) fn share<const PARALLEL: bool>(&mut self, queue: WorkQueue<'_, Span>) {
        if self.stack.len() < WORTH_SHARING {
            // In a tree, much of the part between the root and here waits in the ring.
            self.empty_ring::<PARALLEL>();
        }
        for _ in 0..self.stack.len().div_ceil(2).min(MOST_SHARED) {
            let several = self.stack.len() > 1;
            let Some(span) = self.stack.oldest() else {
                return;
            };
            if span.len() >= SPAN_WORTH_SPLITTING {
                let half = span.len() / 2;
                queue.push(span.split_front(half));
            } else if several {
                let span = self.stack.take_oldest().filter(|_| !mutant!("shared/span-forgotten"));
                span.into_iter().for_each(|span| queue.push(span));
            }
        }
    }

    /// Visits everything that waits in the ring.
    pub(super) fn empty_ring<const PARALLEL: bool>(&mut self) {
        while let Some(waiting) = self.ring.pop_oldest() {
            // SAFETY: `found` put it into the ring.
            unsafe { self.visit::<PARALLEL>(waiting) };
        }
    }

    /// Takes note of the closure that `slot` holds.
    ///
    /// # Safety
    /// The slot holds null, or a closure of the heap (or the former address of one that has moved).
    /// Until the marking ends, only mutators use the slot, if they run.
    #[inline(always)]
    pub(super) unsafe fn found<const PARALLEL: bool>(&mut self, slot: Slot) {
        // SAFETY: the caller's promise.
        let closure = unsafe { slot.load_beside() };
        let Some(found) = NonNull::new(closure.0) else {
            return;
        };
        if M::EDGES && !D::MOVES {
            self.show_edge::<PARALLEL>(slot, closure);
        }
        prefetch_closure(closure.addr());
        self.marks.prefetch(closure.addr());
        let waiting = if D::MOVES {
            // SAFETY: no slot lies at null.
            unsafe { NonNull::new_unchecked(slot.0) }
        } else {
            found
        };
        if let Some(oldest) = self.ring.push(waiting) {
            // SAFETY: `found` put it into the ring.
            unsafe { self.visit::<PARALLEL>(oldest) };
        }
    }

    /// Takes note of the closure that a remembered slot holds. Most are marked, since the slot was
    /// written more than once, or holds an old closure.
    ///
    /// # Safety
    /// As for [`MarkLoop::found`].
    #[inline(always)]
    pub(super) unsafe fn found_by_old(&mut self, slot: Slot) {
        // SAFETY: the caller's promise.
        let closure = unsafe { slot.load() };
        if self.marks.records() && !mutant!("chosen/stored-not-recorded") {
            self.marks.record(slot, closure);
        }
        if closure.0.is_null() || !M::EDGES && self.marks.is_marked(closure.addr()) {
            return;
        }
        // SAFETY: the caller's promise.
        unsafe { self.found::<false>(slot) };
    }

    /// Marks a closure at its place, and puts its slots on the stack if it was unmarked.
    ///
    /// # Safety
    /// `found` put it into the ring: it is a closure, or if closures move a slot.
    #[inline(always)]
    unsafe fn visit<const PARALLEL: bool>(&mut self, waiting: NonNull<u64>) {
        let closure = if D::MOVES {
            let slot = Slot(waiting.as_ptr());
            // SAFETY: a slot that `found` was called for.
            let place = unsafe { self.mover.place::<PARALLEL>(slot) };
            if M::EDGES {
                // SAFETY: as above.
                self.show_edge::<PARALLEL>(slot, unsafe { slot.load_shared() });
            }
            match place {
                Some(closure) => closure,
                None => return,
            }
        } else {
            ClosureRef(waiting.as_ptr())
        };
        let at = closure.addr();
        // SAFETY: a closure of the heap, which no longer moves. Another thread may still try to
        // move it, but will fail.
        let extent = unsafe {
            let header = if D::MOVES && PARALLEL {
                closure.shared_header()
            } else {
                closure.header()
            };
            closure.extent_from(header)
        };
        let is_left_out = extent.words >= LARGE_OBJECT && mutant!("mark/large-not-taken");
        if is_left_out || !self.marks.mark::<PARALLEL>(at, extent.words) {
            return;
        }
        self.closures += 1;
        self.words += extent.words;
        if extent.words >= LARGE_OBJECT {
            self.large += extent.words;
        }
        if extent.slots > 0 && self.stack.push(SlotRange::of(extent)).is_err() {
            self.drop_span(at);
        }
    }

    /// Shows the edge of a slot of the heap, and none of a root.
    #[inline(always)]
    fn show_edge<const PARALLEL: bool>(&self, slot: Slot, to: ClosureRef) {
        let states = self.mover.states;
        if !states.of(slot.addr()).is_outside() && !states.of(to.addr()).is_outside() {
            self.marks.edge::<PARALLEL>(slot, to);
        }
    }

    #[cold]
    #[inline(never)]
    fn drop_span(&mut self, at: Addr) {
        if M::EDGES {
            self.marks.leave_unscanned(at);
        }
        if !mutant!("mark/dropped-forgotten") {
            self.dropped.add(at);
        }
    }

    /// Finds the referents of the slots of a span, or of its first piece.
    #[inline(always)]
    fn scan<const PARALLEL: bool>(&mut self, mut span: Span) {
        if span.len() > PIECE {
            let piece = span.split_front(PIECE);
            self.scanned_apart += Words(PIECE);
            if !mutant!("mark/rest-forgotten") {
                // There is room: the span was just taken from the stack.
                let _ = self.stack.push(span);
            }
            span = piece;
        }
        if span.len() > 1 && mutant!("mark/black-to-white") {
            // The first slot of a marked closure is skipped.
            span.split_front(1);
        }
        let records = self.marks.records() && !mutant!("chosen/scanned-not-recorded");
        for slot in span {
            // SAFETY: one of the slots of a closure, which holds null or a closure. The span is
            // this thread's.
            unsafe {
                if records {
                    self.marks.record(slot, slot.load_beside());
                }
                self.found::<PARALLEL>(slot);
            }
        }
    }

    /// Scans dropped closures again, and marks everything reachable from them, as far as
    /// [`MarkLoop::trace`] does. This may drop closures again. No other worker marks meanwhile.
    #[cold]
    #[inline(never)]
    pub(super) fn rescan(&mut self) {
        self.counted.mark_passes += 1;
        let (first, last) = (self.dropped.first, self.dropped.last);
        self.dropped = Dropped {
            pass: first,
            pass_last: last,
            ..Dropped::NONE
        };
        let mut drained = Drained::All;
        while let Some(at) = self
            .dropped
            .next_of_pass(self.marks)
            .filter(|_| drained == Drained::All)
        {
            // SAFETY: a closure starts at each mark. (Scanning one that was marked before this
            // marking finds nothing: its referents are marked, or were remembered.)
            let extent = unsafe { ClosureRef(at.as_mut_ptr()).extent() };
            // Where the next closure may start; all marks before belong to this one.
            self.dropped.pass = at + extent.words;
            if M::EDGES && !self.marks.take_unscanned(at) {
                continue;
            }
            self.scanned_apart += extent.words;
            // There is room: nothing else is on the stack.
            let _ = self.stack.push(SlotRange::of(extent));
            drained = self.scan_all::<false>(None);
        }
        self.dropped.end_pass();
    }
}

// SAFETY: it holds marks and a destination, which threads share; closures and slots of a stopped
// heap, each of which one thread writes; and a stack and room that no other thread has.
unsafe impl<M: Marks, D: Destination> Tracer for MarkLoop<'_, M, D> {
    type Item = Span;
    type Task = Infallible;

    fn trace_shared(&mut self, item: Option<Span>, queue: WorkQueue<'_, Span>) {
        let mut next = item;
        loop {
            if self.must_stop() {
                self.left
                    .extend(next.into_iter().chain(std::iter::from_fn(|| queue.pop())));
                self.empty_ring::<true>();
                return;
            }
            // There is room: nothing else is on the stack.
            next.take().into_iter().for_each(|span| _ = self.stack.push(span));
            if self.trace::<true>(Some(queue)) == Drained::All {
                next = queue.pop();
                if next.is_none() {
                    return;
                }
            }
        }
    }

    fn begin(&mut self, task: &Infallible) {
        match *task {}
    }
}
