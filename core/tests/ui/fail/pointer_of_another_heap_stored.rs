//! Heap `'a` would hold a pointer that collections of heap `'b` do not know.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Gc, MutArray, MutatorKind, NoGc};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'a, 'b: 'a, M: MutatorKind>(a: &NoGc<'a, M>, array: Gc<'_, 'a, MutArray<Tree>>, foreign: Gc<'_, 'b, Tree>) {
    array.set(a, 0, Some(foreign));
}

fn main() {}
