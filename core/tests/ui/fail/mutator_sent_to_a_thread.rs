//! Frames are on the stack of the thread that entered, and allocation is not atomic.

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

fn misuse<M: MutatorKind<Alloc: Send>>(m: &mut Mutator<'_, M>) {
    std::thread::scope(|s| {
        s.spawn(move || make(m).info().name);
    });
}

fn main() {}
