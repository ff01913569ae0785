//! Mark bits: a bit for each word of a heap, in a side table.
//!
//! For collectors that do not move live closures, or not before they know all of them. A set bit
//! says that a closure starts at its word. During a collection the bits are *marks*: the spaces
//! that are collected clear theirs (condemn), and a [`Marker`](crate::trace::Marker) sets the bit
//! of each closure that it reaches ([`Marks`]). Afterwards, until the next collection, they say
//! where closures start, for sweeping, walks and allocation. [`CellSpace`](super::CellSpace) sets
//! the bits of the memory that it hands to a mutator. The other spaces leave new closures without
//! marks, so that they are known as young.
//!
//! Invariant: outside collections a bit is set only where a closure starts, or in memory that a
//! mutator may still allocate in. `-DS` checks it: regions are made of these bits. Memory: a 64th
//! of the part of the heap that was used.

use super::{Marks, Record};
use crate::block::{LARGE_OBJECT, MEGABLOCK, OutOfMemory, Shortage};
use crate::closure::{ClosureRef, Slot};
use crate::heap::Heap;
use crate::memory::Table;
use crate::prefetch::prefetch_line;
use crate::sync::{
    MappedU64,
    Ordering::{AcqRel, Acquire, Relaxed},
    shared_word,
};
use crate::words::{Addr, Bytes, Words};

/// Bits in an entry of the table.
const BITS: usize = u64::BITS as usize;

/// Entries by which a second table is shifted: half a page and a cache line.
const SHIFT: usize = (2048 + 64) / 8;

/// A bit for each word of a heap. Addresses outside the heap panic.
#[derive(Debug)]
pub struct MarkBits {
    entries: Table<MappedU64>,
    base: Addr,
}

impl MarkBits {
    /// The bits of `heap`, all clear.
    ///
    /// # Errors
    /// If the system has no addresses for them.
    pub fn new(heap: &Heap) -> Result<Self, OutOfMemory> {
        heap.keep_mark_stack()?;
        MarkBits::shifted(heap, 0)
    }

    /// The bits of a second table of `heap`, for a marker that sets bits of both. The entries of a
    /// closure have different places in their pages: a processor delays a load after a store to the
    /// same place in another page.
    ///
    /// # Errors
    /// If the system has no addresses for them.
    pub fn beside_another(heap: &Heap) -> Result<Self, OutOfMemory> {
        MarkBits::shifted(heap, SHIFT)
    }

    /// A table with `shift` entries in front of the first one.
    fn shifted(heap: &Heap, shift: usize) -> Result<Self, OutOfMemory> {
        heap.register_side(Bytes(MEGABLOCK.0 / BITS))?;
        let reserved = heap.blocks().accounting().reserved;
        let len = reserved.0 / 8 / BITS + shift;
        let entries = Table::new(len).map_err(|error| OutOfMemory {
            requested: Bytes(len * 8),
            in_use: heap.blocks().accounting().committed(),
            limit: heap.blocks().limit(),
            cause: Shortage::System(error),
        })?;
        Ok(MarkBits {
            entries,
            base: Addr(heap.blocks().base().0 - shift * BITS * 8),
        })
    }

    /// The entry of `at`, and its bit there.
    #[inline(always)]
    pub(super) fn place(&self, at: Addr) -> (usize, usize) {
        let word = at.0.wrapping_sub(self.base.0) / 8;
        (word / BITS, word % BITS)
    }

    /// The bits of an entry.
    #[inline(always)]
    pub(super) fn entry(&self, entry: usize) -> u64 {
        self.entries[entry].load(Relaxed)
    }

    /// The address of a bit of an entry.
    #[inline(always)]
    pub(super) fn address(&self, entry: usize, bit: u32) -> Addr {
        Addr(self.base.0 + (entry * BITS + bit as usize) * 8)
    }

    /// Whether the bit of `at` is set.
    #[inline(always)]
    pub fn get(&self, at: Addr) -> bool {
        let (entry, bit) = self.place(at);
        // Relaxed, here and below: a bit says nothing about other memory.
        self.entries[entry].load(Relaxed) >> bit & 1 != 0
    }

    /// Sets the bit of `at`; returns whether it was clear.
    #[inline(always)]
    pub fn set(&mut self, at: Addr) -> bool {
        let (entry, bit) = self.place(at);
        let entry = self.entries[entry].get_mut();
        let before = *entry;
        *entry |= 1 << bit;
        before != *entry
    }

    /// Sets the bit of `at`; returns whether it was clear. Other threads may be setting and clearing bits.
    /// A thread that finds the bit set sees what came before it was set.
    pub fn set_shared(&self, at: Addr) -> bool {
        let (entry, bit) = self.place(at);
        // SAFETY: an entry of this table, which is shared as an atomic only.
        unsafe { set_first(&self.entries[entry], 1 << bit) }
    }

