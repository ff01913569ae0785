//! `factor`: GHC's rule. An old generation may grow to `-F` times its size after its last
//! collection (`resizeGenerations`). With one generation the allocation area is `-F` times the live
//! data (`resize_nursery`).

use super::live::{Live, MajorStrategy};
use super::policy::Policy;
use crate::config::Config;
use crate::words::Bytes;

/// GHC's `-F` rule, with its factor.
#[derive(Debug)]
pub struct Factor(f64);

impl Factor {
    /// The policy with the constants of `config`.
    pub fn new(config: &Config) -> Factor {
        Factor(config.old_factor)
    }
}

impl Policy for Factor {
    /// F × live.
    fn old_limit(&self, live: Bytes, _: MajorStrategy) -> Bytes {
        Bytes((live.0 as f64 * self.0) as usize)
    }

    /// F × live too, as in GHC: a heap of one generation grows to (1 + F) × live, where an old
    /// generation grows to F × live.
    fn area(&self, live: Live, strategy: MajorStrategy) -> Bytes {
        self.old_limit(live.copied, strategy)
    }

    /// (F − 1) × live.
    fn growth(&self, live: Bytes) -> Bytes {
        Bytes((live.0 as f64 * (self.0 - 1.0)) as usize)
    }
}
