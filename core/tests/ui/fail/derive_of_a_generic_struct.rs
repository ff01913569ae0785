//! One info table describes one type.

use gclab_core::closure::{Closure, Ptr};

#[derive(Closure)]
struct Pair<T: Closure> {
    first: Ptr<T>,
}

fn main() {}
