//! The moves of closures in a collection, for a map of the heap: which blocks were copied to which.
//!
//! Moves are summed by tile: a block at first, and groups of neighbouring blocks once there are too
//! many pairs. So a log's memory is bounded.

use crate::block::BLOCK_SHIFT;
use crate::sync::Mutex;
use crate::words::{Addr, Words};
use std::collections::HashMap;

/// Limit on the pairs of tiles in a log.
const MOST_PAIRS: usize = 1 << 16;

/// The moves since they were last taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// log2 of the number of blocks in a tile.
    pub shift: u32,
    /// How much moved, by source and destination tile, numbered from the start of the heap.
    pub pairs: HashMap<(u32, u32), Moved>,
}

/// The closures that moved from one tile to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// The number of closures.
    pub closures: u64,
    /// The sum of their sizes.
    pub words: u64,
}

impl Moves {
    /// Notes a move between blocks, by their numbers.
    fn note(&mut self, from: u32, to: u32, words: Words) {
        let moved = self.pairs.entry((from >> self.shift, to >> self.shift)).or_default();
        moved.closures += 1;
        moved.words += words.0 as u64;
        if self.pairs.len() > MOST_PAIRS {
            self.coarsen();
        }
    }

    /// Makes tiles twice as large.
    fn coarsen(&mut self) {
        self.shift += 1;
        for ((from, to), some) in std::mem::take(&mut self.pairs) {
            let moved = self.pairs.entry((from >> 1, to >> 1)).or_default();
            moved.closures += some.closures;
            moved.words += some.words;
        }
    }
}

/// A log of moves. Several GC threads may write it.
#[derive(Debug)]
pub(crate) struct MoveLog {
    base: Addr,
    moves: Mutex<Moves>,
}

impl MoveLog {
    /// Makes an empty log for the heap at `base`.
    pub(super) fn new(base: Addr) -> MoveLog {
        MoveLog {
            base,
            moves: Mutex::default(),
        }
    }

    /// Notes that a closure of `words` words moves.
    pub(super) fn note(&self, from: Addr, to: Addr, words: Words) {
        let block = |at: Addr| ((at.0 - self.base.0) >> BLOCK_SHIFT) as u32;
        self.moves.lock().note(block(from), block(to), words);
    }

    /// Takes the moves, and leaves none.
    pub(super) fn take(&self) -> Moves {
        std::mem::take(&mut self.moves.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_pairs_become_larger_tiles_and_keep_their_sums() {
        let log = MoveLog::new(Addr(1 << 40));
        let at = |block: usize| Addr((1 << 40) + (block << BLOCK_SHIFT));
        let count = MOST_PAIRS + 5;
        for block in 0..count {
            log.note(at(block), at(0) + crate::words::Bytes(8), Words(3));
        }
        let moves = log.take();
        assert_eq!((moves.shift, moves.pairs.len()), (1, count.div_ceil(2)));
        let sum: u64 = moves.pairs.values().map(|moved| moved.closures).sum();
        let words: u64 = moves.pairs.values().map(|moved| moved.words).sum();
        assert_eq!((sum, words), (count as u64, 3 * count as u64));
        assert_eq!(log.take(), Moves::default());
    }
}
