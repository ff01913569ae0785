//! Bump allocation.

use super::Alloc;
use super::hole::Hole;
use super::overflow::Overflow;
use super::sampler::{Sampler, Sampling};
use crate::closure::ClosureRef;
use crate::words::{Addr, Bytes, Words};
use std::cell::Cell;

/// Bump allocation: a cursor that runs to a limit. It may have more holes, to which it proceeds by
/// itself, and an *overflow* for medium closures.
#[derive(Debug, Default)]
pub struct Bump {
    hole: Hole,
    /// Allocated in regions that were left.
    allocated: Cell<usize>,
    overflow: Overflow,
    sampler: Sampler,
}

impl Bump {
    /// Allocates from `start` to `end` from now on. A mutator's allocator is shown to its collector
    /// alone, and that this memory belongs to the mutator is part of the collector's promise (the
    /// safety of [`Collector`](crate::collector::Collector)).
    ///
    /// # Panics
    /// If the addresses are not ends of a range of whole words.
    pub fn set_region(&self, start: Addr, end: Addr) {
        self.set_holes((start, end), &[]);
    }

    /// Allocates in `hole` from now on, and in each of `more` in turn when a closure does not fit
    /// in those before. A hole that is too small for the closure ends that: the collector is asked.
    /// The promise is the same as for [`Bump::set_region`]. Until a hole is used, its first word
    /// belongs to the allocator.
    ///
    /// # Panics
    /// If one of them is not a range of whole words; or one of `more` is empty or as large as 8 MiB.
    pub fn set_holes(&self, hole: (Addr, Addr), more: &[(Addr, Addr)]) {
        self.leave_region();
        self.hole.set(hole, more);
    }

    /// Gives the region and all holes up, and returns where the allocated part of the region ends
    /// (null if there was no region). The overflow stays.
    pub fn leave_region(&self) -> Addr {
        self.end_detour();
        let cursor = self.hole.cursor();
        self.count(self.hole.leave());
        cursor
    }

    /// From now on allocates closures of `least` words or more in the overflow from `start` to
    /// `end`, and asks the collector if they have no room there. The promise is that of
    /// [`Bump::set_region`].
    ///
    /// # Panics
    /// If the addresses are not ends of a range of whole words.
    pub fn set_overflow(&self, start: Addr, end: Addr, least: Words) {
        self.end_detour();
        self.overflow.set((start, end), least.to_bytes());
    }

    /// Gives the overflow up, and returns where its allocated part ends (null if there was none).
    pub fn leave_overflow(&self) -> Addr {
        let cursor = self.overflow_cursor();
        self.set_overflow(Addr::NULL, Addr::NULL, Words(0));
        cursor
    }

    /// Where the next closure of the region will be.
    pub fn cursor(&self) -> Addr {
        self.overflow.home(&self.hole).0
    }

    /// Where the next closure of the overflow will be.
    pub fn overflow_cursor(&self) -> Addr {
        self.overflow.cursor(&self.hole)
    }

    /// The ranges in which it may still allocate, without the overflow: the rest of the region, and
    /// the holes after it.
    pub fn free(&self) -> impl Iterator<Item = (Addr, Addr)> {
        std::iter::once(self.overflow.home(&self.hole)).chain(self.hole.waiting())
    }

    fn end_detour(&self) {
        self.count(self.overflow.end_detour(&self.hole));
    }

    /// As [`Alloc::reserve_elsewhere`], without regard to sampled words.
    fn reserve_unsampled(&self, words: Words) -> Option<Addr> {
        let bytes = words.to_bytes();
        if let Some((running, at)) = self.overflow.reserve(&self.hole, bytes) {
            self.count(running);
            return Some(at);
        }
        if self.overflow.is_for(bytes) {
            return None;
        }
        self.count(self.overflow.come_back(&self.hole)?);
        let (running, at) = self.hole.next(bytes)?;
        self.count(running);
        Some(at)
    }

    fn count(&self, bytes: usize) {
        self.allocated.set(self.allocated.get() + bytes);
    }

