//! A closure stored as a byte array would be read as a tree.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{ByteArray, Gc, MutArray};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'m, 'h>(array: Gc<'m, 'h, MutArray<Tree>>) -> Gc<'m, 'h, MutArray<ByteArray>> {
    array
}

fn main() {}
