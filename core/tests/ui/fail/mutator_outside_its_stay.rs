//! The mutator may use the heap only until `enter` returns.

use gclab_core::collector::Collector;
use gclab_core::world::World;

fn misuse<C: Collector>(world: &World<C>) {
    let _ = world.enter(|m| m);
}

fn main() {}
