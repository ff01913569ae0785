//! Counts of references, in a side table.
//!
//! A count has few bits. Nearly all closures have one or two references; the greatest value is
//! *stuck*: it stands for any number of references, and neither increments nor decrements change it. Only a
//! trace finds such closures dead.

use super::{MarkBits, Marks};
use crate::block::{MEGABLOCK, OutOfMemory, Shortage};
use crate::closure::{ClosureRef, Slot};
use crate::heap::Heap;
use crate::memory::Table;
use crate::prefetch::prefetch_line;
use crate::profile::{Reference, SideWords};
use crate::sync::{Arc, MappedU64, Ordering::Relaxed, shared_word};
use crate::words::{Addr, Bytes, Words};

/// Bits in an entry of the table.
const ENTRY: usize = u64::BITS as usize;

/// A count of `BITS` bits (2, 4 or 8) for each word of a heap, where a closure may start. Addresses
/// outside the heap panic. Memory: `BITS` 64ths of the part of the heap that was used.
#[derive(Debug)]
pub struct SideCounts<const BITS: usize> {
    entries: Table<MappedU64>,
    base: Addr,
    /// If the life of a closure is followed.
    side_words: Option<Arc<SideWords>>,
}

impl<const BITS: usize> SideCounts<BITS> {
    /// The greatest count.
    pub const STUCK: u8 = ((1 << BITS) - 1) as u8;

    /// Counts in an entry.
    const PER_ENTRY: usize = {
        assert!(
            BITS == 2 || BITS == 4 || BITS == 8,
            "an entry has a whole number of counts"
        );
        ENTRY / BITS
    };

    /// The counts of `heap`, all 0.
    ///
    /// # Errors
    /// If the system has no addresses for them.
    pub fn new(heap: &Heap) -> Result<Self, OutOfMemory> {
        let side_words = heap.side_words().filter(|words| words.follow_life());
        heap.register_side(Bytes(MEGABLOCK.0 / ENTRY * BITS))?;
        let len = heap.blocks().accounting().reserved.0 / 8 / Self::PER_ENTRY;
        let entries = Table::new(len).map_err(|error| OutOfMemory {
            requested: Bytes(len * 8),
            in_use: heap.blocks().accounting().committed(),
            limit: heap.blocks().limit(),
            cause: Shortage::System(error),
        })?;
        Ok(SideCounts {
            entries,
            base: heap.blocks().base(),
            side_words: side_words.cloned(),
        })
    }

    /// The entry of `at`, and the lowest bit of its count there.
    #[inline(always)]
    fn place(&self, at: Addr) -> (&MappedU64, usize) {
        let word = at.0.wrapping_sub(self.base.0) / 8;
        (&self.entries[word / Self::PER_ENTRY], word % Self::PER_ENTRY * BITS)
    }

    /// Brings the count of the closure at `at` towards the cache.
    #[inline(always)]
    pub(super) fn prefetch(&self, at: Addr) {
        let word = at.0.wrapping_sub(self.base.0) / 8;
        prefetch_line(Addr(self.entries.as_ptr().wrapping_add(word / Self::PER_ENTRY) as usize));
    }

    /// The count of the closure at `at`.
    #[inline(always)]
    pub fn get(&self, at: Addr) -> u8 {
        let (entry, bit) = self.place(at);
        // Relaxed, here and below: a count says nothing about other memory.
        (entry.load(Relaxed) >> bit) as u8 & Self::STUCK
    }

    /// Replaces a count by `change` of it, as for a `reference`. Returns the former one. `PARALLEL`: other
    /// threads may be changing counts, also of closures next to this one.
    #[inline(always)]
    fn change<const PARALLEL: bool>(&self, at: Addr, reference: Reference, change: impl Fn(u8) -> u8) -> u8 {
        let former = self.update::<PARALLEL>(at, &change);
        if let Some(side_words) = &self.side_words {
            let known = |count| Some(count).filter(|&count| count < Self::STUCK);
            side_words.counted(at, reference, [known(former), known(change(former))]);
        }
        former
    }

