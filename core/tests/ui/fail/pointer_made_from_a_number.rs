//! Only the core knows which words are closures, and of what type.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::Gc;

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'m, 'h>(word: u64) -> Gc<'m, 'h, Tree> {
    Gc::from_word(word)
}

fn main() {}
