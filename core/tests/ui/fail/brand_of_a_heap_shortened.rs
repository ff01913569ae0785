//! `'h` is invariant: were it covariant, two heaps could be given the brand that both outlive.

use gclab_core::collector::Collector;
use gclab_core::mutator::NoGc;

fn misuse<'long: 'short, 'short, C: Collector>(m: &'short NoGc<'long, C>) -> &'short NoGc<'short, C> {
    m
}

fn main() {}
