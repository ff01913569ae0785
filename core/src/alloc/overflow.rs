//! An overflow: a second region of a bump allocator, for *medium* closures (Immix: overflow
//! allocation).
//!
//! An allocator makes a *detour* for such a closure. It takes a piece of exactly its size from the
//! overflow, and returns to its hole for the next small closure. So the rest of a hole is not lost,
//! small closures lie close together, and the collector is not asked.

use super::hole::Hole;
use super::is_range_of_words;
use crate::words::{Addr, Bytes};
use std::cell::Cell;

/// The second region.
#[derive(Debug, Default)]
pub(super) struct Overflow {
    /// From here on it is free.
    next: Cell<usize>,
    end: Cell<usize>,
    /// Bytes of the least closures that may go here.
    least: Cell<usize>,
    /// During a detour, the rest of the hole that was left.
    left: Cell<Option<(Addr, Addr)>>,
}

impl Overflow {
    /// Takes closures of `least` bytes or more from `start` to `end` from now on.
    ///
    /// # Panics
    /// If the addresses are not ends of a range of whole words, or during a detour.
    pub(super) fn set(&self, (start, end): (Addr, Addr), least: Bytes) {
        assert!(is_range_of_words(start, end), "no range of words: {start:?} to {end:?}");
        assert!(self.left.get().is_none(), "a detour ends before the overflow changes");
        self.next.set(start.0);
        self.end.set(end.0);
        self.least.set(least.0);
    }

    /// Whether closures of this size go here if they have no room where the allocator is.
    #[inline(always)]
    pub(super) fn is_for(&self, bytes: Bytes) -> bool {
        self.least.get() != 0 && bytes.0 >= self.least.get()
    }

    /// Whether the allocator is on a detour.
    pub(super) fn is_detour(&self) -> bool {
        self.left.get().is_some()
    }

    /// Where its closures end; null if there is no region. `hole` is the allocator's.
    pub(super) fn cursor(&self, hole: &Hole) -> Addr {
        match self.left.get() {
            Some(_) => hole.cursor(),
            None => Addr(self.next.get()),
        }
    }

    /// The rest of the hole in which the allocator is, or to which it will return.
    pub(super) fn home(&self, hole: &Hole) -> (Addr, Addr) {
        self.left.get().unwrap_or_else(|| hole.rest())
    }

    /// Room for a closure for which there is none where the allocator is: in the hole, after a
    /// detour, or here, if the closure is large enough. Does nothing while allocation is restricted
    /// or interrupted. Returns the bytes that were not counted yet, and the room.
    pub(super) fn reserve(&self, hole: &Hole, bytes: Bytes) -> Option<(usize, Addr)> {
        let (home, next) = (self.home(hole), self.cursor(hole));
        if self.is_for(bytes) {
            let end = next + bytes;
            let running = (end.0 <= self.end.get()).then(|| hole.go(next, end))??;
            self.left.set(Some(home));
            return Some((running, next));
        }
        let fits = self.left.get().is_some() && home.1 - home.0 >= bytes;
        let running = fits.then(|| self.come_back(hole))??;
        Some((running, home.0))
    }

    /// Ends a detour, if there is one. Does nothing while allocation is restricted or interrupted.
    /// Returns the bytes that were not counted yet.
    pub(super) fn come_back(&self, hole: &Hole) -> Option<usize> {
        let Some((start, end)) = self.left.get() else {
            return Some(0);
        };
        let next = hole.cursor();
        let running = hole.go(start, end)?;
        if !mutant!("lines/overflow-twice") {
            self.next.set(next.0);
        }
        self.left.set(None);
        Some(running)
    }

    /// Ends a detour, if there is one, and has the hole offer all its room.
    pub(super) fn end_detour(&self, hole: &Hole) -> usize {
        let Some(home) = self.left.take() else {
            return 0;
        };
        self.next.set(hole.cursor().0);
        hole.open(home)
    }
}
