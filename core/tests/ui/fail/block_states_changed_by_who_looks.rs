//! Barrier and collections believe the states: whoever looks at a stopped heap must not change them.

use gclab_core::block::{BlockRun, BlockState};
use gclab_core::world::Stopped;

fn misuse(stopped: &Stopped<'_>, run: BlockRun) {
    stopped.blocks().states().set_run(run, BlockState::NURSERY);
}

fn main() {}
