//! The pace of the major collector: how much a slice does, and when one is due.
//!
//! Pure arithmetic. Work is counted in *shares* of a whole cycle: marking and sweeping everything
//! is 1. (OCaml prints millionths.)
//!
//! The reasoning: with a space overhead of *o* percent, the memory of a heap of *H* words that is
//! not live is *H* · *o* / (100 + *o*) words. Two thirds of that are assumed to be garbage, and one
//! third free. In the time that the program takes to allocate as much as that garbage, a cycle must
//! find it. So a program that has allocated *A* words owes a share of *A* · 3 (100 + *o*) / (2 *H*
//! · *o*).

mod custom;
mod growth;
mod window;

pub use custom::{CustomCharge, CustomRatios};
pub use growth::{Compaction, Increment, LEAST_CHUNK, chunk_words};
pub use window::{MOST_WINDOW, Slice, Window};

use gclab_core::words::Words;

/// Limit on one slice: 0.3 of a cycle. The rest is backlog.
pub const MOST_SHARE: f64 = 0.3;

/// The allocations of the program since the last slice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Owed {
    /// Words allocated in the major heap: directly, or by promotion.
    pub allocated: Words,
    /// The sum of used resources, each as a fraction of its bound.
    pub extra_resources: f64,
}

impl Owed {
    /// The share of a cycle that these owe in a heap of `heap` words.
    pub fn share(&self, heap: Words, space_overhead: u64) -> f64 {
        share_of(self.allocated, heap, space_overhead).max(self.extra_resources)
    }
}

/// The share of a cycle that frees `words` words on average.
pub fn share_of(words: Words, heap: Words, space_overhead: u64) -> f64 {
    let overhead = space_overhead as f64;
    words.0 as f64 * 3.0 * (100.0 + overhead) / heap.0 as f64 / overhead / 2.0
}

/// The words that a slice of `share` marks. Marking takes 40 % of the time of a cycle.
pub fn words_to_mark(share: f64, heap: Words, space_overhead: u64) -> Words {
    Words((share * heap.0 as f64 * 250.0 / (100.0 + space_overhead as f64)) as usize)
}

/// The words that a slice of `share` sweeps. Sweeping takes 60 % of the time of a cycle.
pub fn words_to_sweep(share: f64, heap: Words) -> Words {
    Words((share * heap.0 as f64 * 5.0 / 3.0) as usize)
}

/// Whether enough was allocated in the major heap since the last slice that one is due before the
/// minor heap is half full.
pub fn slice_is_due(allocated: Words, minor_heap: Words) -> bool {
    allocated > minor_heap
}

/// The space overhead equivalent to `-F`: *o* = 100 (*F* − 1), at least 1.
pub fn overhead_of_factor(factor: f64) -> u64 {
    ((factor - 1.0) * 100.0).round().max(1.0) as u64
}
