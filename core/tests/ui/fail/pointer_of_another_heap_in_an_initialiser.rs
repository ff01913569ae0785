//! The new closure of heap `'a` would hold a pointer that collections of heap `'b` do not know.

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

fn misuse<M: MutatorKind>(a: &World<M>, b: &World<M>) {
    let _ = a.enter(|a| {
        let _ = b.enter(|b| {
            let foreign = make(b);
            a.alloc(|_| Tree::new(Some(foreign), None));
        });
    });
}

fn main() {}