    /// The end of the closures in the hole from `start` to `end`, which an allocator has left for
    /// another hole.
    pub fn filled(start: Addr, end: Addr) -> Addr {
        let mut at = start;
        while at < end {
            let closure = ClosureRef(at.as_mut_ptr());
            // SAFETY: the collector promises that closures lie here back to back. The rest of a
            // hole that was left begins with a word that is not a header.
            let Some(words) = (unsafe { closure.header().is_sane().then(|| closure.words()) }) else {
                break;
            };
            at = at + words;
        }
        at
    }
}

impl AsRef<Bump> for Bump {
    #[inline(always)]
    fn as_ref(&self) -> &Bump {
        self
    }
}

// SAFETY: the memory of `set_holes` belongs to the mutator: only its collector sees a mutator's
// allocator, and a collector promises that. Nothing between cursor and limit is handed out twice,
// since `commit` moves the cursor past the reserved words.
unsafe impl Alloc for Bump {
    #[inline(always)]
    fn reserve(&self, words: Words) -> Option<Addr> {
        self.hole.reserve(words.to_bytes())
    }

    #[inline(always)]
    fn reserve_medium(&self, words: Words) -> Option<Addr> {
        if self.overflow.is_for(words.to_bytes()) {
            return None;
        }
        self.reserve(words)
    }

    fn reserve_elsewhere(&self, words: Words) -> Option<Addr> {
        let bytes = words.to_bytes();
        let is_elsewhere = self.overflow.is_for(bytes) && !self.overflow.is_detour();
        if !is_elsewhere && let Some(at) = self.hole.reserve_sampled(bytes, words, &self.sampler) {
            return Some(at);
        }
        let at = self.reserve_unsampled(words)?;
        self.hole.pass(bytes, words, &self.sampler);
        Some(at)
    }

    #[inline(always)]
    fn commit(&self, at: Addr, words: Words) {
        self.hole.commit(at, words.to_bytes());
    }

    fn restrict(&self, words: Option<Words>) {
        self.hole.restrict(words.map(Words::to_bytes));
    }

    fn interrupt(&self) {
        if !mutant!("threads/no-interrupt") {
            self.hole.interrupt();
        }
    }

    fn sample(&self, sampling: Option<Sampling>) {
        self.sampler.set(sampling);
        self.hole.sample(&self.sampler);
    }

    #[inline(always)]
    fn take_samples(&self) -> u32 {
        self.sampler.take()
    }

    fn sample_large(&self, words: Words) -> u32 {
        self.sampler.pass_large(words)
    }

    fn is_free(&self, at: Addr, _: Words) -> bool {
        self.hole.cursor() == at
    }

    fn allocated(&self) -> Bytes {
        Bytes(self.allocated.get() + self.hole.running())
    }