    /// Replaces a count by `change` of it. Returns the former one.
    #[inline(always)]
    fn update<const PARALLEL: bool>(&self, at: Addr, change: impl Fn(u8) -> u8) -> u8 {
        let (entry, bit) = self.place(at);
        let count = |bits: u64| (bits >> bit) as u8 & Self::STUCK;
        let changed = |bits: u64| bits ^ u64::from(count(bits) ^ change(count(bits))) << bit;
        if PARALLEL {
            // SAFETY: an entry of a live table, which is shared as an atomic only.
            let entry = unsafe { shared_word(std::ptr::from_ref(entry).cast_mut().cast()) };
            // Counts of closures that many lead to are stuck: threads do not contend for them.
            let former = entry.fetch_update(Relaxed, Relaxed, |bits| Some(changed(bits)).filter(|&new| new != bits));
            return count(former.unwrap_or_else(|unchanged| unchanged));
        }
        let bits = entry.load(Relaxed);
        entry.store(changed(bits), Relaxed);
        count(bits)
    }

    /// Counts one more reference. Returns the former count.
    #[inline(always)]
    pub fn increment<const PARALLEL: bool>(&self, at: Addr, reference: Reference) -> u8 {
        self.change::<PARALLEL>(at, reference, |count| {
            if count == Self::STUCK {
                mutant!("counts/wrapped", count => 0)
            } else {
                count + 1
            }
        })
    }

    /// Counts one reference less. Returns the former count, which was not 0.
    #[inline(always)]
    pub fn decrement<const PARALLEL: bool>(&self, at: Addr, reference: Reference) -> u8 {
        let former = self.change::<PARALLEL>(at, reference, |count| {
            if count == Self::STUCK && !mutant!("counts/stuck-decremented") {
                count
            } else {
                count.saturating_sub(1)
            }
        });
        debug_assert!(former > 0, "the count of {at} is 0 already");
        former
    }

    /// From now on the closure has any number of references.
    pub fn stick(&self, at: Addr, reference: Reference) {
        self.change::<true>(at, reference, |_| Self::STUCK);
    }

    /// Forgets the count of a closure that is dead, or leaves its place. Returns it; the greatest value is
    /// [stuck](SideCounts::STUCK).
    pub fn reset(&self, at: Addr) -> u8 {
        self.update::<true>(at, |_| 0)
    }

    /// Sets a count that is 0, to [`SideCounts::STUCK`] at most.
    pub fn set(&self, at: Addr, count: u8) {
        debug_assert!(
            count <= Self::STUCK && self.is_zero(at),
            "the count of {at} is set to {count}"
        );
        self.update::<true>(at, |_| count);
    }

    /// Whether the closure has a known number of references, and it is 0.
    pub fn is_zero(&self, at: Addr) -> bool {
        self.get(at) == 0
    }

    /// Forgets the counts of all closures from `from` to `to`, which are ends of blocks.
    pub fn clear(&mut self, from: Addr, to: Addr) {
        let entry = |at: Addr| (at.0 - self.base.0) / 8 / Self::PER_ENTRY;
        let (first, last) = (entry(from), entry(to));
        (*self.entries)[first..last]
            .iter_mut()
            .for_each(|entry| *entry.get_mut() = 0);
    }
}

/// Counts of references, as `-DS` checks them.
pub trait Counts: Sync {
    /// The count of the closure at `at`; `None` if it is stuck.
    fn count(&self, at: Addr) -> Option<u8>;
}

impl<const BITS: usize> Counts for SideCounts<BITS> {
    fn count(&self, at: Addr) -> Option<u8> {
        Some(self.get(at)).filter(|&count| count < Self::STUCK)
    }
}

/// What a collector that counts references has counted, right after a collection: `-DS` counts
/// again.
#[derive(Clone, Copy)]
pub struct Ledger<'c> {
    /// The count of each closure that is not young: the slots of such closures that lead to it, and
    /// how often it is in `others`.
    pub counts: &'c dyn Counts,
    /// The referents of roots that were counted, each as often as it was.
    pub others: &'c [ClosureRef],
    /// A dead closure, and the number of its first slots that no longer count. What they held may be free.
    pub begun: Option<(ClosureRef, usize)>,
}

impl std::fmt::Debug for Ledger<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ledger({} roots)", self.others.len())
    }
}

