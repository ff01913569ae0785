//! A frame may return a pointer; it is unrooted from then on.

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
    let tree = m.frame(|m, [slot]| {
        let root = slot.put(make(m));
        m.collect(Request::Full);
        root.get(m)
    });
    make(m);
    let _ = tree.info();
}

fn main() {}
