//! The remembered set: slots of old closures that were made to point to younger ones.
//!
//! A buffer of slot addresses in the order of the stores. The write barrier does not check for
//! duplicates. A collection finds a duplicate already up to date, and keeps only the slots that
//! still point from old to young. The order of recording is mostly the order of allocation, so
//! young closures are visited in address order in the nursery; cards would visit them in the order
//! of the slots (`docs/heap.md`).
//!
//! Memory is bounded: at 2 MiB, or when the heap's limit is near, the slots become bits
//! (`SlotBits`). From then on one chunk is written again and again, and its slots become bits when
//! it is full. There is a bit for each word of the megablocks with such slots: 1/64 of these
//! megablocks for each capability, for as long as its set is not drained. The order of that many
//! stores is not worth keeping: most go to slots that are already remembered.
//!
//! Chunks and bits count towards the heap's limit. A store cannot be refused, so they may exceed
//! it, the bits (16 KiB for a megablock) before another chunk (32 KiB).
//!
//! `docs/heap.md` lists what was tried and found slower.

mod bits;

pub(crate) use bits::Piece;

use crate::block::Charges;
use crate::closure::Slot;
use crate::words::{Addr, Bytes};
use bits::{NO_SLOT, SlotBits};
use std::cell::{Cell, UnsafeCell};

/// Entries of a chunk: 32 KiB, as large as the runs of to-space. Fewer under Miri, which is slow.
const CHUNK: usize = if cfg!(miri) { 64 } else { 4096 };

/// Entries of the buffer (2 MiB). Under Miri there are as few chunks as the tests need.
const MOST_ENTRIES: usize = if cfg!(miri) { 4 } else { 64 } * CHUNK;

/// A piece of the buffer. Its memory counts towards the heap's limit.
#[derive(Debug)]
struct Chunk {
    entries: Box<[Slot; CHUNK]>,
    charges: Option<Charges>,
}

const CHUNK_BYTES: Bytes = Bytes(CHUNK * size_of::<Slot>());

impl Chunk {
    /// A new chunk, unless the limit forbids it or the request is refused.
    fn within(charges: &Option<Charges>) -> Option<Chunk> {
        if let Some(charges) = charges {
            charges.charge(CHUNK_BYTES).ok()?;
        }
        Some(Chunk::of(charges))
    }

    /// A new chunk, even above the limit.
    fn anyway(charges: &Option<Charges>) -> Chunk {
        if let Some(charges) = charges {
            charges.charge_anyway(CHUNK_BYTES);
        }
        Chunk::of(charges)
    }

    fn of(charges: &Option<Charges>) -> Chunk {
        Chunk {
            entries: Box::new([NO_SLOT; CHUNK]),
            charges: charges.clone(),
        }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        if let Some(charges) = &self.charges {
            charges.release(CHUNK_BYTES);
        }
    }
}

/// A remembered set. One thread writes it; collections read it while that thread is stopped.
#[derive(Debug)]
pub struct RememberedSet {
    cursor: Cell<*mut Slot>,
    limit: Cell<*mut Slot>,
    full: UnsafeCell<Chunks>,
    /// The start of the heap that the slots lie in.
    base: Addr,
    /// The heap's memory account, if there is one to charge.
    charges: Option<Charges>,
}

#[derive(Debug, Default)]
struct Chunks {
    /// The last chunk is the one that is written; all others are full.
    used: Vec<Chunk>,
    spare: Vec<Chunk>,
    /// Slots that are no longer in a chunk, once there are too many for chunks.
    bits: Option<SlotBits>,
}

impl Default for RememberedSet {
    fn default() -> Self {
        let null = std::ptr::null_mut();
        RememberedSet {
            cursor: Cell::new(null),
            limit: Cell::new(null),
            full: UnsafeCell::default(),
            base: Addr(0),
            charges: None,
        }
    }
}

impl RememberedSet {
    /// An empty set of slots of the heap that starts at `base`. Its memory counts towards that
    /// heap's limit.
    pub(crate) fn of_heap(base: Addr, charges: Charges) -> Self {
        RememberedSet {
            base,
            charges: Some(charges),
            ..RememberedSet::default()
        }
    }

    /// An empty set of the same heap.
    pub(crate) fn another(&self) -> Self {
        RememberedSet {
            base: self.base,
            charges: self.charges.clone(),
            ..RememberedSet::default()
        }
    }

