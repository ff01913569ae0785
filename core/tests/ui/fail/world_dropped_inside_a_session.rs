//! The heap must outlive the session.

use gclab_core::mutator::MutatorKind;
use gclab_core::world::World;

fn misuse<M: MutatorKind>(world: World<M>) {
    let _ = world.enter(|_| drop(world));
}

fn main() {}
