//! A panic's payload leaves the world.

use gclab_core::mutator::{Any, Mutator, MutatorKind, Root};

fn misuse<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, root: &Root<'_, 'h, Any>) {
    std::panic::panic_any(root.get(m));
}

fn main() {}
