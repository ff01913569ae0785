//! Compaction: sliding marked closures together, in place and in order (LISP-2, with the tables of
//! [`LiveMap`]).
//!
//! After marking there are three things to do:
//!
//! 1. *Plan*: the chunks of each lane are sorted by address. The closures of one entry of the map
//!    after the other are given a place, in the same order, from the first chunk on. All closures
//!    that begin in one entry stay together: if a chunk has no room left for them, they go to the
//!    next one.
//! 2. *Update* the roots, and the slots of large objects.
//! 3. *Slide*: go through the closures once, in order. Each is written to its new place, its slots
//!    with the new addresses of their referents, which the map knows, wherever the referents are at
//!    that moment.
//!
//! Closures keep their order in their lane, and high addresses become free: whole megablocks, in
//! the end.
//!
//! Invariant: no closure goes to a higher address than its own, so none is overwritten before it
//! was moved. (As long as closures go to an earlier chunk than they come from, that is clear. When
//! they begin to go to the chunk that they come from, those before them in it need no more room
//! than they had, and so everything that fitted in it fits.) [`LiveMap`] asserts it of each entry.
//! At the end of a chunk at most the closures that begin in one entry are lost, 470 words; of small
//! closures a few words.
//!
//! Memory: nothing but the map, which is a 32nd of the heap (and a 512th), and a word for each
//! chunk.

use crate::block::BlockRun;
use crate::closure::{ClosureRef, Slot, VARIABLE};
use crate::heap::Heap;
use crate::profile::{MoveSideWords, NoSideWords};
use crate::roots::{RootSlot, Roots};
use crate::space::{Chunk, ENTRY, ENTRY_BYTES, Lane, LargeObject, LiveMap, LiveView, Marks, Steps};
use crate::words::{Addr, Bytes, Words};

/// Words without pointers that are moved by a call.
const MANY: usize = 16;

/// One compaction of the oldest step, under way.
#[derive(Debug)]
pub struct Compactor<'m> {
    map: &'m mut LiveMap,
    /// The chunks of the two lanes as they were, by address.
    lanes: [Vec<Chunk>; 2],
    /// The future ends of the chunks that are still needed.
    ends: [Vec<Addr>; 2],
    large: Vec<LargeObject>,
    dead_large: Vec<BlockRun>,
    number: u8,
    moved: Words,
}

/// The results of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Compacted {
    /// Words of closures that have another address now.
    pub moved: Words,
}

impl<'m> Compactor<'m> {
    /// After marking: gives every live closure of the oldest step its place. All live closures are
    /// there.
    pub fn plan(steps: &mut Steps, map: &'m mut LiveMap) -> Self {
        let number = steps.oldest();
        let step = std::mem::take(steps.step_mut(number));
        let (mut large, mut dead_large) = (Vec::new(), Vec::new());
        for object in step.large {
            let start = object.run.start();
            if map.is_marked(start) {
                map.set_destination(start, start);
                large.push(object);
            } else {
                dead_large.push(object.run);
            }
        }
        let mut lanes = [step.scanned.chunks, step.flat.chunks];
        let ends = lanes.each_mut().map(|chunks| plan_lane(chunks, map));
        Compactor {
            map,
            lanes,
            ends,
            large,
            dead_large,
            number,
            moved: Words(0),
        }
    }

    /// Updates the roots, and the weak slots whose referents live.
    pub fn update_roots(&self, roots: Roots<'_>) {
        if !mutant!("compact/root-forgotten") {
            roots.for_each(|slot| self.update(slot));
        }
        roots.for_each_weak(|slot| self.update(slot));
    }

    /// Updates a root, or a weak slot whose referent lives.
    #[inline]
    pub fn update(&self, slot: RootSlot<'_>) {
        // SAFETY: a root of a stopped world, which no other thread uses; its referent is marked and
        // planned, or it is null.
        unsafe { update(slot.slot(), self.map.view()) }
    }

