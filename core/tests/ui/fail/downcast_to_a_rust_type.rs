//! A downcast needs the type's info table, and an array has one only if its elements do.

use gclab_core::mutator::{Any, Gc, MutArray};

fn misuse(any: Gc<'_, '_, Any>) {
    let _ = any.downcast::<MutArray<u64>>();
}

fn main() {}
