//! A pointer from a handle is as unrooted as any pointer.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::collector::Collector;
use gclab_core::mutator::{Gc, Handle, Mutator};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn make<'m, 'h, C: Collector>(m: &'m mut Mutator<'h, C>) -> Gc<'m, 'h, Tree> {
    m.alloc(|_| Tree::new(None, None))
}

fn misuse<C: Collector>(m: &mut Mutator<'_, C>, handle: &Handle<Tree>) {
    let tree = handle.open(m);
    make(m);
    let _ = tree.left(m);
}

fn main() {}
