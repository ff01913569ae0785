//! The heap must outlive the stay.

use gclab_core::collector::Collector;
use gclab_core::world::World;

fn misuse<C: Collector>(world: World<C>) {
    let _ = world.enter(|_| drop(world));
}

fn main() {}