/// Marks in a table, and counts each edge that a marker finds: the slots of the closures that it marks,
/// and remembered slots. So the count of what becomes old is right when the marking is over.
#[derive(Debug)]
pub struct CountedMarks<'m, M, const BITS: usize> {
    /// Where closures are marked.
    pub marks: &'m M,
    /// Where references are counted.
    pub counts: &'m SideCounts<BITS>,
    /// A bit for each closure that has yet to be scanned, because the mark stack was full; at most for
    /// the time of the marking. It may be a table of slots, if no first word of a closure
    /// has a bit when the marking begins.
    pub unscanned: &'m MarkBits,
}

// SAFETY: the table is that of `marks`.
unsafe impl<M: Marks, const BITS: usize> Marks for CountedMarks<'_, M, BITS> {
    const EDGES: bool = true;

    #[inline(always)]
    fn edge<const PARALLEL: bool>(&self, slot: Slot, to: ClosureRef) {
        if !mutant!("counts/edge-not-counted") {
            let reference = Reference::Slot(slot.addr());
            self.counts.increment::<PARALLEL>(to.addr(), reference);
        }
    }

    fn leave_unscanned(&self, at: Addr) {
        self.unscanned.set_shared(at);
    }

    fn take_unscanned(&self, at: Addr) -> bool {
        let is_left = self.unscanned.get(at);
        self.unscanned.unset(at);
        is_left || mutant!("counts/scanned-twice")
    }

    #[inline(always)]
    fn records(&self) -> bool {
        self.marks.records()
    }

    #[inline(always)]
    fn record(&self, slot: Slot, closure: ClosureRef) {
        self.marks.record(slot, closure);
    }

    #[inline(always)]
    fn mark<const PARALLEL: bool>(&self, at: Addr, words: Words) -> bool {
        self.marks.mark::<PARALLEL>(at, words)
    }

    #[inline(always)]
    fn is_marked(&self, at: Addr) -> bool {
        self.marks.is_marked(at)
    }

    #[inline]
    fn next_marked(&self, from: Addr, to: Addr) -> Option<Addr> {
        self.marks.next_marked(from, to)
    }

    #[inline(always)]
    fn prefetch(&self, at: Addr) {
        self.marks.prefetch(at);
        self.counts.prefetch(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BLOCK;
    use crate::config::Config;
    use proptest::prelude::*;

    const WORDS: usize = 100;
    const REFERENCE: Reference = Reference::Overwritten;

    /// Compares the counts with a vector of numbers.
    fn agree<const BITS: usize>(ops: &[(u8, usize)]) {
        let config = Config {
            reserve: Bytes(8 << 20),
            ..Config::default()
        };
        let heap = Heap::new(&config).expect("a small heap");
        let mut counts = SideCounts::<BITS>::new(&heap).expect("a small table");
        let stuck = SideCounts::<BITS>::STUCK;
        let at = |word: usize| heap.blocks().base() + Words(word);
        let mut model = [0; WORDS];
        for &(op, word) in ops {
            let count = &mut model[word];
            let before = *count;
            let free = before < stuck;
            match op {
                0 | 1 => {
                    *count += u8::from(free);
                    let former = match op {
                        0 => counts.increment::<false>(at(word), REFERENCE),
                        _ => counts.increment::<true>(at(word), REFERENCE),
                    };
                    assert_eq!(former, before);
                }
                2 | 3 if before > 0 => {
                    *count -= u8::from(free);
                    let former = match op {
                        2 => counts.decrement::<false>(at(word), REFERENCE),
                        _ => counts.decrement::<true>(at(word), REFERENCE),
                    };
                    assert_eq!(former, before);
                }
                4 if word == 0 => {
                    counts.clear(at(0), at(0) + BLOCK);
                    model.fill(0);
                }
                5 if word < 3 => {
                    *count = stuck;
                    counts.stick(at(word), REFERENCE);
                }
                _ => {}
            }
            for (word, &count) in model.iter().enumerate() {
                assert_eq!(counts.get(at(word)), count);
                assert_eq!(counts.count(at(word)), (count < stuck).then_some(count));
            }
        }
    }

    proptest! {
        #[test]
        fn counts_agree_with_a_vector_of_numbers(ops in proptest::collection::vec((0..6u8, 0..WORDS), 1..200)) {
            let near: Vec<_> = ops.iter().map(|&(op, word)| (op, word % 5)).collect();
            agree::<2>(&ops);
            agree::<2>(&near);
            agree::<4>(&near);
            agree::<8>(&near);
        }
    }
}
