//! The memory to which closures of condemned blocks move.

use super::holes::{Hole, SMALL};
use crate::block::{BLOCK, BlockRun};
use crate::space::{BumpRoom, Destination};
use crate::sync::{AtomicUsize, Ordering::Relaxed};
use crate::words::{Addr, Words};

/// Holes and free blocks, as the destination of closures of other blocks.
#[derive(Debug, Default)]
pub struct Reserve {
    /// Holes with room for every small closure, which come first.
    pub(super) holes: Vec<Hole>,
    /// The number of holes that threads have taken, or more.
    pub(super) holes_taken: AtomicUsize,
    pub(super) runs: Vec<BlockRun>,
    /// Of these, the number that the marking under way may not take.
    pub(super) kept: usize,
    /// Holes with room for every closure that is not a large object, which come last.
    pub(super) roomy: Vec<Hole>,
    /// The number of runs that are kept, and of runs and roomy holes that threads have taken.
    pub(super) taken: AtomicUsize,
}

impl Reserve {
    /// Has the next marking take none of the present runs.
    pub(super) fn keep(&mut self) {
        self.kept = self.runs.len();
        self.taken.store(self.kept, Relaxed);
    }

    /// Adds a hole for the next marking.
    pub(super) fn push(&mut self, hole: Hole) {
        if hole.size() >= BLOCK {
            self.roomy.push(hole);
        } else {
            self.holes.push(hole);
        }
    }

    /// Ends a marking. Returns the runs that it might take; its holes go to `used` and `unused`,
    /// but for roomy ones: after a marking of everything all blocks are searched.
    pub(super) fn end(&mut self, used: &mut Vec<Hole>, unused: &mut Vec<Hole>) -> impl Iterator<Item = BlockRun> {
        self.taken.store(0, Relaxed);
        self.roomy.clear();
        let taken = self.holes_taken.swap(0, Relaxed).min(self.holes.len());
        // The next hole is the last one of a list.
        unused.extend(self.holes.drain(taken..).rev());
        used.extend(self.holes.drain(..).rev());
        self.runs.drain(std::mem::take(&mut self.kept)..)
    }
}

// SAFETY: a hole and a run are taken once. The space got a run from the heap for this. Both are in
// blocks that are not condemned. A hole has room for a small closure. A block and a roomy hole have
// room for every closure that is not a large object.
unsafe impl Destination for Reserve {
    type Room = BumpRoom;

    fn refill(&self, room: &mut BumpRoom, words: Words) -> bool {
        room.renew(self.next(words))
    }
}

impl Reserve {
    /// A hole or a run with room for `words` words.
    fn next(&self, words: Words) -> Option<(Addr, Addr)> {
        // Relaxed, here and below: a number; the lists do not change.
        if words <= SMALL && self.holes_taken.load(Relaxed) < self.holes.len() {
            let number = self
                .holes_taken
                .fetch_add(mutant!("evacuate/hole-twice", 1 => 0), Relaxed);
            if let Some(hole) = self.holes.get(number) {
                return Some((hole.start, hole.end));
            }
        }
        let number = self.taken.fetch_add(1, Relaxed);
        let number =
            mutant!("evacuate/reserve-ignored", number => number % (self.runs.len() + self.roomy.len()).max(1));
        match self.runs.get(number) {
            Some(run) => Some((run.start(), run.end())),
            None => self
                .roomy
                .get(number - self.runs.len())
                .map(|hole| (hole.start, hole.end)),
        }
    }
}
