//! There is no field to assign to: a store that bypasses the barrier cannot be written.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::Gc;

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'m, 'h>(tree: Gc<'m, 'h, Tree>) {
    tree.left = None;
}

fn main() {}
