//! As if it were returned: the slot is gone when the frame is.

use gclab_core::collector::Collector;
use gclab_core::mutator::{FrameSlot, Mutator};

fn misuse<'h, C: Collector>(m: &mut Mutator<'h, C>) {
    let mut kept: Option<FrameSlot<'_, 'h>> = None;
    m.frame(|_, [slot]| kept = Some(slot));
}

fn main() {}
