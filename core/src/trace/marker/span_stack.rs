//! The mark stack of one thread: spans of slots not scanned yet, in bounded memory.
//!
//! A stack starts with its own room: the heap reserves some for the collecting thread
//! ([`MARK_STACK`]), and other threads have room for a few spans. More comes from the marking's
//! [`StackPool`], which all threads share, and which is charged to the heap. When the pool is
//! empty, spans are refused, and the caller must cope. Memory is mapped, not allocated: it grows in
//! place, and returns to the system with the stack.
//!
//! Invariant: `start <= bottom <= top <= limit`; `bottom..top` holds spans. Those below `bottom`
//! were given to other workers. `Marked::stack` says how much memory all stacks took (tests compare
//! it with the bound).

use crate::block::Charges;
use crate::closure::SlotRange;
use crate::heap::MARK_STACK;
use crate::memory::{PAGE, Table};
use crate::sync::{Arc, AtomicUsize, Ordering::Relaxed};
use crate::words::Bytes;

/// Initial room of other threads' stacks, in spans: 1 KiB.
pub(super) const FIRST: usize = if cfg!(debug_assertions) { 4 } else { 64 };

/// Initial room of the collecting thread's stack, in spans.
pub(super) const KEPT: usize = MARK_STACK.0 / size_of::<Span>();

/// The smallest growth of a stack, in spans: a page.
const LEAST: usize = if cfg!(debug_assertions) {
    2
} else {
    PAGE.0 / size_of::<Span>()
};

/// Slots of one closure not scanned yet.
pub(super) type Span = SlotRange;

/// The memory that a marking's mark stacks may still take.
#[derive(Debug)]
pub(super) struct StackPool {
    most: usize,
    left: AtomicUsize,
    /// The least that was left.
    least: AtomicUsize,
    /// Threads that share it.
    threads: AtomicUsize,
    /// The heap's memory account, which may refuse a charge.
    charges: Charges,
}

impl StackPool {
    /// At most `most` for all stacks together, beyond the initial room of each.
    pub(super) fn new(most: Bytes, charges: Charges) -> Self {
        let most = most.0 / size_of::<Span>();
        StackPool {
            most,
            left: AtomicUsize::new(most),
            least: AtomicUsize::new(most),
            threads: AtomicUsize::new(1),
            charges,
        }
    }

    /// From now on `threads` threads share the pool.
    pub(super) fn share_between(&self, threads: usize) {
        self.threads.store(threads, Relaxed);
    }

    /// Takes room for up to `wanted` spans, but no more than a thread's share of the rest, or a
    /// page of spans if that is more. Returns how many.
    fn take(&self, wanted: usize) -> usize {
        let threads = self.threads.load(Relaxed);
        let part = |left: usize| wanted.min(left.div_ceil(threads)).max(LEAST).min(left);
        // Relaxed: only a number; no thread reaches memory through it.
        let before = self.left.fetch_update(Relaxed, Relaxed, |left| Some(left - part(left)));
        let before = before.unwrap_or_else(|left| left);
        let taken = part(before);
        if taken > 0 && self.charges.charge(bytes_of(taken)).is_err() {
            self.left.fetch_add(taken, Relaxed);
            return 0;
        }
        self.least.fetch_min(before - taken, Relaxed);
        taken
    }

    fn give_back(&self, spans: usize) {
        self.charges.release(bytes_of(spans));
        self.left.fetch_add(spans, Relaxed);
    }

    /// Addresses for a stack that takes all of the pool.
    fn map(&self) -> Option<Table<u64>> {
        Table::new(self.most * (size_of::<Span>() / size_of::<u64>())).ok()
    }

    /// Peak memory of all stacks.
    pub(super) fn taken(&self) -> Bytes {
        bytes_of(self.most - self.least.load(Relaxed))
    }
}

fn bytes_of(spans: usize) -> Bytes {
    Bytes(spans * size_of::<Span>())
}

/// One thread's mark stack: see the module's text.
#[derive(Debug)]
pub(super) struct SpanStack {
    start: *mut Span,
    bottom: *mut Span,
    top: *mut Span,
    limit: *mut Span,
    /// The first memory of the stack. Its length stays 0.
    _few: Vec<Span>,
    /// Addresses for all spans of the pool; memory is committed on use.
    many: Option<Table<u64>>,
    pool: Arc<StackPool>,
    /// The pool has refused.
    refused: bool,
}

