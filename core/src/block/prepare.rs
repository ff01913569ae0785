//! Promises: a collection gets all the memory that it may need before it moves anything.
//!
//! A copying collection must not run out of memory half-way, when half of the heap is forwarded. So
//! before it condemns anything, as many megablocks as it can need at worst are *promised* to it:
//! free ones, and ones that are within the limit and already accessible, so that neither the limit
//! nor the system can refuse them. A promised megablock that is not taken costs addresses only: no
//! page is touched.
//!
//! Memory for a promise may be *kept* before, while mutators run: it counts under the limit, so the
//! promise is not refused. Any megablocks will do, so none is taken yet.
//!
//! # The worst case of copying
//!
//! To-space is taken in chunks of `c` words, and a chunk is left when the next closure does not
//! fit. Closures that are copied have at most 408 words, so a chunk that was left holds more than
//! `c − 408`. Each lane of each thread has one chunk more, the open one. To copy `n` words into `l`
//! lanes, all threads together, takes at most `n / (c − 407) + l` chunks ([`copy_bound`]). Chunks
//! are 32 KiB, of which that may waste a ninth. Where the limit does not allow that waste, the
//! chunk size with the least bound is used: larger chunks in larger heaps. Free groups that are
//! shorter than a chunk are chunks too, and count for the least that they can hold.
//!
//! Where copies go into cells, a chunk has cells of one size class, and each class is a lane. A chunk
//! may be one block then, which is the least waste in a small heap of many classes.

use super::sizes::bytes_of_megablocks;
use super::{BLOCK, BLOCKS_PER_MEGABLOCK, BlockAllocator, LARGE_OBJECT, OutOfMemory, Shortage};
use crate::words::{Bytes, Words};

/// Blocks of a chunk of to-space, as long as memory is not short: 32 KiB. Smaller chunks waste room
/// behind objects of a kilobyte, larger ones raise the peak of small heaps.
pub(crate) const CHUNK_BLOCKS: u32 = 8;

/// Chunk sizes that are tried where memory is short. All divide a megablock.
const OTHER_CHUNKS: [u32; 7] = [8, 4, 16, 32, 64, 128, 256];

/// The least number of words in the cells of a full chunk of one block, and of two, whatever their
/// size.
pub(crate) const CELL_WORDS: [usize; 2] = [288, 704];

/// Words of the largest closure that is copied: one less than a large object ([`LARGE_OBJECT`]).
const LARGEST_COPIED: usize = LARGE_OBJECT.0 - 1;

/// A demand for to-space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ToSpace {
    /// Words that may have to be copied.
    pub words: Words,
    /// Chunks that may be open at a time: the lanes of all threads.
    pub lanes: usize,
    /// A chunk is cut into cells of one size. The words are those of the cells.
    pub cells: bool,
}

impl ToSpace {
    /// The most chunks of `blocks` blocks that are needed.
    fn chunks(self, blocks: u32) -> usize {
        if mutant!("memory/promise-too-small") {
            return self.words.0 / (blocks as usize * (BLOCK.0 / 8)) / 2;
        }
        self.words.0 / self.least_words(blocks as usize) + self.lanes
    }

    /// The demand that is left if `words` words are copied elsewhere. All open chunks, of
    /// any size, still count here.
    fn beside(self, words: usize) -> ToSpace {
        ToSpace {
            words: Words(self.words.0.saturating_sub(words)),
            // No chunk is opened without a closure for it.
            lanes: self.lanes.min(self.words.0),
            ..self
        }
    }

    /// The least number of words in a chunk of `blocks` blocks when it is left.
    fn least_words(self, blocks: usize) -> usize {
        match blocks {
            1 | 2 if self.cells => CELL_WORDS[blocks - 1],
            _ => least_words(blocks),
        }
    }

    /// Chunk sizes that are tried where memory is short.
    fn other_chunks(self) -> impl Iterator<Item = u32> {
        let small: &[u32] = if self.cells { &[1, 2] } else { &[] };
        OTHER_CHUNKS.iter().chain(small).copied()
    }
}

/// The cost of a promise of megablocks, apart from free ones.
struct Cost {
    /// Megablocks that are not committed yet.
    fresh: u32,
    /// Those of them that never were: the megablocks above all others.
    above: u32,
    /// The growth of the side tables that goes with them.
    beside: Bytes,
    /// The number of megablocks that have side tables then.
    side_for: u32,
}

impl Cost {
    fn bytes(&self) -> Bytes {
        bytes_of_megablocks(self.fresh) + self.beside
    }
}

/// The least number of words in a chunk of `blocks` blocks when it is left.
fn least_words(blocks: usize) -> usize {
    blocks * (BLOCK.0 / 8) - (LARGEST_COPIED - 1)
}

