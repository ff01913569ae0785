//! The allocation policies of the major heap (`a`).

mod best_fit;
mod chain;
mod first_fit;
mod next_fit;
mod small;
mod tree;

pub use best_fit::BestFit;
pub use first_fit::FirstFit;
pub use next_fit::NextFit;

use gclab_core::space::{FreeBlock, FreeList, FreeMemory};
use gclab_core::words::{Addr, Words};

/// The free list of a major heap, under one of the policies.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a heap has one of them")]
pub enum Policy {
    /// Policy 0.
    NextFit(NextFit),
    /// Policy 1.
    FirstFit(FirstFit),
    /// Policy 2.
    BestFit(BestFit),
}

impl Policy {
    /// The policy with this number, without blocks. Any number above 1 means best-fit.
    pub fn of_number(number: u64) -> Policy {
        match number {
            0 => Policy::NextFit(NextFit::default()),
            1 => Policy::FirstFit(FirstFit::default()),
            _ => Policy::BestFit(BestFit::default()),
        }
    }

    /// The number of the policy.
    pub fn number(&self) -> u64 {
        match self {
            Policy::NextFit(_) => 0,
            Policy::FirstFit(_) => 1,
            Policy::BestFit(_) => 2,
        }
    }
}

/// Calls the same method of the policy.
macro_rules! each {
    ($policy:expr, $list:ident => $call:expr) => {
        match $policy {
            Policy::NextFit($list) => $call,
            Policy::FirstFit($list) => $call,
            Policy::BestFit($list) => $call,
        }
    };
}

impl FreeList for Policy {
    #[inline]
    fn take(&mut self, memory: &mut FreeMemory, words: Words) -> Option<Addr> {
        each!(self, list => list.take(memory, words))
    }

    #[inline]
    fn take_several(&mut self, memory: &mut FreeMemory, words: Words) -> Option<(Addr, Words)> {
        each!(self, list => list.take_several(memory, words))
    }

    #[inline]
    fn upcoming(&self, words: Words) -> Option<FreeBlock> {
        each!(self, list => list.upcoming(words))
    }

    fn add(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        each!(self, list => list.add(memory, block));
    }

    fn sweeps_to_the_end(&self) -> bool {
        each!(self, list => list.sweeps_to_the_end())
    }

    fn begin_sweep(&mut self) {
        each!(self, list => list.begin_sweep());
    }

    fn absorbed(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        each!(self, list => list.absorbed(memory, block));
    }

    fn swept(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        each!(self, list => list.swept(memory, block));
    }
}
