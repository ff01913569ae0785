//! The mutator may use the heap only until `enter` returns.

use gclab_core::mutator::MutatorKind;
use gclab_core::world::World;

fn misuse<M: MutatorKind>(world: &World<M>) {
    let _ = world.enter(|m| m);
}

fn main() {}
