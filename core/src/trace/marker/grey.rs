//! The rest of an interrupted marking.

use super::dropped::Dropped;
use super::span_stack::{KEPT, Span, SpanStack, StackPool};
use crate::block::StateView;
use crate::heap::Heap;
use crate::sync::Arc;
use crate::words::Bytes;

/// Bytes of heap for each byte of mark stacks.
pub(super) const HEAP_PER_BYTE: usize = if cfg!(debug_assertions) { 1 << 16 } else { 64 };

/// The minimum limit on mark-stack memory.
pub(super) const LEAST_STACK: Bytes = if cfg!(debug_assertions) {
    Bytes(128)
} else {
    Bytes::kib(64)
};

/// The grey closures of an interrupted marking: marked but not scanned. A collector keeps this
/// value from one pause to the next ([`Marker::resume`](super::Marker::resume)). It holds the slots
/// still to be scanned, including parts of large arrays, and the interval of closures for which the
/// mark stack had no room. Its memory is bounded, and counts towards the heap limit.
#[derive(Debug)]
pub struct Grey {
    pub(super) stack: SpanStack,
    pub(super) left: Left,
    pub(super) dropped: Dropped,
    pub(super) pool: Arc<StackPool>,
    pub(super) states: StateView,
}

impl Grey {
    /// Nothing grey: a marking of `heap` that has yet to find its first closure.
    pub fn new(heap: &Heap) -> Grey {
        Grey::within(Grey::most(heap), heap)
    }

    /// Nothing grey; mark stacks may take at most `most` memory.
    pub(super) fn within(most: Bytes, heap: &Heap) -> Grey {
        let pool = Arc::new(StackPool::new(most, heap.charges()));
        Grey {
            stack: SpanStack::new(KEPT, Arc::clone(&pool)),
            left: Left::default(),
            dropped: Dropped::NONE,
            pool,
            states: heap.states(),
        }
    }

    /// The memory that mark stacks may take in a heap of this size.
    pub(super) fn most(heap: &Heap) -> Bytes {
        let committed = heap.blocks().accounting().committed().0;
        Bytes(committed / HEAP_PER_BYTE).max(LEAST_STACK)
    }

    /// Whether no closure is grey. (Those that mutators overwrote since are not counted.)
    pub fn is_empty(&self) -> bool {
        self.stack.len() == 0 && self.left.is_empty() && self.dropped.is_none()
    }
}

/// What concurrent markers had at hand when they were interrupted, apart from the first one's stack.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// Taken from queues: a few for each marker.
    pub spans: Vec<Span>,
    /// For which the first one's stack had no room.
    pub stacks: Vec<SpanStack>,
}

impl Left {
    pub(super) fn is_empty(&self) -> bool {
        self.spans.is_empty() && self.stacks.is_empty()
    }

    /// Moves spans to an empty `stack`, as many as it has room for.
    pub(super) fn refill(&mut self, stack: &mut SpanStack) {
        if mutant!("concurrent/left-forgotten") {
            *self = Left::default();
        }
        while !self.is_empty() && !stack.is_full() {
            let span = self.spans.pop().or_else(|| self.stacks.last_mut()?.pop());
            match span {
                // There is room.
                Some(span) => _ = stack.push(span),
                None => _ = self.stacks.pop(),
            }
        }
    }
}
