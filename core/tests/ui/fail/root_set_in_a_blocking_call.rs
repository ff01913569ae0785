//! While a thread is out of the heap's way a collection may be reading and writing its roots.
use gclab_core::mutator::{Any, Mutator, MutatorKind};

fn set<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    m.frame(|m, [root]| {
        let root = root.put_option::<Any>(None);
        m.blocking(|| root.set(None));
    });
}

fn main() {}
