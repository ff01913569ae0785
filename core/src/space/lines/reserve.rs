//! The memory to which closures of fragmented blocks move.

use crate::block::BlockRun;
use crate::space::Destination;
use crate::sync::{AtomicUsize, Ordering::Relaxed};
use crate::words::{Addr, Words};

/// Free blocks, as the destination of closures of other blocks.
#[derive(Debug, Default)]
pub struct Reserve {
    pub(super) runs: Vec<BlockRun>,
    /// The number of runs that threads have taken.
    pub(super) taken: AtomicUsize,
}

// SAFETY: a run is taken once. The space got it from the heap for this, and gives it a state that
// is not condemned. A block has room for every closure that is no large object.
unsafe impl Destination for Reserve {
    fn room(&self, _: Words) -> Option<(Addr, Addr)> {
        // Relaxed: a number; the runs do not change.
        let number = self.taken.fetch_add(1, Relaxed);
        let number = mutant!("evacuate/reserve-ignored", number => number % self.runs.len());
        self.runs.get(number).map(|run| (run.start(), run.end()))
    }
}
