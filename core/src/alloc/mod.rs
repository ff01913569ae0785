//! Allocators: the part of a collector that each mutator has for itself, so that it allocates
//! without asking.
//!
//! [`Bump`] allocates in one region, [`Cells`] in a region for each size class. A collector may
//! bring its own allocator; a program is compiled once for each that it uses. Core's spaces fill
//! any allocator that has one of these inside, for example beside data of a barrier: it is shown by
//! `AsRef`.

mod bump;
mod cells;
mod hole;
#[cfg(all(test, gclab_loom))]
mod models;
mod overflow;
mod sampler;
mod size_class;

pub use bump::Bump;
pub use cells::Cells;
pub use sampler::Sampling;
pub use size_class::SizeClass;

use crate::words::{Addr, Bytes, WORD, Words};
use std::any::Any;

/// Closures of more words than this are medium.
pub(crate) const MEDIUM: Words = Words(32);

/// Whether `end` lies whole words behind `start`, or none.
fn is_range_of_words(start: Addr, end: Addr) -> bool {
    start <= end && start.0.is_multiple_of(WORD) && end.0.is_multiple_of(WORD)
}

/// A mutator's own allocator. `reserve` and `commit` are the fast path and are inlined into the
/// mutator's code.
///
/// Only its mutator's thread calls it, or a collection while that thread is stopped; except for
/// [`Alloc::interrupt`].
///
/// # Safety
/// An address that `reserve` or `reserve_elsewhere` returns for fewer than
/// [`crate::block::LARGE_OBJECT`] words is the start of `words` words of committed memory that
/// belong to this mutator alone until the next collection. They stay reserved until `commit` or
/// another call of these.
///
/// Any thread may call `interrupt` while another one is anywhere in any of these methods: it
/// changes nothing but atomics.
pub unsafe trait Alloc: Any + Send {
    /// Returns space for `words` words (fewer than [`crate::block::LARGE_OBJECT`]), or `None`: then
    /// the collector must be asked ([`crate::collector::Collect::refill`]).
    fn reserve(&self, words: Words) -> Option<Addr>;
    /// As `reserve`, for a *medium* closure: one of more than 32 words. An allocator that
    /// keeps these apart returns `None` where `reserve` would not.
    #[inline(always)]
    fn reserve_medium(&self, words: Words) -> Option<Addr> {
        self.reserve(words)
    }
    /// Space for a closure of any size below large objects: `reserve` or `reserve_medium`.
    #[inline(always)]
    fn reserve_any(&self, words: Words) -> Option<Addr> {
        if words > MEDIUM {
            self.reserve_medium(words)
        } else {
            self.reserve(words)
        }
    }
    /// `reserve` has returned `None`: moves to other space that the allocator has, if there is
    /// enough for `words` words, and reserves it there. It does not while allocation is restricted
    /// or interrupted. The mutator calls it without the world's lock, before it asks the collector.
    fn reserve_elsewhere(&self, words: Words) -> Option<Addr> {
        let _ = words;
        None
    }
    /// The closure at `at`, of `words` words, is written: the space is taken.
    fn commit(&self, at: Addr, words: Words);
    /// With `Some(words)`, offers room for one closure of that size and no more. With `None`,
    /// offers all the room there is. (For collections at every n-th allocation.)
    fn restrict(&self, words: Option<Words>);
    /// Called by another thread that wants this mutator to stop: from now on, or very soon,
    /// `reserve` returns `None`, until [`Alloc::restrict`] or the collector makes it return space
    /// again. Neither of these runs at the same time.
    fn interrupt(&self);
    /// Words are sampled from now on. The next call of [`Alloc::restrict`] restores the room with
    /// regard to that. An allocator that has no such method samples nothing.
    fn sample(&self, sampling: Option<Sampling>) {
        let _ = sampling;
    }
    /// Takes the number of sampled words of the closure that was reserved last, if there are any.
    /// They are found by a method that the mutator calls when `reserve` has returned `None`.
    fn take_samples(&self) -> u32 {
        0
    }
    /// Returns the number of sampled words of a large object of `words` words.
    fn sample_large(&self, words: Words) -> u32 {
        let _ = words;
        0
    }
    /// Whether the closure of `words` words that was last reserved at `at` has not been committed.
    fn is_free(&self, at: Addr, words: Words) -> bool {
        let _ = (at, words);
        false
    }
    /// Bytes allocated since [`Alloc::take_allocated`] was last called.
    fn allocated(&self) -> Bytes;
    /// Returns the bytes allocated since the last call, and restarts the count.
    fn take_allocated(&self) -> Bytes;
}
