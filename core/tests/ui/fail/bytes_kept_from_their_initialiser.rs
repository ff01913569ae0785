//! The bytes are written once: a kept slice could be written while others read them.

use gclab_core::mutator::{Mutator, MutatorKind};

fn misuse<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    let mut kept: &mut [u8] = &mut [];
    m.alloc_bytes_with(8, |_, bytes| kept = bytes);
}

fn main() {}
