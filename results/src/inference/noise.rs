//! Seeded random numbers: normal noise for chances without a formula, and for tests.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// A seeded source of numbers.
#[derive(Debug)]
pub(crate) struct Noise(Pcg64Mcg);

impl Noise {
    /// A source; equal seeds give equal numbers.
    pub(crate) fn new(seed: u128) -> Noise {
        Noise(Pcg64Mcg::new(seed))
    }

    /// A number from 0 to 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A standard normal number (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
