//! The remembered set: slots of old closures that were made to point to younger ones.
//!
//! An append-only buffer of slot addresses in the order of the stores. The write barrier does not
//! look for duplicates. A collection visits a duplicate as a slot that is already up to date, and
//! keeps only the slots that still point from old to young. The order of recording is mostly the
//! order of allocation, so the young closures are visited in the order of their addresses in the
//! nursery; cards would visit them in the order of the slots (`docs/heap.md`).
//!
//! Memory is bounded: duplicates are removed when the buffer has grown to twice its size after the
//! last removal, so it never holds more than twice as many entries as there are distinct slots.
//! Chunks count under the heap's limit. When the limit is reached, duplicates are removed at once;
//! only then is the limit exceeded, because a store cannot be refused. Duplicates stay as long as
//! the buffer takes no more than half of the allocation area (2 MiB at least): most stores come
//! with an allocation, so a collection is near, and removing duplicates cost more than visiting
//! them (`mut_array` with `-A64m`, medians of two runs of the comparison: mutator 0.74 s and
//! collections 0.11 s with removal, 0.26 and 0.22 without).

use crate::block::Charges;
use crate::closure::Slot;
use crate::words::Bytes;
use std::cell::{Cell, UnsafeCell};

/// Entries of a chunk: 32 KiB, as large as the runs of to-space.
const CHUNK: usize = 4096;

/// Entries (2 MiB) below which duplicates stay. Fewer under Miri, which is slow.
const COMPACT_FROM: usize = if cfg!(miri) { 2 * CHUNK } else { 1 << 18 };

/// A piece of the buffer. Its memory counts under the limit of the heap.
#[derive(Debug)]
struct Chunk {
    entries: Box<[Slot; CHUNK]>,
    charges: Option<Charges>,
}

const CHUNK_BYTES: Bytes = Bytes(CHUNK * size_of::<Slot>());

/// Fills chunks that have not been written.
const NO_SLOT: Slot = Slot(std::ptr::null_mut());

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
    /// Entries below which duplicates stay.
    compact_from: usize,
    /// The account of the heap, if it has a limit to count under.
    charges: Option<Charges>,
}

#[derive(Debug, Default)]
struct Chunks {
    /// The last chunk is the one that is written; all others are full.
    used: Vec<Chunk>,
    spare: Vec<Chunk>,
    /// Number of entries at which duplicates are removed next.
    compact_at: usize,
}

impl Default for RememberedSet {
    fn default() -> Self {
        let null = std::ptr::null_mut();
        RememberedSet {
            cursor: Cell::new(null),
            limit: Cell::new(null),
            full: UnsafeCell::default(),
            compact_from: COMPACT_FROM,
            charges: None,
        }
    }
}

impl RememberedSet {
    /// An empty set for a mutator that allocates `area` between collections.
    pub(crate) fn beside(area: Bytes, charges: Charges) -> Self {
        RememberedSet {
            compact_from: (area.0 / 2 / size_of::<Slot>()).max(COMPACT_FROM),
            ..RememberedSet::charged(charges)
        }
    }

    /// An empty set whose memory counts under the limit of a heap.
    pub(crate) fn charged(charges: Charges) -> Self {
        RememberedSet {
            charges: Some(charges),
            ..RememberedSet::default()
        }
    }

