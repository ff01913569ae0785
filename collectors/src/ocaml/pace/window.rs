//! The smoothing of slices: a window of buckets, a backlog and a credit.

use super::{MOST_SHARE, share_of};
use gclab_core::words::Words;

/// The largest window (`w`).
pub const MOST_WINDOW: usize = 50;

/// What triggers a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slice {
    /// The minor heap is half full or full, or much was allocated in the major heap.
    Automatic,
    /// The program requests as much as the next automatic slice would do.
    Next,
    /// The program requests enough to free this many words on average.
    Words(Words),
}

/// Owed work, in shares of a cycle, spread over as many minor collections as the window has
/// buckets.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    buckets: [f64; MOST_WINDOW],
    size: usize,
    /// The bucket of the next automatic slice.
    current: usize,
    /// The fraction of a minor heap used since the window last advanced.
    clock: f64,
    /// Work beyond the last slice's bound.
    backlog: f64,
    /// Work that was done before it was owed.
    credit: f64,
}

impl Window {
    /// A window of `size` buckets, from 1 to [`MOST_WINDOW`].
    pub fn new(size: usize) -> Window {
        Window {
            buckets: [0.0; MOST_WINDOW],
            size: size.clamp(1, MOST_WINDOW),
            current: 0,
            clock: 0.0,
            backlog: 0.0,
            credit: 0.0,
        }
    }

    /// Changes the number of buckets, and spreads their work evenly.
    pub fn resize(&mut self, size: usize) {
        let total: f64 = self.buckets[..self.size].iter().sum();
        self.size = size.clamp(1, MOST_WINDOW);
        self.buckets = [0.0; MOST_WINDOW];
        self.current = 0;
        self.spread(total);
    }

    /// A minor collection found this fraction of the minor heap used.
    pub fn tick(&mut self, used: f64) {
        self.clock += used;
    }

    /// Starts a slice. Since the last one, the program has come to owe the share `owed` of a cycle
    /// ([`Owed::share`](super::Owed::share)). Returns the share that the slice must do.
    pub fn begin(&mut self, owed: f64, slice: Slice, heap: Words, space_overhead: u64) -> f64 {
        let owed = owed + self.backlog;
        let due = owed.min(MOST_SHARE);
        self.backlog = owed - due;
        self.spread(due);
        if self.clock >= 1.0 {
            self.clock -= 1.0;
            self.current = self.following();
        }
        let share = match slice {
            Slice::Automatic => {
                let bucket = std::mem::take(&mut self.buckets[self.current]);
                let spent = self.credit.min(bucket);
                self.credit -= spent;
                return bucket - spent;
            }
            Slice::Next => self.buckets[self.following()],
            Slice::Words(words) => share_of(words, heap, space_overhead),
        };
        self.credit = (self.credit + share).min(1.0);
        share
    }

    /// Takes back a share that a slice should have done but did not, because there was no cycle or
    /// it ended.
    pub fn not_done(&mut self, share: f64) {
        let from_credit = self.credit.min(share);
        self.credit -= from_credit;
        self.spread(share - from_credit);
    }

    /// Forgets the backlog: a whole cycle is done.
    pub fn forget_backlog(&mut self) {
        self.backlog = 0.0;
    }

    /// The work of the `n`-th bucket from the current one, in millionths of a cycle; none beyond
    /// the window.
    pub fn bucket(&self, n: usize) -> u64 {
        if n >= self.size {
            return 0;
        }
        (self.buckets[(self.current + n) % self.size] * 1e6) as u64
    }

    /// The credit, in millionths of a cycle.
    pub fn credit(&self) -> u64 {
        (self.credit * 1e6) as u64
    }

    /// The backlog, as a share of a cycle.
    pub fn backlog(&self) -> f64 {
        self.backlog
    }

    fn following(&self) -> usize {
        (self.current + 1) % self.size
    }

    fn spread(&mut self, share: f64) {
        let size = self.size;
        self.buckets[..size]
            .iter_mut()
            .for_each(|bucket| *bucket += share / size as f64);
    }
}
