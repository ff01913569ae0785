//! `'m` is covariant: it may be shortened, never lengthened.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::Gc;

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'m, 'longer: 'm, 'h: 'longer>(gc: Gc<'m, 'h, Tree>) -> Gc<'longer, 'h, Tree> {
    gc
}

fn main() {}
