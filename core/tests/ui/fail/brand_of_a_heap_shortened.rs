//! `'h` is invariant: if it were covariant, two heaps could get a common brand.

use gclab_core::collector::Collector;
use gclab_core::mutator::NoGc;

fn misuse<'long: 'short, 'short, C: Collector>(m: &'short NoGc<'long, C>) -> &'short NoGc<'short, C> {
    m
}

fn main() {}
