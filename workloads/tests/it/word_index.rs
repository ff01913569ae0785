//! The index in GC memory gives the same answers as one made of the standard library's collections.

use std::collections::HashMap;

use gclab_workloads::{SplitMix64, mix};

use crate::run::Run;

/// A text with enough words to double the table.
const LONGER: &str = concat!(
    include_str!("../../src/heap_snapshot/heap.rs"),
    include_str!("../../src/message_window.rs"),
    include_str!("../../src/args.rs")
);

/// The size of an array of pointers.
fn table(len: u64) -> u64 {
    16 + 8 * len
}

/// The definition, without an index in a heap. Returns the checksum, and the bytes allocated.
fn reference(text: &[u8], copies: usize, queries: u64) -> (u64, u64) {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
    let mut words: Vec<(usize, Vec<u8>)> = Vec::new();
    for (at, &byte) in text.iter().enumerate().filter(|(_, byte)| is_word(**byte)) {
        if at > 0 && is_word(text[at - 1]) {
            words.last_mut().unwrap().1.push(byte.to_ascii_lowercase());
        } else {
            words.push((at, vec![byte.to_ascii_lowercase()]));
        }
    }
    if words.is_empty() {
        return (0, table(256));
    }
    let mut places: HashMap<&[u8], Vec<u64>> = HashMap::new();
    let all: Vec<&[u8]> = (0..copies)
        .flat_map(|_| words.iter().map(|(_, word)| &word[..]))
        .collect();
    for (place, word) in all.iter().enumerate() {
        places.entry(word).or_default().push(place as u64);
    }
    let (mut rng, mut checksum, mut kept) = (SplitMix64::new(5), 0_u64, vec![0_u64; 64]);
    let mut answered = 0;
    for query in 0..queries {
        let offset = rng.below(text.len() as u64) as usize;
        let length = 1 + rng.below(3) as usize;
        let first = words.iter().position(|(at, _)| *at >= offset).unwrap_or(0);
        let phrase: Vec<&[u8]> = words[first..].iter().take(length).map(|(_, word)| &word[..]).collect();
        let stands = |place: &&u64| all[**place as usize..].starts_with(&phrase);
        let answer: Vec<u64> = places[phrase[0]].iter().filter(stands).copied().collect();
        answered += answer.len() as u64;
        let sum = answer.iter().sum::<u64>();
        checksum = mix(checksum.wrapping_add(answer.len() as u64)).wrapping_add(sum);
        kept[(query % 64) as usize] = sum;
    }
    let kept = kept.iter().fold(0, |sum: u64, answer| sum.wrapping_add(*answer));
    let (terms, entered) = (places.len() as u64, all.len() as u64);
    let checksum = mix(checksum.wrapping_add(kept))
        .wrapping_add(terms)
        .wrapping_add(entered);
    // The table doubles before a new term would exceed the number of buckets.
    let tables = (8..)
        .map(|power| 1 << power)
        .take_while(|buckets| *buckets == 256 || *buckets < terms * 2);
    let spellings = places.keys().map(|word| 16 + (word.len() as u64).next_multiple_of(8));
    let allocated = tables.map(table).sum::<u64>() + spellings.sum::<u64>() + 40 * terms + 24 * (entered + answered);
    (checksum, allocated + table(64))
}

#[test]
fn answers_are_those_of_the_definition() {
    let texts = ["a", "?", "", "Zwei  Wörter\n\nzwei wörter zwei", LONGER];
    for (text, (copies, queries)) in texts.into_iter().zip([(3, 10), (1, 5), (2, 5), (4, 100), (3, 400)]) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let (copies_arg, queries_arg) = (copies.to_string(), queries.to_string());
        let run = Run::new(
            "word_index",
            &[file.path().to_str().unwrap(), &copies_arg, &queries_arg],
        );
        let (expected, allocated) = reference(text.as_bytes(), copies, queries);
        for (collector, checksum, statistics) in run.everywhere() {
            assert_eq!(checksum, expected, "{text:?} under {collector}");
            assert_eq!(statistics.allocated, allocated, "{text:?} under {collector}");
        }
    }
}

/// A text small enough to check the heap at every allocation.
#[test]
fn the_index_is_whole_at_every_allocation() {
    let run = Run::new("word_index", &["Cargo.toml", "1", "50"]);
    let expected = run.under("two-space").unwrap().0;
    for (collector, checksum, _) in run.stress(1).everywhere() {
        assert_eq!(checksum, expected, "under {collector}");
    }
}
