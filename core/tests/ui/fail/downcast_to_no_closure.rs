//! Only what has an info table of its own can be asked for, and an array only if what it points to has one.

use gclab_core::mutator::{Any, Gc, MutArray};

fn misuse(any: Gc<'_, '_, Any>) {
    let _ = any.downcast::<MutArray<u64>>();
}

fn main() {}
