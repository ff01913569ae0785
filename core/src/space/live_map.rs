//! The live map: which words of a heap belong to closures that were marked, and where those go.
//!
//! For collectors that compact in the manner of LISP-2, by tables beside the heap as the Compressor and the parallel collector
//! of OpenJDK have them. Words come in *entries* of 64, half a kilobyte of heap:
//!
//! | table | for each entry | written by |
//! |---|---|---|
//! | bits | a bit a word: it belongs to a marked closure | marking |
//! | overhang | the words at its start that belong to a closure which begins in an earlier entry, 0 to 64 | marking |
//! | destinations | where a word in it goes if no word before it in the entry lives | planning |
//!
//! So the new address of a closure is its entry's destination and as many words as bits are set before its own: two loads from tables that are
//! a 32nd of the heap together, and nothing of the closure. A destination is that of the first closure that *begins* in the entry less the overhang; what
//! begins in one entry is never torn apart.
//!
//! Of a large object, which is not moved, only the first word's bit is set, and its destination is where it lies: nobody who
//! follows a pointer need ask whether it leads to one.
//!
//! Memory: a 64th for the bits, another for destinations, a 512th for overhangs, of the part of the heap that was used.
//!
//! Invariant: between collections the bits and overhangs are zero: who compacts clears what he set.

use super::{Marks, set_bits};
use crate::block::{Exhausted, LARGE_OBJECT, MEGABLOCK};
use crate::closure::ClosureRef;
use crate::heap::{Heap, OutOfMemory};
use crate::memory::Table;
use crate::profile::SideWords;
use crate::sync::Arc;
use crate::words::{Addr, Bytes, Words};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// Words of an entry: bits of a word of the table.
pub(crate) const ENTRY: usize = u64::BITS as usize;

/// Bytes of heap that an entry stands for.
pub(crate) const ENTRY_BYTES: usize = ENTRY * 8;

/// The live map of a heap. Addresses outside the heap panic.
#[derive(Debug)]
pub struct LiveMap {
    bits: Table<AtomicU64>,
    overhang: Table<AtomicU8>,
    to: Table<u64>,
    base: Addr,
    side_words: Option<Arc<SideWords>>,
}

impl LiveMap {
    /// The map of `heap`, with nothing in it.
    ///
    /// # Errors
    /// If the system has no addresses for it.
    pub fn new(heap: &Heap) -> Result<Self, OutOfMemory> {
        // For each entry eight bytes of bits, a byte, and eight of addresses.
        heap.register_side(Bytes(MEGABLOCK.0 / ENTRY_BYTES * 17))?;
        let entries = heap.blocks().accounting().reserved.0 / ENTRY_BYTES;
        let table = |error| OutOfMemory {
            requested: Bytes(entries * 8),
            in_use: heap.blocks().accounting().committed(),
            limit: heap.blocks().limit(),
            cause: Exhausted::System(error),
        };
        Ok(LiveMap {
            bits: Table::new(entries).map_err(table)?,
            overhang: Table::new(entries).map_err(table)?,
            to: Table::new(entries).map_err(table)?,
            base: heap.blocks().base(),
            side_words: heap.side_words().cloned(),
        })
    }

    /// What has to be moved with closures, in a profiled heap.
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

    /// Nothing from `from` to `to` lives; both are where entries begin.
    pub fn clear(&mut self, from: Addr, to: Addr) {
        let range = self.entry(from)..self.entry(to);
        self.bits[range.clone()].iter_mut().for_each(|bits| *bits.get_mut() = 0);
        self.overhang[range].iter_mut().for_each(|words| *words.get_mut() = 0);
    }

    #[inline(always)]
    fn set<const PARALLEL: bool>(&self, entry: usize, mask: u64) -> u64 {
        // SAFETY: an entry, which is shared as an atomic only. What marking found out is handed on by the end of marking.
        unsafe { set_bits::<PARALLEL>(&self.bits[entry], mask) }
    }

    /// The `left` words of a closure that do not lie in the entry it begins in, but in `entry` and those behind it.
    fn set_overhang<const PARALLEL: bool>(&self, mut entry: usize, mut left: usize) {
        while left > 0 {
            let here = left.min(ENTRY);
            self.set::<PARALLEL>(entry, low_bits(here));
            self.overhang[entry].store(here as u8, Relaxed);
            left -= here;
            entry += 1;
        }
    }

    /// Words of the closures that begin in the entry at `at`, to the end of the last one.
    pub(crate) fn words_beginning(&self, at: Addr) -> Words {
        let entry = self.entry(at);
        let overhang = usize::from(self.overhang[entry].load(Relaxed));
        let here = self.bits[entry].load(Relaxed).count_ones() as usize - overhang;
        if here == 0 {
            return Words(0);
        }
        let mut words = here;
        for next in &self.overhang[entry + 1..] {
            let behind = usize::from(next.load(Relaxed));
            words += behind;
            if behind < ENTRY {
                break;
            }
        }
        Words(words)
    }

    /// The closures that begin in the entry at `at` go to `to` and behind it.
    pub(crate) fn set_destination(&mut self, at: Addr, to: Addr) {
        let entry = self.entry(at);
        let overhang = usize::from(self.overhang[entry].load(Relaxed));
        let to = to.0 - overhang * 8;
        assert!(to <= at.0, "a closure would go to a higher address");
        self.to[entry] = to as u64;
    }

    /// The map, to be read by loops.
    pub(crate) fn view(&self) -> LiveView<'_> {
        LiveView { map: self }
    }
}

/// The `count` lowest bits.
#[inline(always)]
const fn low_bits(count: usize) -> u64 {
    if count >= ENTRY { u64::MAX } else { (1 << count) - 1 }
}

// SAFETY: `mark` says yes once for each first word, since the bit of it was clear before and is never cleared while marking goes on; `next_marked` begins
// behind a closure, where the next bit that is set is the first of one.
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
    fn entry_address(&self, at: Addr) -> *const u8 {
        self.bits.as_ptr().wrapping_add(self.place(at).0).cast()
    }
}

/// A [`LiveMap`] when everything is marked and has its destination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiveView<'m> {
    map: &'m LiveMap,
}

impl LiveView<'_> {
    /// Where `closure`, which is marked, goes.
    ///
    /// # Safety
    /// It is a closure of the heap.
    #[inline(always)]
    pub unsafe fn forward(self, closure: ClosureRef) -> ClosureRef {
        let (entry, bit) = self.map.place(closure.addr());
        debug_assert!(entry < self.map.bits.len());
        // SAFETY: the heap's words have entries.
        let (bits, to) = unsafe { (self.map.bits.get_unchecked(entry), self.map.to.get_unchecked(entry)) };
        let before = bits.load(Relaxed) & low_bits(bit);
        ClosureRef((to + u64::from(before.count_ones()) * 8) as *mut u64)
    }

    /// The bits of the entry at `at` that belong to closures which begin in it, how many words at its start do not, and where the first of those closures goes.
    #[inline(always)]
    pub fn beginning(self, at: Addr) -> (u64, usize, Addr) {
        let entry = self.map.entry(at);
        let overhang = usize::from(self.map.overhang[entry].load(Relaxed));
        let bits = self.map.bits[entry].load(Relaxed) & !low_bits(overhang);
        (bits, overhang, Addr(self.map.to[entry] as usize + overhang * 8))
    }
}
