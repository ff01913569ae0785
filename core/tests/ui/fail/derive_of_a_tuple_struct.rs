//! Accessors are named after fields.

use gclab_core::closure::Closure;

#[derive(Closure)]
struct Pair(u64, u64);

fn main() {}
