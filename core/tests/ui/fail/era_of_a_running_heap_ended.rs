//! Mutators note uses by the era: only a stopped heap may begin another.

use gclab_core::profile::SideWords;

fn misuse(side_words: &SideWords) {
    side_words.next_era();
}

fn main() {}