    /// Moves everything to its place, and updates all slots.
    pub fn slide(&mut self) {
        let map = self.map.view();
        let side_words = self
            .map
            .side_words()
            .filter(|_| !mutant!("profiles/side-words-not-slid"));
        // SAFETY: everything is planned, chunks come by address, and nothing else moves.
        self.moved = unsafe {
            match side_words {
                None => slide_with_popcnt(&self.large, &self.lanes, map, NoSideWords),
                Some(side_words) => slide_with_popcnt(&self.large, &self.lanes, map, side_words.view()),
            }
        };
    }

    /// Gives the oldest step the chunks that are still needed, frees the rest, and clears the map.
    pub fn finish(self, heap: &mut Heap, steps: &mut Steps) -> Compacted {
        let [scanned, flat] = self.ends;
        for chunk in self.lanes.iter().flatten() {
            if !mutant!("compact/map-kept") {
                self.map
                    .clear(chunk.run.start(), chunk.end.align_up(Bytes(ENTRY_BYTES)));
            }
        }
        for start in self.large.iter().map(|large| large.run.start()) {
            if !mutant!("compact/large-kept") {
                self.map.clear(start, start + Bytes(ENTRY_BYTES));
            }
        }
        let step = steps.step_mut(self.number);
        let mut freed = self.dead_large;
        for ((lane, chunks), ends) in [&mut step.scanned, &mut step.flat]
            .into_iter()
            .zip(self.lanes)
            .zip([scanned, flat])
        {
            freed.extend(chunks[ends.len()..].iter().map(|chunk| chunk.run));
            let runs = chunks.into_iter().map(|chunk| chunk.run);
            let chunks: Vec<Chunk> = runs.zip(ends).map(|(run, end)| Chunk { run, end }).collect();
            *lane = Lane {
                words: chunks.iter().map(|chunk| chunk.words().0).sum(),
                chunks,
            };
        }
        step.large_words = Words(self.large.iter().map(|large| large.words.0).sum());
        step.large = self.large;
        freed.into_iter().for_each(|run| heap.free(run));
        Compacted { moved: self.moved }
    }
}

/// Gives the live closures of these chunks their places in the first of them, by address. Returns
/// the future end of each chunk that is still needed.
fn plan_lane(chunks: &mut [Chunk], map: &mut LiveMap) -> Vec<Addr> {
    chunks.sort_unstable_by_key(|chunk| chunk.run.start());
    let mut ends: Vec<Addr> = Vec::with_capacity(chunks.len());
    let (mut free, mut limit) = (Addr(0), Addr(0));
    for chunk in &*chunks {
        let mut at = chunk.run.start();
        while at < chunk.end {
            let words = map.words_beginning(at);
            if words.0 > 0 {
                let needed = mutant!("compact/torn-apart", words.0 * 8 => 1);
                if free.0 + needed > limit.0 {
                    let next = chunks[ends.len()].run;
                    ends.push(next.start());
                    (free, limit) = (next.start(), next.end());
                }
                map.set_destination(at, free);
                free.0 += words.0 * 8;
                if let Some(end) = ends.last_mut() {
                    *end = free;
                }
            }
            at.0 += ENTRY_BYTES;
        }
    }
    ends
}

/// Makes a slot point to where its referent goes.
///
/// # Safety
/// The slot is a live one of a stopped world, which no other thread uses. It is null, or its
/// referent is marked and planned.
#[inline(always)]
unsafe fn update(slot: Slot, map: LiveView<'_>) {
    // SAFETY: the caller's promise.
    unsafe {
        let closure = slot.load();
        if !closure.is_null() {
            slot.store(map.forward(closure));
        }
    }
}

