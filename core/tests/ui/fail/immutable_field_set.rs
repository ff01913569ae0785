//! Immutable fields have no setter: collectors rely on closures without mutable fields.

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
