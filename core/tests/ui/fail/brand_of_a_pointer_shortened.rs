//! `'h` is invariant in pointers, too: otherwise pointers of two heaps could get a common brand.

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
