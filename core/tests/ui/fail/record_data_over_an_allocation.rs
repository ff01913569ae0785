//! The words lie in the heap, and move.

use gclab_core::collector::Collector;
use gclab_core::mutator::{Mutator, Record, Root};

fn misuse<'h, C: Collector>(m: &mut Mutator<'h, C>, root: &Root<'_, 'h, Record>) {
    let words = root.get(m).data();
    m.collect(false);
    let _ = words.len();
}

fn main() {}
