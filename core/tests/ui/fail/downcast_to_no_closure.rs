//! A downcast needs an info table of the type; an array has one only if its targets have one.

use gclab_core::mutator::{Any, Gc, MutArray};

fn misuse(any: Gc<'_, '_, Any>) {
    let _ = any.downcast::<MutArray<u64>>();
}

fn main() {}