    fn take_allocated(&self) -> Bytes {
        let allocated = self.allocated();
        self.allocated.set(0);
        self.hole.count();
        allocated
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
    fn when_interrupted_it_gives_nothing_until_the_limit_is_restored() {
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

    #[test]
    fn from_hole_to_hole_it_takes_no_more_than_there_is() {
        let mut memory = [0_u64; 100];
        let start = Addr::of(memory.as_mut_ptr());
        let hole = |from: usize, to: usize| (start + Words(from), start + Words(to));
        let bump = Bump::default();
        assert_eq!(bump.reserve_elsewhere(Words(1)), None);
        bump.set_holes(hole(0, 4), &[hole(10, 15), hole(20, 21), hole(30, 50)]);
        assert_eq!(
            bump.free().collect::<Vec<_>>(),
            [hole(0, 4), hole(10, 15), hole(20, 21), hole(30, 50)]
        );
        bump.commit(bump.reserve(Words(3)).expect("room"), Words(3));
        // No room in this hole, and none in the next.
        assert_eq!((bump.reserve(Words(6)), bump.reserve_elsewhere(Words(6))), (None, None));
        assert_eq!(bump.reserve(Words(1)), Some(start + Words(3)));
        // While it is interrupted or restricted it stays where it is.
        bump.interrupt();
        assert_eq!(bump.reserve_elsewhere(Words(2)), None);
        bump.restrict(Some(Words(0)));
        assert_eq!(bump.reserve_elsewhere(Words(2)), None);
        bump.restrict(None);
        let at = bump.reserve_elsewhere(Words(2)).expect("the next hole");
        assert_eq!(at, start + Words(10));
        bump.commit(at, Words(2));
        assert_eq!((bump.cursor(), bump.allocated()), (start + Words(12), Bytes(5 * 8)));
        bump.interrupt();
        assert_eq!(bump.reserve(Words(1)), None);
        bump.restrict(None);
        assert_eq!(bump.reserve_elsewhere(Words(1)), Some(start + Words(20)));
        assert_eq!((bump.take_allocated(), bump.allocated()), (Bytes(5 * 8), Bytes(0)));
        assert_eq!(bump.reserve_elsewhere(Words(20)), Some(start + Words(30)));
        bump.commit(start + Words(30), Words(20));
        assert_eq!((bump.reserve_elsewhere(Words(1)), bump.allocated()), (None, Bytes(160)));
        assert_eq!(bump.leave_region(), start + Words(50));
        assert_eq!(bump.free().collect::<Vec<_>>(), [(Addr::NULL, Addr::NULL)]);
    }

    #[test]
    fn medium_closures_go_to_the_overflow_and_small_ones_back_to_the_hole() {
        let bump = Bump::default();
        let (hole, overflow) = (Addr(0x1000), Addr(0x8000));
        let allocate = |words| {
            let at = bump.reserve_any(words).or_else(|| bump.reserve_elsewhere(words))?;
            bump.commit(at, words);
            Some(at)
        };
        bump.set_region(hole, hole + Words(100));
        // Without an overflow area, medium closures are not special.
        assert_eq!(allocate(Words(40)), Some(hole));
        bump.set_overflow(overflow, overflow + Words(100), Words(33));
        assert_eq!(allocate(Words(40)), Some(overflow));
        assert_eq!(
            (bump.cursor(), bump.overflow_cursor()),
            (hole + Words(40), overflow + Words(40))
        );
        assert_eq!(allocate(Words(3)), Some(hole + Words(40)));
        // One after the other, and then no third.
        assert_eq!(allocate(Words(34)), Some(overflow + Words(40)));
        assert_eq!((allocate(Words(33)), allocate(Words(33))), (None, None));
        assert_eq!(bump.allocated(), Words(40 + 40 + 3 + 34).to_bytes());
        // Room that was reserved and not taken is free again.
        bump.set_overflow(overflow, overflow + Words(100), Words(33));
        assert_eq!(bump.reserve_elsewhere(Words(33)), Some(overflow));
        assert_eq!(allocate(Words(40)), Some(overflow));
        assert_eq!(allocate(Words(32)), Some(hole + Words(43)));
        assert_eq!(bump.free().collect::<Vec<_>>(), [(hole + Words(75), hole + Words(100))]);
        assert_eq!(
            (bump.leave_region(), bump.leave_overflow()),
            (hole + Words(75), overflow + Words(40))
        );
        assert_eq!((allocate(Words(1)), allocate(Words(40))), (None, None));
    }

    #[test]
    fn no_detour_while_it_is_interrupted_or_restricted() {
        let bump = Bump::default();
        let overflow = Addr(0x8000);
        bump.set_overflow(overflow, overflow + Words(100), Words(33));
        // There is no hole, but an interrupt is still seen.
        bump.interrupt();
        assert_eq!(bump.reserve_elsewhere(Words(40)), None);
        bump.restrict(None);
        assert_eq!(bump.reserve_elsewhere(Words(40)), Some(overflow));
        bump.commit(overflow, Words(40));
        bump.interrupt();
        assert_eq!(bump.reserve_elsewhere(Words(40)), None);
        // The piece ends where a restriction to nothing would.
        bump.restrict(Some(Words(0)));
        assert_eq!(bump.reserve_elsewhere(Words(40)), None);
        bump.restrict(None);
        assert_eq!(bump.reserve_elsewhere(Words(40)), Some(overflow + Words(40)));
        assert_eq!(bump.allocated(), Words(40).to_bytes());
    }
}
