//! The words of a closure belong to core: other code could store to them without the barrier.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::Gc;

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'m, 'h>(tree: Gc<'m, 'h, Tree>) {
    let _ = tree.payload(0);
}

fn main() {}
