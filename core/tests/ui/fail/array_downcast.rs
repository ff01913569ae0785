//! All arrays have one info table: it does not tell what they are arrays of.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{ByteArray, Gc, MutArray};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'m, 'h>(array: Gc<'m, 'h, MutArray<ByteArray>>) {
    let _ = array.erase().downcast::<MutArray<Tree>>();
}

fn main() {}
