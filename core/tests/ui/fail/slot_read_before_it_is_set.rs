//! An empty slot holds null, and has no type.

use gclab_core::mutator::{Mutator, MutatorKind};

fn misuse<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    m.frame(|m, [slot]| {
        slot.get(m);
    });
}

fn main() {}
