//! Collections read and write empty slots like any other.

use gclab_core::mutator::{Any, Mutator, MutatorKind};

fn misuse<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    m.frame(|m, [slot]| {
        m.blocking(|| slot.put_option::<Any>(m, None));
    });
}

fn main() {}
