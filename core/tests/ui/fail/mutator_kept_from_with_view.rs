//! The mutator is lent for the allocation only: kept, it could collect while the view is in use.

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
    let mut kept = None;
    let (view, tree) = m.with_view(|m| {
        let tree = make(&mut *m);
        kept = Some(m);
        tree
    });
    let _ = (kept, view, tree);
}

fn main() {}
