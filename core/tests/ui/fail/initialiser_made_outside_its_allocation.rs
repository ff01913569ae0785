//! The allocation itself may collect before it asks for the initialiser.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Mutator, MutatorKind, Root};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, root: &Root<'_, 'h, Tree>) {
    let init = Tree::new(Some(root.get(m)), None);
    m.alloc(|_| init);
}

fn main() {}
