//! An observer may read what a heap has charged. Changing the account could end the program.

use gclab_core::words::Bytes;
use gclab_core::world::Stopped;

fn misuse(stopped: &Stopped<'_>) {
    stopped.blocks().charges().release(Bytes(1 << 40));
}

fn main() {}
