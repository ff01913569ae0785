//! A panic's payload leaves the world.

use gclab_core::collector::Collector;
use gclab_core::mutator::{Any, Mutator, Root};

fn misuse<'h, C: Collector>(m: &mut Mutator<'h, C>, root: &Root<'_, 'h, Any>) {
    std::panic::panic_any(root.get(m));
}

fn main() {}
