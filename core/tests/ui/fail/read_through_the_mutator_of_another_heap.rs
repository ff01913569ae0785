//! A profile of use or a read barrier of heap `'b` would look for a closure of heap `'a`.

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
