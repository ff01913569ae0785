//! A mutable slot is invariant in its type: a supertype's closure could be read as the subtype's.

use gclab_core::mutator::{Gc, MutArray};

fn misuse<'m, 'h, 'a>(array: Gc<'m, 'h, MutArray<&'static str>>) -> Gc<'m, 'h, MutArray<&'a str>> {
    array
}

fn main() {}
