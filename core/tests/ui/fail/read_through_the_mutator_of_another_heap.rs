//! Heap `'b` would be told of a read in heap `'a`: a profile of use, or a read barrier, would look for the closure in the wrong one.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Gc, MutArray, MutatorKind, NoGc};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn of_a_field<'m, 'a, 'b: 'a, M: MutatorKind>(b: &'m NoGc<'b, M>, tree: Gc<'m, 'a, Tree>) {
    tree.left(b);
}

fn of_a_slot<'m, 'a, 'b: 'a, M: MutatorKind>(b: &'m NoGc<'b, M>, array: Gc<'m, 'a, MutArray<Tree>>) {
    array.get(b, 0);
}

fn main() {}
