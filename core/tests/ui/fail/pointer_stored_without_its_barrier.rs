//! The raw store is unsafe: only derived setters, which know index and type, may call it.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Gc, MutArray, MutatorKind, NoGc};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'m, 'h, M: MutatorKind>(m: &NoGc<'h, M>, array: Gc<'m, 'h, MutArray<Tree>>, tree: Gc<'m, 'h, Tree>) {
    array.write_pointer(m, 7, Some(tree));
}

fn main() {}
