//! Heap `'b` would remember the store, heap `'a` would not: a young closure would be lost.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Gc, MutArray, MutatorKind, NoGc};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'m, 'a, 'b: 'a, M: MutatorKind>(b: &NoGc<'b, M>, array: Gc<'m, 'a, MutArray<Tree>>, tree: Gc<'m, 'a, Tree>) {
    array.set(b, 0, Some(tree));
}

fn main() {}
