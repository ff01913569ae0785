//! The words lie in the heap, and move: a store would go into another closure.

use gclab_core::collector::Collector;
use gclab_core::mutator::{MutWordArray, Mutator, Root};

fn misuse<'h, C: Collector>(m: &mut Mutator<'h, C>, root: &Root<'_, 'h, MutWordArray>) {
    let words = root.get(m).words();
    m.alloc_mut_bytes(8);
    let _ = words[0].load(std::sync::atomic::Ordering::Relaxed);
}

fn main() {}
