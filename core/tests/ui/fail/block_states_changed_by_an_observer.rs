//! The barrier and collections rely on the states: an observer of a stopped heap must not set them.

use gclab_core::block::{BlockRun, BlockState};
use gclab_core::world::Stopped;

fn misuse(stopped: &Stopped<'_>, run: BlockRun) {
    stopped.blocks().set_state(run, BlockState::NURSERY);
}

fn main() {}
