//! Sampling: which allocated words are *sampled*, so that a program can watch a few of its closures
//! for all of them (OCaml's `Memprof`).
//!
//! Each word is sampled with the same probability, the *rate*, whatever the words around it are. So
//! the number of words from one sampled word to the next is geometric, and only that number is
//! drawn. An allocator ends its room at the next sampled word ([`super::hole`]): allocation up to
//! there does not know of sampling. Each hole of an allocator, and its large objects, have their
//! own sequence of words, since a word does not depend on any other.

use crate::words::Words;
use std::cell::Cell;

/// How an allocator samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// The probability of each word, from 0 to 1.
    pub rate: f64,
    /// The first state of its random numbers.
    pub seed: u64,
}

/// The samples of one allocator.
#[derive(Debug)]
pub(super) struct Sampler {
    /// The logarithm of the probability that a word is not sampled; positive while nothing is
    /// sampled.
    log: Cell<f64>,
    random: Cell<u64>,
    /// Sampled words of the closure that was reserved last, until they are taken.
    taken: Cell<u32>,
    /// Words of large objects before the next one that is sampled.
    large: Cell<usize>,
}

/// More words than a program allocates.
const NEVER: usize = 1 << 48;

impl Default for Sampler {
    fn default() -> Self {
        Sampler {
            log: Cell::new(1.0),
            random: Cell::new(0),
            taken: Cell::new(0),
            large: Cell::new(NEVER),
        }
    }
}

impl Sampler {
    /// Samples as `sampling` says from now on; with `None` not at all.
    pub(super) fn set(&self, sampling: Option<Sampling>) {
        self.log.set(sampling.map_or(1.0, |sampling| (-sampling.rate).ln_1p()));
        self.random.set(sampling.map_or(0, |sampling| sampling.seed));
        self.taken.set(0);
        self.large.set(self.skip());
    }

    pub(super) fn is_on(&self) -> bool {
        self.log.get() < 0.0
    }

    /// Draws the number of words before the next one that is sampled.
    pub(super) fn skip(&self) -> usize {
        let log = self.log.get();
        if !self.is_on() {
            return NEVER;
        }
        // From 2^-53 to 1. With a rate of 1, the quotient is 0.
        let uniform = ((self.random() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        ((uniform.ln() / log) as usize).min(NEVER)
    }

    /// The next random number (splitmix64).
    fn random(&self) -> u64 {
        let state = self.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.random.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Draws the sampled words of the next `words` words, of which the first `own` belong to the
    /// closure, and notes how many these have. `left`: words before the first that is sampled.
    /// Returns the words before the next one, counted from the end of the closure.
    pub(super) fn pass(&self, left: usize, words: Words, own: Words) -> usize {
        let mut at = left;
        let mut samples = 0;
        while at < words.0 {
            samples += u32::from(at < own.0);
            at += 1 + self.skip();
        }
        self.taken.set(samples);
        at - words.0
    }

    /// The number of sampled words of a large object.
    pub(super) fn pass_large(&self, words: Words) -> u32 {
        self.large.set(self.pass(self.large.get(), words, words));
        self.taken.take()
    }

    /// Takes the number of sampled words of the closure that was reserved last.
    #[inline(always)]
    pub(super) fn take(&self) -> u32 {
        let taken = self.taken.get();
        if taken > 0 {
            self.taken.set(0);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of samples in blocks of these sizes, and the words of all blocks.
    fn samples(rate: f64, sizes: impl Iterator<Item = usize>) -> (u64, f64) {
        let sampler = Sampler::default();
        sampler.set(Some(Sampling { rate, seed: 42 }));
        sizes.fold((0, 0.0), |(samples, words), size| {
            let more = sampler.pass_large(Words(size));
            (samples + u64::from(more), words + size as f64)
        })
    }

    #[test]
    fn as_many_words_are_sampled_as_the_rate_says() {
        const WORDS: usize = if cfg!(miri) { 20_000 } else { 1_000_000 };
        for rate in [1e-3, 1e-2, 0.3] {
            for size in [1, 3, 17, 1000] {
                let (samples, words) = samples(rate, std::iter::repeat_n(size, WORDS / size));
                let deviation = (samples as f64 - words * rate) / (words * rate * (1.0 - rate)).sqrt();
                assert!(deviation.abs() < 4.0, "{rate} {size}: {deviation} standard deviations");
            }
        }
    }

    #[test]
    fn every_word_is_sampled_with_a_rate_of_1_and_none_with_0() {
        assert_eq!(samples(1.0, [1, 5, 2, 100].into_iter()), (108, 108.0));
        assert_eq!(samples(0.0, [1, 5, 2, 100].into_iter()), (0, 108.0));
        assert_eq!(Sampler::default().pass_large(Words(1000)), 0);
    }

    #[test]
    fn the_words_after_a_closure_are_not_its_own() {
        let sampler = Sampler::default();
        sampler.set(Some(Sampling { rate: 1.0, seed: 42 }));
        assert_eq!(
            (sampler.pass(0, Words(8), Words(5)), sampler.take(), sampler.take()),
            (0, 5, 0)
        );
    }
}
