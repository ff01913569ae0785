//! Bump allocation.

use super::{Alloc, is_range_of_words};
use crate::sync::{AtomicUsize, Ordering::Relaxed};
use crate::words::{Addr, Bytes, Words};
use std::cell::Cell;

/// Bump allocation: a cursor that runs to a limit.
#[derive(Debug, Default)]
pub struct Bump {
    cursor: Cell<usize>,
    /// An atomic, read and written without ordering: other threads set it to 0 to have the mutator
    /// stop.
    limit: AtomicUsize,
    /// Where the region really ends; `limit` is before it while allocation is restricted or
    /// interrupted.
    end: Cell<usize>,
    /// Where counting of allocated bytes goes on.
    counted: Cell<usize>,
    /// Allocated in regions that were left.
    allocated: Cell<usize>,
}

impl Bump {
    /// Allocates from `start` to `end` from now on. A mutator's allocator is shown to its collector
    /// alone, and that this memory belongs to the mutator is part of the collector's promise (the
    /// safety of [`Collector`](crate::collector::Collector)).
    ///
    /// # Panics
    /// If the addresses are no ends of a range of whole words.
    pub fn set_region(&self, start: Addr, end: Addr) {
        assert!(is_range_of_words(start, end), "no range of words: {start:?} to {end:?}");
        self.leave_region();
        self.cursor.set(start.0);
        self.counted.set(start.0);
        self.limit.store(end.0, Relaxed);
        self.end.set(end.0);
    }

    /// Gives the region up and returns where its allocated part ends (zero if there was no region).
    pub fn leave_region(&self) -> Addr {
        let cursor = self.cursor.get();
        self.allocated.set(self.allocated.get() + cursor - self.counted.get());
        [&self.cursor, &self.counted, &self.end]
            .iter()
            .for_each(|cell| cell.set(0));
        self.limit.store(0, Relaxed);
        Addr(cursor)
    }

    /// Where the next closure will be.
    pub fn cursor(&self) -> Addr {
        Addr(self.cursor.get())
    }
}

// SAFETY: the memory of `set_region` belongs to the mutator: only its collector sees a mutator's
// allocator, and a collector promises that. Nothing between cursor and limit is handed out twice,
// since `commit` moves the cursor behind the reserved words.
unsafe impl Alloc for Bump {
    #[inline(always)]
    fn reserve(&self, words: Words) -> Option<Addr> {
        let at = self.cursor.get();
        // No overflow: an address and less than a large object. An interrupted limit is below every
        // cursor.
        (at + words.to_bytes().0 <= self.limit.load(Relaxed)).then_some(Addr(at))
    }

    #[inline(always)]
    fn commit(&self, at: Addr, words: Words) {
        self.cursor.set(at.0 + words.to_bytes().0);
    }

    fn restrict(&self, words: Option<Words>) {
        let end = self.end.get();
        let limit = words.map_or(end, |words| end.min(self.cursor.get() + words.to_bytes().0));
        self.limit.store(limit, Relaxed);
    }

    fn interrupt(&self) {
        if !mutant!("threads/no-interrupt") {
            self.limit.store(0, Relaxed);
        }
    }

    fn allocated(&self) -> Bytes {
        Bytes(self.allocated.get() + self.cursor.get() - self.counted.get())
    }

    fn take_allocated(&self) -> Bytes {
        let running = self.cursor.get() - self.counted.replace(self.cursor.get());
        Bytes(self.allocated.take() + running)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "no range of words")]
    fn a_region_that_ends_before_it_starts_is_refused() {
        Bump::default().set_region(Addr(0x1008), Addr(0x1000));
    }

    #[test]
    #[should_panic(expected = "no range of words")]
    fn a_region_within_a_word_is_refused() {
        Bump::default().set_region(Addr(0x1004), Addr(0x1100));
    }

    #[test]
    fn interrupted_it_gives_nothing_until_the_limit_is_back() {
        let bump = Bump::default();
        assert_eq!(bump.reserve(Words(1)), None);
        bump.set_region(Addr(0x1000), Addr(0x1000 + 80));
        bump.commit(Addr(0x1000), Words(3));
        bump.interrupt();
        assert_eq!((bump.reserve(Words(1)), bump.allocated()), (None, Bytes(24)));
        bump.restrict(None);
        assert_eq!(
            (bump.reserve(Words(7)), bump.reserve(Words(8))),
            (Some(Addr(0x1018)), None)
        );
        bump.interrupt();
        bump.leave_region();
        bump.restrict(None);
        assert_eq!((bump.reserve(Words(1)), bump.allocated()), (None, Bytes(24)));
    }
}
