//! `factor`: GHC's rule. An old generation may grow to `-F` times what its last collection left (`resizeGenerations`); with one
//! generation the allocation area is `-F` times what is live (`resize_nursery`).

use crate::flags::Flags;
use crate::words::Bytes;

/// GHC's `-F` rule.
#[derive(Debug, Clone)]
pub struct Factor(f64);

impl Factor {
    /// As `flags` say.
    pub fn new(flags: &Flags) -> Factor {
        Factor(flags.old_factor)
    }

    /// F × live.
    pub fn grown(&self, live: Bytes) -> Bytes {
        Bytes((live.0 as f64 * self.0) as usize)
    }

    /// F × live too: so a heap of one generation grows to (1 + F) × live, where an old generation grows to F × live.
    pub fn area(&self, live: Bytes) -> Bytes {
        self.grown(live)
    }
}
