//! The live map: the words of a heap that belong to marked closures, and the new places of those
//! closures.
//!
//! For collectors that compact in the manner of LISP-2, with tables outside the heap as in the
//! Compressor and in OpenJDK's parallel collector. Words are grouped into *entries* of 64, half a
//! kilobyte of heap:
//!
//! | table | for each entry | written by |
//! |---|---|---|
//! | bits | a bit for each word that belongs to a marked closure | marking |
//! | overhang | the words of a closure from an earlier entry, 0 to 64 | marking |
//! | destinations | the new address of the first live word, less the overhang | planning |
//!
//! So the new address of a closure is its entry's destination plus the number of bits that are set
//! before its own, in words: two loads from tables that are a 32nd of the heap together, and none
//! from the closure. An entry's destination is that of the first closure that *begins* in it, less
//! the overhang. Closures that begin in one entry stay together.
//!
//! A large object is not moved: only its first word's bit is set, and its destination is its own
//! address. So code that follows a pointer need not ask whether it leads to a large object.
//!
//! Memory: a 64th for the bits, another for destinations, a 512th for overhangs, of the part of the
//! heap that was used.
//!
//! Invariant: between collections the bits and overhangs are zero; the compactor clears every bit
//! it set.

use super::{Marks, set_bits};
use crate::block::{Charges, LARGE_OBJECT, MEGABLOCK, OutOfMemory, Shortage};
use crate::closure::ClosureRef;
use crate::heap::Heap;
use crate::memory::Table;
use crate::prefetch::prefetch_line;
use crate::profile::SideWords;
use crate::sync::{Arc, MappedU8, MappedU64, Ordering::Relaxed};
use crate::words::{Addr, Bytes, Words};

/// Words of an entry: the bits of one word of the table.
pub(crate) const ENTRY: usize = u64::BITS as usize;

/// Bytes of heap that belong to an entry.
pub(crate) const ENTRY_BYTES: usize = ENTRY * 8;

/// Bytes of the three tables for an entry.
const BYTES_OF_ENTRY: usize = 17;

/// The live map of a heap. Addresses outside the heap panic.
#[derive(Debug)]
pub struct LiveMap {
    bits: Table<MappedU64>,
    overhang: Table<MappedU8>,
    to: Table<u64>,
    base: Addr,
    side_words: Option<Arc<SideWords>>,
    /// The charge for a map that does not live as long as its heap.
    _charge: Option<Charge>,
}

/// Bytes that are charged until it is dropped.
#[derive(Debug)]
struct Charge(Charges, Bytes);

impl Drop for Charge {
    fn drop(&mut self) {
        self.0.release(self.1);
    }
}

impl LiveMap {
    /// The map of `heap`, empty.
    ///
    /// # Errors
    /// If the system has no addresses for it.
    pub fn new(heap: &Heap) -> Result<Self, OutOfMemory> {
        heap.keep_mark_stack()?;
        // For each entry: eight bytes of bits, one byte of overhang, eight bytes of destination.
        heap.register_side(Bytes(MEGABLOCK.0 / ENTRY_BYTES * BYTES_OF_ENTRY))?;
        LiveMap::without_charge(heap)
    }

    /// The map of `heap`, empty, for a short time: its memory counts under the limit until it is
    /// dropped. Meanwhile the heap allocates no blocks.
    ///
    /// # Errors
    /// If the heap has no memory for it.
    pub fn for_a_moment(heap: &Heap) -> Result<Self, OutOfMemory> {
        let bytes = Bytes(heap.blocks().accounting().committed().0 / ENTRY_BYTES * BYTES_OF_ENTRY);
        let charges = heap.charges();
        charges.charge(bytes).map_err(|cause| OutOfMemory {
            requested: bytes,
            in_use: heap.blocks().accounting().committed(),
            limit: heap.blocks().limit(),
            cause,
        })?;
        let charge = Charge(charges, bytes);
        Ok(LiveMap {
            _charge: Some(charge),
            ..LiveMap::without_charge(heap)?
        })
    }

