//! A hole: a range of free memory in which an allocator allocates, and a chain of more.
//!
//! The collector gives an allocator as many holes at a time as it found together. The mutator moves
//! from hole to hole without the world's lock ([`super::Alloc::reserve_elsewhere`]). The chain
//! needs no extra memory: the first word of each hole that waits has its size and the place of the
//! next.
//!
//! A hole may offer its room only up to the next sampled word ([`super::sampler`]). The closure
//! with this word is reserved as one in the next hole is.

use super::is_range_of_words;
use super::sampler::Sampler;
use crate::block::poison;
use crate::sync::{AtomicUsize, Ordering::Relaxed};
use crate::words::{Addr, Bytes, WORD, Words};
use std::cell::Cell;

/// A cursor that runs to a limit, and the holes that come next.
#[derive(Debug)]
pub(super) struct Hole {
    cursor: Cell<usize>,
    /// An atomic, read and written without ordering: other threads set it to 0 to have the mutator
    /// stop.
    limit: AtomicUsize,
    /// Where the hole really ends; `limit` is before it while allocation is restricted or
    /// interrupted.
    end: Cell<usize>,
    /// Where counting of allocated bytes continues.
    counted: Cell<usize>,
    /// The address of the next sampled word; [`UNSAMPLED`] if there is none.
    sample: Cell<usize>,
    more: Chain,
    /// The end of the room that is offered: the hole's, or a restriction.
    bound: Cell<usize>,
    /// Whether `bound` is a restriction's, which may be where the hole ends, too.
    is_restricted: Cell<bool>,
}

/// The end and the limit without a hole: no closure has room, and no interrupt looks like it.
const NO_HOLE: usize = 1;

/// The next sampled word where nothing is sampled.
const UNSAMPLED: usize = usize::MAX;

impl Default for Hole {
    fn default() -> Self {
        Hole {
            cursor: Cell::new(0),
            limit: AtomicUsize::new(NO_HOLE),
            end: Cell::new(NO_HOLE),
            counted: Cell::new(0),
            sample: Cell::new(UNSAMPLED),
            more: Chain::default(),
            bound: Cell::new(NO_HOLE),
            is_restricted: Cell::new(false),
        }
    }
}

impl Hole {
    /// Allocates from `start` to `end` from now on, then in `more`. Call [`Hole::leave`] first.
    ///
    /// # Panics
    /// If the addresses are not ends of ranges of whole words.
    pub(super) fn set(&self, (start, end): (Addr, Addr), more: &[(Addr, Addr)]) {
        self.open((start, end));
        self.more.set(more);
    }

    /// Allocates from `start` to `end` from now on, whatever was asked for before. Returns the
    /// bytes that were not counted yet.
    pub(super) fn open(&self, (start, end): (Addr, Addr)) -> usize {
        let running = self.running();
        self.enter(start, end);
        self.is_restricted.set(false);
        self.limit.store(self.offer(), Relaxed);
        running
    }

    /// Allocates from `start` to `end` from now on; or does nothing while allocation is restricted
    /// or interrupted. Returns the bytes that were not counted yet.
    pub(super) fn go(&self, start: Addr, end: Addr) -> Option<usize> {
        if self.is_restricted.get() {
            return None;
        }
        // Up to the end at first: the sampled word is known when the hole is entered.
        if !self.move_limit(self.offer(), end.0.max(NO_HOLE)) && !mutant!("cells/interrupt-overwritten") {
            return None;
        }
        let running = self.running();
        self.enter(start, end);
        self.move_limit(self.end.get(), self.offer());
        Some(running)
    }

    /// Moves the limit from `old` to `new`, unless it is another one by now: an interrupt may come
    /// at any moment, and must not be overwritten. Returns whether it was moved.
    fn move_limit(&self, old: usize, new: usize) -> bool {
        if mutant!("models/hole-entered-by-store") && self.limit.load(Relaxed) == old {
            self.limit.store(new, Relaxed);
            return true;
        }
        self.limit.compare_exchange(old, new, Relaxed, Relaxed).is_ok()
    }