/// The most memory that copying `words` words takes if up to `lanes` chunks may be open at a time,
/// with the chunk size that has the least bound. Sizing plans with it under `-M`. The formula is in
/// the module's text.
pub(crate) fn copy_bound(words: Words, lanes: usize) -> Bytes {
    let to_space = ToSpace {
        words,
        lanes,
        cells: false,
    }
    .beside(0);
    let bound = |&blocks: &u32| to_space.chunks(blocks) * blocks as usize * BLOCK.0;
    Bytes(OTHER_CHUNKS.iter().map(bound).min().unwrap_or(0))
}

impl BlockAllocator {
    /// Ensures that, until [`BlockAllocator::end_promise`], megablocks of `bytes` (rounded up) can
    /// be taken without a request to the system and within the limit: one megablock at a time, as
    /// runs of at most 256 blocks that leave no block over.
    ///
    /// # Errors
    /// [`OutOfMemory`] if they cannot be had. Nothing has changed then.
    pub(crate) fn prepare(&mut self, bytes: Bytes) -> Result<(), OutOfMemory> {
        let megablocks = u32::try_from(megablocks_up(bytes)).unwrap_or(u32::MAX);
        self.promise(megablocks)
            .map_err(|cause| self.out_of_memory(super::blocks_for(bytes), cause))
    }

    /// Ensures that, until [`BlockAllocator::end_promise`], [`BlockAllocator::allocate_up_to`] can
    /// supply all chunks that `to_space` may need. Returns the number of blocks that a chunk must
    /// have.
    ///
    /// # Errors
    /// [`OutOfMemory`] if that cannot be promised. Nothing has changed then.
    pub(crate) fn prepare_to_copy(&mut self, to_space: ToSpace) -> Result<u32, OutOfMemory> {
        let (chunk, needed) = self.chunks_to_copy(to_space);
        let promised = self.promise(needed);
        promised.map_err(|cause| self.no_to_space(to_space, cause))?;
        Ok(chunk)
    }

    /// Keeps the memory that [`BlockAllocator::prepare_to_copy`] will ask for, instead of
    /// memory kept before. The promise will not be refused then. A caller that takes free blocks
    /// before that, or returns them to the system, has to keep the memory again.
    ///
    /// # Errors
    /// [`OutOfMemory`] if there is too little. Then the memory of before is kept.
    pub(crate) fn keep_to_copy(&mut self, to_space: ToSpace) -> Result<(), OutOfMemory> {
        debug_assert!(!self.has_promise, "megablocks of a promise would count twice");
        let (_, needed) = self.chunks_to_copy(to_space);
        let kept = self.keep(needed);
        kept.map_err(|cause| self.no_to_space(to_space, cause))?;
        Ok(())
    }

    /// The blocks that a chunk of `to_space` must have, and the megablocks that it takes.
    fn chunks_to_copy(&self, to_space: ToSpace) -> (u32, u32) {
        let megablocks = |blocks: u32| self.megablocks_to_copy(to_space, blocks);
        let (mut chunk, mut needed) = (CHUNK_BLOCKS, megablocks(CHUNK_BLOCKS));
        if !self.can_promise(needed) {
            let least = to_space.other_chunks().map(|blocks| (megablocks(blocks), blocks));
            (needed, chunk) = least.min().expect("there are some");
        }
        (chunk, u32::try_from(needed).unwrap_or(u32::MAX))
    }

    fn no_to_space(&self, to_space: ToSpace, cause: Shortage) -> OutOfMemory {
        self.out_of_memory(super::blocks_for(to_space.words.to_bytes()), cause)
    }

    /// Whether [`BlockAllocator::prepare_to_copy`] will succeed if nothing is allocated until then.
    /// Megablocks that are still promised count as free: the collection that they were promised to
    /// is over.
    pub(crate) fn could_copy(&self, to_space: ToSpace) -> bool {
        let promised = self.promised as usize;
        // Far from the limit there is no need to look through the free groups. This function is
        // called before each large object.
        let whole = to_space
            .chunks(CHUNK_BLOCKS)
            .div_ceil((BLOCKS_PER_MEGABLOCK / CHUNK_BLOCKS) as usize);
        if self.can_promise(whole) {
            return true;
        }
        to_space
            .other_chunks()
            .any(|blocks| self.can_promise(self.megablocks_to_copy(to_space, blocks).saturating_sub(promised)))
    }

    /// Megablocks that are needed in addition to free runs, with chunks of `blocks` blocks.
    fn megablocks_to_copy(&self, to_space: ToSpace, blocks: u32) -> usize {
        let (runs, shorter) = self.groups.runs_of(blocks, |blocks| to_space.least_words(blocks));
        let missing = to_space.beside(shorter).chunks(blocks).saturating_sub(runs);
        missing.div_ceil((BLOCKS_PER_MEGABLOCK / blocks) as usize)
    }

