//! A pointer from a handle is as unrooted as any pointer.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Gc, Handle, Mutator, MutatorKind};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn make<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>) -> Gc<'m, 'h, Tree> {
    m.alloc(|_| Tree::new(None, None))
}

fn misuse<M: MutatorKind>(m: &mut Mutator<'_, M>, handle: &Handle<Tree>) {
    let tree = handle.open(m);
    make(m);
    let _ = tree.left(m);
}

fn main() {}
