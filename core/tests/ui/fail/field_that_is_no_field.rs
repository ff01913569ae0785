//! A `String` has a destructor and a pointer that no collection knows; it is no word of plain data either.

use gclab_core::closure::Closure;

#[derive(Closure)]
struct Named {
    name: String,
}

fn main() {}
