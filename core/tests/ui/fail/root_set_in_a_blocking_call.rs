//! While a thread is out of the heap's way a collection may be reading and writing its roots.
use gclab_core::collector::Collector;
use gclab_core::mutator::{Any, Mutator};

fn set<C: Collector>(m: &mut Mutator<'_, C>) {
    m.frame(|m, [root]| {
        let root = root.put_option::<Any>(None);
        m.blocking(|| root.set(None));
    });
}

fn main() {}
