//! The words of a made-up or outdated region are not closures: their headers would be followed.

use gclab_core::block::Region;
use gclab_core::world::Stopped;

fn misuse(stopped: &Stopped<'_>, region: Region) {
    let _ = stopped.closures(region);
}

fn main() {}
