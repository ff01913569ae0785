//! The interface of a table in which a [`Marker`](crate::trace::Marker) marks.
//!
//! The table lies outside the heap and says of each closure whether it was reached. It may hold
//! more: [`MarkBits`](super::MarkBits) have a bit where a closure starts, a table for compaction
//! may have one for each word of it.

use crate::closure::{ClosureRef, Slot};
use crate::words::{Addr, Words};

/// A table in which closures are marked, by one thread or by several at a time.
///
/// # Safety
/// Between two clearings of the table, `mark` returns true exactly once for each closure, whichever
/// threads call it. [`Marks::next_marked`] returns only addresses that were passed to `mark`,
/// provided that its own conditions hold and no closure is being marked meanwhile. The marker reads
/// closures at these addresses.
pub unsafe trait Marks: Sync {
    /// Whether a marker has to show each edge ([`Marks::edge`]).
    const EDGES: bool = false;

    /// The `slot` of a closure that is marked for the first time, or a remembered one, leads to the closure
    /// `to`, where that now lies. Called once for each such slot, if [`Marks::EDGES`]. Neither roots nor
    /// closures outside the heap are shown.
    #[inline(always)]
    fn edge<const PARALLEL: bool>(&self, slot: Slot, to: ClosureRef) {
        let _ = (slot, to);
    }

    /// The marked closure at `at` has to be scanned later, since the mark stack is full.
    fn leave_unscanned(&self, at: Addr) {
        let _ = at;
    }

    /// Whether the marked closure at `at` was left to be scanned later; it is scanned now. Tables that are
    /// not shown edges need not know: then some closures are scanned twice.
    fn take_unscanned(&self, at: Addr) -> bool {
        let _ = at;
        true
    }

    /// Whether a marker has to show each slot that it scans ([`Record`](super::Record)).
    #[inline(always)]
    fn records(&self) -> bool {
        false
    }

    /// A slot of a closure that lives held `closure`.
    #[inline(always)]
    fn record(&self, slot: Slot, closure: ClosureRef) {
        let _ = (slot, closure);
    }

    /// Marks the closure of `words` words at `at`; returns whether it was unmarked. `PARALLEL`:
    /// other threads may be marking at the same time, also closures next to this one. Otherwise no
    /// other thread is marking, and no locked instruction is needed.
    ///
    /// Needs no order beyond that of the table itself: a mark says nothing about the closure's
    /// contents.
    fn mark<const PARALLEL: bool>(&self, at: Addr, words: Words) -> bool;

    /// Whether the closure at `at` is marked.
    fn is_marked(&self, at: Addr) -> bool;

    /// The first marked closure from `from` to `to`. `from` is the start of a closure, or the end
    /// of a marked one.
    fn next_marked(&self, from: Addr, to: Addr) -> Option<Addr>;

    /// Brings what `mark` of the closure at `at` reads and writes first towards the cache.
    fn prefetch(&self, at: Addr);
}
