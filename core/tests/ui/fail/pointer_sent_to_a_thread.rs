//! A collection does not wait for that thread: the closure would move under it.

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
    let tree = make(m);
    std::thread::scope(|s| {
        s.spawn(move || tree.info().name);
    });
}

fn main() {}
