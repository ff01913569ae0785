//! Collections of `'b` would not update the root; those of `'a` would follow a foreign pointer.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Gc, MutatorKind, NoGc, Root};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'a, 'b: 'a, M: MutatorKind>(m: &NoGc<'a, M>, root: &Root<'_, 'a, Tree>, foreign: Gc<'_, 'b, Tree>) {
    root.set(m, foreign);
}

fn main() {}
