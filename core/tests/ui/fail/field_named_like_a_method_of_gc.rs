//! `gc.info()` is the info table: a field of that name could not be read.

use gclab_core::closure::Closure;

#[derive(Closure)]
struct Named {
    info: u64,
}

fn main() {}
