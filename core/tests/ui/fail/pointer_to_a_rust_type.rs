//! A pointer field must point to a type with an info table.

use gclab_core::closure::{Closure, Ptr};

#[derive(Closure)]
struct Named {
    name: Ptr<String>,
}

fn main() {}