    fn without_charge(heap: &Heap) -> Result<Self, OutOfMemory> {
        let entries = heap.blocks().accounting().reserved.0 / ENTRY_BYTES;
        let table = |error| OutOfMemory {
            requested: Bytes(entries * 8),
            in_use: heap.blocks().accounting().committed(),
            limit: heap.blocks().limit(),
            cause: Shortage::System(error),
        };
        Ok(LiveMap {
            bits: Table::new(entries).map_err(table)?,
            overhang: Table::new(entries).map_err(table)?,
            to: Table::new(entries).map_err(table)?,
            base: heap.blocks().base(),
            side_words: heap.side_words().cloned(),
            _charge: None,
        })
    }

    /// The side words of a profiled heap, which move with the closures.
    pub(crate) fn side_words(&self) -> Option<&SideWords> {
        self.side_words.as_deref()
    }

    /// The entry and the bit of a word.
    #[inline(always)]
    fn place(&self, at: Addr) -> (usize, usize) {
        let word = at.0.wrapping_sub(self.base.0) / 8;
        (word / ENTRY, word % ENTRY)
    }

    /// The entry that begins at `at`.
    #[inline(always)]
    fn entry(&self, at: Addr) -> usize {
        let (entry, bit) = self.place(at);
        debug_assert_eq!(bit, 0, "{at} is where no entry begins");
        entry
    }

    /// Clears the map from `from` to `to`, both of which are starts of entries.
    pub fn clear(&mut self, from: Addr, to: Addr) {
        let range = self.entry(from)..self.entry(to);
        (*self.bits)[range.clone()]
            .iter_mut()
            .for_each(|bits| *bits.get_mut() = 0);
        (*self.overhang)[range]
            .iter_mut()
            .for_each(|words| *words.get_mut() = 0);
    }

    #[inline(always)]
    fn set<const PARALLEL: bool>(&self, entry: usize, mask: u64) -> u64 {
        // SAFETY: the pointer is to an entry, which other threads access only as an atomic. The end
        // of marking publishes the bits.
        unsafe { set_bits::<PARALLEL>(&self.bits[entry], mask) }
    }

    /// Sets the bits and overhangs of the `left` words of a closure that lie in `entry` and those
    /// after it, not in the entry where the closure begins.
    fn set_overhang<const PARALLEL: bool>(&self, mut entry: usize, mut left: usize) {
        while left > 0 {
            let here = left.min(ENTRY);
            self.set::<PARALLEL>(entry, low_bits(here));
            if !mutant!("compact/overhang-lost") {
                self.overhang[entry].store(here as u8, Relaxed);
            }
            left -= here;
            entry += 1;
        }
    }

    /// Words of the closures that begin in the entry at `at`, up to the end of the last one.
    pub(crate) fn words_beginning(&self, at: Addr) -> Words {
        let entry = self.entry(at);
        let overhang = usize::from(self.overhang[entry].load(Relaxed));
        let here = self.bits[entry].load(Relaxed).count_ones() as usize - overhang;
        if here == 0 {
            return Words(0);
        }
        let (mut words, mut entry) = (here, entry);
        loop {
            entry += 1;
            let behind = self
                .overhang
                .get(entry)
                .map_or(0, |words| usize::from(words.load(Relaxed)));
            words += behind;
            if behind < ENTRY {
                break;
            }
        }
        Words(words)
    }

    /// Sets the destination of the closures that begin in the entry at `at`: `to` and behind it.
    pub(crate) fn set_destination(&mut self, at: Addr, to: Addr) {
        let entry = self.entry(at);
        let overhang = usize::from(self.overhang[entry].load(Relaxed));
        self.to[entry] = (to.0 - overhang * 8) as u64;
    }

    /// The destination of the large object at `at` is `at`.
    pub(crate) fn keep_in_place(&mut self, at: Addr) {
        let (entry, _) = self.place(at);
        self.to[entry] = at.0 as u64;
    }

