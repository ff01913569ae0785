//! After the next collection it holds other closures, or none.

use gclab_core::mutator::MutatorKind;
use gclab_core::world::World;

fn misuse<M: MutatorKind>(world: &World<M>) {
    let mut kept = None;
    let _ = world.inspect(|stopped| stopped.for_each_region(&mut |region| kept = Some(region)));
}

fn main() {}