    /// An empty set that counts under the limit of the same heap.
    pub(crate) fn another(&self) -> Self {
        RememberedSet {
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
        if chunks.spare.is_empty() {
            chunks.spare.extend(Chunk::within(&self.charges));
        }
        let entries = chunks.used.len() * CHUNK;
        let is_tight = chunks.spare.is_empty() && entries > 0;
        if entries >= chunks.compact_at.max(if is_tight { 0 } else { self.compact_from }) {
            // All chunks are full: `grow` is called only then.
            let all = chunks.used.iter().flat_map(|chunk| chunk.entries.iter().copied());
            let mut slots: Vec<Slot> = all.collect();
            slots.sort_unstable();
            slots.dedup();
            chunks.compact_at = slots.len() * 2;
            self.refill(chunks, &slots);
        } else {
            self.add_chunk(chunks);
        }
    }

    fn add_chunk(&self, chunks: &mut Chunks) {
        // A store cannot be refused, so the limit does not apply.
        let chunk = chunks.spare.pop().unwrap_or_else(|| Chunk::anyway(&self.charges));
        chunks.used.push(chunk);
        // The pointers are made when the box is at its final place: moving a box invalidates the
        // pointers made from it before.
        let range = chunks
            .used
            .last_mut()
            .expect("pushed just now")
            .entries
            .as_mut_ptr_range();
        self.cursor.set(range.start);
        self.limit.set(range.end);
    }

    fn refill(&self, chunks: &mut Chunks, slots: &[Slot]) {
        chunks.spare.append(&mut chunks.used);
        self.add_chunk(chunks);
        for part in slots.chunks(CHUNK) {
            if self.cursor.get() == self.limit.get() {
                self.add_chunk(chunks);
            }
            // SAFETY: a fresh chunk has room for `CHUNK` entries, and `part` is no longer.
            unsafe { self.cursor.get().copy_from_nonoverlapping(part.as_ptr(), part.len()) };
            self.cursor.set(self.cursor.get().wrapping_add(part.len()));
        }
        if self.cursor.get() == self.limit.get() {
            self.add_chunk(chunks);
        }
    }

    /// Number of entries, duplicates included.
    pub fn len(&self) -> usize {
        // SAFETY: as in `grow`.
        let chunks = unsafe { &*self.full.get() };
        let room = (self.limit.get() as usize - self.cursor.get() as usize) / size_of::<Slot>();
        chunks.used.len() * CHUNK - room
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory of the buffer, in bytes.
    pub fn bytes(&self) -> Bytes {
        // SAFETY: as in `grow`.
        let chunks = unsafe { &*self.full.get() };
        Bytes((chunks.used.len() + chunks.spare.len()) * size_of::<[Slot; CHUNK]>())
    }

    /// Empties the set and calls `visit` for runs of its entries, in the order of recording.
    /// `visit` may push again.
    pub(crate) fn drain(&self, mut visit: impl FnMut(&RememberedSet, &[Slot])) {
        let entries = self.len();
        let mut left = entries;
        for chunk in self.take_chunks() {
            visit(self, &chunk.entries[..left.min(CHUNK)]);
            left = left.saturating_sub(CHUNK);
            self.with_chunks(|chunks| chunks.spare.push(chunk));
        }
        // Keep memory for half as many again: one burst of stores must not hold memory forever.
        let keep = (entries / CHUNK + 1) * 3 / 2;
        self.with_chunks(|chunks| chunks.spare.truncate(keep));
    }

    /// Empties the set: all chunks are full but the last.
    fn take_chunks(&self) -> Vec<Chunk> {
        self.cursor.set(std::ptr::null_mut());
        self.limit.set(std::ptr::null_mut());
        self.with_chunks(|chunks| {
            chunks.compact_at = 0;
            std::mem::take(&mut chunks.used)
        })
    }

    fn with_chunks<R>(&self, work: impl FnOnce(&mut Chunks) -> R) -> R {
        // SAFETY: the set is not `Sync`, and no closure passed to this method uses the set.
        work(unsafe { &mut *self.full.get() })
    }

    /// The slots, for the checker.
    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        let entries = self.len();
        // SAFETY: as in `grow`; the reference lives as long as the borrow of `self`, during which
        // the checker does not push.
        let chunks = unsafe { &*self.full.get() };
        chunks
            .used
            .iter()
            .flat_map(|chunk| chunk.entries.iter())
            .take(entries)
            .copied()
    }
}

/// The entries of remembered sets, to be divided among threads.
#[derive(Debug, Default)]
pub(crate) struct RememberedChunks {
    /// Each chunk with its number of entries.
    chunks: Vec<(Chunk, usize)>,
}

impl RememberedChunks {
    /// Empties `set` and keeps its entries here.
    pub(crate) fn take(&mut self, set: &RememberedSet) {
        let mut left = set.len();
        for chunk in set.take_chunks() {
            self.chunks.push((chunk, left.min(CHUNK)));
            left = left.saturating_sub(CHUNK);
        }
    }

    /// Whether there are no entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Runs of entries, which stay at their addresses until [`RememberedChunks::give_back`].
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[Slot]> {
        self.chunks.iter().map(|(chunk, entries)| &chunk.entries[..*entries])
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
    fn gives_back_what_was_pushed_in_order() {
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
        (0..10 * COMPACT_FROM).for_each(|i| set.push(slot(1 + i % 100)));
        assert!(set.len() <= COMPACT_FROM + CHUNK, "{} entries for 100 slots", set.len());
        let mut distinct: Vec<_> = set.slots().collect();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), 100);
    }

    #[test]
    fn a_large_allocation_area_leaves_duplicates_to_the_collection() {
        let set = RememberedSet::beside(Bytes(64 * COMPACT_FROM), Charges::new(None, Requests::default()));
        (0..4 * COMPACT_FROM).for_each(|i| set.push(slot(1 + i % 100)));
        assert_eq!(set.len(), 4 * COMPACT_FROM);
        (0..COMPACT_FROM).for_each(|i| set.push(slot(1 + i % 100)));
        assert!(set.len() <= 2 * COMPACT_FROM, "{} entries for 100 slots", set.len());
    }

    #[test]
    fn near_the_limit_duplicates_go_and_distinct_slots_stay() {
        let charges = Charges::new(Some(Bytes(3 * CHUNK_BYTES.0)), Requests::default());
        let set = RememberedSet::charged(charges.clone());
        (0..20 * CHUNK).for_each(|i| set.push(slot(1 + i % 100)));
        assert!(charges.peak() <= Bytes(3 * CHUNK_BYTES.0), "{}", charges.peak());
        // A store cannot be refused, although these distinct slots take more than the limit.
        (0..4 * CHUNK).for_each(|i| set.push(slot(1 + i)));
        let mut distinct: Vec<_> = set.slots().collect();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), 4 * CHUNK);
        assert!(charges.taken() > Bytes(3 * CHUNK_BYTES.0));
        drop(set);
        assert_eq!(charges.taken(), Bytes(0));
    }

    #[test]
    fn distinct_slots_are_never_lost_to_compaction() {
        let set = RememberedSet::default();
        let n = 3 * COMPACT_FROM + 5;
        (0..n).for_each(|i| set.push(slot(1 + i)));
        assert_eq!(set.len(), n);
    }
}
