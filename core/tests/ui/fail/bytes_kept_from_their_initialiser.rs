//! The bytes are written once: a kept slice could be written while others read them.

use gclab_core::collector::Collector;
use gclab_core::mutator::Mutator;

fn misuse<C: Collector>(m: &mut Mutator<'_, C>) {
    let mut kept: &mut [u8] = &mut [];
    m.alloc_bytes_with(8, |_, bytes| kept = bytes);
}

fn main() {}
