//! What was seen of a stopped heap is true only while it is stopped.

use gclab_core::collector::Collector;
use gclab_core::world::World;

fn misuse<C: Collector>(world: &World<C>) {
    let _ = world.inspect(|stopped| stopped.root_closures());
}

fn main() {}
