//! A pointer read from a root is as unrooted as any pointer; it must be read again.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Gc, Mutator, MutatorKind, Root};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn make<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>) -> Gc<'m, 'h, Tree> {
    m.alloc(|_| Tree::new(None, None))
}

fn misuse<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, root: &Root<'_, 'h, Tree>) {
    let tree = root.get(m);
    make(m);
    let _ = tree.left(m);
}

fn main() {}
