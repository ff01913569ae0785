//! The pace of the major collector: how much a slice does, and when one is due.
//!
//! All is arithmetic. Work is counted in *shares* of a whole cycle: marking everything and sweeping
//! everything is 1. (OCaml prints it in millionths.)
//!
//! The reasoning: with a space overhead of *o* percent, the memory of a heap of *H* words that is
//! not live is *H* · *o* / (100 + *o*) words. Two thirds of it are taken to be garbage, and one
//! third free. While the program allocates that garbage anew, a cycle has to find it. So a program
//! that has allocated *A* words owes a share of *A* · 3 (100 + *o*) / (2 *H* · *o*).

mod custom;
mod growth;
mod window;

pub use custom::{CustomCharge, CustomRatios};
pub use growth::{Compaction, Increment, LEAST_CHUNK, chunk_words};
pub use window::{MOST_WINDOW, Slice, Window};

use gclab_core::words::Words;

/// The most that one slice does: 0.3 of a cycle. The rest is backlog.
pub const MOST_SHARE: f64 = 0.3;

/// The allocations of the program since the last slice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Owed {
    /// Words allocated in the major heap: directly, or by promotion.
    pub allocated: Words,
    /// The sum of resources that were used up, each as a part of its bound.
    pub extra_resources: f64,
}

impl Owed {
    /// The share of a cycle that is owed for it in a heap of `heap` words.
    pub fn share(&self, heap: Words, space_overhead: u64) -> f64 {
        share_of(self.allocated, heap, space_overhead).max(self.extra_resources)
    }
}

/// The share of a cycle in which as many words are freed, on average, as `words`.
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

/// Whether so much was allocated in the major heap since the last slice that one is due before the
/// minor heap is half full.
pub fn slice_is_due(allocated: Words, minor_heap: Words) -> bool {
    allocated > minor_heap
}

/// The space overhead that `-F` stands for: *o* = 100 (*F* − 1), at least 1.
pub fn overhead_of_factor(factor: f64) -> u64 {
    ((factor - 1.0) * 100.0).round().max(1.0) as u64
}
