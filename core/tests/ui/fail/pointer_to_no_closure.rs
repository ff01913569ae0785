//! A pointer field leads to a type that has an info table.

use gclab_core::closure::{Closure, Ptr};

#[derive(Closure)]
struct Named {
    name: Ptr<String>,
}

fn main() {}