    /// The limit while nothing interrupts it.
    fn offer(&self) -> usize {
        self.bound.get().min(self.sample.get()).max(NO_HOLE)
    }

    /// From now on the words are sampled as `sampler` says. The limit follows when it is next set.
    pub(super) fn sample(&self, sampler: &Sampler) {
        let skip = || self.cursor.get() + Words(sampler.skip()).to_bytes().0;
        self.sample.set(if sampler.is_on() { skip() } else { UNSAMPLED });
    }

    /// Returns `bytes` of room if only a sampled word was in the way of them. `own` bytes are those
    /// of the closure. Does nothing while allocation is interrupted.
    pub(super) fn reserve_sampled(&self, bytes: Bytes, own: Words, sampler: &Sampler) -> Option<Addr> {
        let (at, bound) = (self.cursor.get(), self.bound.get());
        let is_in_the_way = self.sample.get() < at + bytes.0 && at + bytes.0 <= bound;
        if !is_in_the_way || !self.move_limit(self.offer(), bound) {
            return None;
        }
        self.pass(bytes, own, sampler);
        Some(Addr(at))
    }

    /// The next `bytes` bytes are reserved, `own` of them for a closure. Notes the sampled words of
    /// the closure.
    pub(super) fn pass(&self, bytes: Bytes, own: Words, sampler: &Sampler) {
        let at = self.cursor.get();
        if self.sample.get() >= at + bytes.0 {
            return;
        }
        let old = self.limit.load(Relaxed);
        let left = Bytes(self.sample.get() - at).to_words_up();
        let next = sampler.pass(left.0, bytes.to_words_up(), own);
        self.sample.set(at + bytes.0 + Words(next).to_bytes().0);
        if old != 0 {
            self.move_limit(old, self.offer());
        }
    }

    fn enter(&self, start: Addr, end: Addr) {
        assert!(is_range_of_words(start, end), "no range of words: {start:?} to {end:?}");
        if self.sample.get() != UNSAMPLED && !mutant!("memprof/left-with-the-hole") {
            self.sample.set(self.sample.get() - self.cursor.get() + start.0);
        }
        self.cursor.set(start.0);
        self.counted.set(start.0);
        self.end.set(end.0.max(NO_HOLE));
        self.bound.set(self.end.get());
    }

    /// Gives the holes up. Returns the bytes that were not counted yet.
    pub(super) fn leave(&self) -> usize {
        self.more.set(&[]);
        self.open((Addr::NULL, Addr::NULL))
    }

    /// Where the next closure will be; null without a hole.
    #[inline(always)]
    pub(super) fn cursor(&self) -> Addr {
        Addr(self.cursor.get())
    }

    /// Returns `bytes` of room.
    #[inline(always)]
    pub(super) fn reserve(&self, bytes: Bytes) -> Option<Addr> {
        let at = self.cursor.get();
        // No overflow: an address and less than a large object. An interrupted limit is below every
        // cursor.
        (at + bytes.0 <= self.limit.load(Relaxed)).then_some(Addr(at))
    }

    /// Takes `bytes` at `at`, which were reserved.
    #[inline(always)]
    pub(super) fn commit(&self, at: Addr, bytes: Bytes) {
        self.cursor.set(at.0 + bytes.0);
    }

    /// Goes on to the next hole if that has `bytes` of room, and reserves them there. Does nothing
    /// while allocation is restricted or interrupted. Returns the bytes that were not counted yet,
    /// and the room.
    pub(super) fn next(&self, bytes: Bytes) -> Option<(usize, Addr)> {
        let (start, end) = self.more.first().filter(|(start, end)| (*end - *start) >= bytes)?;
        let rest = self.rest();
        let running = self.go(start, end)?;
        self.more.drop_first();
        Hole::end_closures(rest);
        Some((running, start))
    }

