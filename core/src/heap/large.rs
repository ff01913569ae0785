//! Large objects: runs of blocks of their own, and slabs that byte arrays share.
//!
//! The state of a block is that of the large object that *begins* in it. Objects with pointers have
//! whole blocks, because barriers ask for the state of a slot's block. Nothing asks about a byte
//! array but where it begins, and of several arrays of at least a block each begins in another
//! block. So those of one to eight blocks lie back to back in *slabs*, and a block in which one
//! array ends and the next begins has the state of the latter.
//!
//! A slab is a run of up to [`SLAB`] blocks, cut to a whole number of arrays of the size of the
//! first. Later arrays take the smallest free stretch of any slab that is long enough. A slab
//! without arrays is freed, and so are [`LEAST_FREED`] or more blocks without arrays inside one,
//! which leaves two slabs.
//!
//! Arrays of more than eight blocks have whole blocks: that wastes at most a ninth.
//!
//! Invariants: stretches lie in slabs and do not overlap or touch inside one; each byte of a slab
//! is in an array or in a stretch; none covers a slab.
//!
//! Cost: O(log stretches) for each array.

use super::Heap;
use super::slabs::{LargeObject, LargeRequest};
use crate::block::{BLOCK, BlockRun, BlockState, OutOfMemory, Shortage, blocks_for, poison};
use crate::words::{Addr, Bytes, Words};

/// Blocks of a slab, at most: of arrays a little longer than a block it holds fifteen.
const SLAB: Bytes = Bytes(16 * BLOCK.0);

/// Byte arrays of more than this have whole blocks.
const MOST_SHARED: Bytes = Bytes(8 * BLOCK.0);

/// Free blocks inside a slab that are freed by themselves. Next to them, parts of two blocks stay
/// unused.
const LEAST_FREED: u32 = 4;

impl Heap {
    /// Allocates memory for a large object, with blocks in `state`. It leaves the room that is kept
    /// for the next collection.
    ///
    /// # Errors
    /// If it would exceed the limit, or the system refuses.
    pub(crate) fn allocate_large(
        &mut self,
        request: LargeRequest,
        state: BlockState,
    ) -> Result<LargeObject, OutOfMemory> {
        // A saturated size is more than any heap has: the allocator refuses it, with the figures.
        let bytes = Bytes(request.words.0.saturating_mul(8));
        let is_shared = !request.has_pointers && BLOCK < bytes && bytes <= MOST_SHARED;
        let shared = if is_shared { self.allocate_in_slab(bytes) } else { None };
        let (start, run) = match shared {
            Some(start) => (start, self.blocks.blocks_before(start, start + bytes)),
            None => {
                let run = self.allocate_beside_kept(blocks_for(bytes))?;
                // SAFETY: the run is new, and the memory after the object stays unused.
                unsafe { poison::retire(run.start() + bytes, run.bytes() - bytes) };
                (run.start(), run)
            }
        };
        self.set_state(run, state);
        Ok(LargeObject {
            run,
            start,
            words: request.words,
        })
    }

    /// Frees a large object, which nothing reachable refers to.
    ///
    /// # Panics
    /// If it is none of this heap.
    pub fn free_large(&mut self, object: LargeObject) {
        let run = self.blocks.run_of(object.start).expect("a large object is in a run");
        if run == object.run && run.start() == object.start {
            return self.free(run);
        }
        self.set_state(object.run, BlockState::OUTSIDE);
        // SAFETY: the object's owner gives it up.
        unsafe { poison::retire(object.start, object.words.to_bytes()) };
        let (start, end) = self.slabs.free(run, object.start, object.end());
        let (first, last) = (start.align_up(BLOCK), Addr(end.0 / BLOCK.0 * BLOCK.0));
        let is_empty = (start, end) == (run.start(), run.end());
        if is_empty || first + Bytes(LEAST_FREED as usize * BLOCK.0) <= last {
            self.slabs.remove(start, end);
            self.slabs.insert(start, first);
            self.slabs.insert(last, end);
            self.free_inside(run, first, last);
        }
    }

    /// The blocks with the state of the large object of `words` words at `start`.
    pub(crate) fn blocks_of_large(&self, start: Addr, words: Words) -> BlockRun {
        let run = self.blocks.run_of(start).expect("a large object is in a run");
        // A slab of so few blocks has no other object.
        if run.blocks() == blocks_for(words.to_bytes()) {
            run
        } else {
            self.blocks.blocks_before(start, start + words)
        }
    }

    /// Takes room for a byte array from a slab, a new one if necessary.
    fn allocate_in_slab(&mut self, bytes: Bytes) -> Option<Addr> {
        // Freed parts of a slab keep their access.
        if self.protects_freed() {
            return None;
        }
        let start = match self.slabs.take(bytes) {
            Some(start) => start,
            None => {
                let blocks = blocks_for(Bytes(SLAB.0 / bytes.0 * bytes.0));
                let slab = self.allocate_beside_kept(blocks).ok()?;
                // SAFETY: the run is new.
                unsafe { poison::retire(slab.start(), slab.bytes()) };
                self.slabs.insert(slab.start() + bytes, slab.end());
                slab.start()
            }
        };
        // SAFETY: a part of a slab that has been free until now.
        unsafe { poison::lend(start, bytes) };
        Some(start)
    }

