//! What a [`Marker`](crate::trace::Marker) marks in.
//!
//! A table beside the heap that says of each closure whether it was reached. What else it says is its own affair: [`MarkBits`](super::MarkBits) have a
//! bit where a closure starts, a table for compaction may have one for each word of it.

use crate::words::{Addr, Words};

/// A table in which closures are marked, by one thread or by several at a time.
///
/// # Safety
/// Between two clearings of the table: `mark` says of each closure once that it was unmarked, whatever threads ask. [`Marks::next_marked`]
/// finds only addresses that `mark` was given, as long as it is called as it must be, and no closure is being marked meanwhile. The marker reads closures there.
pub unsafe trait Marks: Sync {
    /// Marks the closure of `words` words at `at`; says whether it was unmarked. `PARALLEL`: other threads may be marking, closures next to this one
    /// among others. Otherwise nobody is, and no instruction is needed that locks anything.
    ///
    /// Needs no order beside that of the table itself: nobody learns from a mark what is in a closure.
    fn mark<const PARALLEL: bool>(&self, at: Addr, words: Words) -> bool;

    /// Whether the closure at `at` is marked.
    fn is_marked(&self, at: Addr) -> bool;

    /// The first marked closure from `from` to `to`. `from` is where a closure starts, or where a marked one ends.
    fn next_marked(&self, from: Addr, to: Addr) -> Option<Addr>;

    /// Where `mark` of the closure at `at` will read and write first, to be prefetched.
    fn entry_address(&self, at: Addr) -> *const u8;
}