    /// Cancels the rest of the promise, and returns free memory beyond the limit.
    pub(crate) fn end_promise(&mut self) {
        self.has_promise = false;
        let promised = std::mem::take(&mut self.promised);
        self.charges.give_promised(bytes_of_megablocks(promised));
        let side_for = std::mem::replace(&mut self.side_for, self.top);
        self.charges
            .give(Bytes(self.charges.side().0 * (side_for - self.top) as usize));
        self.return_excess();
    }

    /// Charges for a side table that takes `bytes` for each megablock that was ever in use (at most
    /// a page more) and lives as long as the heap.
    ///
    /// # Errors
    /// If the limit would be exceeded by the megablocks that are in use already.
    pub(crate) fn register_side(&self, bytes: Bytes) -> Result<(), Shortage> {
        self.charges.take(Bytes(bytes.0 * self.side_for as usize))?;
        self.charges.add_side(bytes);
        Ok(())
    }

    /// Bytes charged for side tables.
    pub(super) fn side_taken(&self) -> Bytes {
        Bytes(self.charges.side().0 * self.side_for as usize)
    }

    /// The most bytes of blocks that fit in addition to the side tables and all other charges, in
    /// whole megablocks.
    pub(crate) fn room(&self) -> Bytes {
        let reserved = self.space.size().0;
        let Some(limit) = self.charges.limit() else {
            return Bytes(reserved);
        };
        let (left, side) = (limit.0.saturating_sub(self.charges.other().0), self.charges.side().0);
        let beside_new = left / (bytes_of_megablocks(1).0 + side);
        let megablocks = if beside_new >= self.side_for as usize {
            beside_new
        } else {
            left.saturating_sub(self.side_taken().0) / bytes_of_megablocks(1).0
        };
        Bytes((megablocks * bytes_of_megablocks(1).0).min(reserved))
    }

    fn cost_of_promise(&self, megablocks: u32) -> Cost {
        let fresh = megablocks.saturating_sub(self.free.total());
        let above = fresh.saturating_sub(self.returned.total());
        let side_for = self.side_for.max(self.top.saturating_add(above));
        let beside = Bytes(self.charges.side().0 * (side_for - self.side_for) as usize);
        Cost {
            fresh,
            above,
            beside,
            side_for,
        }
    }

    fn can_promise(&self, megablocks: usize) -> bool {
        let Ok(megablocks) = u32::try_from(megablocks) else {
            return false;
        };
        let cost = self.cost_of_promise(megablocks);
        cost.fresh == 0 || self.charges.fits(cost.bytes(), self.kept)
    }

    fn promise(&mut self, megablocks: u32) -> Result<(), Shortage> {
        assert!(!self.has_promise, "one promise at a time");
        let cost = self.keep(megablocks)?;
        (self.kept, self.kept_free) = (Bytes::ZERO, 0);
        if cost.fresh > 0 {
            self.charges.take_promised(cost.beside);
            self.side_for = cost.side_for;
        }
        (self.has_promise, self.promised) = (true, cost.fresh);
        Ok(())
    }

    /// Keeps the cost of `megablocks`, apart from free ones, instead of the one kept before.
    /// Returns that cost. Where it is no more than before, it is not refused: the same
    /// addresses are accessible already.
    fn keep(&mut self, megablocks: u32) -> Result<Cost, Shortage> {
        let cost = self.cost_of_promise(megablocks);
        if cost.fresh > 0 {
            let above = cost.above;
            if u64::from(self.top) + u64::from(above) > (self.space.size().0 / bytes_of_megablocks(1).0) as u64 {
                return Err(Shortage::Reservation);
            }
            self.space
                .make_accessible(bytes_of_megablocks(self.top + above))
                .map_err(Shortage::System)?;
        }
        let bytes = cost.bytes();
        if bytes > self.kept {
            self.charges.promise(bytes - self.kept)?;
        } else {
            self.charges.give_promised(self.kept - bytes);
        }
        (self.kept, self.kept_free) = (bytes, megablocks - cost.fresh);
        Ok(cost)
    }

    /// Gives up all kept memory.
    pub(crate) fn keep_nothing(&mut self) {
        self.charges.give_promised(std::mem::take(&mut self.kept));
        self.kept_free = 0;
    }
}

