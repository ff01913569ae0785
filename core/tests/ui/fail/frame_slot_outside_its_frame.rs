//! The slot was on the stack of `frame`, which is gone: a store would overwrite other variables.

use gclab_core::collector::Collector;
use gclab_core::mutator::Mutator;

fn misuse<C: Collector>(m: &mut Mutator<'_, C>) {
    let _ = m.frame(|_, [slot]| slot);
}

fn main() {}
