//! Immutable fields have no setter: collectors may believe that closures without mutable ones never change.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Gc, MutatorKind, NoGc};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'m, 'h, M: MutatorKind>(m: &NoGc<'h, M>, tree: Gc<'m, 'h, Tree>) {
    tree.set_left(m, None);
}

fn main() {}
