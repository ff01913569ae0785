//! An initialiser holds pointers: the allocation may move their targets.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::collector::Collector;
use gclab_core::mutator::{Gc, Mutator, Root};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn make<'m, 'h, C: Collector>(m: &'m mut Mutator<'h, C>) -> Gc<'m, 'h, Tree> {
    m.alloc(|_| Tree::new(None, None))
}

fn misuse<'h, C: Collector>(m: &mut Mutator<'h, C>, root: &Root<'_, 'h, Tree>) {
    let init = Tree::new(Some(root.get(m)), None);
    make(m);
    let _ = init;
}

fn main() {}
