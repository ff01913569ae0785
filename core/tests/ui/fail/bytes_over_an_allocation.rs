//! The bytes are in the heap, and move.

use gclab_core::mutator::{ByteArray, Mutator, MutatorKind, Root};

fn misuse<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, root: &Root<'_, 'h, ByteArray>) {
    let bytes: &[u8] = root.get(m).as_slice();
    m.alloc_bytes(bytes);
}

fn main() {}