// SAFETY: it owns the memory of its spans, as a vector does.
unsafe impl Send for SpanStack {}

impl SpanStack {
    /// An empty stack with its own room for `first` spans.
    pub(super) fn new(first: usize, pool: Arc<StackPool>) -> Self {
        let mut few = Vec::with_capacity(first);
        let start: *mut Span = few.as_mut_ptr();
        SpanStack {
            start,
            bottom: start,
            top: start,
            limit: start.wrapping_add(first),
            _few: few,
            many: None,
            pool,
            refused: false,
        }
    }

    /// How many spans are on the stack.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        (self.top as usize - self.bottom as usize) / size_of::<Span>()
    }

    /// Whether the next span needs more room.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.top == self.limit
    }

    /// Whether the stack holds half as many spans as the pool has room for.
    pub(super) fn is_half_full(&self) -> bool {
        2 * self.len() >= self.pool.most
    }

    /// Adds a span. Returns it if there is no room for it.
    #[inline(always)]
    pub(super) fn push(&mut self, span: Span) -> Result<(), Span> {
        if self.top == self.limit && !self.grow() {
            return Err(span);
        }
        // SAFETY: below the limit there is memory.
        unsafe { self.top.write(span) };
        self.top = self.top.wrapping_add(1);
        Ok(())
    }

    /// Takes the newest span.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<Span> {
        if self.top == self.bottom {
            return None;
        }
        self.top = self.top.wrapping_sub(1);
        // SAFETY: there is a span between bottom and top, which is no longer under `top`.
        Some(unsafe { self.top.read() })
    }

    /// The oldest span: in a tree, the one with the largest subtree.
    pub(super) fn oldest(&mut self) -> Option<&mut Span> {
        // SAFETY: there is a span between bottom and top, and this is the only reference to it.
        (self.top != self.bottom).then(|| unsafe { &mut *self.bottom })
    }

    /// Takes the oldest span.
    pub(super) fn take_oldest(&mut self) -> Option<Span> {
        if self.top == self.bottom {
            return None;
        }
        // SAFETY: there is a span between bottom and top, and it lies under `bottom` from now on.
        let oldest = unsafe { self.bottom.read() };
        self.bottom = self.bottom.wrapping_add(1);
        Some(oldest)
    }

    /// Makes room for a span. Returns whether there is room now.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> bool {
        let (len, capacity) = (
            self.len(),
            (self.limit as usize - self.start as usize) / size_of::<Span>(),
        );
        // Room below `bottom` is reused if it is more than a few spans, so that spans are not moved
        // again and again.
        if capacity - len > capacity / 4 {
            self.move_to(self.start);
            return true;
        }
        self.refused = self.refused || !self.take_more(capacity);
        if self.refused && len < capacity {
            self.move_to(self.start);
        }
        self.top < self.limit
    }

    /// Takes as much again from the pool. Returns whether there was any.
    fn take_more(&mut self, capacity: usize) -> bool {
        if self.many.is_some() {
            let more = self.pool.take(capacity);
            self.limit = self.limit.wrapping_add(more);
            return more > 0;
        }
        let first = self.pool.take(2 * capacity);
        let table = if first > capacity { self.pool.map() } else { None };
        let Some(mut many) = table else {
            self.pool.give_back(first);
            return false;
        };
        // Aligned to a page.
        let start: *mut Span = many.as_mut_ptr().cast();
        self.move_to(start);
        self.start = start;
        self.limit = start.wrapping_add(first);
        self.many = Some(many);
        true
    }

    /// Moves the spans to `start`, where there is room for them.
    fn move_to(&mut self, start: *mut Span) {
        let len = self.len();
        // SAFETY: the spans are there, and there is memory for as many at `start`, which may
        // overlap.
        unsafe { std::ptr::copy(self.bottom, start, len) };
        self.bottom = start;
        self.top = start.wrapping_add(len);
    }
}

impl Drop for SpanStack {
    fn drop(&mut self) {
        if self.many.is_some() {
            self.pool
                .give_back((self.limit as usize - self.start as usize) / size_of::<Span>());
        }
    }
}
