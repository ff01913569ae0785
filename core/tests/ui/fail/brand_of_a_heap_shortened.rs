//! `'h` is invariant: were it covariant, two heaps could be given the brand that both outlive.

use gclab_core::mutator::{MutatorKind, NoGc};

fn misuse<'long: 'short, 'short, M: MutatorKind>(m: &'short NoGc<'long, M>) -> &'short NoGc<'short, M> {
    m
}

fn main() {}
