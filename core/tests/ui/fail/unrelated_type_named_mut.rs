//! A field of an unrelated type named `Mut` is not overwritten without a barrier.

use gclab_core::closure::Closure;
use gclab_core::closure::Ptr;

type Mut = Option<Ptr<Tree>>;

#[derive(Closure)]
struct Tree {
    left: Mut,
}

fn main() {}
