//! A closure has one layout: each constructor needs its own struct.

use gclab_core::closure::Closure;

#[derive(Closure)]
enum List {
    Nil,
    Cons,
}

fn main() {}
