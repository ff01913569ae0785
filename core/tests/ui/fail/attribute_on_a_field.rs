//! The attribute has a meaning only on the struct, and must not be ignored elsewhere.

use gclab_core::closure::Closure;

#[derive(Closure)]
struct Tree {
    #[closure(name = "v")]
    value: u64,
}

fn main() {}