    /// Adds a slot.
    #[inline(always)]
    pub(crate) fn push(&self, slot: Slot) {
        if self.cursor.get() == self.limit.get() {
            self.grow();
        }
        let cursor = self.cursor.get();
        // SAFETY: `grow` left the cursor before the limit, inside the last chunk, which this set
        // owns.
        unsafe { cursor.write(slot) };
        self.cursor.set(cursor.wrapping_add(1));
    }

    #[cold]
    #[inline(never)]
    fn grow(&self) {
        // SAFETY: the set is not `Sync`, and no method calls back while it holds this reference.
        let chunks = unsafe { &mut *self.full.get() };
        let entries = chunks.used.len() * CHUNK;
        let has_most = entries >= MOST_ENTRIES || chunks.bits.is_some();
        if !has_most && chunks.spare.is_empty() {
            chunks.spare.extend(Chunk::within(&self.charges));
        }
        let is_tight = chunks.spare.is_empty() && entries > 0;
        if has_most || is_tight {
            self.make_bits(chunks);
        } else {
            // A store cannot be refused, so the limit does not apply.
            let chunk = chunks.spare.pop().unwrap_or_else(|| Chunk::anyway(&self.charges));
            chunks.used.push(chunk);
        }
        // The pointers are made when the box is at its final place: moving a box invalidates the
        // pointers made from it before.
        let last = chunks.used.last_mut().expect("there is a chunk");
        let range = last.entries.as_mut_ptr_range();
        self.cursor.set(range.start);
        self.limit.set(range.end);
    }

    /// Turns the slots in the buffer, whose chunks are full, into bits. One chunk stays: a heap at
    /// its limit needs the memory of the others.
    fn make_bits(&self, chunks: &mut Chunks) {
        let Chunks { used, spare, bits } = chunks;
        let bits = bits.get_or_insert_with(|| SlotBits::new(self.base, self.charges.clone()));
        for chunk in &*used {
            chunk.entries.iter().for_each(|&slot| bits.insert(slot));
        }
        used.truncate(1);
        spare.clear();
    }

    /// Whether the next slot needs another chunk.
    pub(crate) fn is_full(&self) -> bool {
        self.cursor.get() == self.limit.get()
    }

    /// Whether no slot has become a bit.
    pub(crate) fn is_listed(&self) -> bool {
        self.with_chunks(|chunks| chunks.bits.is_none())
    }

    /// Number of slots; those in the buffer may count twice.
    pub fn len(&self) -> usize {
        self.entries() + self.with_chunks(|chunks| chunks.bits.as_ref().map_or(0, SlotBits::len))
    }

    /// Entries of the buffer.
    fn entries(&self) -> usize {
        let room = (self.limit.get() as usize - self.cursor.get() as usize) / size_of::<Slot>();
        self.with_chunks(|chunks| chunks.used.len() * CHUNK) - room
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.entries() == 0 && self.with_chunks(|chunks| chunks.bits.is_none())
    }

    /// Memory of the buffer and its bits.
    pub fn bytes(&self) -> Bytes {
        // SAFETY: as in `grow`.
        let chunks = unsafe { &*self.full.get() };
        let bits = chunks.bits.as_ref().map_or(Bytes::ZERO, SlotBits::bytes);
        bits + Bytes((chunks.used.len() + chunks.spare.len()) * CHUNK_BYTES.0)
    }

    /// Empties the set and calls `visit` for each of its slots: first in recording order, possibly
    /// twice, then the others by address. `visit` may remember slots again.
    pub fn take(&self, mut visit: impl FnMut(Slot)) {
        self.drain(|_, slots| slots.iter().for_each(|&slot| visit(slot)));
    }

    /// Empties the set and calls `visit` for runs of its slots: those in the buffer in the order of
    /// recording, then the others by address. `visit` may push again.
    pub(crate) fn drain(&self, mut visit: impl FnMut(&RememberedSet, &[Slot])) {
        let entries = self.entries();
        // Most sets of hundreds of capabilities are empty. (One with bits has a chunk.)
        if entries == 0 && self.with_chunks(|chunks| chunks.used.is_empty() && chunks.spare.len() <= 1) {
            return;
        }
        let mut left = entries;
        let (chunks, bits) = self.take_all();
        for chunk in chunks {
            visit(self, &chunk.entries[..left.min(CHUNK)]);
            left = left.saturating_sub(CHUNK);
            self.with_chunks(|chunks| chunks.spare.push(chunk));
        }
        for piece in bits.iter().flat_map(SlotBits::pieces) {
            piece.for_each_run(|slots| visit(self, slots));
        }
        // Keep memory for half as many again: one burst of stores must not hold memory forever.
        let keep = (entries / CHUNK + 1) * 3 / 2;
        self.with_chunks(|chunks| chunks.spare.truncate(keep));
    }

