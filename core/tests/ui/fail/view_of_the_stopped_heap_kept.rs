//! A view of a stopped heap is valid only while the heap is stopped.

use gclab_core::collector::Collector;
use gclab_core::world::World;

fn misuse<C: Collector>(world: &World<C>) {
    let _ = world.inspect(|stopped| stopped.root_closures());
}

fn main() {}