    /// Clears the bit of `at`. Other threads may be setting and clearing other bits.
    pub fn unset(&self, at: Addr) {
        let (entry, bit) = self.place(at);
        let entry = std::ptr::from_ref(&self.entries[entry]);
        // SAFETY: an entry of this table, which is shared as an atomic only.
        unsafe { shared_word(entry.cast_mut().cast()) }.fetch_and(!(1 << bit), Relaxed);
    }

    /// Clears the bits of all words from `from` to `to`.
    pub fn clear(&mut self, from: Addr, to: Addr) {
        if from >= to {
            return;
        }
        let ((first, low), (last, high)) = (self.place(from), self.place(to));
        let (keep_low, keep_high) = ((1 << low) - 1, u64::MAX << high);
        if first == last {
            *self.entries[first].get_mut() &= keep_low | keep_high;
            return;
        }
        *self.entries[first].get_mut() &= keep_low;
        (*self.entries)[first + 1..last]
            .iter_mut()
            .for_each(|entry| *entry.get_mut() = 0);
        if high > 0 {
            *self.entries[last].get_mut() &= keep_high;
        }
    }

    /// Sets the bit of every `step`-th word of the ranges from `from` to `to`.
    pub(crate) fn set_every(&mut self, ranges: &[(Addr, Addr)], step: Words) {
        // The bits of every `step`-th word from the first of an entry on.
        let pattern = (0..BITS).step_by(step.0).fold(0_u64, |pattern, bit| pattern | 1 << bit);
        ranges.iter().for_each(|&range| self.set_pattern(range, step, pattern));
    }

    fn set_pattern(&mut self, (from, to): (Addr, Addr), step: Words, pattern: u64) {
        let ((mut entry, mut bit), (last, high)) = (self.place(from), self.place(to));
        while entry < last {
            *self.entries[entry].get_mut() |= pattern << bit;
            // Of the words from `bit` on, the first that is beyond this entry.
            let beyond = bit + (BITS - bit).div_ceil(step.0) * step.0 - BITS;
            (entry, bit) = (entry + 1 + beyond / BITS, beyond % BITS);
        }
        if entry == last && bit < high {
            *self.entries[last].get_mut() |= pattern << bit & ((1 << high) - 1);
        }
    }

    /// The number of bits set from `from` to `to`, which are ends of blocks.
    pub(crate) fn count(&self, from: Addr, to: Addr) -> usize {
        let ((first, 0), (last, 0)) = (self.place(from), self.place(to)) else {
            unreachable!("{from} to {to} is not a range of blocks");
        };
        let entries = &(*self.entries)[first..last];
        entries
            .iter()
            .map(|bits| bits.load(Relaxed).count_ones() as usize)
            .sum()
    }

    /// Calls `visit` for the gaps from `from` to `to` between closures of `size` words at most,
    /// which start where bits are set.
    pub(crate) fn for_each_gap(&self, mut from: Addr, to: Addr, size: Words, mut visit: impl FnMut(Addr, Addr)) {
        let ((first, low), (last, high)) = (self.place(from), self.place(to));
        for entry in first..last + usize::from(high > 0) {
            let mut bits = self.entries[entry].load(Relaxed);
            if entry == first {
                bits &= u64::MAX << low;
            }
            if entry == last {
                bits &= (1 << high) - 1;
            }
            while bits != 0 {
                let at = Addr(self.base.0 + (entry * BITS + bits.trailing_zeros() as usize) * 8);
                bits &= bits - 1;
                if from < at {
                    visit(from, at);
                }
                from = at + size;
            }
        }
        if from < to {
            visit(from, to);
        }
    }

    /// The first word from `from` to `to` whose bit is set.
    #[inline]
    pub fn next_set(&self, from: Addr, to: Addr) -> Option<Addr> {
        if from >= to {
            return None;
        }
        let (mut entry, bit) = self.place(from);
        let end = (to.0 - self.base.0) / 8;
        let mut bits = self.entries[entry].load(Relaxed) & u64::MAX << bit;
        loop {
            if bits != 0 {
                let word = entry * BITS + bits.trailing_zeros() as usize;
                return (word < end).then_some(Addr(self.base.0 + word * 8));
            }
            entry += 1;
            if entry * BITS >= end {
                return None;
            }
            bits = self.entries[entry].load(Relaxed);
        }
    }
}

