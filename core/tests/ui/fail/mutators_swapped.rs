//! Each `m` would allocate in the heap that the other's frames and pointers belong to.

use gclab_core::collector::Collector;
use gclab_core::mutator::Mutator;

fn misuse<'a, 'b: 'a, C: Collector>(a: &mut Mutator<'a, C>, b: &mut Mutator<'b, C>) {
    std::mem::swap(a, b);
}

fn main() {}
