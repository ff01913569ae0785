//! `collect` moves closures: `tree` would point to where the closure was.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Request, Gc, Mutator, MutatorKind};

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
    let tree = make(m);
    m.collect(Request::Full);
    let _ = tree.info();
}

fn main() {}
