//! The words are in the heap, and move.

use gclab_core::mutator::{Request, Mutator, MutatorKind, Record, Root};

fn misuse<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, root: &Root<'_, 'h, Record>) {
    let words = root.get(m).data();
    m.collect(Request::Minor);
    let _ = words.len();
}

fn main() {}
