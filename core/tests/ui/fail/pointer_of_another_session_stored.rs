//! Each call of `enter` has its own brand, even for two threads of one heap: handles can cross.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Gc, MutVar, Mutator, MutatorKind};
use gclab_core::world::World;

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn make<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>) -> Gc<'m, 'h, Tree> {
    m.alloc(|_| Tree::new(None, None))
}

fn misuse<M: MutatorKind>(world: &World<M>, tree: Gc<'_, '_, Tree>) {
    let _ = world.enter(|m| {
        let (m, var) = m.alloc_with(|_| MutVar::<Tree>::new(None));
        var.write(m, Some(tree));
    });
}

fn main() {}
