//! SplitMix64 (Steele, Lea and Flood 2014), the generator of all workloads: small, fast, the same
//! in every language.

/// Added to the state at each draw: 2^64 divided by the golden ratio, made odd.
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// A generator; its whole state is one word.
#[derive(Clone, Copy, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator whose state is `seed`.
    #[inline]
    pub const fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// The next 64 bits.
    #[inline]
    pub const fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Draw number `n` from here, counted from 0, skipping those before it.
    #[inline]
    pub const fn nth(&self, n: u64) -> u64 {
        SplitMix64(self.0.wrapping_add(GAMMA.wrapping_mul(n))).draw()
    }

    /// The next draw modulo `end`. Its slight bias is part of the workloads' definitions.
    ///
    /// # Panics
    /// If `end` is 0.
    #[inline]
    pub const fn below(&mut self, end: u64) -> u64 {
        self.draw() % end
    }
}

/// One draw from a generator whose seed is `key`: a hash of `key`.
#[inline]
pub const fn mix(key: u64) -> u64 {
    SplitMix64::new(key).draw()
}

#[cfg(test)]
mod tests {
    use super::{SplitMix64, mix};

    /// The first draws from state 0, as published with the reference implementation.
    #[test]
    fn draws_are_those_of_the_reference() {
        let mut rng = SplitMix64::new(0);
        assert_eq!(
            [rng.draw(), rng.draw(), rng.draw()],
            [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]
        );
        assert_eq!(SplitMix64::new(0).nth(2), 0x06c4_5d18_8009_454f);
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    }
}
