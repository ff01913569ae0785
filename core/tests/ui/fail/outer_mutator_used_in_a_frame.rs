//! The frame has the mutator: another allocation would invalidate the frame's pointers.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::collector::Collector;
use gclab_core::mutator::{Gc, Mutator};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn make<'m, 'h, C: Collector>(m: &'m mut Mutator<'h, C>) -> Gc<'m, 'h, Tree> {
    m.alloc(|_| Tree::new(None, None))
}

fn misuse<C: Collector>(m: &mut Mutator<'_, C>) {
    m.frame(|_, [_slot]| {
        make(m);
    });
}

fn main() {}