    /// Frees the blocks of a run from `first` to `last`.
    fn free_inside(&mut self, run: BlockRun, first: Addr, last: Addr) {
        let blocks = |from: Addr, to: Addr| blocks_for(to - from);
        let mut freed = run;
        if run.start() < first {
            (_, freed) = self.blocks.split(freed, blocks(run.start(), first));
        }
        if last < run.end() {
            (freed, _) = self.blocks.split(freed, blocks(first, last));
        }
        self.free(freed);
    }

    /// Allocates blocks other than those that the next collection counts on.
    ///
    /// # Errors
    /// If they would exceed the limit, or the system refuses.
    pub(crate) fn allocate_beside_kept(&mut self, blocks: u32) -> Result<BlockRun, OutOfMemory> {
        let run = self.blocks.allocate(blocks)?;
        // The blocks may be free ones that the next collection counts on: then it needs others.
        if mutant!("free/kept-for-large-objects") || self.keep_again() {
            return Ok(run);
        }
        self.blocks.free(run);
        Err(self.blocks.out_of_memory(run.blocks(), Shortage::Limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use proptest::prelude::*;

    /// An array of 4096 bytes.
    const PAGE: LargeRequest = LargeRequest {
        words: Words(514),
        has_pointers: false,
    };

    fn heap() -> Heap {
        let config = Config {
            reserve: Bytes::mib(64),
            ..Config::default()
        };
        Heap::new(&config).expect("a small heap")
    }

    fn allocate(heap: &mut Heap, request: LargeRequest) -> LargeObject {
        let state = BlockState::of_step(1).large();
        heap.allocate_large(request, state).expect("room")
    }

    fn blocks_in_use(heap: &Heap) -> u32 {
        heap.blocks().accounting().blocks_in_use
    }

    #[test]
    fn arrays_a_little_longer_than_a_block_share_slabs() {
        let mut heap = heap();
        let arrays: Vec<_> = (0..150).map(|_| allocate(&mut heap, PAGE)).collect();
        assert_eq!(blocks_in_use(&heap), 160);
        // With pointers they do not.
        let request = LargeRequest {
            has_pointers: true,
            ..PAGE
        };
        allocate(&mut heap, request);
        assert_eq!(blocks_in_use(&heap), 162);
        arrays.into_iter().for_each(|array| heap.free_large(array));
        assert_eq!(blocks_in_use(&heap), 2);
    }

    #[test]
    fn room_between_arrays_is_used_and_long_stretches_are_freed() {
        let mut heap = heap();
        let arrays: Vec<_> = (0..15).map(|_| allocate(&mut heap, PAGE)).collect();
        heap.free_large(arrays[7]);
        assert_eq!(allocate(&mut heap, PAGE).start, arrays[7].start);
        arrays[5..10].iter().for_each(|array| heap.free_large(*array));
        assert_eq!(blocks_in_use(&heap), 12);
        arrays[10..].iter().for_each(|array| heap.free_large(*array));
        arrays[..5].iter().for_each(|array| heap.free_large(*array));
        assert_eq!(blocks_in_use(&heap), 0);
    }

    proptest! {
        #[test]
        fn objects_keep_their_words_and_states(
            steps in proptest::collection::vec((any::<bool>(), 409usize..5000, any::<usize>()), 1..300),
        ) {
            let mut heap = heap();
            let mut objects: Vec<(LargeObject, BlockState)> = Vec::new();
            for (number, (allocates, words, choice)) in steps.into_iter().enumerate() {
                if allocates || objects.is_empty() {
                    let request = LargeRequest { words: Words(words), has_pointers: choice.is_multiple_of(4) };
                    let state = BlockState::of_step(number as u8 % 14).large();
                    objects.push((heap.allocate_large(request, state).expect("room"), state));
                } else {
                    let place = choice % objects.len();
                    let (object, state) = &mut objects[place];
                    if choice.is_multiple_of(3) {
                        *state = BlockState::of_step(number as u8 % 14).large();
                        heap.set_state(heap.blocks_of_large(object.start, object.words), *state);
                    } else {
                        heap.free_large(objects.swap_remove(place).0);
                    }
                }
                objects.sort_by_key(|(object, _)| object.start);
                for pair in objects.windows(2) {
                    prop_assert!(pair[0].0.end() <= pair[1].0.start, "{:?} overlap", pair);
                    prop_assert!(pair[0].0.run.end() <= pair[1].0.run.start(), "{:?} share blocks", pair);
                }
                for (object, state) in &objects {
                    prop_assert_eq!(heap.blocks().state_of(object.start), *state);
                    prop_assert!(heap.blocks().run_of(object.start).is_some_and(|run| object.end() <= run.end()));
                }
                prop_assert_eq!(heap.blocks().check(), Ok(()));
            }
            objects.into_iter().for_each(|(object, _)| heap.free_large(object));
            prop_assert_eq!(blocks_in_use(&heap), 0);
            prop_assert!(heap.slabs.is_empty(), "{:?}", heap.slabs);
        }
    }
}
