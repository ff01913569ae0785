//! A closure has one layout.

use gclab_core::closure::Closure;

#[derive(Closure)]
union Either {
    a: u64,
    b: i64,
}

fn main() {}
