//! The handle's closure is a tree: read as a byte array, its length would be a pointer.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{ByteArray, Gc, Handle, MutatorKind, NoGc};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'m, 'h, M: MutatorKind>(m: &'m NoGc<'h, M>, handle: Handle<Tree>) -> Gc<'m, 'h, ByteArray> {
    handle.open(m)
}

fn main() {}
