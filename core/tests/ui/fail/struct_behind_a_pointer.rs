//! A pointer does not deref to the Rust struct, whose layout differs from the closure's.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::Gc;

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'m, 'h>(tree: Gc<'m, 'h, Tree>) {
    let _: &Tree = &*tree;
}

fn main() {}