impl MarkBits {
    /// The first word from `from` to `to` whose bit is set here and not in `other`, a table of the
    /// same heap, perhaps one beside this one.
    pub(super) fn next_set_but(&self, other: &MarkBits, from: Addr, to: Addr) -> Option<Addr> {
        if from >= to {
            return None;
        }
        let ((mut entry, bit), end) = (self.place(from), (to.0 - self.base.0) / 8);
        let mut from_bit = u64::MAX << bit;
        let shift = (self.base.0 as isize - other.base.0 as isize) / (8 * BITS) as isize;
        while entry * BITS < end {
            let bits = self.entry(entry) & !other.entry(entry.wrapping_add_signed(shift)) & from_bit;
            if bits != 0 {
                let word = entry * BITS + bits.trailing_zeros() as usize;
                return (word < end).then_some(Addr(self.base.0 + word * 8));
            }
            (entry, from_bit) = (entry + 1, u64::MAX);
        }
        None
    }

    /// Clears, in both tables, the bits from `from` to `to`, which are ends of blocks, that are set in both.
    /// No other thread may use `other`.
    pub(super) fn clear_common(&mut self, other: &MarkBits, from: Addr, to: Addr) {
        let ((first, _), (last, _), (others, _)) = (self.place(from), self.place(to), other.place(from));
        for entry in 0..last - first {
            let (here, there) = (&self.entries[first + entry], &other.entries[others + entry]);
            let (ours, theirs) = (here.load(Relaxed), there.load(Relaxed));
            here.store(ours & !theirs, Relaxed);
            there.store(theirs & !ours, Relaxed);
        }
    }

    /// Brings the headers of the closures from `from` to `to` towards the cache.
    pub(crate) fn prefetch_marked(&self, mut from: Addr, to: Addr) {
        while let Some(at) = self.next_set(from, to) {
            prefetch_line(at);
            from = at + Words(1);
        }
    }

    /// The last word from `from` to `to` whose bit is set.
    pub(super) fn last_set(&self, from: Addr, to: Addr) -> Option<Addr> {
        let (first, _) = self.place(from);
        let (mut entry, bit) = self.place(to);
        let mut bits = self.entry(entry) & !(u64::MAX << bit);
        while bits == 0 && entry > first {
            entry -= 1;
            bits = self.entry(entry);
        }
        let last = self.address(entry, bits.checked_ilog2()?);
        (last >= from).then_some(last)
    }

    /// Whether `slot` is one of a marked closure smaller than [`LARGE_OBJECT`].
    pub(crate) fn has_slot(&self, slot: Slot) -> bool {
        let slot = slot.addr();
        let from = Addr(slot.0.saturating_sub(LARGE_OBJECT.to_bytes().0)).max(self.base);
        self.last_set(from, slot)
            // SAFETY: a marked closure starts there.
            .is_some_and(|at| slot < at + unsafe { ClosureRef(at.as_mut_ptr()).words() })
    }
}

// SAFETY: the bit of a closure's first word is its mark. `set_bits` returns a clear bit to one
// caller only, the one that set it.
unsafe impl Marks for MarkBits {
    #[inline(always)]
    fn mark<const PARALLEL: bool>(&self, at: Addr, _: Words) -> bool {
        let (entry, bit) = self.place(at);
        // SAFETY: the pointer is to an entry, which is shared as an atomic only; other writes need
        // the table exclusively.
        unsafe { set_bits::<PARALLEL>(&self.entries[entry], 1 << bit) >> bit & 1 == 0 }
    }

    #[inline(always)]
    fn is_marked(&self, at: Addr) -> bool {
        self.get(at)
    }

    #[inline]
    fn next_marked(&self, from: Addr, to: Addr) -> Option<Addr> {
        self.next_set(from, to)
    }

    #[inline(always)]
    fn prefetch(&self, at: Addr) {
        let (entry, _) = self.place(at);
        prefetch_line(Addr(self.entries.as_ptr().wrapping_add(entry) as usize));
    }
}

/// Two tables in which a marker marks: the first one decides, and the second has the marks of
/// everything that is marked from now on. The slots that are scanned are shown to `R`.
#[derive(Debug)]
pub struct BothMarks<'m, R = ()>(pub &'m MarkBits, pub &'m MarkBits, pub R);

// SAFETY: the first table decides. The second one has bits at the same closures.
unsafe impl<R: Record> Marks for BothMarks<'_, R> {
    #[inline(always)]
    fn records(&self) -> bool {
        self.2.is_in_use()
    }

    #[inline(always)]
    fn record(&self, slot: Slot, closure: ClosureRef) {
        self.2.record(slot, closure);
    }

    #[inline(always)]
    fn mark<const PARALLEL: bool>(&self, at: Addr, words: Words) -> bool {
        let is_new = self.0.mark::<PARALLEL>(at, words);
        let is_left_out = words >= LARGE_OBJECT && mutant!("concurrent/large-promoted-white");
        if is_new && !is_left_out && !mutant!("concurrent/promoted-white") {
            self.1.mark::<PARALLEL>(at, words);
        }
        is_new
    }

    #[inline(always)]
    fn is_marked(&self, at: Addr) -> bool {
        self.0.is_marked(at)
    }

    #[inline]
    fn next_marked(&self, from: Addr, to: Addr) -> Option<Addr> {
        self.0.next_marked(from, to)
    }

    #[inline(always)]
    fn prefetch(&self, at: Addr) {
        self.0.prefetch(at);
    }
}

