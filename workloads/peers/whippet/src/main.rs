//! gclab with the programs that whippet comes with: the same data, sizes and order of allocation.
//! Whippet is told what it may use as a multiple of the live data; here `-M` tells it.

mod mt_gcbench;
mod quads;

use std::process::ExitCode;

fn main() -> ExitCode {
    gclab::main::<gclab_collectors::All, (quads::Quads, (mt_gcbench::MtGcbench, ()))>()
}
