//! A view of a stopped heap is valid only while the heap is stopped.

use gclab_core::mutator::MutatorKind;
use gclab_core::world::World;

fn misuse<M: MutatorKind>(world: &World<M>) {
    let _ = world.inspect(|stopped| stopped.root_closures());
}

fn main() {}
