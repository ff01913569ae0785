//! A closure of unknown type must be asked for its type (`downcast`).

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Any, Gc};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'m, 'h>(any: Gc<'m, 'h, Any>) -> Gc<'m, 'h, Tree> {
    any
}

fn main() {}
