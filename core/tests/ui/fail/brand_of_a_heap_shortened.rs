//! `'h` is invariant: if it were covariant, two heaps could get a common brand.

use gclab_core::mutator::{MutatorKind, NoGc};

fn misuse<'long: 'short, 'short, M: MutatorKind>(m: &'short NoGc<'long, M>) -> &'short NoGc<'short, M> {
    m
}

fn main() {}
