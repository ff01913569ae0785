//! An empty slot holds null, and has no type.

use gclab_core::collector::Collector;
use gclab_core::mutator::Mutator;

fn misuse<C: Collector>(m: &mut Mutator<'_, C>) {
    m.frame(|m, [slot]| {
        slot.get(m);
    });
}

fn main() {}
