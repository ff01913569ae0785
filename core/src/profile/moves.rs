//! What a moving collection does with side words.

use super::followers::Followers;
use crate::prefetch::prefetch_line;
use crate::sync::{MappedU64, Ordering::Relaxed};
use crate::words::{Addr, Words};
use std::marker::PhantomData;

/// The side words of the closures that a collection moves: of a profiled heap ([`SideWordsView`]),
/// or none. A type parameter, so code that moves closures is compiled for each, and without a
/// profile has no instruction for side words.
pub(crate) trait MoveSideWords: Copy {
    /// Prefetches the side word of the closure at `closure`, which is about to move.
    fn prefetch(self, closure: Addr);

    /// Notes that a closure of `words` words moves from one place to another. The side word at the
    /// old place is no longer needed.
    ///
    /// # Safety
    /// Both places lie in the heap.
    unsafe fn moves(self, from: Addr, to: Addr, words: Words);

    /// Notes that a large object at `large` was reached, which does not move.
    #[inline(always)]
    fn reaches(self, large: Addr) {
        let _ = large;
    }
}

/// The side words of a heap that has none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoSideWords;

impl MoveSideWords for NoSideWords {
    #[inline(always)]
    fn prefetch(self, _: Addr) {}

    #[inline(always)]
    unsafe fn moves(self, _: Addr, _: Addr, _: Words) {}
}

/// The side words of a profiled heap, for addresses in the heap only: two words, so that a loop can
/// keep them in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SideWordsView<'s> {
    /// The entry that address 0 would have. (A closure's entry is as far from the table's base as
    /// the closure from the heap's.)
    biased: *const MappedU64,
    table: PhantomData<&'s [MappedU64]>,
    /// The parties that follow moves, if there are any.
    followers: Option<&'s Followers>,
}

impl<'s> SideWordsView<'s> {
    /// The entries of `table`, the first of which is for the address `base`.
    pub(super) fn new(table: &'s [MappedU64], base: Addr, followers: Option<&'s Followers>) -> Self {
        SideWordsView {
            biased: table.as_ptr().wrapping_byte_sub(base.0),
            table: PhantomData,
            followers,
        }
    }

    #[inline(always)]
    fn entry(self, closure: Addr) -> *const MappedU64 {
        self.biased.wrapping_byte_add(closure.0)
    }
}

impl MoveSideWords for SideWordsView<'_> {
    #[inline(always)]
    fn prefetch(self, closure: Addr) {
        prefetch_line(Addr(self.entry(closure).addr()));
    }

    #[inline(always)]
    unsafe fn moves(self, from: Addr, to: Addr, words: Words) {
        // SAFETY: the caller vouches for the places, so these are entries of the table.
        let (old, new) = unsafe { (&*self.entry(from), &*self.entry(to)) };
        new.store(old.load(Relaxed), Relaxed);
        if let Some(followers) = self.followers {
            followers.moves(from, to, words);
        }
    }
}
