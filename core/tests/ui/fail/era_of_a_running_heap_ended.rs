//! Mutators record uses by era: a new one may begin only while the heap is stopped.

use gclab_core::profile::SideWords;

fn misuse(side_words: &SideWords) {
    side_words.next_era();
}

fn main() {}