    /// Clears the mark of the large object at `at`.
    pub(crate) fn unmark_large(&mut self, at: Addr) {
        let (entry, _) = self.place(at);
        *(*self.bits)[entry].get_mut() = 0;
    }

    /// The first address of the entry at `at` where a closure may begin.
    pub(crate) fn first_beginning(&self, at: Addr) -> Addr {
        at + Words(usize::from(self.overhang[self.entry(at)].load(Relaxed)))
    }

    /// The map as loops read it.
    pub(crate) fn view(&self) -> LiveView<'_> {
        LiveView { map: self }
    }
}

/// A word with the lowest `count` bits set.
#[inline(always)]
const fn low_bits(count: usize) -> u64 {
    if count >= ENTRY { u64::MAX } else { (1 << count) - 1 }
}

// SAFETY: `mark` returns true once for each first word, since that word's bit was clear before and
// is never cleared during marking. `next_marked` starts after a closure, where the next set bit is
// the first of a closure.
unsafe impl Marks for LiveMap {
    #[inline(always)]
    fn mark<const PARALLEL: bool>(&self, at: Addr, words: Words) -> bool {
        let words = if words < LARGE_OBJECT { words.0 } else { 1 };
        let (entry, bit) = self.place(at);
        if self.set::<PARALLEL>(entry, low_bits(words) << bit) >> bit & 1 != 0 {
            return false;
        }
        if bit + words > ENTRY {
            self.set_overhang::<PARALLEL>(entry + 1, bit + words - ENTRY);
        }
        true
    }

    #[inline(always)]
    fn is_marked(&self, at: Addr) -> bool {
        let (entry, bit) = self.place(at);
        self.bits[entry].load(Relaxed) >> bit & 1 != 0
    }

    fn next_marked(&self, from: Addr, to: Addr) -> Option<Addr> {
        let (mut entry, bit) = self.place(from);
        let end = (to.0 - self.base.0) / 8;
        let mut bits = if from < to {
            self.bits[entry].load(Relaxed) & u64::MAX << bit
        } else {
            return None;
        };
        while bits == 0 {
            entry += 1;
            if entry * ENTRY >= end {
                return None;
            }
            bits = self.bits[entry].load(Relaxed);
        }
        let word = entry * ENTRY + bits.trailing_zeros() as usize;
        (word < end).then_some(Addr(self.base.0 + word * 8))
    }

    #[inline(always)]
    fn prefetch(&self, at: Addr) {
        prefetch_line(Addr(self.bits.as_ptr().wrapping_add(self.place(at).0) as usize));
    }
}

/// A [`LiveMap`] when everything is marked and has its destination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiveView<'m> {
    map: &'m LiveMap,
}

impl LiveView<'_> {
    /// The new address of `closure`, which is marked.
    ///
    /// # Safety
    /// A closure of the map's heap starts there.
    #[inline(always)]
    pub(crate) unsafe fn forward(self, closure: ClosureRef) -> ClosureRef {
        let (entry, bit) = self.map.place(closure.addr());
        debug_assert!(entry < self.map.bits.len());
        // SAFETY: every word of the heap has an entry.
        let (bits, to) = unsafe { (self.map.bits.get_unchecked(entry), self.map.to.get_unchecked(entry)) };
        let before = bits.load(Relaxed) & low_bits(bit);
        ClosureRef((to + u64::from(before.count_ones()) * 8) as *mut u64)
    }

    /// Three facts about the entry at `at`: the bits that belong to closures which begin in it, the
    /// number of words at its start that do not, and the destination of the first of those
    /// closures.
    #[inline(always)]
    pub(crate) fn beginning(self, at: Addr) -> (u64, usize, Addr) {
        let entry = self.map.entry(at);
        let overhang = usize::from(self.map.overhang[entry].load(Relaxed));
        let bits = self.map.bits[entry].load(Relaxed) & !low_bits(overhang);
        (bits, overhang, Addr(self.map.to[entry] as usize + overhang * 8))
    }
}
