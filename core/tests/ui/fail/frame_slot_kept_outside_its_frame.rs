//! Like returning it: the slot is gone once the frame is.

use gclab_core::mutator::{FrameSlot, Mutator, MutatorKind};

fn misuse<'h, M: MutatorKind>(m: &mut Mutator<'h, M>) {
    let mut kept: Option<FrameSlot<'_, 'h>> = None;
    m.frame(|_, [slot]| kept = Some(slot));
}

fn main() {}
