//! A collection updates the slot while that thread reads it.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::Root;

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn send<T: Send>(_: T) {}
fn misuse<'h>(root: Root<'_, 'h, Tree>) {
    send(root);
}

fn main() {}
