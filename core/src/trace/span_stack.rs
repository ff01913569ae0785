//! The mark stack of one thread: spans of slots that have not been looked at, in bounded memory.
//!
//! A stack begins with room for a few spans of its own. More is taken from the [`StackPool`] of the marking, of which there is as much as all
//! threads together may have, and which is charged; then spans are refused, and what becomes of those is the caller's affair. Memory is mapped, not allocated: it grows where it lies, and
//! goes back to the system with the stack.
//!
//! Invariant: `start <= bottom <= top <= limit`; from `bottom` to `top` there are spans. What lies under `bottom` was given away. `Marked::stack` says how
//! much memory all stacks took (tests compare it with the bound).

use crate::block::Charges;
use crate::closure::Extent;
use crate::memory::{PAGE, Table};
use crate::sync::{Arc, AtomicUsize, Ordering::Relaxed};
use crate::words::Bytes;

/// Spans that a stack has room for from the beginning: 1 KiB. (A list needs one at a time, a balanced tree some thirty.)
const FIRST: usize = if cfg!(debug_assertions) { 4 } else { 64 };

/// Spans by which stacks grow at least: a page of them.
const LEAST: usize = if cfg!(debug_assertions) {
    2
} else {
    PAGE.0 / size_of::<Span>()
};

/// Slots that have not been looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub first: *mut u64,
    pub slots: usize,
}

// SAFETY: the address of slots of a stopped world, which marking only reads.
unsafe impl Send for Span {}

impl Span {
    /// The slots of a closure.
    #[inline(always)]
    pub fn of(extent: Extent) -> Span {
        Span {
            first: extent.first,
            slots: extent.slots,
        }
    }

    /// Takes the first so many slots off.
    #[inline(always)]
    pub fn split_off(&mut self, slots: usize) -> Span {
        let front = Span { slots, ..*self };
        self.first = self.first.wrapping_add(slots);
        self.slots -= slots;
        front
    }
}

/// The memory that the mark stacks of one marking may still take.
#[derive(Debug)]
pub(super) struct StackPool {
    most: usize,
    left: AtomicUsize,
    /// The least that was left.
    least: AtomicUsize,
    /// Threads that may want some.
    threads: AtomicUsize,
    /// Where it is charged, which may be refused.
    charges: Charges,
}

impl StackPool {
    /// At most so much for all stacks together, beside what each begins with.
    pub fn new(most: Bytes, charges: Charges) -> Self {
        let most = most.0 / size_of::<Span>();
        StackPool {
            most,
            left: AtomicUsize::new(most),
            least: AtomicUsize::new(most),
            threads: AtomicUsize::new(1),
            charges,
        }
    }

    /// So many threads may want some from now on.
    pub fn share_between(&self, threads: usize) {
        self.threads.store(threads, Relaxed);
    }

    /// Takes up to `wanted` spans; no more than a thread's part of what is left, but a page of them.
    fn take(&self, wanted: usize) -> usize {
        let threads = self.threads.load(Relaxed);
        let part = |left: usize| wanted.min(left.div_ceil(threads)).max(LEAST).min(left);
        // Relaxed: a number, by which nobody finds anything.
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

    /// Addresses for a stack that has it all.
    fn map(&self) -> Option<Table<u64>> {
        Table::new(self.most * (size_of::<Span>() / size_of::<u64>())).ok()
    }

    /// The most that stacks took at a time.
    pub fn taken(&self) -> Bytes {
        bytes_of(self.most - self.least.load(Relaxed))
    }
}

fn bytes_of(spans: usize) -> Bytes {
    Bytes(spans * size_of::<Span>())
}

/// See the module's text.
#[derive(Debug)]
pub(super) struct SpanStack {
    start: *mut Span,
    bottom: *mut Span,
    top: *mut Span,
    limit: *mut Span,
    /// Where it begins. Its length stays 0.
    _few: Vec<Span>,
    /// Addresses for as many spans as the pool has in all; memory as they are used.
    many: Option<Table<u64>>,
    pool: Arc<StackPool>,
    /// There is no more to be had.
    refused: bool,
}

impl SpanStack {
    pub fn new(pool: Arc<StackPool>) -> Self {
        let mut few = Vec::with_capacity(FIRST);
        let start: *mut Span = few.as_mut_ptr();
        SpanStack {
            start,
            bottom: start,
            top: start,
            limit: start.wrapping_add(FIRST),
            _few: few,
            many: None,
            pool,
            refused: false,
        }
    }

    /// How many spans there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        (self.top as usize - self.bottom as usize) / size_of::<Span>()
    }

    /// Add a span; false if there is no room for it.
    #[inline(always)]
    pub fn push(&mut self, span: Span) -> bool {
        if self.top == self.limit && !self.grow() {
            return false;
        }
        // SAFETY: below the limit there is memory.
        unsafe { self.top.write(span) };
        self.top = self.top.wrapping_add(1);
        true
    }

    /// Take the newest span.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Span> {
        if self.top == self.bottom {
            return None;
        }
        self.top = self.top.wrapping_sub(1);
        // SAFETY: there is a span between bottom and top.
        Some(unsafe { self.top.read() })
    }

    /// The oldest span: of a tree, that which the most hangs on.
    pub fn oldest(&mut self) -> Option<&mut Span> {
        // SAFETY: there is a span between bottom and top, and this is the only reference to it.
        (self.top != self.bottom).then(|| unsafe { &mut *self.bottom })
    }

    /// Take the oldest span.
    pub fn take_oldest(&mut self) -> Option<Span> {
        let oldest = *self.oldest()?;
        self.bottom = self.bottom.wrapping_add(1);
        Some(oldest)
    }

    /// Makes room for a span, unless there is none.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> bool {
        let (len, capacity) = (
            self.len(),
            (self.limit as usize - self.start as usize) / size_of::<Span>(),
        );
        // Not for a few, so that spans are not moved again and again.
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

    /// Takes as much again from the pool: says whether there was any.
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

    /// Move the spans to where there is room for them.
    fn move_to(&mut self, start: *mut Span) {
        let len = self.len();
        // SAFETY: the spans are there, and there is memory for as many at `start`, which may overlap.
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
