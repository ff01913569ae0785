//! The slot was on the stack of `frame`, which is gone: a store would overwrite other variables.

use gclab_core::mutator::{Mutator, MutatorKind};

fn misuse<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    let _ = m.frame(|_, [slot]| slot);
}

fn main() {}