/// [`slide_all`] with the machine's own instruction to count bits, if it has one. Each slot takes
/// one count, and the common target lacks the instruction.
///
/// # Safety
/// As for [`slide_all`].
unsafe fn slide_with_popcnt(
    large: &[LargeObject],
    lanes: &[Vec<Chunk>; 2],
    map: LiveView<'_>,
    side_words: impl MoveSideWords,
) -> Words {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("popcnt") {
        /// # Safety
        /// As for [`slide_all`], and the machine has the instruction.
        #[target_feature(enable = "popcnt")]
        unsafe fn slide(
            large: &[LargeObject],
            lanes: &[Vec<Chunk>; 2],
            map: LiveView<'_>,
            side_words: impl MoveSideWords,
        ) -> Words {
            // SAFETY: passed on.
            unsafe { slide_all(large, lanes, map, side_words) }
        }
        // SAFETY: the machine has the instruction; the rest is passed on.
        return unsafe { slide(large, lanes, map, side_words) };
    }
    // SAFETY: passed on.
    unsafe { slide_all(large, lanes, map, side_words) }
}

/// Updates the slots of large objects, and moves the closures of all chunks. Returns the words of
/// the closures that have another address now.
///
/// # Safety
/// Every live closure is in `map`, with its destination. The chunks of each lane are sorted by
/// address.
#[inline(always)]
unsafe fn slide_all(
    large: &[LargeObject],
    lanes: &[Vec<Chunk>; 2],
    map: LiveView<'_>,
    side_words: impl MoveSideWords,
) -> Words {
    let large = mutant!("compact/large-forgotten", large => &[]);
    for large in large {
        // SAFETY: a live large object, which is not moved.
        let extent = unsafe { ClosureRef(large.run.start().as_mut_ptr()).extent() };
        for slot in extent.slots() {
            // SAFETY: one of its slots; the referent lives.
            unsafe { update(slot, map) };
        }
    }
    let mut moved = 0;
    for chunk in lanes.iter().flatten() {
        // SAFETY: the chunks before this one have been slid, and those behind it have not.
        moved += unsafe { slide_chunk(*chunk, map, side_words) }.0;
    }
    Words(moved)
}

/// Moves the closures of a chunk. Returns the words of those that have another address now.
///
/// # Safety
/// As for [`slide_all`]; the chunks before this one have been slid, and those behind it have not.
#[inline(always)]
unsafe fn slide_chunk(chunk: Chunk, map: LiveView<'_>, side_words: impl MoveSideWords) -> Words {
    let mut moved = 0;
    let mut at = chunk.run.start();
    while at < chunk.end {
        let (mut bits, _, to) = map.beginning(at);
        let mut to = ClosureRef(to.as_mut_ptr());
        while bits != 0 {
            let first = bits.trailing_zeros() as usize;
            let closure = ClosureRef(Addr(at.0 + first * 8).as_mut_ptr());
            // SAFETY: closures that live begin where bits begin, and behind one another.
            let words = unsafe { slide_closure(closure, to, map) };
            // SAFETY: both places are in chunks of the heap. (Closures come in order, so no side
            // word is overwritten before it was moved.)
            unsafe { side_words.moves(closure.addr(), to.addr()) };
            moved += if to == closure { 0 } else { words.0 };
            to = ClosureRef(to.0.wrapping_add(words.0));
            let behind = first + words.0;
            bits = if behind < ENTRY { bits >> behind << behind } else { 0 };
        }
        at.0 += ENTRY_BYTES;
    }
    Words(moved)
}

