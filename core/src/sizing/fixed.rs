//! `fixed`: the heap has one size, and is collected in full when it has reached it: what `-Xms` and `-Xmx` of one size are elsewhere, and what experiments
//! on collectors want, since all collectors then have the same memory.
//!
//! The size is `-H`, or else `-M`. It includes what collections copy into, as `-M` does: of a heap that is copied, half is for that. `-H` is no limit, here as in GHC:
//! a program that does not fit gets its allocation area all the same, and its old generations `-O`. `-M` is, and ends the run.

use super::limit::Limit;
use super::live::{Live, Shape};
use super::policy::Policy;
use crate::config::Config;
use crate::words::Bytes;

/// A heap of fixed size.
#[derive(Debug)]
pub struct Fixed {
    size: Limit,
    generations: u32,
    area: Bytes,
    /// `-O`.
    least: Bytes,
}

impl Fixed {
    /// The policy of a heap of [`Config::fixed_size`]. Without a size, nothing makes a collection due.
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
    /// All of the size, less the allocation area and room for a copy.
    fn old_limit(&self, live: Bytes, shape: Shape) -> Bytes {
        let size = self.size.clamp(self.area, self.generations, shape);
        size.max(Bytes(live.0.saturating_add(self.least.0)))
    }

    /// All that is free, of which some is for its copy.
    fn area(&self, live: Live, shape: Shape) -> Bytes {
        self.size.fitting(Bytes(usize::MAX), live, shape)
    }

    /// All that is not live.
    fn growth(&self, live: Bytes) -> Bytes {
        self.size.whole().saturating_sub(live)
    }

    /// `-H` is the size of the whole heap here.
    fn takes_hints(&self) -> bool {
        false
    }
}
