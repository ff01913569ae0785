//! A census of the major heap, block by block.

use super::MajorHeap;
use gclab_core::space::Piece;
use gclab_core::words::Words;

/// Words and numbers of the major heap's blocks. A large object is one block, in its own chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Census {
    pub(in super::super) live_words: Words,
    pub(in super::super) live_blocks: u64,
    pub(in super::super) free_words: Words,
    pub(in super::super) free_blocks: u64,
    pub(in super::super) largest_free: Words,
    /// Free words in no list.
    pub(in super::super) fragments: u64,
}

impl Census {
    fn free(&mut self, words: Words) {
        self.free_words += words;
        self.free_blocks += 1;
        self.largest_free = self.largest_free.max(words);
    }

    fn live(&mut self, words: Words) {
        self.live_words += words;
        self.live_blocks += 1;
    }
}

impl MajorHeap {
    /// Counts all blocks. A closure that the current sweep will free counts as free, as in OCaml.
    pub(in super::super) fn census(&self) -> Census {
        let mut census = Census::default();
        self.space.for_each_piece(|piece| match piece {
            Piece::Taken(at, words) if self.space.is_dead(&self.marks, at) => census.free(words),
            Piece::Taken(_, words) => census.live(words),
            Piece::Free(_, words) => census.free(words),
            Piece::Fragment(_) => census.fragments += 1,
        });
        self.large
            .for_each_region(&mut |region| census.live(region.run.bytes().to_words_up()));
        census
    }

    /// The pieces of memory that make up the major heap.
    pub(in super::super) fn chunk_count(&self) -> u64 {
        let mut large = 0;
        self.large.for_each_region(&mut |_| large += 1);
        self.space.memory().chunks().len() as u64 + large
    }
}