/// Moves a closure to `to`, with its slots updated. Returns its size.
///
/// # Safety
/// A closure is at `closure`, whose referents are marked and planned. `to` is not at a higher
/// address, and closures that this overwrites have been moved.
#[inline(always)]
unsafe fn slide_closure(closure: ClosureRef, to: ClosureRef, map: LiveView<'_>) -> Words {
    // SAFETY: the caller's promise. Words are read before anything is written at or behind them,
    // since `to` is not behind the closure.
    unsafe {
        let to = to.0;
        let header = closure.header();
        let extent = closure.extent_from(header);
        let words = extent.words.0;
        to.write(header.0);
        let mut done = 1;
        if header.words() == VARIABLE {
            to.add(1).write(closure.0.add(1).read());
            done = 2;
        }
        let slots_end = done + extent.slots;
        while done < slots_end {
            let referent = Slot(closure.0.add(done)).load();
            let moved = if referent.is_null() {
                referent
            } else {
                map.forward(referent)
            };
            Slot(to.add(done)).store(moved);
            done += 1;
        }
        if words - done > MANY {
            std::ptr::copy(closure.0.add(done), to.add(done), words - done);
        } else {
            while done < words {
                // Volatile, since the compiler would make the loop a call, for a word or two.
                to.add(done).write_volatile(closure.0.add(done).read_volatile());
                done += 1;
            }
        }
        extent.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{BLOCK, BlockState};
    use crate::config::Config;
    use proptest::prelude::*;

    /// Chunks of these blocks, in two heaps' worth of random places, filled with closures of these
    /// sizes, of which some live.
    fn chunks(heap: &mut Heap, blocks: &[u32]) -> Vec<Chunk> {
        let gap = heap.allocate(3, 3, BlockState::NURSERY).expect("a small heap");
        let mut chunks: Vec<Chunk> = Vec::new();
        for &blocks in blocks {
            let run = heap
                .allocate(blocks, blocks, BlockState::of_step(2))
                .expect("a small heap");
            chunks.push(Chunk { run, end: run.start() });
        }
        heap.free(gap);
        chunks
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 64 }, ..ProptestConfig::default() })]

        /// Every live closure goes to a place of its own, whole, in the order of addresses, in a
        /// chunk, and not to a higher address.
        #[test]
        fn what_lives_is_slid_together(
            blocks in proptest::collection::vec(1..9u32, 1..12),
            closures in proptest::collection::vec((prop_oneof![6 => 1..8usize, 2 => 8..80usize, 1 => 300..409usize], any::<bool>()), 1..4000),
            all in any::<bool>(),
        ) {
            let config = Config { reserve: Bytes(16 << 20), ..Config::default() };
            let mut heap = Heap::new(&config).expect("a small heap");
            let mut map = LiveMap::new(&heap).expect("a small map");
            let mut chunks = chunks(&mut heap, &blocks);
            let mut live = Vec::new();
            let mut closures = closures.into_iter();
            for chunk in &mut chunks {
                let room = chunk.run.blocks() as usize * BLOCK.0 / 8;
                let mut used = 0;
                for (words, lives) in closures.by_ref() {
                    if used + words > room {
                        break;
                    }
                    let at = Addr(chunk.run.start().0 + used * 8);
                    if lives || all {
                        prop_assert!(map.mark::<false>(at, Words(words)));
                        live.push((at, words));
                    }
                    used += words;
                }
                chunk.end = Addr(chunk.run.start().0 + used * 8);
            }
            live.sort();
            for &(at, words) in &live {
                prop_assert!(map.is_marked(at) && !map.mark::<false>(at, Words(words)));
            }
            let ends = plan_lane(&mut chunks, &mut map);
            prop_assert!(ends.len() <= chunks.len());
            let (mut chunk, mut free) = (0, Addr(0));
            for (at, words) in live {
                // SAFETY: an address of this heap.
                let to = Addr(unsafe { map.view().forward(ClosureRef(at.as_mut_ptr())) }.addr().0);
                prop_assert!(to <= at && (!all || blocks.len() > 1 || to == at), "{at} goes to {to}");
                while !(chunks[chunk].run.start() <= to && to < ends[chunk]) {
                    prop_assert!(chunk == 0 && free.0 == 0 || free == ends[chunk]);
                    chunk += 1;
                    free = chunks[chunk].run.start();
                }
                free = if free.0 == 0 { chunks[chunk].run.start() } else { free };
                prop_assert!(free == to, "between {free} and {to} there is a gap");
                free = Addr(to.0 + words * 8);
                prop_assert!(free <= ends[chunk] && ends[chunk] <= chunks[chunk].run.end());
            }
            prop_assert!(ends.is_empty() || free == ends[ends.len() - 1]);
        }
    }
}
