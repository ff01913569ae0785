//! While a thread is in a blocking call, a collection may be reading and writing its roots.

use gclab_core::mutator::{Any, Mutator, MutatorKind};

fn misuse<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    m.frame(|m, [root]| {
        let root = root.put_option::<Any>(m, None);
        m.blocking(|| root.set(m, None));
    });
}

fn main() {}
