//! `fixed`: the heap has one size, and a major collection is due when that size is reached. Other
//! systems do so with equal `-Xms` and `-Xmx`. Experiments on collectors use it to give all
//! collectors the same memory.
//!
//! The size is `-H`, or else `-M`. It includes the memory that collections copy into, as `-M` does:
//! half of a heap that is copied is for the copy. `-H` is not a limit, here as in GHC: a program
//! that does not fit still gets its allocation area, and `-O` for its old generations. `-M` is a
//! limit, and ends the run.

use super::limit::Limit;
use super::live::{Live, MajorStrategy};
use super::policy::Policy;
use crate::config::Config;
use crate::words::Bytes;

/// The policy of a heap with a fixed size.
#[derive(Debug)]
pub struct Fixed {
    size: Limit,
    generations: u32,
    area: Bytes,
    /// `-O`, the least growth of the old generations.
    least: Bytes,
}

impl Fixed {
    /// The policy of a heap of [`Config::fixed_size`]. Without a size, nothing makes a collection
    /// due.
    pub fn new(config: &Config) -> Fixed {
        let size = config.fixed_size().unwrap_or(Bytes(usize::MAX));
        Fixed {
            size: Limit::of_size(config, size),
            generations: config.generations,
            area: Bytes(config.allocation_area.0.saturating_mul(config.capabilities as usize)),
            least: config.old_min,
        }
    }
}

impl Policy for Fixed {
    /// The whole size, less the allocation area and room for a copy.
    fn old_limit(&self, live: Bytes, strategy: MajorStrategy) -> Bytes {
        let size = self.size.clamp(self.area, self.generations, strategy);
        size.max(Bytes(live.0.saturating_add(self.least.0)))
    }

    /// All free memory, a part of which is for its copy.
    fn area(&self, live: Live, strategy: MajorStrategy) -> Bytes {
        self.size.fitting(Bytes(usize::MAX), live, strategy)
    }

    /// The size less the live data.
    fn growth(&self, live: Bytes) -> Bytes {
        self.size.whole().saturating_sub(live)
    }

    /// `-H` is the size of the whole heap here.
    fn takes_hints(&self) -> bool {
        false
    }
}
