//! Each `m` would allocate in the heap of the other's frames and pointers.

use gclab_core::mutator::{Mutator, MutatorKind};

fn misuse<'a, 'b: 'a, M: MutatorKind>(a: &mut Mutator<'a, M>, b: &mut Mutator<'b, M>) {
    std::mem::swap(a, b);
}

fn main() {}
