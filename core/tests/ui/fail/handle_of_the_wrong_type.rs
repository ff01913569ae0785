//! The handle's closure is a tree: read as a byte array, its pointers would be the length.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::collector::Collector;
use gclab_core::mutator::{ByteArray, Gc, Handle, NoGc};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'m, 'h, C: Collector>(m: &'m NoGc<'h, C>, handle: Handle<Tree>) -> Gc<'m, 'h, ByteArray> {
    handle.open(m)
}

fn main() {}
