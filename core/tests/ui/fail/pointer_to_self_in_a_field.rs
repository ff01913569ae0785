//! `Self` would mean a different type in each item that the derive generates.

use gclab_core::closure::Closure;
use gclab_core::closure::Ptr;

#[derive(Closure)]
struct List {
    next: Option<Ptr<Self>>,
}

fn main() {}
