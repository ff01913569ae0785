//! The words are in the heap, and move: a store would hit another closure.

use gclab_core::mutator::{MutWordArray, Mutator, MutatorKind, Root};

fn misuse<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, root: &Root<'_, 'h, MutWordArray>) {
    let words = root.get(m).words();
    m.alloc_mut_bytes(8);
    let _ = words[0].load(std::sync::atomic::Ordering::Relaxed);
}

fn main() {}
