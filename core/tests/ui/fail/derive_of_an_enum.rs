//! A closure has one layout: each constructor is a struct of its own.

use gclab_core::closure::Closure;

#[derive(Closure)]
enum List {
    Nil,
    Cons,
}

fn main() {}
