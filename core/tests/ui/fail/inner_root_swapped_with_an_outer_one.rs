//! The outer root would outlive the closed frame whose slot it now has.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Mutator, MutatorKind, OptionRoot};

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

fn misuse<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, outer: &mut OptionRoot<'_, 'h, Tree>) {
    m.frame(|m, [slot]| {
        let mut inner = slot.put_option::<Tree>(m, None);
        std::mem::swap(outer, &mut inner);
    });
}

fn main() {}
