//! A mistyped key must not be ignored.

use gclab_core::closure::Closure;

#[derive(Closure)]
#[closure(nmae = "Tree")]
struct Tree {
    value: u64,
}

fn main() {}
