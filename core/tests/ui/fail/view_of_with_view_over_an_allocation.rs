//! The view that comes with an allocation is valid only until the next allocation.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Gc, Mutator, MutatorKind};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn make<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>) -> Gc<'m, 'h, Tree> {
    m.alloc(|_| Tree::new(None, None))
}

fn misuse<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    let (view, tree) = m.with_view(|m| make(m));
    make(m);
    let _ = (view, tree);
}

fn main() {}
