//! Closures live as long as the heap reaches them: no lifetime says how long.

use gclab_core::closure::Closure;

#[derive(Closure)]
struct Borrowed<'a> {
    text: &'a str,
}

fn main() {}