/// Sets `bits` of an entry of a table; returns its former value. `PARALLEL`: other threads may be
/// setting bits of it (race R10 of `docs/parallel-collection.md`).
///
/// # Safety
/// `entry` points to an entry of a live table. If `PARALLEL`, all accesses to it are atomic, as
/// [`shared_word`] demands; otherwise no other thread accesses it.
#[inline(always)]
pub(crate) unsafe fn set_bits<const PARALLEL: bool>(entry: *const MappedU64, bits: u64) -> u64 {
    if PARALLEL {
        // SAFETY: the caller vouches for the entry. Relaxed: a bit says nothing about other memory.
        let entry = unsafe { shared_word(entry.cast_mut().cast()) };
        if mutant!("models/marked-by-store") {
            let before = entry.load(Relaxed);
            entry.store(before | bits, Relaxed);
            return before;
        }
        entry.fetch_or(bits, Relaxed)
    } else {
        // SAFETY: the caller vouches for the entry.
        let entry = unsafe { &*entry };
        let before = entry.load(Relaxed);
        entry.store(before | bits, Relaxed);
        before
    }
}

/// Sets a bit of an entry of a table, as other threads may do at the same time. Returns whether this thread
/// did. Another one that does not sees what came before (race R18 of `docs/parallel-collection.md`).
///
/// # Safety
/// As for [`set_bits`] in parallel.
pub(crate) unsafe fn set_first(entry: *const MappedU64, bit: u64) -> bool {
    // SAFETY: the caller vouches for the entry.
    let entry = unsafe { shared_word(entry.cast_mut().cast()) };
    // Nearly all stores are to slots that have been noted.
    let before = entry.load(Acquire);
    if before & bit != 0 {
        return false;
    }
    if mutant!("models/noted-by-store") {
        entry.store(before | bit, Relaxed);
        return true;
    }
    entry.fetch_or(bit, AcqRel) & bit == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BLOCK;
    use crate::config::Config;
    use proptest::prelude::*;

    const WORDS: usize = 400;

    fn bits() -> MarkBits {
        let config = Config {
            reserve: Bytes(8 << 20),
            ..Config::default()
        };
        MarkBits::new(&Heap::new(&config).expect("a small heap")).expect("a small table")
    }

    proptest! {
        /// Compares the bits with a vector of booleans.
        #[test]
        fn bits_agree_with_a_vector_of_booleans(ops in proptest::collection::vec((0..3u8, 0..WORDS, 0..WORDS, 1..70usize), 1..40)) {
            let (mut bits, mut model) = (bits(), vec![false; WORDS]);
            let at = |word: usize| Addr(bits.base.0 + word * 8);
            let address: Vec<Addr> = (0..=WORDS).map(at).collect();
            for (op, one, other, step) in ops {
                let (from, to) = (one.min(other), one.max(other));
                match op {
                    0 => {
                        prop_assert_eq!(bits.set(address[from]), !model[from]);
                        model[from] = true;
                    }
                    1 => {
                        bits.clear(address[from], address[to]);
                        model[from..to].fill(false);
                    }
                    _ => {
                        bits.set_every(&[(address[from], address[to])], Words(step));
                        (from..to).step_by(step).for_each(|word| model[word] = true);
                    }
                }
                let next = (from..to).find(|&word| model[word]).map(|word| address[word]);
                prop_assert_eq!(bits.next_set(address[from], address[to]), next);
                let last = (from..to).rev().find(|&word| model[word]).map(|word| address[word]);
                prop_assert_eq!(bits.last_set(address[from], address[to]), last);
                let (mut gaps, mut expected, mut behind) = (Vec::new(), Vec::new(), from);
                bits.for_each_gap(address[from], address[to], Words(step), |start, end| gaps.push((start, end)));
                for word in (from..to).filter(|&word| model[word]).chain([to]) {
                    if behind < word {
                        expected.push((address[behind], address[word]));
                    }
                    behind = word + step;
                }
                prop_assert_eq!(gaps, expected);
            }
            for word in 0..WORDS {
                prop_assert_eq!(bits.get(address[word]), model[word]);
            }
            let set = model.iter().filter(|&&set| set).count();
            prop_assert_eq!(bits.count(bits.base, bits.base + BLOCK), set);
        }
    }
}
