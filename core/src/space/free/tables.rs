//! The tables of a free space, as markers see them.

use super::ahead::Ahead;
use super::{FreeList, FreeSpace};
use crate::block::LARGE_OBJECT;
use crate::space::{MarkBits, Marks};
use crate::words::{Addr, Words};

/// The table of starts for a promotion, in which old closures count as marked. Dead ones that no
/// sweep has come to are not looked into, since their slots may lead to memory that was freed.
/// Closures that are promoted are black where the marking or the sweep have them ahead of them, and
/// large objects always.
#[derive(Debug)]
pub struct KnownClosures<'s> {
    starts: &'s MarkBits,
    marks: &'s MarkBits,
    /// The part that a sweep under way has ahead of it.
    ahead: Option<Ahead>,
    /// The part in which new closures are black.
    black: Ahead,
}

impl<L: FreeList> FreeSpace<L> {
    /// The closures of the space and of large objects beside it that start at bits of `starts`, for
    /// a promotion. `marks` are the space's.
    pub fn known_closures<'s>(&self, starts: &'s MarkBits, marks: &'s MarkBits) -> KnownClosures<'s> {
        KnownClosures {
            starts,
            marks,
            ahead: self.ahead,
            black: self.black(),
        }
    }
}

impl KnownClosures<'_> {
    /// Brings the entries of `at` towards the cache.
    #[inline(always)]
    pub(super) fn prefetch(&self, at: Addr) {
        self.starts.prefetch(at);
        self.marks.prefetch(at);
    }

    /// Whether neither table has a bit of the words from `from` to `to`.
    pub(super) fn are_clear(&self, from: Addr, to: Addr) -> bool {
        [self.starts, self.marks]
            .iter()
            .all(|table| table.next_set(from, to).is_none())
    }

    fn is_dead(&self, at: Addr) -> bool {
        self.ahead.is_some_and(|ahead| ahead.contains(at)) && !self.marks.get(at) && !mutant!("free/dead-looked-into")
    }
}

// SAFETY: `starts` decides. Both tables have bits at closures only.
unsafe impl Marks for KnownClosures<'_> {
    #[inline(always)]
    fn mark<const PARALLEL: bool>(&self, at: Addr, words: Words) -> bool {
        let is_new = self.starts.mark::<PARALLEL>(at, words);
        let is_black = if words >= LARGE_OBJECT {
            !mutant!("ocaml/large-promoted-white")
        } else {
            self.black.contains(at) && !mutant!("free/promoted-white")
        };
        if is_new && is_black {
            self.marks.mark::<PARALLEL>(at, words);
        }
        is_new
    }

    #[inline(always)]
    fn is_marked(&self, at: Addr) -> bool {
        self.starts.is_marked(at)
    }

    fn next_marked(&self, from: Addr, to: Addr) -> Option<Addr> {
        let mut next = self.starts.next_marked(from, to);
        while let Some(at) = next.filter(|at| self.is_dead(*at)) {
            next = self.starts.next_marked(at + Words(1), to);
        }
        next
    }

    #[inline(always)]
    fn prefetch(&self, at: Addr) {
        self.starts.prefetch(at);
    }
}
