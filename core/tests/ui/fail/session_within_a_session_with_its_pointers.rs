//! Each thread in a world has its own brand: another thread's pointers do not fit.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Gc, Mutator, MutatorKind};
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

fn misuse<M: MutatorKind>(world: &World<M>) {
    let _ = world.enter(|m| {
        let (_, tree) = m.with_view(|m| make(m));
        std::thread::scope(|s| {
            s.spawn(|| world.enter(|_| tree.info().name));
        });
    });
}

fn main() {}
