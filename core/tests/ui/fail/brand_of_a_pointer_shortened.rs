//! As for the brand of a mutator: two heaps' pointers could be given the brand that both outlive.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::Gc;

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'m, 'long: 'short, 'short: 'm>(gc: Gc<'m, 'long, Tree>) -> Gc<'m, 'short, Tree> {
    gc
}

fn main() {}
