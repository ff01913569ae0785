//! `word_index [FILE] [COPIES] [QUERIES]`: an index of a text's words, and phrase searches in it.
//!
//! The text (without FILE: [`text`]) is read COPIES times, as if it were COPIES documents. Each
//! word ([`words`]) is entered with its place, counted in words from 0. Then QUERIES times: a place
//! in the text and a number of words from 1 to 3 are drawn, and the words found there are searched
//! for as a phrase. (They begin at the next start of a word, or at the start of the text if none
//! follows. There are fewer if the text ends.) The answer is the list of all places of the phrase.
//! The last [`KEPT`] answers are kept.
//!
//! In memory: a hash table that doubles, terms with their spelling, and for each term a list of its
//! places, the last one first. So the index grows by small objects that old ones come to point to,
//! and answers are short-lived or middle-aged.
//!
//! Checksum: with c = 0 at first, each answer makes c = mix(c + number of places) + sum of places;
//! at the end c = mix(c + sum of the places in the answers kept) + number of different words +
//! number of words entered. Set-up reads the text.

mod index;
mod text;
mod words;

use gclab_core::cost_centre;
use gclab_core::mutator::{Mutator, MutatorKind};
use gclab_core::world::World;

use crate::{ArgSpec, Args, RunError, SplitMix64, StressSize, TestSize, Workload, WorkloadDescription, mix};
use index::{Index, PHRASE};
use words::Words;

/// Seed of the generator that draws the questions.
const SEED: u64 = 5;

/// Number of answers that are kept.
const KEPT: usize = 64;

/// An index of a text, and searches in it.
#[derive(Debug, Default)]
pub struct WordIndex;

impl Workload for WordIndex {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "word_index",
        summary: "an index of a text's words, and searches for phrases in it",
        args: &[
            ArgSpec::file("FILE", "a text of any kind", Some("a built-in text of made-up words")),
            ArgSpec::number("COPIES", "how many times the text is entered", 50, 0..=1 << 32),
            ArgSpec::number("QUERIES", "phrases searched for", 1000, 0..=1 << 40),
        ],
        checksum: Some(15_529_528_558_046_664_651),
        test: TestSize {
            args: &["-", "20", "300"],
            checksum: Some(12_085_877_695_834_290_428),
        },
        bench: &["-", "2", "100"],
        stress: StressSize {
            args: &["-", "1", "50"],
            every: 101,
            parallel: &["-", "1", "50"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let text = match args.file("FILE") {
            None => text::built_in(),
            Some(file) => std::fs::read(file).map_err(|error| RunError::Input {
                file: file.display().to_string(),
                problem: format!("cannot read: {error}"),
            })?,
        };
        let (copies, queries) = (args.number("COPIES"), args.number("QUERIES"));
        Ok(world.measure(|| world.enter(|m| run(m, &text, copies, queries)))??)
    }
}

fn run<M: MutatorKind>(m: &mut Mutator<'_, M>, text: &[u8], copies: u64, queries: u64) -> u64 {
    m.frame(|m, [table, kept, answer]| {
        let mut index = Index::new(table.put(index::empty_table(m)));
        let mut word = Vec::new();
        m.cost_centre(cost_centre!("index"), |m| {
            for _ in 0..copies {
                let mut words = Words::new(text, 0);
                while words.next_into(&mut word) {
                    index.enter(m, &word);
                }
            }
        });
        if index.places == 0 {
            return 0;
        }
        m.phase_marker("answers");
        let kept = kept.put(m.alloc_array(KEPT, |_| None));
        let answer = answer.put_option(m, None);
        let (mut rng, mut checksum) = (SplitMix64::new(SEED), 0_u64);
        let mut phrase: [Vec<u8>; PHRASE] = Default::default();
        for query in 0..queries {
            let length = question(text, &mut rng, &mut phrase);
            m.cost_centre(cost_centre!("answer"), |m| index.search(m, &phrase[..length], &answer));
            let (count, sum) = index::count_and_sum(m, answer.get(m));
            checksum = mix(checksum.wrapping_add(count)).wrapping_add(sum);
            kept.get(m).set(m, (query % KEPT as u64) as usize, answer.get(m));
        }
        let kept = kept.get(m);
        let sums = (0..KEPT).map(|place| index::count_and_sum(m, kept.get(m, place)).1);
        let checksum = mix(checksum.wrapping_add(sums.fold(0, u64::wrapping_add)));
        checksum.wrapping_add(index.terms).wrapping_add(index.places)
    })
}

/// Draws a phrase of a text that has words. Returns the phrase's length in words.
fn question(text: &[u8], rng: &mut SplitMix64, phrase: &mut [Vec<u8>; PHRASE]) -> usize {
    let offset = rng.below(text.len() as u64) as usize;
    let wanted = 1 + rng.below(PHRASE as u64) as usize;
    let mut words = Words::new(text, offset).skip_part();
    if !words.clone().next_into(&mut phrase[0]) {
        words = Words::new(text, 0);
    }
    let found = |word: &mut Vec<u8>| words.next_into(word);
    phrase[..wanted]
        .iter_mut()
        .map(found)
        .take_while(|found| *found)
        .count()
}
