//! `Self` would mean another type in each of the items that the derive writes.

use gclab_core::closure::Closure;
use gclab_core::closure::Ptr;

#[derive(Closure)]
struct List {
    next: Option<Ptr<Self>>,
}

fn main() {}