    /// Ends the closures before the rest of a hole with a word that is not a header, so that they can
    /// be walked.
    fn end_closures((cursor, end): (Addr, Addr)) {
        if cursor < end {
            // SAFETY: free memory of this allocator: the collector promises it.
            unsafe {
                poison::lend(cursor, Words(1).to_bytes());
                cursor.as_mut_ptr::<u64>().write(0);
            }
        }
    }

    /// Offers no more than `bytes` of room from now on; with `None` all there is.
    pub(super) fn restrict(&self, bytes: Option<Bytes>) {
        let end = self.end.get();
        let bound = bytes.map_or(end, |bytes| end.min(self.cursor.get() + bytes.0));
        self.bound.set(bound);
        self.is_restricted.set(bytes.is_some());
        self.limit.store(self.offer(), Relaxed);
    }

    /// Offers no room until [`Hole::restrict`], or until a hole is set. Touches only an atomic.
    pub(super) fn interrupt(&self) {
        // As an exchange it has its place among the exchanges of `go`. (Memory keeps a plain
        // store in order, too; loom does not.)
        self.limit.swap(0, Relaxed);
    }

    /// Bytes taken since they were last counted.
    pub(super) fn running(&self) -> usize {
        self.cursor.get() - self.counted.get()
    }

    /// Counts the bytes taken so far.
    pub(super) fn count(&self) {
        self.counted.set(self.cursor.get());
    }

    /// The free part of the hole.
    pub(super) fn rest(&self) -> (Addr, Addr) {
        let end = if self.cursor().is_null() { 0 } else { self.end.get() };
        (self.cursor(), Addr(end))
    }

    /// The holes that wait.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (Addr, Addr)> {
        self.more.iter()
    }
}

/// Holes that wait, by address.
#[derive(Debug, Default)]
struct Chain {
    /// The first; 0 if there is none.
    first: Cell<usize>,
}

/// Bits of a hole's size in words, in its first word. The rest are the address of the next hole, in
/// words.
const SIZE_BITS: u32 = 20;

impl Chain {
    /// Chains `holes` in place of those before.
    ///
    /// # Panics
    /// If a hole has no word, or 2^20 of them.
    fn set(&self, holes: &[(Addr, Addr)]) {
        self.first.set(0);
        for &(start, end) in holes.iter().rev() {
            assert!(is_range_of_words(start, end), "no range of words: {start:?} to {end:?}");
            let words = (end.0 - start.0) / WORD;
            assert!((1..1 << SIZE_BITS).contains(&words), "no hole: {start:?} to {end:?}");
            let next = self.first.replace(start.0) / WORD;
            // SAFETY: the collector promises that the hole is free memory of the mutator, as for
            // the methods that take holes.
            unsafe {
                poison::lend(start, Words(1).to_bytes());
                start.as_mut_ptr::<u64>().write((next << SIZE_BITS | words) as u64);
            }
        }
    }

    fn first(&self) -> Option<(Addr, Addr)> {
        Some(self.first.get())
            .filter(|&at| at != 0)
            .map(|at| Chain::read(Addr(at)).0)
    }

    fn drop_first(&self) {
        let next = Chain::read(Addr(self.first.get())).1;
        self.first.set(next.0);
    }

    /// The hole at `at`, and the address of the next.
    fn read(at: Addr) -> ((Addr, Addr), Addr) {
        // SAFETY: `set` wrote the word, and the memory has been free since.
        let word = unsafe { *at.as_ptr::<u64>() } as usize;
        let words = Words(word & ((1 << SIZE_BITS) - 1));
        ((at, at + words), Addr((word >> SIZE_BITS) * WORD))
    }

    fn iter(&self) -> impl Iterator<Item = (Addr, Addr)> {
        let mut at = Addr(self.first.get());
        std::iter::from_fn(move || {
            (!at.is_null()).then(|| {
                let (hole, next) = Chain::read(at);
                at = next;
                hole
            })
        })
    }
}
