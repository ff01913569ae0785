//! A closure is reached through a pointer: `Ptr<Leaf>`.

use gclab_core::closure::Closure;

#[derive(Closure)]
#[allow(dead_code)]
struct Leaf {
    value: u64,
}

#[derive(Closure)]
struct Branch {
    leaf: Leaf,
}

fn main() {}
