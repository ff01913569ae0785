//! Immutable bytes are read as a plain slice.

use gclab_core::mutator::{ByteArray, Gc};

fn misuse<'m, 'h>(bytes: Gc<'m, 'h, ByteArray>) {
    bytes.as_slice()[0] = 1;
}

fn main() {}
