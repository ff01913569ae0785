//! The built-in text: made-up words with the word frequencies of a natural language. It never
//! changes between versions, so neither do checksums.
//!
//! WORDS times: a power p from 0 to 11 is drawn, then a rank from 2^p to 2^(p+1) - 1, so that a
//! word's frequency is about proportional to 1/rank (Zipf's law). Then the word of this rank is
//! written: one syllable, and another for each 3 in p. The j-th syllable is a consonant and a vowel
//! chosen by mix(16 rank + j): the consonant by bits 0 to 3, the vowel by bits 4 and 5. A draw
//! below 12 decides what follows the word: 0 a full stop and a line end, 1 a comma and a blank,
//! otherwise a blank.

use crate::{SplitMix64, mix};

/// Number of words written.
const WORDS: usize = 6000;

/// Powers of 2 that ranks are drawn from.
const POWERS: u64 = 12;

/// Seed of the generator.
const SEED: u64 = 6;

const CONSONANTS: &[u8; 16] = b"bcdfghjklmnprstv";
const VOWELS: &[u8; 4] = b"aeio";

/// Writes the built-in text.
pub(super) fn built_in() -> Vec<u8> {
    let (mut rng, mut text) = (SplitMix64::new(SEED), Vec::new());
    for _ in 0..WORDS {
        let power = rng.below(POWERS);
        let rank = (1 << power) + rng.below(1 << power);
        for syllable in 0..=power / 3 {
            let bits = mix(16 * rank + syllable) as usize;
            text.extend([CONSONANTS[bits & 15], VOWELS[bits >> 4 & 3]]);
        }
        let end: &[u8] = match rng.below(12) {
            0 => b".\n",
            1 => b", ",
            _ => b" ",
        };
        text.extend_from_slice(end);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::built_in;
    use crate::mix;

    #[test]
    fn the_text_never_changes() {
        let text = built_in();
        let hash = text.iter().fold(0, |hash, byte| mix(hash ^ u64::from(*byte)));
        assert_eq!(
            (text.len(), hash),
            (37_282, 16_931_705_292_039_391_846),
            "{}",
            String::from_utf8_lossy(&text[..200])
        );
    }

    #[test]
    fn few_words_are_frequent_and_many_are_rare() {
        let text = String::from_utf8(built_in()).unwrap();
        let mut counts = std::collections::HashMap::new();
        for word in text
            .split(|c: char| !c.is_ascii_lowercase())
            .filter(|word| !word.is_empty())
        {
            *counts.entry(word).or_insert(0) += 1;
        }
        let mut counts: Vec<i32> = counts.into_values().collect();
        counts.sort();
        let (most, rare) = (
            counts[counts.len() - 1],
            counts.iter().filter(|count| **count <= 3).count(),
        );
        assert!(
            most > 400 && counts.len() > 1000 && rare > counts.len() / 2,
            "{most}, {rare} of {}",
            counts.len()
        );
    }
}
