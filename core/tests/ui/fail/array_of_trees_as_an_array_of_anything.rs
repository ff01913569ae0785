//! A byte array could be stored through it, and read back as a tree.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Any, Gc, MutArray};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'m, 'h>(array: Gc<'m, 'h, MutArray<Tree>>) -> Gc<'m, 'h, MutArray<Any>> {
    array
}

fn main() {}
