//! The words of a closure are the core's own: whoever had them could store without the barrier.

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
