//! Collections update the slot meanwhile.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Mutator, MutatorKind, Root};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, root: &Root<'_, 'h, Tree>) {
    m.blocking(|| root.get(m).left(m).is_none());
}

fn main() {}
