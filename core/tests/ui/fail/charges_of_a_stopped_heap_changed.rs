//! An observer of a heap reads its figures. It could end the program by a change of the account.

use gclab_core::words::Bytes;
use gclab_core::world::Stopped;

fn misuse(stopped: &Stopped<'_>) {
    stopped.blocks().charges().release(Bytes(1 << 40));
}

fn main() {}