    /// Empties the set: all chunks are full but the last.
    fn take_all(&self) -> (Vec<Chunk>, Option<SlotBits>) {
        self.cursor.set(std::ptr::null_mut());
        self.limit.set(std::ptr::null_mut());
        self.with_chunks(|chunks| (std::mem::take(&mut chunks.used), chunks.bits.take()))
    }

    fn with_chunks<R>(&self, work: impl FnOnce(&mut Chunks) -> R) -> R {
        // SAFETY: the set is not `Sync`, and no closure passed to this method uses the set.
        work(unsafe { &mut *self.full.get() })
    }

    /// The slots, for the checker.
    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        let entries = self.entries();
        // SAFETY: as in `grow`; the reference lives as long as the borrow of `self`, during which
        // the checker does not push.
        let chunks = unsafe { &*self.full.get() };
        let listed = chunks.used.iter().flat_map(|chunk| chunk.entries.iter()).take(entries);
        let others = chunks.bits.iter().flat_map(SlotBits::pieces).flat_map(|piece| {
            let mut slots = Vec::new();
            piece.for_each_run(|run| slots.extend_from_slice(run));
            slots
        });
        listed.copied().chain(others)
    }
}

/// The entries of remembered sets, to divide among threads.
#[derive(Debug, Default)]
pub(crate) struct RememberedChunks {
    /// Each chunk with its number of entries.
    chunks: Vec<(Chunk, usize)>,
    bits: Vec<SlotBits>,
}

impl RememberedChunks {
    /// Empties `set` and keeps its entries here.
    pub(crate) fn take(&mut self, set: &RememberedSet) {
        let mut left = set.entries();
        let (chunks, bits) = set.take_all();
        for chunk in chunks {
            self.chunks.push((chunk, left.min(CHUNK)));
            left = left.saturating_sub(CHUNK);
        }
        self.bits.extend(bits);
    }

    /// Whether there are no entries. (A set with bits has a chunk.)
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The number of chunks.
    pub(crate) fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Removes a chunk of entries.
    pub(crate) fn pop(&mut self) -> Option<RememberedChunks> {
        let chunks = vec![self.chunks.pop()?];
        Some(RememberedChunks {
            chunks,
            ..RememberedChunks::default()
        })
    }

    /// Runs of entries, which stay at their addresses until [`RememberedChunks::give_back`].
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[Slot]> {
        self.chunks.iter().map(|(chunk, entries)| &chunk.entries[..*entries])
    }