/// The megablocks that hold `bytes`.
fn megablocks_up(bytes: Bytes) -> usize {
    bytes.0.div_ceil(bytes_of_megablocks(1).0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BlockRun;
    use crate::memory::MemoryConfig;
    use proptest::prelude::*;

    fn allocator(limit: usize) -> BlockAllocator {
        BlockAllocator::new(&MemoryConfig {
            reserve: Bytes::mib(64),
            huge_pages: false,
            limit: Some(Bytes::mib(limit)),
            ..MemoryConfig::default()
        })
        .expect("a small heap")
    }

    /// Copies closures of these sizes as lanes do: each into the open chunk of its lane, or a new
    /// one. Returns the number of words copied.
    fn copy(allocator: &mut BlockAllocator, chunk: u32, lanes: usize, closures: &[(usize, usize)]) -> usize {
        let mut open = vec![0usize; lanes];
        for &(lane, words) in closures {
            let room = &mut open[lane % lanes];
            if *room < words {
                let run = allocator.allocate_up_to(1, chunk).expect("it was promised");
                *room = run.blocks() as usize * 512;
            }
            *room -= words;
        }
        closures.iter().map(|(_, words)| words).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 200 }, ..ProptestConfig::default() })]

        /// With any free and used blocks and any closures: a promise is kept, within the limit,
        /// without a request. (It checks arithmetic, at length, and would take Miri hours.)
        #[test]
        #[cfg_attr(miri, ignore)]
        fn what_was_promised_can_be_copied(
            runs in proptest::collection::vec((1u32..300, any::<bool>()), 0..60),
            closures in proptest::collection::vec((0usize..8, prop_oneof![1usize..9, 300usize..409]), 1..9000),
            lanes in 1usize..9,
            limit in 4usize..24,
        ) {
            let mut allocator = allocator(limit);
            allocator.register_side(Bytes(16 << 10)).unwrap();
            let held: Vec<(BlockRun, bool)> = runs
                .into_iter()
                .map_while(|(blocks, stays)| Some((allocator.allocate(blocks).ok()?, stays)))
                .collect();
            held.iter().filter(|(_, stays)| !stays).for_each(|(run, _)| allocator.free(*run));
            let words = Words(closures.iter().map(|(_, words)| words).sum());
            let before = allocator.accounting();
            match allocator.prepare_to_copy(ToSpace { words, lanes, cells: false }) {
                Err(error) => {
                    prop_assert_eq!(error.cause, Shortage::Limit);
                    prop_assert_eq!(allocator.accounting(), before);
                    // The refusal is justified: free and obtainable memory is less than the bound,
                    // in megablocks.
                    let free = allocator.room().0.saturating_sub(before.blocks_in_use as usize * BLOCK.0);
                    prop_assert!(copy_bound(words, lanes).0 + (held.len() + 1) * bytes_of_megablocks(1).0 > free);
                }
                Ok(chunk) => {
                    allocator.refuse_request(0);
                    prop_assert_eq!(copy(&mut allocator, chunk, lanes, &closures), words.0);
                    allocator.end_promise();
                    prop_assert!(allocator.accounting().peak_taken <= Bytes::mib(limit));
                    allocator.check().unwrap();
                }
            }
        }
    }

    #[test]
    fn the_bound_is_a_few_percent_in_large_heaps() {
        let waste = |mib: usize| copy_bound(Bytes::mib(mib).to_words_up(), 4).0 as f64 / Bytes::mib(mib).0 as f64;
        assert!(
            waste(16) < 1.065 && waste(100) < 1.03 && waste(1000) < 1.01,
            "{}",
            waste(16)
        );
        assert_eq!(copy_bound(Words(0), 4), Bytes(0));
        // One closure needs one chunk.
        assert_eq!(copy_bound(Words(1), 100), Bytes::kib(16));
    }

    #[test]
    #[should_panic(expected = "one promise at a time")]
    fn a_collection_has_one_promise() {
        let mut allocator = allocator(8);
        allocator.prepare(Bytes::mib(1)).unwrap();
        let _ = allocator.prepare(Bytes::mib(1));
    }

    #[test]
    fn a_promise_counts_until_it_is_over_and_touches_nothing() {
        let mut allocator = allocator(8);
        allocator.prepare(Bytes::mib(5) + Bytes(1)).unwrap();
        assert_eq!(
            (allocator.accounting().taken, allocator.accounting().megablocks_in_use),
            (Bytes(0), 0)
        );
        assert_eq!(allocator.charges().charge(Bytes::mib(3)), Err(Shortage::Limit));
        allocator.charges().charge(Bytes::mib(2)).unwrap();
        let runs: Vec<_> = (0..6).map(|_| allocator.allocate(256).unwrap()).collect();
        assert_eq!(allocator.allocate(1).unwrap_err().cause, Shortage::Limit);
        allocator.end_promise();
        runs.into_iter().for_each(|run| allocator.free(run));
        assert_eq!(allocator.room(), Bytes::mib(6));
        assert_eq!(allocator.prepare(Bytes::mib(7)).unwrap_err().cause, Shortage::Limit);
        allocator.charges().release(Bytes::mib(2));
        allocator.prepare(Bytes::mib(7)).unwrap();
        allocator.check().unwrap();
    }
}
