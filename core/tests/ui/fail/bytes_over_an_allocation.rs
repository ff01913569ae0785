//! The bytes lie in the heap, and move.

use gclab_core::collector::Collector;
use gclab_core::mutator::{ByteArray, Mutator, Root};

fn misuse<'h, C: Collector>(m: &mut Mutator<'h, C>, root: &Root<'_, 'h, ByteArray>) {
    let bytes: &[u8] = root.get(m).as_slice();
    m.alloc_bytes(bytes);
}

fn main() {}
