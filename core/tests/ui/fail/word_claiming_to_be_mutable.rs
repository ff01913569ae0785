//! A plain word that claims to be a mutable pointer would be followed: the claim needs `unsafe`.

use gclab_core::closure::{Field, MutField};
use gclab_core::mutator::Any;

struct Mut;

// SAFETY: a plain word.
unsafe impl Field for Mut {
    const POINTER: bool = false;
    type Init<'m, 'h> = u64;
    type View<'m, 'h> = u64;
    fn encode(value: u64) -> u64 {
        value
    }
    unsafe fn decode<'m, 'h>(word: u64) -> Self::View<'m, 'h> {
        word
    }
}

impl MutField for Mut {
    type Target = Any;
}

fn main() {}