    /// The slots that are in no run, which stay as they are until [`RememberedChunks::give_back`].
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        self.bits.iter().flat_map(SlotBits::pieces)
    }

    /// Returns the memory to a set.
    pub(crate) fn give_back(self, set: &RememberedSet) {
        // Keep half as many chunks again, as `drain` does: one burst of stores must not hold memory
        // forever.
        let keep = self.chunks.len() * 3 / 2;
        let chunks = self.chunks.into_iter().map(|(chunk, _)| chunk);
        set.with_chunks(|to| {
            to.spare.extend(chunks);
            to.spare.truncate(keep);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Requests;

    fn slot(i: usize) -> Slot {
        Slot((i * 8) as *mut u64)
    }

    #[test]
    fn returns_what_was_pushed_in_order() {
        let set = RememberedSet::default();
        let n = 3 * CHUNK + 17;
        (1..=n).for_each(|i| set.push(slot(i)));
        assert_eq!(set.len(), n);
        let mut seen = Vec::new();
        set.drain(|_, part| seen.extend_from_slice(part));
        assert_eq!(seen, (1..=n).map(slot).collect::<Vec<_>>());
        assert!(set.is_empty());
    }

    #[test]
    fn what_is_pushed_while_draining_stays() {
        let set = RememberedSet::default();
        (1..=2 * CHUNK).for_each(|i| set.push(slot(i)));
        set.drain(|set, part| {
            part.iter()
                .filter(|slot| slot.addr().0 % 16 == 0)
                .for_each(|&slot| set.push(slot))
        });
        assert_eq!(set.len(), CHUNK);
    }

    #[test]
    fn storing_to_few_slots_forever_takes_bounded_memory() {
        let set = RememberedSet::default();
        (0..10 * MOST_ENTRIES).for_each(|i| set.push(slot(1 + i % 100)));
        assert!(set.len() <= 100 + CHUNK, "{} entries for 100 slots", set.len());
        let mut distinct: Vec<_> = set.slots().collect();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), 100);
    }

    #[test]
    fn beyond_the_buffer_a_slot_is_kept_once() {
        let set = RememberedSet::default();
        // Each slot three times, with others between, far beyond the bound.
        let n = 2 * MOST_ENTRIES;
        for i in 0..3 * n {
            set.push(slot(1 + i % n));
        }
        assert!(set.len() <= n + CHUNK, "{} slots for {n}", set.len());
        let mut drained = Vec::new();
        set.drain(|_, slots| drained.extend_from_slice(slots));
        drained.sort();
        drained.dedup();
        assert!(drained.into_iter().eq((1..=n).map(slot)));
        // The bits are gone.
        assert!(set.is_empty());
        set.push(slot(1));
        assert_eq!(set.slots().collect::<Vec<_>>(), [slot(1)]);
    }

    #[test]
    fn slots_that_are_bits_are_shared() {
        let set = RememberedSet::default();
        let n = 2 * MOST_ENTRIES;
        (1..=n).for_each(|i| set.push(slot(i)));
        let mut taken = RememberedChunks::default();
        taken.take(&set);
        assert!(set.is_empty() && !taken.is_empty());
        let mut slots: Vec<_> = taken.iter().flatten().copied().collect();
        assert!(slots.len() <= CHUNK);
        taken
            .pieces()
            .for_each(|piece| piece.for_each_run(|run| slots.extend_from_slice(run)));
        slots.sort();
        assert!(slots.into_iter().eq((1..=n).map(slot)));
    }

    #[test]
    fn a_set_of_bits_alone_is_not_empty() {
        let charges = Charges::new(Some(CHUNK_BYTES), Requests::default());
        let set = RememberedSet::of_heap(Addr(0), charges);
        (1..=CHUNK).for_each(|i| set.push(slot(i)));
        set.with_chunks(|chunks| assert!(chunks.bits.is_none()));
        // Room for this one is made by bits.
        set.push(slot(1));
        set.with_chunks(|chunks| assert_eq!((chunks.used.len(), chunks.bits.is_some()), (1, true)));
        set.cursor.set(set.cursor.get().wrapping_sub(1));
        assert!(!set.is_empty());
        assert_eq!(set.len(), CHUNK);
    }

    #[test]
    fn the_bits_count_as_memory_of_the_heap() {
        let charges = Charges::new(None, Requests::default());
        let set = RememberedSet::of_heap(Addr(0), charges.clone());
        (0..2 * MOST_ENTRIES).for_each(|i| set.push(slot(1 + i % 100)));
        assert_eq!(charges.taken(), set.bytes());
        assert_eq!(set.bytes(), CHUNK_BYTES + Bytes(16 << 10));
        drop(set);
        assert_eq!(charges.taken(), Bytes(0));
    }

    #[test]
    fn near_the_limit_duplicates_go_and_distinct_slots_stay() {
        let charges = Charges::new(Some(Bytes(3 * CHUNK_BYTES.0)), Requests::default());
        let set = RememberedSet::of_heap(Addr(0), charges.clone());
        (0..20 * CHUNK).for_each(|i| set.push(slot(1 + i % 100)));
        // The bits of one megablock, which take less than another chunk.
        let bits = Bytes(16 << 10);
        assert!(charges.peak() <= bits + Bytes(3 * CHUNK_BYTES.0), "{}", charges.peak());
        // A store cannot be refused, although the bits of these slots take more than the limit.
        (0..4 * CHUNK).for_each(|i| set.push(slot(101 + i * 4096)));
        let mut distinct: Vec<_> = set.slots().collect();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), 100 + 4 * CHUNK);
        assert!(charges.taken() > Bytes(3 * CHUNK_BYTES.0));
        drop(set);
        assert_eq!(charges.taken(), Bytes(0));
    }

    #[test]
    fn distinct_slots_are_never_lost_to_compaction() {
        let set = RememberedSet::default();
        let n = 3 * MOST_ENTRIES + 5;
        (0..n).for_each(|i| set.push(slot(1 + i)));
        assert_eq!(set.len(), n);
    }
}
