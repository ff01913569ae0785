//! A `String` has a destructor and a pointer unknown to collectors; it is not plain data either.

use gclab_core::closure::Closure;

#[derive(Closure)]
struct Named {
    name: String,
}

fn main() {}
